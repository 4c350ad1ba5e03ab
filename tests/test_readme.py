"""The commands and the Python of README and docs, run as they stand."""

import re
import shlex
from pathlib import Path

import pytest

from ramify.cli import run

ROOT = Path(__file__).parent.parent


def test_every_command_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    consoles = re.findall(r"^```console\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    commands = [line[2:] for console in consoles for line in console.splitlines() if line.startswith("$ ")]
    assert len(commands) > 5
    for command in commands:
        name, *arguments = shlex.split(command, comments=True)
        assert name == "ramify"
        assert run(arguments) == 0, capsys.readouterr().err


def test_the_drawing_in_the_readme_is_what_the_command_draws(capsys):
    console = re.search(
        r"^```console\n\$ ramify (draw .*?)\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    assert console is not None
    assert run(shlex.split(console[1])) == 0
    assert capsys.readouterr().out == console[2]


@pytest.mark.parametrize("page", ["README.md"])
def test_python_examples_run(page, capsys):
    examples = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    assert examples
    for example in examples:
        exec(example, {})
    assert "64 sentences" in capsys.readouterr().out


def test_links_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_changelog_has_this_version():
    from ramify import __version__

    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
