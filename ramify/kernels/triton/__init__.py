"""Kernels for NVIDIA GPUs, in Triton; imported only where one is used."""
