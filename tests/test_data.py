import lzma

import pytest

from ramify import data
from ramify.formats import read, read_conllu

SENTENCES = {"ewt:train": 12_544, "ewt:dev": 2_001, "ewt:test": 2_077}


def test_the_bundled_treebanks_are_there_with_their_licence():
    assert list(data.TREEBANKS) == list(SENTENCES)
    for path in data.TREEBANKS.values():
        assert path.is_file()
        assert (path.parent / "LICENSE.txt").is_file()
        assert (path.parent / "README.md").is_file()


@pytest.mark.parametrize("name", ["ewt", "ewt:", "EWT:dev", "dev", "-", ""])
def test_other_names_are_not_ours(name):
    assert data.treebank(name) is None


@pytest.mark.parametrize("name", SENTENCES)
def test_ewt_is_read_to_the_last_byte(name):
    sentences = list(read_conllu(name))
    assert len(sentences) == SENTENCES[name]
    text = "".join(sentence.text for sentence in sentences)
    assert text.encode() == lzma.decompress(data.TREEBANKS[name].read_bytes())


def test_ewt_trees_know_where_they_come_from():
    first, second, *_ = read("ewt:dev")
    assert first.sent_id == "weblog-blogspot.com_nominations_20041117172713_ENG_20041117_172713-0001"
    assert first.address == f"ewt:dev:1 (sent_id {first.sent_id})"
    assert first.forms == ("From", "the", "AP", "comes", "this", "story", ":")
    assert first.heads == (3, 3, 4, 0, 6, 4, 4)
    assert first.deprels[:4] == ("case", "det", "obl", "root")
    assert (first.upos[3], first.xpos[3]) == ("VERB", "VBZ")
    assert second.line == 13
