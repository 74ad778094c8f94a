"""Settings for all tests: the user's own settings and cache are neither read nor changed."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

# Several test processes share the cores (`pytest -n`): each computes with one thread. numpy reads this when imported.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import hypothesis
import postgres_server
import pytest
import slow_tests
import tiers

# A failing `assert` in a contract shows its values, as one in a test file does.
pytest.register_assert_rewrite("contracts")

# The same examples in every run, so that a failure always means a change in the code. For more examples, run
# pytest --hypothesis-profile=wide
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.register_profile("wide", deadline=None, max_examples=3000)
hypothesis.settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    tiers.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    tiers.choose(config)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what belongs to other tiers, and mark the tests of `slow_tests.txt` for `pytest -m "not slow"`."""
    tiers.deselect(config, items)
    slow = slow_tests.read()
    for item in items:
        if slow_tests.is_listed(item.nodeid, slow):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Run three processes on two cores with `-n auto`: tests wait for servers and children a fifth of their time."""
    cores = yield
    return cores + 1 if cores < 3 and "PYTEST_XDIST_AUTO_NUM_WORKERS" not in os.environ else cores


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Escape what is not valid UTF-8 in captured output: a process of `pytest -n` could not send its report."""
    report = yield
    report.sections = [(name, text.encode("utf-8", "backslashreplace").decode()) for name, text in report.sections]
    return report


@pytest.fixture(scope="session", autouse=True)
def _trained_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Train each registry once in a run, whichever test and process needs it first; see `cold_training`."""
    from made_once import folder_of_the_run
    from training_memory import remembering

    folder = folder_of_the_run(tmp_path_factory) / "trained"
    folder.mkdir(exist_ok=True)
    with remembering(folder):
        yield


@pytest.fixture
def cold_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train anew in this test: for tests of training itself, its progress, or its constants."""
    from intentmatch.learning import training, training_cache

    monkeypatch.setattr(training_cache, "cross_validate_registry", training.cross_validate_registry)
    monkeypatch.setattr(training_cache, "calibrated", training.calibrated)


@pytest.fixture(scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of cache folders; none is made before something is cached, which thousands of tests never do."""
    folder = tmp_path_factory.mktemp("caches")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _own_cache_and_settings(monkeypatch: pytest.MonkeyPatch, _caches: Iterator[Path]) -> None:
    """Give each test a cache folder of its own and no other setting in the environment."""
    for variable in [name for name in os.environ if name.startswith("INTENTMATCH_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("INTENTMATCH_CACHE", str(next(_caches)))


@pytest.fixture(scope="session")
def postgres() -> Iterator[postgres_server.Server]:
    """A running PostgreSQL server. Tests that need one are skipped, with the reason, where there is none."""
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    try:
        server = postgres_server.Server()
    except postgres_server.CannotRunError as error:
        pytest.skip(str(error))
    yield server
    server.remove()


@pytest.fixture(scope="session")
def _postgres_tables(postgres: postgres_server.Server) -> str:
    """The name of a database with all tables."""
    from intentmatch.storage.postgres.database import Database
    from intentmatch.storage.postgres.migrating import migrate

    database = Database(postgres.url())
    migrate(database)
    database.close()
    return "postgres"


@pytest.fixture
def postgres_address(postgres: postgres_server.Server, _postgres_tables: str, _bot_names: Iterator[str]) -> str:
    """The address of a bot of its own, which has no files yet."""
    return postgres.url(_postgres_tables, more=f"/{next(_bot_names)}")


@pytest.fixture
def new_database(postgres: postgres_server.Server) -> Iterator[Callable[[], str]]:
    """Makes empty databases; returns the address of each."""
    import psycopg

    made: list[str] = []

    def make() -> str:
        made.append(f"made_{next(_database_numbers)}")
        with psycopg.connect(postgres.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {made[-1]}")
        return postgres.url(made[-1], more="/shop")

    yield make
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        for name in made:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


_database_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def _bot_names() -> Iterator[str]:
    return (f"bot-{number}" for number in itertools.count(1))
