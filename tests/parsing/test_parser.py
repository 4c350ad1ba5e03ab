"""Parser: from sentences to k-best lists; what the input had is kept."""

from __future__ import annotations

import pytest
from parsing_twins import score_of
from small_parsers import batch_of, save_parser, small_parser
from small_runs import some_sentences, some_trees

from ramify.errors import CallError, FormatError
from ramify.formats import group, parse_conllu
from ramify.formats.conllu import DEPREL, DEPS, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS
from ramify.parsing import load
from ramify.trees import Tree, is_projective

INPUT = (
    "# newdoc\n# sent_id = a\n# text = cannot go\n1-2\tcannot\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tcan\tl1\tX\tMD\tF=1\t0\tdep\t0:dep\tM=1\n2\tnot\tl2\tX\tRB\t_\t1\tdep\t_\t_\n"
    "2.1\tgone\t_\t_\t_\t_\t_\t_\t1:dep\t_\n3\tgo\tl3\tX\tVB\t_\t1\tdep\t_\t_\n\n"
)


def test_what_is_kept_and_what_is_filled_in() -> None:
    parser = small_parser()
    (before,) = parse_conllu(INPUT)
    (found,) = parser.parse([before])
    (after,) = found.candidates
    for old, new in zip(before.rows, after.rows, strict=True):
        for column in (ID, FORM, LEMMA, XPOS, FEATS, DEPS, MISC):
            assert old[column] == new[column]
        assert new[DEPREL] in parser.lexicon.labels
        assert new[UPOS] in parser.lexicon.tags
    assert [line for line in after.lines if "-" in line[:3] or "." in line[:3]] == [before.lines[3], before.lines[6]]
    assert (after.comment("text"), after.comment("sent_id")) == ("cannot go", "a")
    assert "# newdoc" in after.lines
    assert found.scores is not None


def test_candidates_are_read_back_as_they_are() -> None:
    parser = small_parser()
    sentences = some_sentences(30)
    lists = list(parser.parse(sentences, 5))
    again = list(group(parse_conllu("".join(each.text for found in lists for each in found.candidates))))
    assert [found.sent_id for found in again] == [sentence.tree.sent_id for sentence in sentences]
    for ours, theirs, sentence in zip(lists, again, sentences, strict=True):
        assert [each.tree for each in ours.candidates] == [each.tree for each in theirs.candidates]
        assert ours.scores == theirs.scores == tuple(sorted(ours.scores or (), reverse=True))
        assert len({each.tree.heads for each in ours.candidates}) == len(ours.candidates)
        assert len(ours.candidates) == 5 or len(sentence.tree) < 4
        for each in ours.candidates:
            assert is_projective(each.tree)
            assert len(each.tree.roots) == 1
            assert [row[HEAD] for row in each.rows] == [str(head) for head in each.tree.heads]
            roots = [deprel == "root" for deprel in each.tree.deprels]
            assert roots == [head == 0 for head in each.tree.heads]


def test_scores_are_those_of_the_model() -> None:
    parser = small_parser()
    for tree in some_trees(5):
        (found,) = parser.parse([tree], 3)
        (reading,) = parser.model.read(batch_of(parser, [tree]))
        for candidate, score in zip(found.candidates, found.scores or (), strict=True):
            assert score == pytest.approx(score_of(candidate.tree, reading.scores), abs=1e-4)


def test_one_by_one_as_together() -> None:
    parser = small_parser()
    sentences = some_sentences(20)
    together = list(parser.parse(sentences, 3, threads=2))
    for sentence, found in zip(sentences, together, strict=True):
        (alone,) = parser.parse([sentence], 3)
        assert [each.tree for each in alone.candidates] == [each.tree for each in found.candidates]


def test_words_and_trees_are_sentences_too() -> None:
    parser = small_parser()
    first, second = parser.parse([["A", "b", "c"], Tree(["A", "b", "c"], [0, 1, 1])], 2)
    assert (first.sent_id, second.sent_id) == ("s1", "s2")
    assert [each.tree.heads for each in first.candidates] == [each.tree.heads for each in second.candidates]
    assert first.candidates[1].tree.sent_id == "s1/k_2"
    (unnamed,) = parser.parse([Tree(["A"], [0])])
    assert (unnamed.sent_id, unnamed.candidates[0].tree.heads) == ("", (0,))


def test_after_save_and_load(tmp_path) -> None:
    parser = small_parser()
    again = load(save_parser(tmp_path / "p", parser))
    for ours, theirs in zip(parser.parse(some_trees(8), 2), again.parse(some_trees(8), 2), strict=True):
        assert [each.text for each in ours.candidates] == [each.text for each in theirs.candidates]


def test_nothing_that_cannot_be_parsed() -> None:
    parser = small_parser()
    assert list(parser.parse([])) == []
    with pytest.raises(FormatError, match=r"x:7 \(sent_id s9\): a sentence of 401 words: at most 400"):
        list(parser.parse([Tree(["w"] * 401, [0] * 401, sent_id="s9", source="x", line=7)]))
    with pytest.raises(CallError, match="at least 1, not 0"):
        list(parser.parse([["A"]], 0))
