"""Training on a GPU: Ramify's kernels, its eager loop, cuDNN's LSTM and the ceilings, in one run."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ramify.benchmark.about import about, gpu
from ramify.benchmark.timing import median_ms
from ramify.benchmark.yardstick import LENGTH, Step, Yardstick
from ramify.corpus import Corpus, Encoding, Schedule, encode, open_store
from ramify.formats.files import whole_file
from ramify.kernels import choice
from ramify.kernels.softmax import negative_log_likelihood
from ramify.model.folder import make_model
from ramify.training.recipe import Recipe, load_recipe
from ramify.training.trainer import Interrupted, Trainer, Watcher

BATCHES = 10  # different ones
SOME = 60  # of those that a run has met
WORDS = 3_000_000  # about so many in a round, but
STEPS = 200  # no more steps than that


@dataclass(frozen=True)
class Case:
    """What is trained."""

    sentences: int
    model: str = "ldtree"
    hidden: int = 400
    embedding: int = 200
    projection: int | None = None
    objective: str = "nll"

    def recipe(self, **changes: Any) -> Recipe:
        sizes = {"hidden": self.hidden, "embedding": self.embedding, "projection": self.projection}
        return load_recipe(
            "paper-msr",
            model=self.model,
            objective=self.objective,
            batch_size=self.sentences,
            precision="bf16",
            lr=0.1,
            **sizes,
            **changes,
        )


CASES = [Case(64), Case(256), Case(1024), Case(512, hidden=800, projection=400), Case(64, objective="nce")]


@dataclass(frozen=True)
class Row:
    """One speed. The ratios are to cuDNN's full step and to the output layer alone, in the same run."""

    model: str
    hidden: int
    sentences: int
    words: int  # in a batch, on average
    kernel: str
    words_per_s: float
    ratio_to_cudnn: float | None
    ratio_to_ceiling: float | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(corpus: Corpus, cases: list[Case], device: torch.device) -> Iterator[Row]:
    """All speeds of all cases, as they become known."""
    for case in cases:
        rates, words = _rates(corpus, case, device)
        cudnn = max((rate for name, rate in rates.items() if name.startswith("cudnn")), default=None)
        ceiling = rates.get("output layer alone")
        name = case.model if case.objective == "nll" else f"{case.model}, {case.objective}"
        for kernel, rate in rates.items():
            to_cudnn = rate / cudnn if cudnn else None
            to_ceiling = rate / ceiling if ceiling else None
            yield Row(name, case.hidden, case.sentences, words, kernel, rate, to_cudnn, to_ceiling)


