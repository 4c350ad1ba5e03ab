import lzma
import math
from itertools import chain
from pathlib import Path

import pytest
from conllu_samples import GOOD, NEXT, block, place

from ramify.errors import CallError, FormatError
from ramify.formats import KBest, group, parse_conllu, read_conllu, read_sentences, write
from ramify.formats.kbest import read_mst, scores_file, write_mst

SHARED = Path(__file__).parents[2].parent / "shared" / "data" / "kbest"

# three sentences with 3, 1 and 2 candidates
HEADS = [[(2, 0, 2), (0, 1, 2), (0, 1, 1)], [(0,)], [(0, 1), (2, 0)]]
SCORES = [["12.50", "3", "-1e-3"], ["0"], ["19.66262436441187", "19.66262436441187"]]


def candidate(sentence, rank, heads, score):
    comments = [f"# sent_id = s{sentence}/k_{rank}", f"# parser_score = {score}"]
    return block(*comments, *(f"{i} w{sentence}.{i} {head}" for i, head in enumerate(heads, 1)))


LISTS = "".join(
    candidate(number, rank, heads, score)
    for number, (trees, scores) in enumerate(zip(HEADS, SCORES, strict=True), 1)
    for rank, (heads, score) in enumerate(zip(trees, scores, strict=True), 1)
)
BLOCKS = "".join(line for line in LISTS.splitlines(keepends=True) if not line.startswith("#"))
SCORE_LINES = "".join(" ".join(scores) + "\n" for scores in SCORES)


def lists(text):
    return list(group(parse_conllu(text, source="dev.conllu")))


@pytest.fixture
def pair(tmp_path):
    """The original's pair of files."""
    path = tmp_path / "dev.conll"
    path.write_text(BLOCKS)
    (tmp_path / "dev.conll.mstscores").write_text(SCORE_LINES)
    return path


# --- lists in CoNLL-U -----------------------------------------------------------------------------------------------


def test_lists_of_varying_length():
    found = lists(LISTS)
    assert [kbest.sent_id for kbest in found] == ["s1", "s2", "s3"]
    assert [[sentence.tree.heads for sentence in kbest.candidates] for kbest in found] == HEADS
    assert [kbest.scores for kbest in found] == [tuple(map(float, scores)) for scores in SCORES]


def test_sentences_without_a_rank_are_lists_of_their_own():
    found = lists(GOOD + LISTS + NEXT + NEXT)
    assert [(kbest.sent_id, len(kbest.candidates)) for kbest in found] == [
        ("s1", 1),
        ("s1", 3),
        ("s2", 1),
        ("s3", 2),
        ("s9", 1),
        ("s9", 1),
    ]
    assert found[0].scores is None


def test_one_score_missing_is_all_scores_missing():
    text = candidate(1, 1, (0,), "1") + candidate(1, 2, (0,), "1").replace("# parser_score = 1\n", "")
    assert lists(text)[0].scores is None


def test_names_with_slashes_and_other_ranks():
    text = candidate(1, 1, (0,), "1").replace("s1/k_1", "doc/a/k_1") + candidate(1, 1, (0,), "1").replace("k_1", "gold")
    assert [kbest.sent_id for kbest in lists(text)] == ["doc/a", "s1/gold"]


def test_nothing():
    assert list(group([])) == []


FIRST, SECOND = candidate(1, 1, (0, 1), "2"), candidate(1, 2, (2, 0), "1")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (SECOND, 1, "candidate 2 where candidate 1 should stand"),
        (FIRST + FIRST, 6, "candidate 1 where candidate 2 should stand"),
        (FIRST + SECOND.replace("k_2", "k_3"), 6, "candidate 3 where candidate 2 should stand"),
        (FIRST + SECOND.replace("w1.2", "other"), 6, "candidate 2 has other words than candidate 1 (line 5)"),
        (FIRST + candidate(1, 2, (0,), "1"), 6, "candidate 2 has other words than candidate 1 (line 5)"),
        (FIRST.replace("= 2", "= high"), 1, "the parser_score is 'high', not a number"),
        (FIRST.replace("= 2", "= nan"), 1, "the parser_score is 'nan', not a number"),
        (FIRST.replace("= 2", "="), 1, "the parser_score is '', not a number"),
    ],
)
def test_lists_that_are_refused(text, line, message):
    with pytest.raises(FormatError) as caught:
        lists(GOOD + text)
    assert caught.value.message == message
    assert caught.value.line == line + 4
    assert caught.value.sent_id.startswith("s1/k_")


# --- the original's pair of files -----------------------------------------------------------------------------------


def test_the_pair_as_conllu(pair):
    sentences = list(read_sentences(pair))  # found by the scores beside it
    assert "".join(sentence.text for sentence in sentences) == LISTS
    assert [sentence.tree.line for sentence in sentences] == [1, 5, 9, 13, 15, 18]


def test_both_forms_into_each_other(tmp_path, pair):
    assert write(read_sentences(pair), tmp_path / "dev.conllu") == 6
    assert (tmp_path / "dev.conllu").read_text() == LISTS
    assert write(read_conllu(tmp_path / "dev.conllu"), tmp_path / "again.conllx", "mst") == 6
    assert (tmp_path / "again.conllx.mstscores").read_text() == SCORE_LINES
    assert (tmp_path / "again.conllx").read_text() == BLOCKS
    assert [*map(str, read_sentences(tmp_path / "again.conllx"))] == [
        str(sentence).replace("dev.conll'", "again.conllx'") for sentence in read_sentences(pair)
    ]


