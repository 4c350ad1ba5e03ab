"""The commands and the Python of README and docs, run as they stand."""

import json
import re
import shlex
from pathlib import Path

import pytest
from small_parsers import OPTIONS
from typer.main import get_command

from experiments.ewt.run import tables
from ramify.cli import run
from ramify.cli.app import app
from ramify.formats import group, read_sentences

ROOT = Path(__file__).parent.parent
EWT = ROOT / "experiments" / "ewt"
SMALL = ["--hidden", "8", "--embedding", "8", "--projection", "8", "--epochs", "1"]
SMALL_PARSER = [*OPTIONS, "--epochs", "1", "--max-length", "15", "--batch-words", "2000"]


def run_as_it_stands(command: str) -> None:
    """A line of a console; a training is made small, or else it would take minutes."""
    name, *arguments = shlex.split(command, comments=True)
    assert name == "ramify"
    if arguments[0] == "train":
        arguments = [*(each.replace("ewt:train", "ewt:dev") for each in arguments), *SMALL]
    if arguments[0] == "train-parser":
        arguments = [*(each.replace("ewt:train", "ewt:dev") for each in arguments), *SMALL_PARSER]
    assert run(arguments) == 0, command


@pytest.fixture(scope="module")
def walked(tmp_path_factory):
    """A folder in which all commands of the README have run, one after the other."""
    folder = tmp_path_factory.mktemp("walk")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    consoles = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    commands = [line[2:] for console in consoles for line in console.splitlines() if line.startswith("$ ")]
    verbs = {command.split()[1] for command in commands}
    assert verbs >= {"draw", "stats", "convert", "encode", "train", "evaluate", "score", "info"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for command in commands:
            run_as_it_stands(command)
    return folder


def test_every_command_of_the_readme_runs(walked):
    assert (walked / "model" / "README.md").is_file()


def test_the_drawing_in_the_readme_is_what_the_command_draws(capsys):
    console = re.search(
        r"^```console\n\$ ramify (draw .*?)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    assert console is not None
    assert run(shlex.split(console[1])) == 0
    assert capsys.readouterr().out == console[2]


PAGES = {
    "README.md": "64 sentences",
    "docs/corpus.md": "12544",
    "docs/models.md": "P(S|T) 8",
    "docs/training.md": "",
    "docs/scoring.md": "(3, 8)",
    "docs/completion.md": "P(S|T) sum shared ('a', 'b', 'c')",
    "docs/reranking.md": "mix=1.0) 100.00 [100.00, 100.00]",
    "docs/parsing.md": "'root'",
}


@pytest.fixture(scope="module")
def completed(walked):
    """The same folder with the worked example of docs/completion.md: its files, and its commands run."""
    text = (ROOT / "docs" / "completion.md").read_text(encoding="utf-8")
    questions, answers = re.findall(r"^```csv\n(.*?)^```", text, re.M | re.S)
    (parses,) = re.findall(r"^```conllu\n(.*?)^```", text, re.M | re.S)
    for name, content in (("questions.csv", questions), ("answers.csv", answers), ("questions.conllu", parses)):
        (walked / name).write_text(content, encoding="utf-8")
    commands = re.findall(r"^\$ (.*)", text, re.M)
    assert [command.split()[1] for command in commands].count("complete") == 4
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(walked)
        for command in commands:
            if not command.startswith("ramify train") or "--model" in command:  # the walk has trained the first one
                run_as_it_stands(command)
    return walked


def test_the_tables_of_the_worked_example(completed):
    for name in ("tree", "lstm", "mixed"):
        rows = (completed / f"{name}.csv").read_text().splitlines()
        assert rows[0] == "id,choice,margin,kind,score_a,score_b,score_c"
        assert len(rows) == 3


@pytest.fixture(scope="module")
def reranked(walked):
    """The same folder with the worked example of docs/reranking.md."""
    text = (ROOT / "docs" / "reranking.md").read_text(encoding="utf-8")
    kbest, gold = re.findall(r"^```conllu\n(.*?)^```", text, re.M | re.S)
    for name, content in (("kbest.conllu", kbest), ("gold.conllu", gold)):
        (walked / name).write_text(content, encoding="utf-8")
    commands = [command for command in re.findall(r"^\$ (.*)", text, re.M) if not command.startswith("ramify train")]
    assert [command.split()[1] for command in commands].count("rerank") == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(walked)
        for command in commands:
            run_as_it_stands(command)
    return walked


@pytest.fixture(scope="module")
def parsed(walked):
    """The same folder with the worked example of docs/parsing.md."""
    text = (ROOT / "docs" / "parsing.md").read_text(encoding="utf-8")
    (notes,) = re.findall(r"^```text\n(.*?)^```", text, re.M | re.S)
    (walked / "notes.txt").write_text(notes, encoding="utf-8")
    (walked / "vectors.txt").write_text("the 1 2\nman 3 4\n", encoding="utf-8")
    commands = re.findall(r"^\$ (.*)", text, re.M)
    assert [command.split()[1] for command in commands].count("parse") == 3
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(walked)
        for command in commands:
            run_as_it_stands(command)
    return walked


def test_the_trees_of_the_worked_example(reranked):
    for name, count in (("best", 2), ("tuned", 2), ("reordered", 5)):
        assert (reranked / f"{name}.conllu").read_text().count("# rerank_score = ") == count


def test_the_files_of_the_parser_s_example(parsed):
    assert len(list(read_sentences(parsed / "notes.conllu"))) == 2
    lists = list(group(read_sentences(parsed / "notes.kbest.conllu")))
    assert [len(each.candidates) for each in lists] == [3, 3]
    assert [each.scores for each in group(read_sentences(parsed / "notes.conll"))] == [each.scores for each in lists]


@pytest.mark.parametrize("page", PAGES)
def test_python_examples_run(page, completed, reranked, parsed, capsys, monkeypatch):
    monkeypatch.chdir(completed)
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    assert examples
    names = {}
    for example in examples:
        exec(example, names)
    assert PAGES[page] in capsys.readouterr().out


@pytest.mark.parametrize("page", ["README.md", *sorted({*PAGES, "docs/performance.md"} - {"README.md"})])
def test_options_that_are_named_exist(page):
    """Every --option of a page is one of a verb (or of torchrun)."""
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text))
    torchrun = {"--standalone", *(f"--{name}" for name in ("nproc-per-node", "nnodes", "node-rank", "master-addr"))}
    torchrun |= {"--master-port", "--rdzv-id", "--rdzv-backend", "--rdzv-endpoint"}
    slurm = set(re.findall(r"^#SBATCH (--[a-z-]+)", text, re.M))
    own = {flag for verb in get_command(app).commands.values() for each in verb.params for flag in each.opts}
    own |= {flag for verb in get_command(app).commands.values() for each in verb.params for flag in each.secondary_opts}
    assert named - torchrun - slurm - own - {"--help"} == set()


