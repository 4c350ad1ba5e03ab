"""Characters in a picture: made harmless, measured and cut, so that no word can break the drawing it stands in."""

from __future__ import annotations

import unicodedata

JOINERS = "\u200c\u200d"  # invisible too, but Persian, Hindi and many emoji cannot be written without them
ELLIPSIS = "…"


def visible(text: str) -> str:
    """Control characters as their pictures (␉, ␊), others that would upset a line or a document as �."""
    return text if text.isascii() and text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    # C1 controls, marks that turn the writing direction, halves of a pair, line ends; then what no document may hold
    broken = unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in JOINERS
    return "\ufffd" if broken or code & 0xFFFE == 0xFFFE else character


def cells(text: str) -> int:
    """How many columns of a terminal the text takes: East Asian wide characters two, combining marks none."""
    from rich.cells import cell_len  # here, so that reading treebanks does not wait for rich

    return cell_len(text)


def shorten(text: str, room: int) -> str:
    """The text, or as much of its beginning as leaves room for '…'."""
    if cells(text) <= room:
        return text
    from rich.cells import set_cell_size

    return set_cell_size(text, max(room - 1, 0)).rstrip() + ELLIPSIS