def _rates(corpus: Corpus, case: Case, device: torch.device) -> tuple[dict[str, float], int]:
    torch.manual_seed(1)
    trainer = _trainer(corpus, case, device)
    plan = Schedule(case.sentences).epoch(corpus, corpus.training)
    batches = [trainer.model.build(corpus, plan[i]) for i in range(min(BATCHES, len(plan)))]
    words = sum(batch.n_words for batch in batches)
    turns = max(1, min(STEPS // len(batches), WORDS // words))
    jobs: dict[str, Callable[[], object]] = {}
    counts: dict[str, int] = {}

    def add(name: str, job: Callable[[Any], object], given: list[Any], count: int) -> None:
        jobs[name] = lambda: [job(each) for _ in range(turns) for each in given]
        counts[name] = turns * count

    def forced(kernel: str) -> Callable[[Any], object]:
        def step(batch: Any) -> object:
            with choice.use(kernel):
                return trainer.step(batch)

        return step

    add("triton", forced("triton"), batches, words)
    add("eager", forced("eager"), batches[:2], sum(batch.n_words for batch in batches[:2]))
    add("scoring", lambda batch: _score(trainer, batch), batches, words)
    if case.objective == "nll":
        sizes = len(corpus.vocabulary), case.embedding, case.hidden, case.projection
        sentences = [
            torch.randint(len(corpus.vocabulary), (LENGTH, case.sentences), device=device) for _ in range(BATCHES)
        ]
        for dtype, name in ((torch.bfloat16, "bf16"), (torch.float32, "tf32")):
            step = Step(Yardstick(*sizes, dtype).to(device), case.sentences)
            add(f"cudnn {name}", step, sentences, LENGTH * case.sentences * BATCHES)
        states = [torch.randn(batch.n_words, case.projection or case.hidden, device=device) for batch in batches]
        targets = [trainer.model.targets(batch) for batch in batches]
        add("output layer alone", lambda both: _output(trainer, *both), list(zip(states, targets, strict=True)), words)
    times = median_ms(jobs)
    return {name: 1000 * counts[name] / ms for name, ms in times.items()}, round(words / len(batches))


def _trainer(corpus: Corpus, case: Case, device: torch.device, folder: Path = Path(), **more: Any) -> Trainer:
    recipe = case.recipe()
    model = make_model(recipe.config, corpus.vocabulary).to(device)
    torch.backends.cuda.matmul.allow_tf32 = True
    return Trainer(model, recipe, [corpus], (corpus, corpus.held_out), folder, **more)


def _score(trainer: Trainer, batch: Any) -> object:
    trainer.model.eval()
    with torch.autocast("cuda", torch.bfloat16):
        found = trainer.model.log_probabilities(batch)
    trainer.model.train()
    return found


def _output(trainer: Trainer, h: torch.Tensor, targets: torch.Tensor) -> None:
    output = trainer.model.output
    with torch.autocast("cuda", torch.bfloat16):
        negative_log_likelihood(h.bfloat16().requires_grad_(), output.weight, output.bias, targets).backward()
    output.zero_grad(set_to_none=True)


@dataclass(frozen=True)
class Run:
    """What `ramify train` itself sustains, beside the same steps with batches that were built before."""

    sentences: int
    hidden: int
    words: int
    seconds: float
    words_per_s: float
    second_half: float  # when most sizes of batches are recorded
    steps_alone: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def sustained(corpus: Corpus, case: Case, device: torch.device, seconds: float, threads: int) -> Run:
    """An epoch, or as much of it as the time allows: batches from the store, schedule, losses, checks, recordings."""
    marks = [(0.0, 0)]
    started = time.monotonic()

    def note(words: int, loss: float) -> None:
        marks.append((time.monotonic() - started, marks[-1][1] + words))

    with TemporaryDirectory() as folder:
        watcher = Watcher(step=note, stop=lambda: time.monotonic() - started > seconds)
        trainer = _trainer(corpus, case, device, Path(folder), watcher=watcher, threads=threads)
        started = time.monotonic()
        with suppress(Interrupted):
            trainer._train_epoch()
        torch.cuda.synchronize()
    words, took = trainer.state.words, trainer.state.seconds
    middle = next(mark for mark in marks if mark[1] >= marks[-1][1] / 2)
    late = (marks[-1][1] - middle[1]) / max(1e-9, marks[-1][0] - middle[0])
    plan = Schedule(case.sentences, seed=trainer.recipe.seed).epoch(corpus, corpus.training)
    batches = [trainer.model.build(corpus, plan[i]) for i in range(min(SOME, len(plan)))]
    for _ in range(2):
        _ = [trainer.step(batch) for batch in batches]
    alone = median_ms({"": lambda: [trainer.step(batch) for batch in batches]})[""]
    n = sum(batch.n_words for batch in batches)
    return Run(case.sentences, case.hidden, words, took, words / took, late, 1000 * n / alone)


def peaks(device: torch.device) -> str:
    """What the machine can do: a large product in bfloat16, and copying."""
    a, b = (torch.randn(8192, 8192, device=device, dtype=torch.bfloat16) for _ in range(2))
    there, back = (torch.empty(1 << 28, device=device) for _ in range(2))
    times = median_ms({"product": lambda: a @ b, "copy": lambda: back.copy_(there)})
    product, copy = 2 * 8192**3 / times["product"] / 1e9, 2 * 4 * (1 << 28) / times["copy"] / 1e9
    return f"{product:.0f} TFLOP/s in bfloat16, {copy:.2f} TB/s"


def report(
    store: Path | None, device: torch.device, seconds: float, threads: int, target: Path | None
) -> Iterator[str]:
    """The lines of the table; the same as JSON in a file."""
    with choice.chosen_kernel("triton", str(device)):
        pass  # refused where it cannot run
    corpus = open_store(store) if store else encode(["ewt:train"], Encoding(min_count=0))
    yield f"{gpu()}; {peaks(device)}"
    yield f"{corpus.n_words:,} words, V = {len(corpus.vocabulary):,}; bfloat16, SGD with a clip\n"
    yield f"{'model':<13}{'D':>5}{'sentences':>10}{'words':>7}  {'what':<20}{'words/s':>11}{'cuDNN':>9}{'ceiling':>10}"
    rows, runs = [], []
    for row in measure(corpus, CASES, device):
        rows.append(row.to_json())
        yield _line(row)
    yield f"\n{'ramify train':<13}{'D':>5}{'sentences':>10}{'words':>12}{'words/s':>11}{'late':>11}{'steps alone':>13}"
    for case in (Case(64), Case(1024), CASES[3]):
        run = sustained(corpus, case, device, seconds, threads)
        runs.append(run.to_json())
        rates = f"{run.words_per_s:>11,.0f}{run.second_half:>11,.0f}{run.steps_alone:>13,.0f}"
        yield f"{case.model:<13}{run.hidden:>5}{run.sentences:>10}{run.words:>12,}{rates}"
    if target is not None:
        about_it = [*about("torch", "triton", "numpy"), gpu()]
        with whole_file(target) as out:
            json.dump({"about": about_it, "rows": rows, "train": runs}, out, indent=1)


def _line(row: Row) -> str:
    ratios = (f"{each:.2f}" if each else "" for each in (row.ratio_to_cudnn, row.ratio_to_ceiling))
    to_cudnn, to_ceiling = ratios
    head = f"{row.model:<13}{row.hidden:>5}{row.sentences:>10}{row.words:>7}  {row.kernel:<20}"
    return f"{head}{row.words_per_s:>11,.0f}{to_cudnn:>9}{to_ceiling:>10}"
