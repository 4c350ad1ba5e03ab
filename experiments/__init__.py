"""Experiments whose figures README and docs cite: how to get them again, and what came out."""
