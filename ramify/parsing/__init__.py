"""A parser of our own: from sentences to trees and k-best lists."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ramify.parsing.folder import load
    from ramify.parsing.parser import Parser

__all__ = ["Parser", "load"]


def __getattr__(name: str) -> Any:
    """What needs torch is imported when it is asked for."""
    if name == "load":
        from ramify.parsing.folder import load

        return load
    if name == "Parser":
        from ramify.parsing.parser import Parser

        return Parser
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
