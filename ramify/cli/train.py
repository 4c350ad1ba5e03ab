"""ramify train: a model from stores or treebanks."""

from __future__ import annotations

import inspect
import math
import signal
import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ramify.cli.common import KernelName, KernelOption, Quiet, note
from ramify.errors import CallError

if TYPE_CHECKING:
    from ramify.corpus import Corpus
    from ramify.parsing.recipe import ParserRecipe
    from ramify.training.choices import Choices
    from ramify.training.recipe import Recipe
    from ramify.training.session import Plan


def train(
    sources: Annotated[
        list[str],
        typer.Argument(help="Stores or treebanks (ewt:train).", metavar="STORE|TREEBANK...", show_default=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of the model.", show_default=False)],
    recipe: Annotated[
        str | None,
        typer.Option(
            "--recipe",
            help="A recipe (modern, paper-msr, paper-ptb) or a TOML file of your own.",
            show_default="modern; with --from, that of the model",
        ),
    ] = None,
    valid: Annotated[
        str | None, typer.Option("--valid", help="A treebank or store for validation.", show_default="what is held out")
    ] = None,
    hold_out: Annotated[
        int | None, typer.Option("--hold-out", min=1, help="Hold out this many sentences for validation.")
    ] = None,
    begin_from: Annotated[
        Path | None, typer.Option("--from", help="Go on from this model, with its sizes and vocabulary.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", help="How often an epoch takes each source: 1,0.5.", show_default="1 each"),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="Pretrained vectors (GloVe text, .gz, .xz).")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint in the output folder.")] = False,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Train so many models in turn; mean and deviation.")] = 1,
    checkpoint_every: Annotated[
        float, typer.Option("--checkpoint-every", min=0.0, help="Minutes between checkpoints.")
    ] = 10.0,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:1.")] = "auto",
    kernel: KernelOption = KernelName.AUTO,
    threads: Annotated[int, typer.Option("--threads", min=0, help="Threads that build batches.")] = 1,
    force: Annotated[bool, typer.Option("--force", help="Replace a model that is already there.")] = False,
    quiet: Quiet = False,
    **chosen: Any,
) -> None:
    """Train a model.

    Every field of a recipe can be set here. Ctrl-C writes a checkpoint; the same command with --resume goes on from it.
    Under torchrun each process takes its share of every batch.
    """
    from ramify.kernels.choice import chosen_kernel
    from ramify.model.folder import CONFIG
    from ramify.training.distributed import group
    from ramify.training.recipe import load_recipe
    from ramify.training.session import Plan, adopt, best_ppl, can_resume, device_for, is_finished, prepare

    changes = {name: value for name, value in chosen.items() if value is not None}
    if begin_from is not None:
        base = load_recipe(recipe or _recipe_of(begin_from))
        resolved = adopt(replace(base, **changes), begin_from, asked=changes)
    else:
        resolved = replace(load_recipe(recipe or "modern"), **changes)
    plan = Plan(
        sources,
        valid,
        hold_out,
        begin_from,
        _weights(weights, len(sources)),
        vectors,
        device_for(device),
        threads,
        checkpoint_every * 60,
    )
    if seeds > 1 and (output / CONFIG).is_file():
        raise CallError(f"{output} is a model: several seeds need a folder of their own")
    with group(plan.device) as peers, chosen_kernel(kernel, plan.device):
        quiet = quiet or not peers.writes
        corpora, validation = prepare(plan, resolved)
        _note_left_out([*corpora, validation[0]], quiet)
        results = []
        for turn in range(seeds):
            folder = output if seeds == 1 else output / f"seed-{resolved.seed + turn}"
            this = replace(resolved, seed=resolved.seed + turn)
            again = resume and (seeds == 1 or folder.exists())  # of several seeds, some may not have been begun
            if again and seeds > 1 and is_finished(folder):
                results.append(best_ppl(plan, this, corpora, validation, folder))
                continue
            if again and not can_resume(folder):
                note(f"{folder} has no checkpoint yet: starting anew", quiet)
            results.append(_train_one(plan, this, corpora, validation, folder, again, force, peers, quiet))
        if seeds > 1 and peers.writes:
            deviation = statistics.stdev(results)
            print(f"valid ppl {statistics.mean(results):.2f} +- {deviation:.2f} over {seeds} seeds")


