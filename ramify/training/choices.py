"""Choices: what all recipes share. Each field is one choice of a training run, with its help; TOML in and out."""

from __future__ import annotations

import inspect
import tomllib
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar, get_args

from ramify.errors import CallError

_LARGEST = 1e30  # float32 holds no more than some 1e38


@dataclass(frozen=True)
class Choices:
    """The base of recipes."""

    def check_numbers(self) -> None:
        """Refuse numbers that no field can mean."""
        for name, value in asdict(self).items():
            if isinstance(value, float) and not abs(value) <= _LARGEST:  # nor is what is no number
                raise CallError(f"{name} is {value:g}; it should be a number, of at most {_LARGEST:g}")
            if isinstance(value, int) and name != "seed" and abs(value) >= 1 << 31:
                raise CallError(f"{name} is {value}; it should be below 2^31")

    def to_json(self) -> dict[str, Any]:
        return {name: str(value) if isinstance(value, StrEnum) else value for name, value in asdict(self).items()}

    def to_toml(self) -> str:
        """All fields with their help; those that are not set are left out."""
        lines = []
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None:
                shown = str(value).lower() if isinstance(value, bool) else repr(value)
                shown = f'"{value}"' if isinstance(value, str) else shown
                lines.append(f"{each.name} = {shown}".ljust(32) + f"# {each.metadata['help']}")
        return "\n".join(lines) + "\n"


T = TypeVar("T", bound=Choices)


def says(default: Any, text: str) -> Any:
    """A field with its help."""
    return field(default=default, metadata={"help": text})


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise CallError(f"{path} is no TOML: {error}") from None


def checked(recipe: T, parts: dict[str, Any], source: str) -> T:
    """The recipe with the parts of a file; what is unknown or of another type is refused."""
    kinds = inspect.get_annotations(type(recipe), eval_str=True)
    for name, value in known(type(recipe), parts, f"{source}: ").items():
        wanted = next(iter(get_args(kinds[name])), kinds[name])  # of `int | None`, int: TOML has no None
        if issubclass(wanted, StrEnum):
            wanted = str
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise CallError(f"{source}: {name} = {value!r} should be of type {wanted.__name__}")
    try:
        return replace(recipe, **parts)
    except CallError as error:
        raise CallError(f"{source}: {error}") from None


def known(kind: type[Choices], parts: dict[str, Any], where: str = "") -> dict[str, Any]:
    """The parts, all of which are fields of the recipe."""
    names = [each.name for each in fields(kind)]
    unknown = [name for name in parts if name not in names]
    if unknown:
        raise CallError(f"{where}unknown field {', '.join(unknown)}; known are {', '.join(names)}")
    return parts
