"""Tiers: which tests are left out, how a corpus is shortened, and when the accuracy tier is due."""

from __future__ import annotations

from pathlib import Path

import accuracy_tier
import pytest
import tiers

pytest_plugins = "pytester"

SUITE = """
import pytest, tiers

@pytest.mark.accuracy
def test_measures(): pass

@pytest.mark.end_to_end
def test_uses(): pass

@pytest.mark.full_length
def test_repeats(): pass

@pytest.mark.corpus
def test_rows():
    print("rows", len(tiers.rows_of(range(1000))))

def test_behaves(): pass
"""
CONFTEST = """
import tiers

def pytest_addoption(parser): tiers.add_options(parser)
def pytest_configure(config):
    for name in ("accuracy", "corpus", "end_to_end", "full_length"):
        config.addinivalue_line("markers", name)
    tiers.choose(config)
def pytest_collection_modifyitems(config, items): tiers.deselect(config, items)
"""


@pytest.mark.parametrize(
    ("flags", "passed", "deselected", "rows"),
    [
        ([], 2, 3, 100),
        (["--accuracy"], 3, 2, 1000),
        (["--end-to-end"], 3, 2, 100),
        (["--full-length"], 3, 2, 100),
        (["--accuracy", "--end-to-end", "--full-length"], 5, 0, 1000),
        (["--accuracy", "-m", "accuracy or corpus"], 2, 3, 1000),
    ],
)
def test_each_flag_adds_its_tier(
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    passed: int,
    deselected: int,
    rows: int,
):
    pytester.makeconftest(CONFTEST)
    pytester.makepyfile(SUITE)
    monkeypatch.setenv("PYTHONPATH", str(Path(tiers.__file__).parent))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)

    done = pytester.runpytest_subprocess(*flags, "-s", "-p", "no:cacheprovider")

    done.assert_outcomes(passed=passed, deselected=deselected)
    done.stdout.fnmatch_lines([f"*rows {rows}*"])


@pytest.mark.usefixtures("_default_tier")
def test_a_tenth_is_fixed_in_order_and_of_twenty_rows_at_least():
    corpus = [f"row {number}" for number in range(1000)]

    assert tiers.rows_of(corpus) == sorted(tiers.rows_of(corpus), key=corpus.index)
    assert len(tiers.rows_of(corpus)) == 100
    assert len(tiers.rows_of(corpus[:50])) == 20
    assert tiers.rows_of(corpus[:5]) == corpus[:5]


@pytest.mark.usefixtures("_default_tier")
def test_an_added_row_changes_hardly_any_other():
    corpus = [f"row {number}" for number in range(1000)]

    assert len({*tiers.rows_of(corpus)} - {*tiers.rows_of(["a new row", *corpus])}) <= 1


@pytest.fixture
def _default_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "_chosen", set())


def test_accuracy_tier_is_due_after_a_change_of_a_room_that_reads_messages(tmp_path: Path):
    for name in ("matching/policy.py", "matching/__pycache__/policy.pyc", "server/app.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1", encoding="utf-8")
    before = accuracy_tier.digest(tmp_path)

    (tmp_path / "server/app.py").write_text("2", encoding="utf-8")
    (tmp_path / "matching/__pycache__/policy.pyc").write_text("2", encoding="utf-8")
    assert accuracy_tier.digest(tmp_path) == before

    (tmp_path / "matching/policy.py").write_text("2", encoding="utf-8")
    assert accuracy_tier.digest(tmp_path) != before
