"""The training loop: what a step does, and how a later run continues."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from optional import later

from intentmatch.adaptation.training import Training
from intentmatch.core.errors import IntentMatchError
from intentmatch.runtime import steps

torch = later("torch", reason="needs the extra [torch]")

TOTAL = 60  # more than the steps between two saves


@pytest.fixture
def training(tmp_path: Path) -> Callable[..., Training]:
    """Make the training of a small network with dropout, whose loss needs random numbers of numpy and torch."""

    def make(file: str = "state.safetensors", stop_at: int | None = None, **more: Any) -> Training:
        torch.manual_seed(5)
        model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))

        def loss(step: int) -> Any:
            if step == stop_at:
                raise KeyboardInterrupt
            inputs = torch.tensor([[1.0, step % 3, step % 5]])
            return (model(inputs) - 1.0).square().sum()

        options = {"total": TOTAL, "rate": 0.01, "seed": 0, "identity": {"registry": "one"}} | more
        made = Training(model, options.pop("loss", loss), file=tmp_path / file, **options)
        made.network = model
        return made

    return make


def weights(training: Any) -> list[Any]:
    return [weight.detach().clone() for weight in training.network.parameters()]


def same(one: Any, other: Any) -> bool:
    return all(torch.equal(a, b) for a, b in zip(weights(one), weights(other), strict=True))


def test_interrupted_training_continues_to_the_same_weights(training: Callable[..., Training]) -> None:
    whole = training("whole.safetensors")
    whole.run("training")
    killed = training(stop_at=55)
    with pytest.raises(KeyboardInterrupt):
        killed.run("training")

    again = training()

    assert again.step == 50
    assert not same(again, whole)
    again.run("training")
    assert same(again, whole)
    assert again.loss == whole.loss


def test_finished_training_is_read_back(training: Callable[..., Training]) -> None:
    first = training()
    first.run("training")

    again = training(stop_at=0)
    again.run("training")

    assert same(again, first)


@pytest.mark.parametrize("spoil", ["identity", "file"])
def test_state_of_something_else_is_not_continued(
    training: Callable[..., Training], tmp_path: Path, spoil: str
) -> None:
    training().run("training")
    if spoil == "file":
        (tmp_path / "state.safetensors").write_bytes(b"no tensors")

    assert training(identity={"registry": "other" if spoil == "identity" else "one"}).step == 0


def test_loss_decreases_and_learning_rate_decays_to_zero(training: Callable[..., Training]) -> None:
    seen: list[tuple[int, float]] = []
    made = training()
    optimizer = made._optimizer
    made.run("training", lambda step: seen.append((step, optimizer.param_groups[0]["lr"])) or "")

    rates = [rate for _, rate in seen]
    assert [step for step, _ in seen] == list(range(1, TOTAL + 1))
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == 0.01
    assert rates[-1] == pytest.approx(0.01 / TOTAL)
    assert made.loss < 1.0


def test_progress_has_loss_and_what_the_check_found(training: Callable[..., Training]) -> None:
    reported: list[steps.Step] = []
    with steps.listening(reported.append):
        training().run("fold 1", lambda step: ", right" if step == 20 else "")

    assert reported[0] == steps.Step("fold 1", 0, TOTAL, None)
    assert all(step.name.startswith("fold 1 (loss ") for step in reported[1:])
    assert [", right" in step.name for step in reported] == [number >= 20 for number in range(TOTAL)]
    assert reported[-1].done == TOTAL - 1
    assert reported[-1].seconds_left is not None


def test_random_numbers_of_the_caller_stay(training: Callable[..., Training]) -> None:
    made = training()
    torch.manual_seed(9)
    expected = torch.rand(1)
    torch.manual_seed(9)

    made.run("training")

    assert torch.equal(torch.rand(1), expected)


def test_seed_changes_the_dropout(training: Callable[..., Training]) -> None:
    one, other = training("one.safetensors"), training("other.safetensors", seed=1)
    one.run("training")
    other.run("training")

    assert not same(one, other)


def test_loss_that_is_no_number_ends_the_training(training: Callable[..., Training]) -> None:
    made = training(loss=lambda step: next(made.network.parameters()).sum() * float("nan"))

    with pytest.raises(IntentMatchError, match="training failed at step 0: the loss is nan"):
        made.run("training")
