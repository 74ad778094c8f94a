"""Budgets and circuit breakers, by a clock that the tests turn."""

from __future__ import annotations

from intentmatch.matching.opinions.limits import Budget, CircuitBreaker


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_budget_of_a_minute_frees_up_as_requests_grow_old() -> None:
    clock = Clock()
    budget = Budget({"minute": 2, "day": 100}, clock)

    assert budget.take() is None
    clock.now += 30.0
    assert budget.take() is None
    assert budget.take() == "the budget of 2 requests a minute is used up"
    clock.now += 30.0
    assert budget.take() is None
    assert budget.take() is not None


def test_budget_of_a_day_outlasts_the_minutes() -> None:
    clock = Clock()
    budget = Budget({"minute": 2, "day": 3}, clock)
    for _ in range(3):
        assert budget.take() is None
        clock.now += 61.0

    assert budget.take() == "the budget of 3 requests a day is used up"
    clock.now += 86_400.0
    assert budget.take() is None


def test_refused_requests_cost_nothing() -> None:
    clock = Clock()
    budget = Budget({"minute": 1, "day": 2}, clock)
    assert budget.take() is None
    for _ in range(5):
        assert budget.take() is not None
    clock.now += 60.0

    assert budget.take() is None


def test_circuit_opens_after_three_failures_in_a_row_only() -> None:
    breaker = CircuitBreaker(Clock())
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(2):
        breaker.failed()
    assert breaker.rest() == 0.0
    breaker.failed()

    assert breaker.rest() == 10.0


def test_one_trial_after_the_pause_closes_or_reopens_the_circuit() -> None:
    """The pause doubles with each failed trial, up to a limit."""
    clock = Clock()
    breaker = CircuitBreaker(clock)
    for _ in range(3):
        breaker.failed()
    clock.now += 10.0
    assert breaker.rest() == 0.0
    assert breaker.rest() > 0.0, "only one trial at a time"
    breaker.failed()
    assert breaker.rest() == 20.0
    for _ in range(10):
        clock.now += 1000.0
        assert breaker.rest() == 0.0
        breaker.failed()
    assert breaker.rest() == 320.0
    clock.now += 320.0
    assert breaker.rest() == 0.0
    breaker.succeeded()

    assert breaker.rest() == 0.0
    breaker.failed()
    assert breaker.rest() == 0.0
