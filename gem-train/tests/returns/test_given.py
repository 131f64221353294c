"""What may be given for numbers, labels and counts: tensors, entries that do not count, misfits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gem.errors import BadArguments
from gem.returns import (
    discounted_returns,
    dr_grpo,
    grpo,
    mt_grpo,
    mt_rloo,
    rebn,
    rebn_leave_one_out,
    rloo,
    to_turns,
)


class Scalar:
    """Stands for a scalar of torch: equal ones have different hashes."""

    ndim = 0

    def __init__(self, value: float) -> None:
        self.value = value

    def __array__(self, *args: Any, **options: Any) -> Any:
        return np.array(self.value)

    def item(self) -> float:
        return self.value


class Unreadable(Scalar):
    """Stands for a tensor of bfloat16, of a GPU or with a gradient: numpy cannot read it."""

    def __init__(self, value: float, error: Exception) -> None:
        super().__init__(value)
        self.error = error

    def __array__(self, *args: Any, **options: Any) -> Any:
        raise self.error

    def detach(self) -> Any:
        return self


REFUSALS = [TypeError("unsupported ScalarType BFloat16"), RuntimeError("it requires grad")]


def test_scalars_are_labels_by_their_value() -> None:
    labels: Any = [Scalar(1.0), Scalar(1.0), Scalar(2.0)]

    assert grpo([0.0, 1.0, 5.0], labels).tolist() == [-1.0, 1.0, 0.0]


@pytest.mark.parametrize("error", REFUSALS)
def test_scalars_that_numpy_cannot_read_are_labels_too(error: Exception) -> None:
    labels: Any = [Unreadable(1.0, error), Unreadable(1.0, error), Unreadable(2.0, error)]

    assert grpo([0.0, 1.0, 5.0], labels).tolist() == [-1.0, 1.0, 0.0]


def test_labels_of_a_tensor_are_those_of_its_values() -> None:
    torch = pytest.importorskip("torch")
    values = [1.0, 1.0, 2.0]
    wanted = [-1.0, 1.0, 0.0]

    for kind in (torch.float32, torch.bfloat16, torch.int64):
        tensor = torch.tensor(values, dtype=kind)
        assert grpo([0.0, 1.0, 5.0], tensor).tolist() == wanted
        assert grpo([0.0, 1.0, 5.0], list(tensor)).tolist() == wanted


def test_an_array_is_no_label() -> None:
    labels: Any = [np.zeros(2), "a"]

    with pytest.raises(BadArguments, match=r"groups holds what is no label \(an array of 1 dim"):
        grpo([0.0, 1.0], labels)


@pytest.mark.parametrize("error", REFUSALS)
@pytest.mark.parametrize("number", ["alone", "in a list"])
def test_tensors_that_numpy_cannot_read_are_refused_with_what_to_do(
    number: str, error: Exception
) -> None:
    tensor = Unreadable(1.0, error)
    returns: Any = tensor if number == "alone" else [1.0, tensor]

    with pytest.raises(BadArguments, match="returns is of tensors that") as caught:
        rebn(returns)

    assert str(error) in str(caught.value)
    assert "tensor.detach().float().cpu()" in str(caught.value)


def test_tensors_of_torch_that_numpy_cannot_read_are_refused_with_what_to_do() -> None:
    torch = pytest.importorskip("torch")
    half = torch.tensor([1.0, 0.0], dtype=torch.bfloat16)
    learned = torch.tensor([1.0, 0.0], requires_grad=True)

    for returns in (half, learned, list(half), list(learned)):
        with pytest.raises(BadArguments, match=r"detach\(\).float\(\).cpu\(\)"):
            grpo(returns, [0, 0])
    assert grpo(learned.detach().float().cpu(), [0, 0]).tolist() == [1.0, -1.0]


# what the mask leaves out


MASKED: dict[str, Callable[..., Any]] = {
    "rebn": rebn,
    "rebn_leave_one_out": lambda returns, **options: rebn_leave_one_out(
        returns, ["a", "b", "c"], **options
    ),
    "grpo": lambda returns, **options: grpo(returns, [0, 0, 0], **options),
    "dr_grpo": lambda returns, **options: dr_grpo(returns, [0, 0, 0], **options),
    "rloo": lambda returns, **options: rloo(returns, [0, 0, 0], **options),
    "mt_rloo": lambda returns, **options: mt_rloo(returns, [0, 0, 0], "abc", **options),
    "mt_grpo": lambda returns, **options: mt_grpo(returns, [0, 0, 0], "abc", **options),
}


@pytest.mark.parametrize("missing", [None, float("nan"), float("inf")])
@pytest.mark.parametrize("estimate", MASKED.values(), ids=list(MASKED))
def test_what_the_mask_leaves_out_needs_to_be_no_number(
    estimate: Callable[..., Any], missing: Any
) -> None:
    mask = [True, False, True]

    found = estimate([1.0, missing, 0.0], mask=mask)

    assert found.tolist() == estimate([1.0, 7.0, 0.0], mask=mask).tolist()
    assert found[1] == 0.0


@pytest.mark.parametrize("estimate", MASKED.values(), ids=list(MASKED))
def test_what_counts_must_be_finite(estimate: Callable[..., Any]) -> None:
    with pytest.raises(BadArguments, match=r"a number that is not finite \(nan at 2\)"):
        estimate([1.0, None, None], mask=[True, False, True])


# what would be cut


def test_complex_numbers_are_refused() -> None:
    returns: Any = [1 + 2j, 2]

    with pytest.raises(BadArguments, match="returns holds complex numbers"):
        rebn(returns)


@pytest.mark.parametrize("turns", [[1.5, 2.9], [1, -1], np.array([1.0, 0.5])])
def test_what_counts_no_turns_is_refused(turns: Any) -> None:
    with pytest.raises(BadArguments, match="and must have whole numbers from 0 on"):
        to_turns([1.0, 2.0], turns)


@pytest.mark.parametrize("turns", [[2, 0], (2, 0), [2.0, 0.0], np.array([2, 0], np.uint8)])
def test_turns_are_counted_by_whole_numbers_of_any_type(turns: Any) -> None:
    assert to_turns([1.0, 2.0], turns).tolist() == [1.0, 1.0]


def test_what_the_type_that_came_in_cannot_hold_is_refused() -> None:
    rewards = np.array([60_000, 60_000], np.float16)

    with pytest.raises(BadArguments, match="What was computed is beyond float16"):
        discounted_returns(rewards, 1.0)
    assert discounted_returns(rewards.astype(np.float32), 1.0).tolist() == [120_000, 60_000]
