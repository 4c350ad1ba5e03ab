import copy
import pickle

import pytest

from ramify.errors import CallError, FormatError, ModelError, RamifyError, StoreError, TrainingError, TreeError

ERRORS = [
    RamifyError("why"),
    CallError("no such file"),
    TreeError("words 1 and 2 form a cycle", 1),
    FormatError("11 columns", "dev.conllu", 14, "s3"),
    StoreError("the store is truncated"),
    ModelError("the model is truncated"),
    TrainingError("the loss is no number"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("travel", [lambda error: pickle.loads(pickle.dumps(error)), copy.copy], ids=["pickle", "copy"])
def test_errors_survive_the_way_between_processes(error, travel):
    again = travel(error)
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_one_family(error):
    assert isinstance(error, RamifyError)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (("dev.conllu", 14, "s3"), "dev.conllu:14 (sent_id s3): why"),
        (("dev.conllu", 14, ""), "dev.conllu:14: why"),
        (("dev.conllu", 0, ""), "dev.conllu: why"),
        (("", 0, ""), "why"),
    ],
)
def test_format_errors_have_an_address(where, text):
    assert str(FormatError("why", *where)) == text


def test_a_tree_error_knows_its_word():
    error = TreeError("word 3 is its own head", 3)
    assert (str(error), error.word) == ("word 3 is its own head", 3)
    assert TreeError("why").word == 0