def _train_one(
    plan: Plan,
    recipe: Recipe,
    corpora: Any,
    validation: Any,
    folder: Path,
    resume: bool,
    force: bool,
    peers: Any,
    quiet: bool,
) -> float:
    from ramify.training.session import start

    with watching(recipe, quiet) as watcher:
        trainer = start(plan, recipe, corpora, validation, folder, resume, force, peers, watcher)
        note(f"{recipe.model}-{recipe.hidden}, {trainer.model.n_parameters:,} parameters, seed {recipe.seed}", quiet)
        state = trainer.run()
    ppl = math.exp(min(state.best_entropy, 700.0))
    if peers.writes:
        line = f"valid ppl {ppl:.2f} after epoch {state.best_epoch + 1}, {state.seconds / 60:.1f} minutes, in {folder}"
        print(line, flush=True)  # of several seeds, each when it is done
    return ppl


def _recipe_of(model: Path) -> str | Path:
    """The recipe of a model to go on from; a folder that is none is refused here."""
    from ramify.model.folder import RECIPE, read_config

    read_config(model)
    return model / RECIPE if (model / RECIPE).is_file() else "modern"


def _note_left_out(corpora: list[Corpus], quiet: bool) -> None:
    """Nothing is left out in silence."""
    counts = {id(corpus): corpus.about.get("left_out", {}).get("too_long", 0) for corpus in corpora}
    if total := sum(counts.values()):
        note(f"{total:,} sentences left out: too long", quiet)


def _weights(text: str | None, n: int) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise CallError(f"--weights are {n} numbers with commas between them, not {text!r}") from None


def _line(record: dict[str, Any]) -> str:
    """What is said of an epoch."""
    rolled = ", rolled back" if record.get("rolled_back") else ""
    return (
        f"epoch {record['epoch']:>3}  train loss {record['train_loss']:.3f}  valid ppl {record['valid_ppl']:.2f}"
        f"  lr {record['lr']:.2g}  {record['words_per_second']:,.0f} words/s{rolled}"
    )


@contextmanager
def watching(
    recipe: Recipe | ParserRecipe, quiet: bool, line: Callable[[dict[str, Any]], str] = _line
) -> Iterator[Any]:
    """Show progress; turn Ctrl-C and SIGTERM into a checkpoint, and then into the exit code that shells expect."""
    from ramify.training.trainer import Interrupted

    asked: list[int] = []

    def ask(number: int, frame: object) -> None:
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt  # Ctrl-C once more: at once; a scheduler may well send SIGTERM twice
        asked.append(number)
        if len(asked) == 1:
            note("\nstopping after this step; the checkpoint is being written")

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with display(recipe, quiet, line) as watcher:
            watcher.stop = lambda: bool(asked)
            yield watcher
    except Interrupted as stopped:
        note(f"ramify: {stopped}")
        raise typer.Exit(128 + (asked or [signal.SIGINT])[0]) from None  # or else a peer was asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def display(recipe: Recipe | ParserRecipe, quiet: bool, line: Callable[[dict[str, Any]], str] = _line) -> Iterator[Any]:
    """A watcher that shows a bar with rate and time left, and a line for each epoch."""
    from ramify.training.trainer import Watcher

    def say(record: dict[str, Any]) -> None:
        note(line(record), quiet)

    def say_vectors(found: int, words: int) -> None:
        note(f"vectors: {found:,} of {words:,} words found", quiet)

    if quiet or not sys.stderr.isatty():
        yield Watcher(vectors=say_vectors, valid=say)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("epoch {task.fields[epoch]}/" + str(recipe.epochs)),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]:,.0f} words/s  loss {task.fields[loss]:.3f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("training", epoch=1, rate=0.0, loss=0.0, total=None)
        words = 0

        def epoch(number: int, batches: int, done: int) -> None:
            nonlocal words
            words = 0
            bar.reset(task, total=batches, completed=done, epoch=number + 1, rate=0.0, loss=0.0)

        def step(n: int, loss: float) -> None:
            nonlocal words
            words += n
            elapsed = bar.tasks[0].elapsed or 1e-9
            bar.update(task, advance=1, rate=words / elapsed, loss=loss)

        yield Watcher(epoch, step, say_vectors, say)


def with_recipe_options(function: Callable[..., None], kind: type[Choices] | None = None) -> Callable[..., None]:
    """Give a verb an option for every field of a kind of recipe, without importing torch to know them."""
    from ramify.training.recipe import Recipe

    kind = kind or Recipe
    signature = inspect.signature(function, eval_str=True)
    options = []
    for each in fields(kind):
        flag = "--" + each.name.replace("_", "-")
        wanted = inspect.get_annotations(kind, eval_str=True)[each.name]
        switch = f"{flag}/--no-{flag[2:]}" if wanted is bool else flag
        option = typer.Option(switch, help=each.metadata["help"], rich_help_panel="Recipe", show_default=False)
        options.append(
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[wanted | None, option]
            )
        )
    own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    function.__signature__ = signature.replace(parameters=[*own, *options])  # type: ignore[attr-defined]
    return function
