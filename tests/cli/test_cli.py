"""The command line as a whole: help, versions, exit codes, and what goes to which stream."""

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ramify import __version__
from ramify.cli import run

GOOD = "# sent_id = s1\n1\tShe\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
CYCLE = "# sent_id = s2\n1\ta\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "some.conllu"
    path.write_text(GOOD + CYCLE + GOOD.replace("s1", "s3"), encoding="utf-8")
    return path


HEAVY = "{'torch', 'numba', 'numpy'} & set(sys.modules)"


@pytest.mark.parametrize("call", [["--help"], ["draw", "ewt:dev"], ["convert", "ewt:dev"]])
def test_looking_at_trees_loads_neither_torch_nor_numba_nor_numpy(call):
    check = f"import sys; from ramify.cli import run; run({call!r}); print(sorted({HEAVY}))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_verb_has_help(capsys):
    for verb in ("demo", "draw", "stats", "convert", "encode", "info"):
        assert run([verb, "--help"]) == 0
        assert f"ramify {verb}" in capsys.readouterr().out


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"ramify {__version__}\n"


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (["stats", "nowhere.conllu"], 2, "no such file: nowhere.conllu"),
        (["stats", "ewt:nothing"], 2, "bundled treebanks: ewt:train, ewt:dev, ewt:test"),
        (["draw", "ewt:dev", "--from", "99999"], 2, "has no sentence 99999"),
        (["draw", "ewt:dev", "--sent-id", "x"], 2, "no sentence of ewt:dev has the sent_id x"),
        (["draw", "ewt:dev", "-o", "tree.gif"], 2, "no picture has the suffix '.gif'"),
        (["draw", "ewt:dev", "--values", "Surprisal"], 2, "has Surprisal= in MISC"),
        (["draw", "ewt:dev", "--standalone", "-n", "2", "-o", "t.tex"], 2, "holds one tree"),
        (["convert", "ewt:dev", "-o", "dev.xml"], 2, "no format has the suffix '.xml'"),
        (["convert", "ewt:dev", "-o", "nowhere/dev.conllu"], 2, "no such folder: nowhere"),
        (["convert", "ewt:dev", "--encoding", "klingon"], 2, "unknown encoding: klingon"),
        (["info", "nowhere"], 2, "no such store: nowhere"),
        (["encode", "ewt:dev", "-o", "store", "--hold-out", "9999"], 2, "cannot hold out 9999 of 2001 sentences"),
        (["encode", "ewt:dev", "-o", "nowhere/store"], 2, "no such folder: "),
        (["encode", "ewt:dev", "-o", "store", "--vocabulary", "nothing.json"], 2, "no such vocabulary"),
    ],
)
def test_a_wrong_call_is_explained_and_exits_with_2(call, code, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(call) == code
    shown = capsys.readouterr()
    assert shown.err.startswith("ramify: ")
    assert said in shown.err
    assert shown.out == ""
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_option_exits_with_2(capsys):
    assert run(["stats", "ewt:dev", "--colour"]) == 2
    assert "--colour" in capsys.readouterr().err


@pytest.mark.parametrize("verb", ["stats", "convert", "draw"])
def test_a_malformed_sentence_has_an_address_and_exits_with_1(verb, treebank, capsys):
    assert run([verb, str(treebank), *(["-n", "3"] if verb == "draw" else [])]) == 1
    error = f"ramify: {treebank}:6 (sent_id s2): words 1 and 2 form a cycle, and no word has head 0"
    assert capsys.readouterr().err.startswith(error)


def test_skipped_sentences_are_named_and_counted(treebank, tmp_path, capsys):
    for call in (
        ["stats", str(treebank)],
        ["convert", str(treebank)],
        ["draw", str(treebank), "-n", "3"],
        ["encode", str(treebank), "-o", str(tmp_path / "store")],
    ):
        assert run([*call, "--on-error", "skip"]) == 0
        said = capsys.readouterr().err
        assert f"skipped {treebank}:6 (sent_id s2): words 1 and 2 form a cycle" in said
        assert "1 malformed sentence skipped" in said


def test_convert_to_standard_output_changes_no_byte(treebank, tmp_path, capsysbinary):
    good = tmp_path / "good.conllu"
    good.write_bytes(
        GOOD.encode() + "# text = Müller 東京\r\n1\tMüller\t_\t_\t_\t_\t0\troot\t_\tX=a=b\r\n\r\n".encode()
    )
    assert run(["convert", str(good)]) == 0
    assert capsysbinary.readouterr().out == good.read_bytes()


def test_convert_through_other_formats_and_back(tmp_path, capsys):
    first, x, again = tmp_path / "a.conllu.gz", tmp_path / "b.conll", tmp_path / "c.conllu.xz"
    assert run(["convert", "ewt:dev", "-o", str(first)]) == 0
    assert "2,001 sentences written" in capsys.readouterr().err
    assert run(["convert", str(first), "-o", str(x), "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["convert", str(x), "-o", str(again)]) == 0
    from ramify import read

    assert list(read(again)) == list(read("ewt:dev"))


def test_lifting_and_skipping(tmp_path, capsys):
    from ramify import is_projective, read

    out = tmp_path / "lifted.conllu"
    assert run(["convert", "ewt:test", "--nonprojective", "lift", "-o", str(out)]) == 0
    lifted = list(read(out))
    assert len(lifted) == 2077
    assert all(map(is_projective, lifted))
    capsys.readouterr()
    assert run(["convert", "ewt:test", "--nonprojective", "skip", "-o", str(out)]) == 0
    left_out = sum(not is_projective(tree) for tree in read("ewt:test"))
    assert f"{left_out} non-projective sentences left out" in capsys.readouterr().err
    assert len(list(read(out))) == 2077 - left_out


def test_standard_input(monkeypatch, capsys):
    import io

    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert run(["stats", "-"]) == 0
    assert "sentences                    1" in capsys.readouterr().out


def test_stats_as_json_and_histograms(capsys):
    assert run(["stats", "ewt:test", "--json", "--histograms"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sentences"], found["words"]) == (2077, 25094)
    assert sum(found["edges"].values()) == 25094
    assert sum(found["histograms"]["length"]) == 2077
    assert found["length"]["max"] == len(found["histograms"]["length"]) - 1
    assert run(["stats", "ewt:test", "--histograms"]) == 0
    assert "dependency length" in capsys.readouterr().out


def test_encode_info_and_stats_of_a_store(tmp_path, capsys):
    store = str(tmp_path / "store")
    call = ["encode", "ewt:dev", "ewt:test", "-o", store, "--hold-out", "100", "--max-length", "60", "--lowercase"]
    assert run(call) == 0
    said = capsys.readouterr().err
    assert "100 sentences held out (seed 1)" in said
    assert "left out: too long" in said
    assert run(call) == 2
    assert "--force replaces a store" in capsys.readouterr().err
    assert run([*call, "--force", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert run(["info", store]) == 0
    assert "all checksums right" in capsys.readouterr().out
    assert run(["info", store, "--json"]) == 0
    meta = json.loads(capsys.readouterr().out)
    assert run(["stats", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["words"] == meta["words"]
    other = str(tmp_path / "other")
    assert run(["encode", "ewt:test", "-o", other, "--vocabulary", store]) == 0
    assert (Path(other) / "vocabulary.json").read_bytes() == (Path(store) / "vocabulary.json").read_bytes()


def test_a_damaged_store_exits_with_1(tmp_path, capsys):
    store = tmp_path / "store"
    assert run(["encode", "ewt:test", "-o", str(store)]) == 0
    (store / "heads.npy").write_bytes((store / "heads.npy").read_bytes()[:-1])
    assert run(["stats", str(store)]) == 1
    assert "heads.npy has" in capsys.readouterr().err


def test_draw_in_three_forms(tmp_path, capsys):
    for name, start in (("t.svg", "<svg"), ("t.tex", "\\begin{dependency}"), ("t.txt", "ewt:dev:1 ")):
        out = tmp_path / name
        assert run(["draw", "ewt:dev", "-o", str(out), "--edge-types", "--levels", "--upos", "-n", "2"]) == 0
        assert start in out.read_text(encoding="utf-8")


def test_draw_shows_values_from_misc(tmp_path, capsys):
    path = tmp_path / "scored.conllu"
    path.write_text(GOOD.replace("nsubj\t_\t_", "nsubj\t_\tSurprisal=4.25|SpaceAfter=No"), encoding="utf-8")
    assert run(["draw", str(path), "--values", "Surprisal"]) == 0
    assert "4.25" in capsys.readouterr().out


def test_a_compressed_picture(tmp_path):
    assert run(["draw", "ewt:dev", "-o", str(tmp_path / "t.svg.gz")]) == 0
    assert gzip.decompress((tmp_path / "t.svg.gz").read_bytes()).startswith(b"<svg")


def test_draw_reads_no_further_than_the_sentence_it_looks_for(treebank, capsys):
    assert run(["draw", str(treebank), "--sent-id", "s1"]) == 0
    assert "sleeps" in capsys.readouterr().out


def test_draw_leaves_out_non_projective_trees_when_asked(capsys):
    assert run(["draw", "ewt:dev", "-n", "100", "--nonprojective", "skip"]) == 0
    shown = capsys.readouterr()
    assert (shown.out.count("ewt:dev:"), shown.err) == (95, "5 non-projective sentences left out\n")


MAIN = [sys.executable, "-c", "from ramify.cli import main; main()"]


def test_output_is_utf_8_whatever_the_environment(tmp_path):
    treebank = os.fsencode(tmp_path) + b"/caf\xe9.conllu"
    Path(os.fsdecode(treebank)).write_text(GOOD.replace("She", "Zoë"), encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    for call, shown in ((["stats", "--histograms"], "█ 2"), (["draw"], "┌── Zoë"), (["draw"], "caf\ufffd.conllu:1 ")):
        done = subprocess.run([*MAIN, *call, treebank], capture_output=True, env=ascii_only, check=True)
        assert shown in done.stdout.decode("utf-8")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("verb", ["convert", "draw", "stats"])
def test_a_full_disk_is_said_once_and_exits_with_1(verb):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run([*MAIN, verb, "ewt:dev"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "ramify: No space left on device\n")


def test_interrupted_by_head(tmp_path):
    pipe = f"{sys.executable} -c 'from ramify.cli import main; main()' convert ewt:train | head -n 1"
    done = subprocess.run(["bash", "-c", pipe], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("# newdoc")
    assert done.stderr == ""


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    """Encoding with two processes is interrupted: exit code 130, no store, no temporary folder, no stray process."""
    import signal

    big = tmp_path / "big.conllu"
    big.write_text(GOOD * 300_000, encoding="utf-8")
    call = [sys.executable, "-c", "from ramify.cli import main; main()", "encode", str(big), str(big)]
    run = subprocess.Popen(
        [*call, "-o", str(tmp_path / "store"), "--processes", "2"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not list(tmp_path.glob(".store.*")) and run.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["big.conllu"]
