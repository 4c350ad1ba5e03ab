"""The fast recurrence equals the slow and obvious one, and both equal torch.nn.LSTM where that can be asked."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from corpus_twins import corpus_of, plain, random_tree, shapes
from hypothesis import given
from hypothesis import strategies as st
from model_twins import PLAIN_KERNELS, mixed_trees, rows_of, torch_order
from torch import Tensor, nn

from ramify.cli.common import KernelName
from ramify.corpus import build_batch, build_sequence_batch
from ramify.errors import CallError
from ramify.kernels import choice, eager, reference
from ramify.kernels.rows import Rows, chain_rows, make_rows, sequence_rows, tree_rows

SIZE = 3
CLOSE = {"rtol": 0.0, "atol": 1e-10}


def _numbers(rows: Rows, seed: int = 0, size: int = SIZE) -> tuple[Tensor, Tensor]:
    """Inputs and weights for rows."""
    torch.manual_seed(seed)
    inputs = torch.randn(len(rows), 4 * size, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(rows.sets, 4 * size, size, dtype=torch.float64, requires_grad=True)
    return inputs, weights


def _random_weights(rows: Rows, size: int = SIZE) -> Tensor:
    return torch.randn(len(rows) + 1, size, dtype=torch.float64)


def assert_same(rows: Rows, arriving: Callable[[Rows], Tensor] = _random_weights, initial: float = 0.01) -> None:
    """States, and the gradients of everything, when `arriving` is the gradient of the states."""
    inputs, weights = _numbers(rows)
    gradient = arriving(rows)
    slow = reference.recur(inputs, weights, initial, rows)
    leaves = [weights, inputs]
    if slow.requires_grad:
        expected = torch.autograd.grad(slow, leaves, gradient, allow_unused=True, materialize_grads=True)
    else:  # there are no rows at all
        expected = tuple(map(torch.zeros_like, leaves))
    fast = eager.recur(inputs, weights, initial, rows)
    found = torch.autograd.grad(fast, leaves, gradient)
    torch.testing.assert_close(fast, slow, **CLOSE)
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)


@pytest.mark.parametrize("what", ["trees", "chains", "sequences"])
class TestEqualsTheReference:
    @pytest.mark.parametrize("seed", range(6))
    def test_in_a_batch_of_one(self, what: str, seed: int) -> None:
        random = np.random.default_rng(seed)
        assert_same(rows_of(what, [random_tree(random, 3 + 2 * seed)]))

    @pytest.mark.parametrize("seed", range(3))
    def test_in_a_batch_of_many(self, what: str, seed: int) -> None:
        assert_same(rows_of(what, mixed_trees(seed)))

    @pytest.mark.parametrize("name", shapes(6))
    def test_on_extreme_shapes(self, what: str, name: str) -> None:
        assert_same(rows_of(what, [shapes(6)[name], shapes(3)[name]]))

    def test_on_one_word(self, what: str) -> None:
        assert_same(rows_of(what, [plain([0])]))

    def test_from_another_start(self, what: str) -> None:
        assert_same(rows_of(what, mixed_trees(3)), initial=-0.6)

    def test_when_only_some_rows_are_used(self, what: str) -> None:
        def some(rows: Rows) -> Tensor:
            return _random_weights(rows) * (torch.rand(len(rows) + 1, 1) < 0.3)

        assert_same(rows_of(what, mixed_trees(4)), some)

    def test_when_only_the_last_row_is_used(self, what: str) -> None:
        def last(rows: Rows) -> Tensor:
            return _random_weights(rows) * (torch.arange(len(rows) + 1)[:, None] == len(rows))

        assert_same(rows_of(what, mixed_trees(5)), last)

    def test_when_the_initial_state_is_used(self, what: str) -> None:
        """Row 0 is a constant: a gradient that arrives there goes nowhere."""

        def mostly_first(rows: Rows) -> Tensor:
            gradient = _random_weights(rows)
            gradient[0] = 1e6
            return gradient

        assert_same(rows_of(what, mixed_trees(6)), mostly_first)

    def test_when_the_gradient_is_no_plain_tensor(self, what: str) -> None:
        """The gradient of a sum is one number for all rows; that of a transposed product has strides of its own."""
        rows = rows_of(what, mixed_trees(7))
        one = torch.ones((), dtype=torch.float64)
        assert_same(rows, lambda rows: one.expand(len(rows) + 1, SIZE))
        assert_same(rows, lambda rows: torch.randn(SIZE, len(rows) + 1, dtype=torch.float64).t())


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(["trees", "chains", "sequences"]))
def test_equals_the_reference_on_any_trees(seed: int, count: int, what: str) -> None:
    random = np.random.default_rng(seed)
    assert_same(rows_of(what, [random_tree(random, int(n)) for n in random.integers(1, 8, count)]))


def test_no_rows_are_the_initial_state() -> None:
    empty = np.zeros(0, np.int32)
    corpus = corpus_of([plain([0])])
    batch = build_batch(corpus, empty)
    for rows in (tree_rows(batch), chain_rows(batch), sequence_rows(build_sequence_batch(corpus, empty))):
        inputs, weights = _numbers(rows)
        states = eager.recur(inputs, weights, 0.01, rows)
        assert states.tolist() == [[0.01] * SIZE]
        states.sum().backward()
        assert weights.grad is not None
        assert not weights.grad.any()


def test_levels_without_rows_do_no_harm() -> None:
    rows = make_rows(np.array([0, 0, 0, 1]), np.array([[0], [3], [0], [0]]), np.array([1, 2, 3, 3, 4, 4, 4]), 2)
    assert rows.n_levels == 3
    assert_same(rows)


@pytest.mark.parametrize("what", ["trees", "chains", "sequences"])
def test_gradients_are_those_of_finite_differences(what: str) -> None:
    rows = rows_of(what, [plain([3, 3, 0, 3, 3]), plain([0, 0])])
    inputs, weights = _numbers(rows, size=2)
    assert torch.autograd.gradcheck(lambda w, x: eager.recur(x, w, 0.01, rows), (weights, inputs))


def test_inputs_and_arriving_gradients_are_left_alone() -> None:
    rows = rows_of("trees", mixed_trees())
    inputs, weights = _numbers(rows)
    gradient = _random_weights(rows)
    before = [each.detach().clone() for each in (inputs, weights, gradient)]
    eager.recur(inputs, weights, 0.01, rows).backward(gradient)
    for now, then in zip((inputs, weights, gradient), before, strict=True):
        assert torch.equal(now, then)


def test_the_same_again_gives_the_same_bits() -> None:
    rows = rows_of("trees", mixed_trees())

    def once() -> list[Tensor]:
        inputs, weights = _numbers(rows)
        states = eager.recur(inputs, weights, 0.01, rows)
        return [states, *torch.autograd.grad(states.square().sum(), [weights, inputs])]

    assert all(torch.equal(one, other) for one, other in zip(once(), once(), strict=True))


def test_two_uses_add_their_gradients() -> None:
    """Two runs before one backward pass, as for the layers of a stack whose weights were tied."""
    rows, other = rows_of("trees", mixed_trees(1)), rows_of("trees", mixed_trees(2))
    (inputs, weights), (further, _) = _numbers(rows), _numbers(other, 1)

    def grads(kernel: choice.Recur) -> tuple[Tensor, ...]:
        total = kernel(inputs, weights, 0.01, rows).square().sum() + kernel(further, weights, 0.3, other).sin().sum()
        return torch.autograd.grad(total, [weights, inputs, further])

    for ours, theirs in zip(grads(eager.recur), grads(reference.recur), strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)


def test_gradients_pass_through_two_layers() -> None:
    rows = rows_of("trees", mixed_trees(1))
    inputs, weights = _numbers(rows)
    above = torch.randn(rows.sets, 4 * SIZE, SIZE, dtype=torch.float64, requires_grad=True)

    def grads(kernel: choice.Recur) -> tuple[Tensor, ...]:
        h = kernel(inputs, weights, 0.01, rows)
        below = torch.cat([h[rows.order[part]] @ above[z].t() for z, part in enumerate(rows.of_sets)])
        top = kernel(below, weights, 0.01, rows)
        return torch.autograd.grad((top + h).square().sum(), [weights, above, inputs])

    for ours, theirs in zip(grads(eager.recur), grads(reference.recur), strict=True):
        torch.testing.assert_close(ours, theirs, **CLOSE)


def test_without_gradients() -> None:
    rows = rows_of("trees", mixed_trees())
    inputs, weights = _numbers(rows)
    with torch.no_grad():
        states = eager.recur(inputs, weights, 0.01, rows)
    assert not states.requires_grad
    torch.testing.assert_close(states, reference.recur(inputs, weights, 0.01, rows).detach(), **CLOSE)


def test_float32_is_as_near_as_float32_can_be() -> None:
    rows = rows_of("trees", mixed_trees())
    inputs, weights = _numbers(rows)
    narrow = eager.recur(inputs.detach().float(), weights.detach().float(), 0.01, rows)
    assert narrow.dtype == torch.float32
    torch.testing.assert_close(narrow.double(), eager.recur(inputs, weights, 0.01, rows).detach(), rtol=0, atol=1e-5)


# --- torch's own -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", PLAIN_KERNELS)
def test_one_step_is_torchs_lstm_cell(kernel: choice.Kernel) -> None:
    torch.manual_seed(0)
    cell = nn.LSTMCell(2, SIZE, dtype=torch.float64)
    x = torch.randn(4, 2, dtype=torch.float64)
    start = torch.full((4, SIZE), 0.01, dtype=torch.float64)
    expected = cell(x, (start, start))[0]
    back = torch_order  # exchanging o and u twice is doing nothing, so the same function leads back
    rows = make_rows(np.zeros(5), np.zeros((5, 1)), np.array([1, 5]), 1)
    inputs = x @ back(cell.weight_ih).t() + back(cell.bias_ih) + back(cell.bias_hh)
    with choice.use(kernel):
        found = choice.recur(inputs, back(cell.weight_hh)[None], 0.01, rows)[1:]
    torch.testing.assert_close(found, expected, **CLOSE)
    parameters, some = list(cell.parameters()), torch.randn_like(expected)
    ours, theirs = (torch.autograd.grad((h * some).sum(), parameters) for h in (found, expected))
    torch.testing.assert_close(ours, theirs, **CLOSE)


@pytest.mark.parametrize("kernel", PLAIN_KERNELS)
@pytest.mark.parametrize("z", range(4))
def test_a_chain_under_one_edge_type_is_torchs_lstm(kernel: choice.Kernel, z: int) -> None:
    """Set z computes every row, the other three none."""
    n = 6
    torch.manual_seed(z)
    lstm = nn.LSTM(2, SIZE, dtype=torch.float64)
    x = torch.randn(n, 2, dtype=torch.float64, requires_grad=True)
    start = torch.full((1, SIZE), 0.01, dtype=torch.float64)
    expected = lstm(x, (start, start))[0]

    predecessor = np.array([0, *range(n)])
    successors = np.zeros((n + 1, 3))
    successors[1:n, z % 3] = np.arange(2, n + 1)
    groups = [1] + [row + (edge >= z) for row in range(1, n + 1) for edge in range(4)]
    rows = make_rows(predecessor, successors, np.array(groups), 4)
    inputs = x @ torch_order(lstm.weight_ih_l0).t() + torch_order(lstm.bias_ih_l0) + torch_order(lstm.bias_hh_l0)
    weights = torch.randn(4, 4 * SIZE, SIZE, dtype=torch.float64)
    weights = torch.cat([weights[:z], torch_order(lstm.weight_hh_l0)[None], weights[z + 1 :]])
    with choice.use(kernel):
        found = choice.recur(inputs, weights, 0.01, rows)[1:]
    torch.testing.assert_close(found, expected, **CLOSE)
    leaves, some = [x, *lstm.parameters()], torch.randn_like(expected)
    ours, theirs = (torch.autograd.grad((h * some).sum(), leaves) for h in (found, expected))
    torch.testing.assert_close(ours, theirs, **CLOSE)


# --- the choice ------------------------------------------------------------------------------------------------------


def test_a_kernel_is_chosen_for_a_while() -> None:
    rows = rows_of("trees", [plain([0])])
    inputs, weights = _numbers(rows)

    def who() -> str:
        states = choice.recur(inputs, weights, 0.01, rows)
        return "eager" if "Recurrence" in type(states.grad_fn).__name__ else "reference"

    assert who() == "eager"
    with choice.use("reference"):
        assert who() == "reference"
        with choice.use(choice.Kernel.EAGER):
            assert who() == "eager"
        assert who() == "reference"
    with pytest.raises(RuntimeError, match="inside"), choice.use("reference"):
        raise RuntimeError("inside")
    assert who() == "eager"
    with pytest.raises(ValueError, match="slow"), choice.use("slow"):
        pass


def test_a_kernel_is_chosen_by_name() -> None:
    rows = rows_of("trees", [plain([0])])
    inputs, weights = _numbers(rows)
    with choice.chosen_kernel("reference", "cpu"):
        assert "Recurrence" not in type(choice.recur(inputs, weights, 0.01, rows).grad_fn).__name__
    with choice.chosen_kernel("auto", "cpu"):
        assert choice.current(weights) is choice.Kernel.EAGER
    with pytest.raises(CallError, match="needs an NVIDIA GPU"), choice.chosen_kernel("triton", "cpu"):
        pass


def test_the_command_line_knows_the_kernels() -> None:
    assert set(KernelName) == {"auto", *choice.Kernel}
