"""Say which step of long work is running, to whoever listens; without a listener this costs nothing.

The steps of a build lie many calls below the command that shows them. A context variable carries the listener there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

_Item = TypeVar("_Item")


# None may be an item.
class _End:
    """What is there after the last item."""


_END = _End()


class Step(NamedTuple):
    """Progress of one step."""

    name: str
    done: int = 0
    total: int | None = None
    """None if unknown."""
    seconds_left: float | None = None
    """Seconds that the step still needs, if whoever does the work can tell better than from `done` and `total`."""
    detail: str = ""
    """Name of a step inside this one that is running."""


Listener = Callable[[Step], None]

_listener: ContextVar[Listener | None] = ContextVar("intentmatch_steps", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` with every step that this thread reports inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def current() -> Listener | None:
    """Return the listener of this thread, for one that also calls the listener around it."""
    return _listener.get()


def report(name: str, done: int = 0, total: int | None = None, seconds_left: float | None = None) -> None:
    """Report the progress of a step; see `Step`."""
    listener = _listener.get()
    if listener is not None:
        listener(Step(name, done, total, seconds_left))


def counted(name: str, items: Iterable[_Item], total: int) -> Iterator[_Item]:
    """Yield the items, reporting how many have arrived: before the first one, and after each one.

    Steps that are reported while an item is made are details of this one.
    """
    report(name, 0, total)
    rest, done = iter(items), 0
    while True:
        # The item is made inside of `next`, and so are the steps that are details of this one.
        with _as_details(Step(name, done, total)):
            item = next(rest, _END)
        if isinstance(item, _End):
            return
        done += 1
        report(name, done, total)
        yield item


@contextmanager
def inside(
    name: str, done: int, total: int | None, seconds_left: float | None = None, detail: str = ""
) -> Iterator[None]:
    """Report the steps inside the block as details of this step, or all of them as one `detail`."""
    outer = Step(name, done, total, seconds_left, detail)
    listener = _listener.get()
    if listener is not None:
        listener(outer)
    with _as_details(outer):
        yield


@contextmanager
def _as_details(outer: Step) -> Iterator[None]:
    """Report the steps inside the block as details of `outer`, which was reported before."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    with listening(lambda step: listener(outer._replace(detail=outer.detail or step.detail or step.name))):
        yield
