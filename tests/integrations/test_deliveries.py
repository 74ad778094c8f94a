"""Events that a platform delivers again."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from intentmatch.integrations.deliveries import Answers, Deliveries


def is_new(deliveries: Deliveries, event: str | None) -> bool:
    with deliveries.once(event) as new:
        return new


def test_event_is_handled_once():
    deliveries = Deliveries()

    assert [is_new(deliveries, event) for event in ("a", "b", "a", "b")] == [True, True, False, False]


def test_event_without_id_is_always_handled():
    deliveries = Deliveries()

    assert is_new(deliveries, None)
    assert is_new(deliveries, None)


def test_event_is_handled_again_after_an_error():
    """A repeated delivery whose handling fails changes nothing."""
    deliveries = Deliveries()

    with pytest.raises(ZeroDivisionError), deliveries.once("a"):
        raise ZeroDivisionError
    assert is_new(deliveries, "a")
    with pytest.raises(ZeroDivisionError), deliveries.once("a"):
        raise ZeroDivisionError
    assert not is_new(deliveries, "a")


def test_event_is_forgotten_after_its_time():
    now = 0.0
    deliveries = Deliveries(seconds=10, clock=lambda: now)
    is_new(deliveries, "a")

    now = 9.9
    assert not is_new(deliveries, "a")
    now = 10.0
    assert is_new(deliveries, "a")


def test_only_latest_events_are_remembered():
    deliveries = Deliveries(most=2)
    for event in ("a", "b", "c"):
        is_new(deliveries, event)

    assert [is_new(deliveries, event) for event in ("b", "c", "a")] == [False, False, True]


def test_threads_handle_an_event_once():
    deliveries = Deliveries()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(lambda _: is_new(deliveries, "a"), range(200))) == 1


def test_second_delivery_waits_for_the_answer_of_the_first():
    async def run() -> None:
        answers, go, asked = Answers[str](), asyncio.Event(), []

        async def answer() -> str:
            asked.append(None)
            await go.wait()
            return "on its way"

        both = [asyncio.ensure_future(answers.once("a", answer)) for _ in range(2)]
        await asyncio.sleep(0)
        go.set()
        assert await asyncio.gather(*both) == ["on its way"] * 2
        assert await answers.once("a", answer) == "on its way"
        assert len(asked) == 1
        await answers.once("b", answer)
        await answers.once(None, answer)
        assert len(asked) == 3

    asyncio.run(run())


def test_answer_is_worked_out_although_the_first_caller_hangs_up():
    async def run() -> None:
        answers, go = Answers[str](), asyncio.Event()

        async def answer() -> str:
            await go.wait()
            return "on its way"

        first = asyncio.ensure_future(answers.once("a", answer))
        await asyncio.sleep(0)
        first.cancel()
        go.set()
        assert await answers.once("a", answer) == "on its way"

    asyncio.run(run())


def test_failed_answer_is_tried_again():
    async def run() -> None:
        answers, left = Answers[int](), [ZeroDivisionError(), None]

        async def answer() -> int:
            if (error := left.pop(0)) is not None:
                raise error
            return 1

        with pytest.raises(ZeroDivisionError):
            await answers.once("a", answer)
        await asyncio.sleep(0)
        assert await answers.once("a", answer) == 1

    asyncio.run(run())
