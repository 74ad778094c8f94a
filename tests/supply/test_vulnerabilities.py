"""Advisories of a local OSV database are matched against the versions of a bill of materials; without one, none is."""

from __future__ import annotations

import json
import zipfile

import pytest
import vulnerabilities


def advisory(name="Some.Package", events=(), versions=(), **fields):
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}]
    package = {"ecosystem": "PyPI", "name": name}
    return {"id": "PYSEC-1", "affected": [{"package": package, "ranges": ranges, "versions": list(versions)}], **fields}


@pytest.fixture
def bill(tmp_path):
    path = tmp_path / "bill.json"
    path.write_text(json.dumps({"components": [{"name": "some_package", "version": "1.10"}]}), encoding="utf-8")
    return path


def database(tmp_path, *entries):
    folder = tmp_path / "database"
    folder.mkdir()
    for number, entry in enumerate(entries):
        (folder / f"{number}.json").write_text(json.dumps(entry), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("events", "affected"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "0"}, {"fixed": "1.9"}], False),
        ([{"introduced": "0"}, {"fixed": "1.10"}], False),
        ([{"introduced": "0"}, {"fixed": "1.10.1"}], True),
        ([{"introduced": "1.10"}, {"last_affected": "1.10"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.9"}], False),
        ([{"introduced": "2"}], False),
        ([{"introduced": "1.10"}, {"fixed": "2"}, {"introduced": "0"}, {"fixed": "1.2"}], True),
        ([{"introduced": "0"}, {"fixed": "1.2"}, {"introduced": "1.11"}], False),
        ([], False),
    ],
)
def test_version_is_compared_with_the_ranges(events, affected, bill, tmp_path, capsys):
    """Versions are numbers, not text: 1.9 comes before 1.10."""
    code = vulnerabilities.main([str(bill), "--database", str(database(tmp_path, advisory(events=events)))])

    assert code == affected
    assert ("some-package 1.10: PYSEC-1" in capsys.readouterr().out) == affected


def test_listed_version_is_affected_without_a_range(bill, tmp_path):
    assert vulnerabilities.main([str(bill), "--database", str(database(tmp_path, advisory(versions=["1.10"])))]) == 1


@pytest.mark.parametrize(
    "entry",
    [
        advisory(events=[{"introduced": "0"}], withdrawn="2026-01-01T00:00:00Z"),
        advisory(name="other", events=[{"introduced": "0"}]),
        {"id": "GHSA-1"},
        {"id": "GO-1", "affected": [{"package": {"ecosystem": "Go", "name": "some-package"}, "versions": ["1.10"]}]},
    ],
    ids=["withdrawn", "other package", "nothing affected", "other ecosystem"],
)
def test_other_advisories_do_not_count(entry, bill, tmp_path):
    assert vulnerabilities.main([str(bill), "--database", str(database(tmp_path, entry))]) == 0


def test_database_may_be_an_archive(bill, tmp_path, capsys, monkeypatch):
    """As it is published; the variable names it as the option does."""
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("PYSEC-1.json", json.dumps(advisory(events=[{"introduced": "0"}], summary="It leaks.")))
    monkeypatch.setenv(vulnerabilities.VARIABLE, str(tmp_path / "all.zip"))

    assert vulnerabilities.main([str(bill)]) == 1
    assert "some-package 1.10: PYSEC-1 It leaks.\nknown vulnerabilities: 1 in 1 packages" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["--database", "/no/such/file.zip"]])
def test_check_is_skipped_with_a_reason_without_a_database(arguments, bill, capsys, monkeypatch):
    monkeypatch.delenv(vulnerabilities.VARIABLE, raising=False)

    assert vulnerabilities.main([str(bill), *arguments]) == 0
    assert "skipped, there is no local database" in capsys.readouterr().out
