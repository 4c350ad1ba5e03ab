"""Small treebanks, written in a shorthand: `block("1 She 2", "2 sleeps 0")`."""

from ramify.errors import FormatError


def row(shorthand: str) -> str:
    """`id form head` as ten columns."""
    number, form, head = shorthand.split(" ")
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_"


def block(*lines: str) -> str:
    """Comments as they stand, words in shorthand, and the blank line."""
    return "\n".join(line if line[:1] in "#" else row(line) for line in lines) + "\n\n"


GOOD = block("# sent_id = s1", "1 She 2", "2 sleeps 0")  # four lines
NEXT = block("# sent_id = s9", "1 Good 0", "2 night 1")


def place(error: FormatError) -> tuple[str, int, str]:
    return error.source, error.line, error.sent_id
