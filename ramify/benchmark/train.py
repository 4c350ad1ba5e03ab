"""Training on a GPU: Ramify's kernels, its eager loop, cuDNN's LSTM and the ceilings, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from ramify.benchmark.timing import median_ms
from ramify.benchmark.yardstick import LENGTH, Step, Yardstick
from ramify.corpus import Corpus, Schedule
from ramify.kernels import choice
from ramify.kernels.softmax import negative_log_likelihood
from ramify.model.folder import make_model
from ramify.training.recipe import Recipe, load_recipe
from ramify.training.trainer import Interrupted, Trainer, Watcher

BATCHES = 10  # different ones
WORDS = 400_000  # about so many in a round, but
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


def sustained(corpus: Corpus, case: Case, device: torch.device, seconds: float = 30.0, threads: int = 4) -> float:
    """Words/s of `ramify train` itself: batches built ahead from the store, schedule, losses, checks."""
    with TemporaryDirectory() as folder:
        started = time.monotonic()
        watcher = Watcher(stop=lambda: time.monotonic() - started > seconds)
        trainer = _trainer(corpus, case, device, Path(folder), watcher=watcher, threads=threads)
        return _words_per_second(trainer)


def _words_per_second(trainer: Trainer) -> float:
    with suppress(Interrupted):
        trainer._train_epoch()
    torch.cuda.synchronize()
    return trainer.state.words / trainer.state.seconds
