"""Minimise the head's loss by L-BFGS with a preconditioner.

Source: Liu & Nocedal 1989, "On the Limited Memory BFGS Method for Large Scale Optimization".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from intentmatch.runtime import steps
from intentmatch.runtime.block_sizes import HEAD_ROWS
from intentmatch.runtime.threads import Each

Preconditioner = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""Approximate inverse curvature, applied to a gradient."""


PENALTY = np.float32(1 / 30)
"""Weight of |weights|² / 2 in the loss. On development sets 1/10 to 1/100 differ by less than half a point."""

_MOST_STEPS, _STEPS_REMEMBERED = 100, 8
# The search stops when a step lowers the loss by less than this fraction.
_GAIN_ENOUGH = 1e-6
# Armijo condition of the line search, and the step lengths tried.
_SUFFICIENT, _LENGTHS = 1e-4, tuple(0.5**halvings for halvings in range(14))
# Steps whose curvature is below this fraction of what was expected are not remembered.
_LEAST_CURVATURE = 1e-10


class RowsLoss:
    """The loss of some rows, given their intents (`owners`) and weights (`shares`)."""

    def __init__(
        self,
        rows: NDArray[np.float32],
        owners: NDArray[np.int64],
        shares: NDArray[np.float32],
        each: Each,
        beyond: NDArray[np.float32] | None = None,
        *,
        apart: NDArray[np.int64] | None = None,
    ) -> None:
        """`beyond` holds constant logits that are added whatever the weights are.

        `apart` holds pairs of a row and an intent that does not compete for the row, shape `(pairs, 2)`, rows rising.
        """
        self._rows, self._owners, self._shares, self._each, self._beyond = rows, owners, shares, each, beyond
        self._apart = apart
        self._parts = [slice(start, start + HEAD_ROWS) for start in range(0, len(rows), HEAD_ROWS)]

    def loss_and_gradient(self, weights: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        """Return the loss and its gradient."""
        loss, gradient = float((weights * weights).sum()) * float(PENALTY) / 2, PENALTY * weights
        for more, steeper in self._each(lambda part: self._part(part, weights), self._parts):
            loss += more
            gradient += steeper
        return loss, gradient

    def logits(self, weights: NDArray[np.float32], part: slice = slice(None)) -> NDArray[np.float32]:
        """Return the logits of some rows."""
        logits: NDArray[np.float32] = self._rows[part] @ weights
        if self._beyond is not None:
            logits += self._beyond[part]
        if self._apart is not None:
            start, stop, _ = part.indices(len(self._rows))
            some = slice(*self._apart[:, 0].searchsorted([start, stop]).tolist())
            logits[self._apart[some, 0] - start, self._apart[some, 1]] = -np.inf
        return logits

    def _part(self, part: slice, weights: NDArray[np.float32]) -> tuple[float, NDArray[np.float32]]:
        """Return what some rows add to loss and gradient; few enough rows to stay in the processor's cache."""
        owners, shares = self._owners[part], self._shares[part]
        places = np.arange(len(owners)), owners
        logits = self.logits(weights, part)
        logits -= logits.max(axis=1, keepdims=True)
        own = logits[places]
        np.exp(logits, out=logits)
        totals = logits.sum(axis=1)
        loss = float((shares * (np.log(totals) - own)).sum())
        logits *= (shares / totals)[:, None]
        logits[places] -= shares
        return loss, self._rows[part].T @ logits


def minimise(
    problem: RowsLoss, weights: NDArray[np.float32], preconditioner: Preconditioner, stop: float
) -> NDArray[np.float32]:
    """Minimise by L-BFGS until the product of gradient and preconditioned gradient is at most `stop`."""
    loss, gradient = problem.loss_and_gradient(weights)
    preconditioned = preconditioner(gradient)
    history: deque[_Step] = deque(maxlen=_STEPS_REMEMBERED)
    for _ in range(_MOST_STEPS):
        # A large registry takes half a minute, in which a listener may stop the work or let other work pass.
        steps.report("training the head")
        direction = _direction(gradient, preconditioned, history)
        falls = float(np.vdot(direction, gradient))
        for length in _LENGTHS:
            moved = weights + np.float32(length) * direction
            new_loss, new_gradient = problem.loss_and_gradient(moved)
            if new_loss <= loss + _SUFFICIENT * length * falls:
                break
        else:
            # No step lowers the loss: the rest of the gradient is rounding.
            break
        new_preconditioned = preconditioner(new_gradient)
        made = _Step(moved - weights, new_gradient - gradient, new_preconditioned - preconditioned)
        # A step without curvature would make the next direction point uphill.
        if made.curvature > _LEAST_CURVATURE * made.expected:
            history.append(made)
        gained, weights, loss, gradient, preconditioned = (
            loss - new_loss,
            moved,
            new_loss,
            new_gradient,
            new_preconditioned,
        )
        if float(np.vdot(gradient, preconditioned)) <= stop or gained <= _GAIN_ENOUGH * abs(loss):
            break
    return weights


class _Step:
    """A step, the change of the gradient with it, and that change preconditioned."""

    __slots__ = ("change", "curvature", "expected", "preconditioned", "step")

    def __init__(
        self, step: NDArray[np.float32], change: NDArray[np.float32], preconditioned: NDArray[np.float32]
    ) -> None:
        self.step, self.change, self.preconditioned = step, change, preconditioned
        self.curvature, self.expected = float(np.vdot(step, change)), float(np.vdot(change, preconditioned))


def _direction(
    gradient: NDArray[np.float32], preconditioned: NDArray[np.float32], history: Sequence[_Step]
) -> NDArray[np.float32]:
    """Return the search direction by the two-loop recursion over the last steps."""
    left, direction = -gradient, -preconditioned
    shares = []
    for made in reversed(history):
        share = np.float32(float(np.vdot(made.step, left)) / made.curvature)
        shares.append(share)
        left -= share * made.change
        # Preconditioning `left` at the end would give the same and take as long as the whole recursion.
        direction -= share * made.preconditioned
    if history:
        direction *= np.float32(history[-1].curvature / history[-1].expected)
    for made, share in zip(history, reversed(shares), strict=True):
        direction += (share - np.float32(float(np.vdot(made.change, direction)) / made.curvature)) * made.step
    return direction
