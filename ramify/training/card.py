"""The model card: README.md in a model's folder, for whoever finds it there."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ramify import __version__
from ramify.corpus import Corpus
from ramify.corpus.structure import Array
from ramify.errors import ModelError
from ramify.formats.files import whole_file
from ramify.model.config import Kind
from ramify.model.folder import CARD, LOG
from ramify.model.language_model import LanguageModel
from ramify.training.recipe import Recipe

_NAMES = {
    Kind.TREE: "TreeLSTM",
    Kind.LDTREE: "LdTreeLSTM",
    Kind.LSTM: "LSTM language model",
    Kind.BILSTM: "bidirectional LSTM language model",
}
_NUMBERS = {
    "P(S|T)": "P(S|T): each word from its dependency path, the tree being given. It is not incremental surprisal.",
    "P(S)": "P(S): each word from the words before it. It needs no tree.",
    "pseudo-likelihood": "a pseudo-likelihood: each word from all others. It is no probability of a sentence.",
}
EWT_LICENCE = (
    "Licence of English EWT (ewt:*): Creative Commons Attribution-ShareAlike 4.0 International, Universal Dependencies."
)
_LOGGED = {  # what is read of a record, and its types
    "epoch": (int,),
    "objective": (str,),
    **dict.fromkeys(("lr", "train_loss", "valid_ppl", "valid_entropy"), (int, float)),
}


def write_card(
    folder: Path,
    model: LanguageModel,
    recipe: Recipe,
    corpora: list[Corpus],
    validation: tuple[Corpus, Array],
    more: Sequence[str] = (),
) -> None:
    """Say in a model's folder what it is, what it was trained on (`more`: lines on that) and how well it does."""
    config = model.config
    words = len(corpora[0].vocabulary)
    parts = [
        f"# {config.kind}-{config.hidden}",
        f"{_NAMES[config.kind]} with {model.n_parameters:,} parameters and a vocabulary of {words:,} words, trained by "
        f"Ramify {__version__}. Its numbers are {_NUMBERS[config.kind.number]}",
        "## Data",
        "\n".join(f"- {line}" for line in data_lines(corpora, validation, more)),
        "## Figures",
        _figures(read_log(folder)),
        "## Recipe",
        f"```toml\n{recipe.to_toml()}```",
        "## Use",
        "```\nramify evaluate TREEBANK -m .\nramify score TREEBANK -m .\n```",
    ]
    with whole_file(folder / CARD) as out:
        out.write("\n\n".join(parts) + "\n")


def read_log(folder: Path, logged: Mapping[str, tuple[type, ...]] = _LOGGED) -> list[dict[str, Any]]:
    """What was logged at the end of each epoch. The last line of a run that was killed may not be whole.

    `logged` has the keys of a record and the types of their values; left out, those of a language model's.
    """
    path = folder / LOG
    lines = _text(path).splitlines()
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except ValueError:
            if number == len(lines):
                break
            record = None
        if not isinstance(record, dict) or not all(type(record.get(key)) in kinds for key, kinds in logged.items()):
            raise ModelError(f"{path}:{number}: this is no record of an epoch; remove the line, or train again")
        found.append(record)
    return found


def read_data(folder: Path) -> list[str]:
    """The lines on data of a model's card."""
    section = _text(folder / CARD).partition("\n## Data\n")[2].partition("\n## ")[0]
    return [line.removeprefix("- ") for line in section.splitlines() if line]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError as error:
        raise ModelError(f"{path} cannot be read: {error}; save it as UTF-8") from None


def data_lines(corpora: list[Corpus], validation: tuple[Corpus, Array], more: Sequence[str] = ()) -> list[str]:
    """What the card of a model says of its data."""
    sources = [_source(source) for corpus in corpora for source in corpus.about.get("sources", [])]
    lines = [f"trained on {source}" for source in sources]
    corpus, sentences = validation
    names = ", ".join(source["name"] for source in corpus.about.get("sources", []))
    apart = f"{len(sentences):,} sentences held out of" if len(sentences) < len(corpus) else "all of"
    lines += [f"validated on {apart} {names}", *more]
    if any("ewt:" in line for line in lines):
        lines.append(EWT_LICENCE)
    return lines


def history(model: Path) -> list[str]:
    """What the card of a model that goes on from this one says of it."""
    return [f"begun from {model}", *(f"there {line}" for line in read_data(model) if line != EWT_LICENCE)]


def kept_history(model: Path) -> list[str]:
    """The same, from the card of the model that goes on."""
    return [line for line in read_data(model) if line.startswith(("begun from ", "there "))]


def _source(source: dict[str, Any]) -> str:
    return f"{source['name'] or 'trees'}: {source['sentences']:,} sentences, {source['words']:,} words"


def _figures(log: list[dict[str, Any]]) -> str:
    if not log:
        return "None yet: the first epoch is not over."
    best = min(log, key=lambda record: float(record["valid_entropy"]))
    rows = [f"| {each['epoch']} | {each['train_loss']:.4f} | {each['valid_ppl']:.2f} |" for each in log]
    return (
        f"Validation perplexity {best['valid_ppl']:.2f} after epoch {best['epoch']}: UNK and punctuation counted, ends "
        "of sentences not. The parameters are those of this epoch.\n\n"
        f"| epoch | train loss ({best['objective']}) | validation ppl |\n| ---: | ---: | ---: |\n" + "\n".join(rows)
    )
