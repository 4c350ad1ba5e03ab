import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: threads that wait for each other slow tiny models down

from hypothesis import settings

settings.register_profile("stable", deadline=None, derandomize=True)  # the same examples on every run and machine
settings.load_profile("stable")
