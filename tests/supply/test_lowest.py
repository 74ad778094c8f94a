"""Every requirement has a lower bound that can be tested, and an upper bound only for a reason."""

from __future__ import annotations

import lowest
import pytest
from documents import ROOT, extras_known
from packaging.requirements import Requirement

CAPPED: dict[str, str] = {}
"""Requirements with an upper bound, and what is known to break above it."""


def shipped():
    """All requirements but those of development."""
    inner = [each for extra, wanted in extras_known().items() if extra != "dev" for each in wanted]
    return [each for each in (*lowest.core_requirements(), *inner) if each.name != "intentmatch"]


@pytest.mark.parametrize("requirement", shipped(), ids=str)
def test_requirement_has_a_lower_bound_and_no_upper_one_without_a_reason(requirement):
    operators = {each.operator for each in requirement.specifier}

    assert ">=" in operators
    assert operators == {">=", "<"} if requirement.name in CAPPED else operators == {">="}


def test_lowest_releases_are_those_of_the_project():
    """Of the light install, of the extras, and of the extras that these include."""
    pins = lowest.lower_bounds()

    assert {f"{each.name}=={next(iter(each.specifier)).version}" for each in lowest.core_requirements()} <= set(pins)
    assert {"fastapi", "watchfiles", "dateparser"} <= {pin.partition("==")[0] for pin in pins}
    assert len({pin.partition("==")[0].lower() for pin in pins}) == len(pins)


@pytest.mark.parametrize("text", ["numpy", "numpy<2", "numpy>1.0"])
def test_requirement_without_a_lower_bound_is_an_error(text):
    with pytest.raises(ValueError, match="has no lower bound"):
        lowest.lowest(Requirement(text))


def test_folders_and_left_out_file_exist():
    assert (ROOT / lowest.LEFT_OUT).is_file()
    assert [name for name in lowest.FOLDERS if not (ROOT / "tests" / name).is_dir()] == []


def test_other_versions_of_python_run_nothing_and_say_why(monkeypatch, tmp_path):
    monkeypatch.setattr(lowest, "PYTHONS", ())

    assert "Python 3.10 and 3.11 only" in str(lowest.run(tmp_path))
