"""What every table of this folder begins with."""

from __future__ import annotations

import shlex
import sys

from ramify.benchmark.about import about


def heading(*packages: str) -> None:
    """Print the command, the versions and the machine."""
    module = sys.modules["__main__"].__spec__
    name = module.name if module else sys.argv[0]
    print(f"command: {shlex.join(['python', '-m', name, *sys.argv[1:]])}")
    print("\n".join(about(*packages)))
