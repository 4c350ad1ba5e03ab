"""What all models share: beginnings, dropout, batches, precision; and that they learn what can be learned."""

import math
from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of
from model_twins import KINDS, by_sentence, mixed_corpus, mixed_trees, small_model
from torch import Tensor

import ramify.formats
from ramify.model.config import Kind, ModelConfig
from ramify.model.folder import make_model
from ramify.model.language_model import LanguageModel
from ramify.model.output import NoiseContrastive
from ramify.tasks.evaluate import evaluate
from ramify.trees import EdgeType, Tree, dependency_path, dependents


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """For models as small as these, more than one only get in each other's way."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def _fresh(kind: Kind, **options: Any) -> LanguageModel:
    torch.manual_seed(0)
    return make_model(
        ModelConfig(kind, **{"hidden": 8, "embedding": 6, **options}), corpus_of(mixed_trees()).vocabulary
    )


def _gradients(model: LanguageModel, loss: Tensor) -> dict[str, Tensor]:
    model.zero_grad()
    loss.backward()
    return {name: p.grad.to_dense() for name, p in model.named_parameters() if p.grad is not None}


# --- beginnings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_begin_uniform_between_plus_and_minus_a_tenth(kind: Kind) -> None:
    model = _fresh(kind, layers=2, projection=5)
    for name, parameter in model.named_parameters():
        assert parameter.abs().max() <= 0.1, name
        assert parameter.numel() < 50 or 0.045 < parameter.std() < 0.07, name  # of a uniform: 0.0577
    model.initialise(0.02)
    assert max(float(parameter.detach().abs().max()) for parameter in model.parameters()) <= 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_the_forget_bias_is_added_to_forget_gates_alone(kind: Kind) -> None:
    plain, biased = _fresh(kind, layers=2), _fresh(kind, layers=2, forget_bias=1.5)
    seen = 0
    for (name, one), (_, other) in zip(plain.named_parameters(), biased.named_parameters(), strict=True):
        difference = (other - one).detach()
        if name.endswith("bias_x"):
            seen += 1
            i, f, o, u = difference.chunk(4, 1)
            torch.testing.assert_close(f, torch.full_like(f, 1.5))
            assert not torch.cat([i, o, u], 1).any()
        else:
            assert not difference.any(), name
    assert seen == {Kind.TREE: 2, Kind.LDTREE: 3, Kind.LSTM: 2, Kind.BILSTM: 4}[kind]


def test_the_same_seed_makes_the_same_model() -> None:
    for one, other in zip(_fresh(Kind.LDTREE).parameters(), _fresh(Kind.LDTREE).parameters(), strict=True):
        assert torch.equal(one, other)


# --- dropout ---------------------------------------------------------------------------------------------------------


def _states(model: LanguageModel) -> Tensor:
    _, corpus = mixed_corpus()
    with torch.no_grad():
        return model.states(model.build(corpus, corpus.everything))


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_is_off_in_evaluation(kind: Kind) -> None:
    _, corpus = mixed_corpus()
    plain = _fresh(kind, layers=2).eval()
    dropping = _fresh(kind, layers=2, dropout_input=0.5, dropout_between=0.5, dropout_output=0.5).eval()
    batch = plain.build(corpus, corpus.everything)
    assert torch.equal(plain.log_probabilities(batch), dropping.log_probabilities(batch))
    assert torch.equal(plain.loss(batch), dropping.loss(batch))


@pytest.mark.parametrize("kind", KINDS)
def test_no_dropout_no_difference_in_training(kind: Kind) -> None:
    model = _fresh(kind, layers=2)
    assert torch.equal(_states(model.train()), _states(model.eval()))


@pytest.mark.parametrize("kind", KINDS)
def test_output_dropout_touches_the_output_alone(kind: Kind) -> None:
    """And keeps the mean: what is left is made larger."""
    _, corpus = mixed_corpus()
    model = _fresh(kind, layers=2, dropout_output=0.2)
    assert torch.equal(_states(model.train()), _states(model.eval()))
    batch = model.build(corpus, corpus.everything)
    states, read = model.train().states(batch), model.before_output(batch)
    dropped = read == 0
    assert 0.1 < dropped.float().mean() < 0.3
    torch.testing.assert_close(read[~dropped], states[~dropped] / 0.8)


@pytest.mark.parametrize("kind", KINDS)
def test_input_dropout_touches_the_states(kind: Kind) -> None:
    model = _fresh(kind, dropout_input=0.5)
    calm = _states(model.eval())
    assert not torch.equal(_states(model.train()), calm)
    assert not torch.equal(_states(model), _states(model))


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_between_layers_needs_two_layers(kind: Kind) -> None:
    one, two = (_fresh(kind, layers=layers, dropout_between=0.5) for layers in (1, 2))
    assert torch.equal(_states(one.train()), _states(one.eval()))
    assert not torch.equal(_states(two.train()), _states(two.eval()))


def test_left_dependents_are_read_without_dropout() -> None:
    _, corpus = mixed_corpus()
    model = _fresh(Kind.LDTREE, ld_layers=2, dropout_input=0.5, dropout_between=0.5, dropout_output=0.5).train()
    batch = model.build(corpus, corpus.everything)
    read: list[Tensor] = []
    model.ld.register_forward_hook(lambda module, given, found: read.append(found[0]))
    one, other = (model.states(batch) for _ in range(2))
    assert not torch.equal(one, other)
    assert torch.equal(*read)


# --- batches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_scores_as_its_sentences_do(kind: Kind) -> None:
    trees, corpus = mixed_corpus(4)
    model = small_model(corpus.vocabulary, kind, layers=2)
    together = model.build(corpus, corpus.everything)
    found = by_sentence(together, model.log_probabilities(together))
    losses = []
    for i in range(len(trees)):
        alone = model.build(corpus, np.array([i], np.int32))
        torch.testing.assert_close(by_sentence(alone, model.log_probabilities(alone))[0], found[i], rtol=0, atol=1e-10)
        losses.append(model.loss(alone))
    whole = model.loss(together)
    torch.testing.assert_close(whole, torch.stack(losses).sum(), rtol=0, atol=1e-10)
    torch.testing.assert_close(whole.detach(), -torch.cat(found).sum(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_that_of_the_targets(kind: Kind) -> None:
    """Targets are the words of the rows, and of the end of a sentence where that is predicted."""
    _, corpus = mixed_corpus()
    model = _fresh(kind)
    batch = model.build(corpus, corpus.everything)
    ends = 0 if kind.reads_trees else len(corpus)
    expected = Counter(corpus.words.tolist()) + Counter({1: ends})
    assert Counter(model.targets(batch).tolist()) == expected
    assert len(model.states(batch)) == corpus.n_words + ends


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_over_all_words_sum_to_one_at_each_row(kind: Kind) -> None:
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind, projection=3)
    batch = model.build(corpus, corpus.everything)
    h = model.before_output(batch)
    words = len(corpus.vocabulary)
    total = sum(model.output.log_probabilities(h, torch.full((len(h),), word)).exp() for word in range(words))
    torch.testing.assert_close(total, torch.ones(len(h), dtype=torch.float64))


@pytest.mark.parametrize("kind", KINDS)
def test_evaluation_adds_up_the_log_probabilities(kind: Kind) -> None:
    trees = mixed_trees()
    corpus = corpus_of(trees, min_count=2)
    model = small_model(corpus.vocabulary, kind)
    batch = model.build(corpus, corpus.everything)
    found = by_sentence(batch, model.log_probabilities(batch))
    of_words = torch.cat([scores[: len(tree)] for scores, tree in zip(found, trees, strict=True)])
    unknown = torch.from_numpy(corpus.words == 0)
    assert 0 < unknown.sum() < len(unknown)
    result = evaluate(model, corpus)
    assert (result.words, result.unknown, result.sentences) == (len(of_words), int(unknown.sum()), len(trees))
    assert result.kind == kind.number
    assert result.logprob == pytest.approx(float(of_words.sum()), abs=1e-9)
    assert result.logprob_unknown == pytest.approx(float(of_words[unknown].sum()), abs=1e-9)
    assert result.ppl == pytest.approx(math.exp(-float(of_words.mean())))
    assert result.ppl_known == pytest.approx(math.exp(-float(of_words[~unknown].mean())))
    if kind.reads_trees:
        assert result.logprob_ends is None
    else:
        assert result.logprob_ends == pytest.approx(float(sum(scores[-1] for scores in found)), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_gradients_are_the_dense_ones(kind: Kind) -> None:
    """Of the embedding, and with NCE of the output matrix too."""
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind, layers=2)
    batch = model.build(corpus, corpus.everything)
    dense = _gradients(model, model.loss(batch))
    model.sparse_gradients = True
    sparse = _gradients(model, model.loss(batch))
    assert model.embedding.grad is not None
    assert model.embedding.grad.is_sparse
    torch.testing.assert_close(sparse, dense, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_with_noise_the_loss_is_nce_and_the_scores_are_not(kind: Kind) -> None:
    _, corpus = mixed_corpus()
    model = small_model(corpus.vocabulary, kind, output_bias=False)
    batch = model.build(corpus, corpus.everything)
    scores = model.log_probabilities(batch)
    model.noise = NoiseContrastive(torch.from_numpy(corpus.vocabulary.counts.copy()), 4).double()
    torch.manual_seed(3)
    loss = model.loss(batch)
    torch.manual_seed(3)
    expected = model.noise.loss(model.before_output(batch), model.targets(batch), model.output.weight)
    assert torch.equal(loss, expected)
    assert torch.equal(model.log_probabilities(batch), scores)
    assert model.noise.z.requires_grad
    assert "noise.z" in _gradients(model, loss)


# --- precision -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("noise", ["softmax", "nce", "shared nce"])
@pytest.mark.parametrize("options", [{}, {"projection": 6, "tied": True, "layers": 2}], ids=str)
def test_bfloat16_autocast_stays_near(kind: Kind, noise: str, options: dict[str, Any]) -> None:
    """The loss within a hundredth, gradients in float32 and of nearly the same direction."""
    _, corpus = mixed_corpus()
    model = _fresh(kind, **options)
    model.initialise(0.5)
    if noise != "softmax":
        counts = torch.from_numpy(corpus.vocabulary.counts.copy())
        model.noise = NoiseContrastive(counts, 4, shared=noise.startswith("shared"), log_z=2.0)
    batch = model.build(corpus, corpus.everything)
    losses, gradients = [], []
    for narrow in (False, True):
        torch.manual_seed(1)
        with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
            loss = model.loss(batch)
        losses.append(loss.item())
        gradients.append(_gradients(model, loss))
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    for name, wide in gradients[0].items():
        assert gradients[1][name].dtype == torch.float32
        direction = torch.nn.functional.cosine_similarity(gradients[1][name].flatten(), wide.flatten(), 0)
        assert direction > 0.98, name


# --- learning --------------------------------------------------------------------------------------------------------


def _contexts(tree: Tree, kind: Kind) -> Iterator[tuple[Hashable, str]]:
    """For each prediction all that the model may know, and the word that comes."""
    forms = ("", *tree.forms)
    if kind.reads_trees:
        sides = dependents(tree)
        for word in range(1, len(tree) + 1):
            known = []
            for step in dependency_path(tree, word):
                reads = kind is Kind.LDTREE and step.edge == EdgeType.RIGHT
                left = tuple(forms[each] for each in sides[step.word].left) if reads else ()
                known.append((forms[step.word], step.edge, left))
            yield tuple(known), forms[word]
        return
    for at, word in enumerate((*tree.forms, ""), 1):
        yield (forms[:at], forms[at + 1 :] if kind is Kind.BILSTM else ()), word


@pytest.mark.parametrize("kind", KINDS)
def test_ten_sentences_can_be_learned_by_heart(kind: Kind) -> None:
    """To within a fiftieth of a nat a word of the least loss there is: where two words follow the same context, no
    model can know which."""
    trees = list(islice((tree for tree in ramify.formats.read("ewt:dev") if 2 <= len(tree) <= 12), 10))
    seen = [pair for tree in trees for pair in _contexts(tree, kind)]
    pairs, contexts = Counter(seen), Counter(context for context, _ in seen)
    least = -sum(n * math.log(n / contexts[context]) for (context, _), n in pairs.items())
    assert least < len(seen)  # nearly all of it is the first word of each sentence

    corpus = corpus_of(trees)
    torch.manual_seed(1)
    model = make_model(ModelConfig(kind, hidden=24, embedding=12), corpus.vocabulary)
    batch = model.build(corpus, corpus.everything)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(250):
        optimiser.zero_grad()
        model.loss(batch).backward()
        optimiser.step()
    loss = -float(model.log_probabilities(batch).double().sum())
    assert least - 1e-3 < loss < least + 0.02 * len(seen)