def test_the_figures_of_ewt_are_those_of_the_runs():
    results = json.loads((EWT / "results.json").read_text(encoding="utf-8"))
    for page in (ROOT / "README.md", EWT / "README.md"):
        text = page.read_text(encoding="utf-8")
        for table in tables(results):
            assert table in text, page
    for kind, found in results.items():
        for each in found["runs"]:
            folder = EWT / "raw" / kind / f"seed-{each['seed']}"
            raw = json.loads((folder / "evaluate.json").read_text(encoding="utf-8"))
            assert (raw["ppl"], raw["signature"]) == (each["test_ppl"], each["signature"])


def test_the_figures_of_the_parser_are_those_of_its_log():
    folder = ROOT / "experiments" / "parser"
    log = [json.loads(line) for line in (folder / "raw" / "small" / "log.jsonl").read_text("utf-8").splitlines()]
    names = ("valid_uas", "valid_las", "valid_upos")
    rows = {
        f"| {each['epoch']} | {each['train_loss']:.4f} | {' | '.join(f'{each[name]:.2f}' for name in names)} |"
        for each in log
    }
    for page, least in ((folder / "README.md", 8), (ROOT / "docs" / "parsing.md", 5)):
        shown = set(re.findall(r"^\| \d \| \d\.\d{4} \|.*$", page.read_text(encoding="utf-8"), re.M))
        assert len(shown) == least
        assert shown <= rows


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_changelog_has_this_version():
    from ramify import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
