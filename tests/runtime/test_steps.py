"""Steps of long work reach whoever listens, and nobody else."""

from __future__ import annotations

import threading

import pytest

from intentmatch.runtime import steps
from intentmatch.runtime.steps import Step


@pytest.fixture
def heard():
    found: list[Step] = []
    with steps.listening(found.append):
        yield found


def test_reports_without_a_listener_are_lost():
    steps.report("encoding", 1, 2)
    assert list(steps.counted("encoding", "ab", 2)) == ["a", "b"]
    with steps.inside("folds", 0, 3):
        steps.report("encoding")


def test_report_is_heard_inside_the_block_only(heard):
    steps.report("encoding", 1, 2, 3.0)

    with steps.listening(lambda step: None):
        steps.report("elsewhere")
    assert heard == [Step("encoding", 1, 2, 3.0)]


def test_listener_is_removed_after_an_error():
    found: list[Step] = []
    with pytest.raises(ValueError, match="no"), steps.listening(found.append):
        raise ValueError("no")

    steps.report("encoding")

    assert found == []


def test_counted_reports_before_the_first_item_and_after_each(heard):
    seen = [(item, len(heard)) for item in steps.counted("rounds", "ab", 2)]

    assert [(step.done, step.total) for step in heard] == [(0, 2), (1, 2), (2, 2)]
    assert seen == [("a", 2), ("b", 3)]


def test_steps_while_an_item_is_made_are_details(heard):
    def items():
        for item in "ab":
            steps.report("training", 3, 4)
            yield item

    assert list(steps.counted("rounds", items(), 2)) == ["a", "b"]

    assert [(step.name, step.done, step.detail) for step in heard] == [
        ("rounds", 0, ""),
        ("rounds", 0, "training"),
        ("rounds", 1, ""),
        ("rounds", 1, "training"),
        ("rounds", 2, ""),
    ]


def test_steps_inside_another_are_its_details(heard):
    with steps.inside("folds", 1, 5, 20.0):
        steps.report("encoding", 3, 4)
        with steps.inside("trials", 0, 2):
            steps.report("training")
    steps.report("done")

    assert heard == [
        Step("folds", 1, 5, 20.0),
        Step("folds", 1, 5, 20.0, "encoding"),
        Step("folds", 1, 5, 20.0, "trials"),
        Step("folds", 1, 5, 20.0, "training"),
        Step("done"),
    ]


def test_one_detail_may_stand_for_all_steps_inside(heard):
    with steps.inside("folds", 1, 5, detail="answering"):
        steps.report("encoding")

    assert {step.detail for step in heard} == {"answering"}


def test_other_threads_are_not_heard(heard):
    thread = threading.Thread(target=steps.report, args=("encoding",))
    thread.start()
    thread.join()

    assert heard == []