@pytest.mark.parametrize("suffix", [".xz", ".gz", ".zst"])
def test_compressed_pairs(tmp_path, suffix):
    path = tmp_path / f"dev.conll{suffix}"
    write_mst(parse_conllu(LISTS), path)
    assert {file.name for file in tmp_path.iterdir()} == {f"dev.conll{suffix}", "dev.conll.mstscores"}
    assert scores_file(path) == tmp_path / "dev.conll.mstscores"
    assert "".join(sentence.text for sentence in read_mst(path)) == LISTS


def test_the_scores_may_be_compressed_and_separated_by_tabs(pair):
    scores = pair.with_name("dev.conll.mstscores")
    scores.unlink()
    pair.with_name("dev.conll.mstscores.xz").write_bytes(lzma.compress(SCORE_LINES.replace(" ", "\t").encode()))
    assert "".join(sentence.text for sentence in read_mst(pair)) == LISTS


LAST = BLOCKS.split("\n\n")[-2] + "\n\n"


@pytest.mark.parametrize(
    ("blocks", "scores", "message"),
    [
        (BLOCKS.removesuffix(LAST), SCORE_LINES, "no candidate 2 of sentence 3: dev.conll.mstscores has more scores"),
        (BLOCKS, SCORE_LINES + "7.5\n", "no candidate 1 of sentence 4: dev.conll.mstscores has more scores"),
        (BLOCKS + LAST, SCORE_LINES, "candidates without scores: dev.conll.mstscores ends before"),
        (
            BLOCKS,
            SCORE_LINES.replace("0\n", "0 1\n", 1).replace("19.66262436441187 ", ""),
            "candidate 2 has other words than candidate 1: does dev.conll.mstscores belong to this file?",
        ),
        (BLOCKS, SCORE_LINES.replace("12.50", "high"), "scores of sentence 1 are missing or no numbers"),
        (BLOCKS, SCORE_LINES.replace("12.50", "nan"), "scores of sentence 1 are missing or no numbers"),
        (BLOCKS, SCORE_LINES.replace("0\n", "0\n\n", 1), "scores of sentence 3 are missing or no numbers"),
        (BLOCKS, "", "scores of sentence 1 are missing or no numbers"),
        (BLOCKS.replace("\t0\tdep", "\t1\tdep", 1), SCORE_LINES, "words 1 and 2 form a cycle, and no word has head 0"),
    ],
    ids=["too few", "more scores", "too many", "shifted", "text", "nan", "a gap", "no scores", "a cycle"],
)
def test_pairs_that_are_refused(tmp_path, pair, blocks, scores, message):
    pair.write_text(blocks)
    pair.with_name("dev.conll.mstscores").write_text(scores)
    with pytest.raises(FormatError) as caught:
        list(read_mst(pair, on_error=lambda error: None))
    assert caught.value.message.startswith(message)
    assert caught.value.source.startswith(str(pair))


def test_addresses_of_both_files(pair):
    scores = pair.with_name("dev.conll.mstscores")
    scores.write_text("1 2 3\n\n")
    pair.write_text(BLOCKS + LAST)
    with pytest.raises(FormatError) as caught:
        list(read_mst(pair))
    assert place(caught.value) == (str(pair), 13, "")
    scores.write_text("1 2 3\nx\n")
    with pytest.raises(FormatError) as caught:
        list(read_mst(pair))
    assert place(caught.value) == (str(scores), 2, "")


def test_calls_that_are_wrong(tmp_path):
    path = tmp_path / "dev.conll"
    path.write_text(BLOCKS)
    with pytest.raises(CallError, match=r"dev\.conll has no scores beside it: dev\.conll\.mstscores is missing"):
        list(read_mst(path))
    with pytest.raises(CallError, match="no such file"):
        list(read_mst(tmp_path / "no.conll"))
    with pytest.raises(CallError, match="are two files: standard input is one"):
        list(read_mst("-"))
    with pytest.raises(CallError, match="are two files: name the first with --output"):
        write(parse_conllu(LISTS), "-", "mst")


def test_both_files_appear_or_none(tmp_path):
    unscored = LISTS.replace("# parser_score = 0\n", "")
    with pytest.raises(FormatError) as caught:
        write_mst(parse_conllu(unscored, source="dev.conllu"), tmp_path / "dev.conll")
    assert str(caught.value) == "dev.conllu:19 (sent_id s2): candidate 1 has no parser_score"
    assert list(tmp_path.iterdir()) == []


# --- the lists that the original was run on --------------------------------------------------------------------------


@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"no {SHARED}")
@pytest.mark.parametrize(("part", "sentences"), [("dev", 2_001), ("test", 2_077)])
def test_the_original_lists(tmp_path, part, sentences):
    name = f"{part}-20-best-mst2ndorder.conll"
    kept: list[KBest] = []

    def seen():
        for kbest in group(read_sentences(SHARED / f"{name}.xz")):
            kept.append(kbest._replace(candidates=kbest.candidates[:1]))
            lengths.append(len(kbest.candidates))
            assert kbest.scores is not None
            assert all(map(math.isfinite, kbest.scores))
            assert list(kbest.scores) == sorted(kbest.scores, reverse=True)
            yield kbest.candidates

    lengths: list[int] = []
    write_mst(chain.from_iterable(seen()), tmp_path / name)
    assert len(lengths) == sentences
    assert max(lengths) == 20
    assert sum(lengths) / sentences == pytest.approx(17, abs=0.5)
    assert (tmp_path / f"{name}.mstscores").read_bytes() == (SHARED / f"{name}.mstscores").read_bytes()
    gold = read_conllu(f"ewt:{part}")
    same = sum(
        kbest.candidates[0].tree.forms == sentence.tree.forms for kbest, sentence in zip(kept, gold, strict=True)
    )
    assert same == sentences
