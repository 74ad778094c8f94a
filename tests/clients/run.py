"""Real clients against a real server: each protocol is asked by the SDK or the bot that it is there for.

Exported .lu files are read by Microsoft's own parser, and the reranker `systemone` asks the mock of jevcompat with each
of its faults. All run in environments of their own, made here from pinned requirements, because what they need clashes
with each other. Where those cannot be installed (no network, say) they are skipped, and the last lines say why.

    python tests/clients/run.py [FOLDER]     # FOLDER keeps the environments for the next run
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import uvicorn

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.protocols.load import PROTOCOLS

HERE = Path(__file__).parent
KEY = "a-key-of-the-clients"
ENVIRONMENTS = {
    "sdks": ["clu", "dialogflow", "openai", "decisions"],
    "opsdroid": ["rasa"],
    "systemone": ["systemone"],
    "litellm": ["systemone_by_litellm"],
}
"""The file of requirements, and the scripts that ask with them: `ask_PROTOCOL.py` or `ask_PROTOCOL_by_CLIENT.py`."""


class Timetable(BaseHTTPRequestHandler):
    """The webhook for fulfillment."""

    def do_POST(self) -> None:
        json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = {"fulfillmentText": "The 10:04.", "source": "timetable", "payload": {"seats": 2}}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[str]:
    """The URL of a server that speaks every protocol."""
    timetable = ThreadingHTTPServer(("127.0.0.1", 0), Timetable)
    threading.Thread(target=timetable.serve_forever, daemon=True).start()
    app = create_app(
        Matcher.load(HERE / "bot.yaml", cache="off"),
        protocols=list(PROTOCOLS),
        keys=[KEY],
        fulfillment=f"http://127.0.0.1:{timetable.server_port}/",
    )
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            if not thread.is_alive():
                sys.exit("the server did not start")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        timetable.shutdown()


def installed(name: str, folder: Path) -> tuple[Path, str]:
    """The Python of an environment with these requirements, and why it cannot be had, where it cannot."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        venv.create(folder / name, with_pip=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"]
    try:
        subprocess.run([*pip, "-r", HERE / f"{name}.txt"], capture_output=True, text=True, check=True, timeout=900)
    except subprocess.CalledProcessError as error:
        return python, error.stderr.strip().rpartition("\n")[2] or "pip failed"
    except subprocess.TimeoutExpired as error:
        return python, f"pip took more than {error.timeout} seconds"
    return python, ""


def parse_lu(folder: Path) -> tuple[bool, str]:
    """Read exported .lu files with Microsoft's parser: whether it failed, and what to say."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        return False, "skipped  bf-lu: needs node and npm"
    modules = folder / "bf_lu"
    modules.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "bf_lu.package.json", modules / "package.json")
    command = [npm, "install", "--prefix", modules, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=900)
    except subprocess.CalledProcessError as error:
        return False, f"skipped  bf-lu: {error.stderr.strip().rpartition(chr(10))[2] or 'npm failed'}"
    except subprocess.TimeoutExpired as error:
        return False, f"skipped  bf-lu: npm took more than {error.timeout} seconds"
    from lu_exports import pages

    exports = folder / "exports.json"
    exports.write_text(json.dumps(list(pages())), encoding="utf-8")
    environment = {**os.environ, "NODE_PATH": str(modules / "node_modules")}
    done = subprocess.run(
        [node, HERE / "parse_lu.js", exports], capture_output=True, text=True, check=False, timeout=300, env=environment
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
    return done.returncode != 0, f"{'FAILED ' if done.returncode else 'passed '}  {done.stdout.strip() or 'bf-lu'}"


def ask_mocks(folder: Path) -> tuple[bool, str]:
    """Ask faulty decision models: whether that failed, and what to say."""
    from systemone_faults import check

    python, why_not = installed("systemone", folder)
    if why_not:
        return False, f"skipped  jevcompat mock: {why_not}"
    try:
        return False, f"passed   {check(python)}"
    except AssertionError as error:
        print(error, file=sys.stderr)
        return True, "FAILED   jevcompat mock"


def run(folder: Path) -> int:
    """Ask with each client, read with the parser, and ask the mocks; the number of those that failed."""
    said, failed = [], 0
    for part in (parse_lu, ask_mocks):
        wrong, line = part(folder)
        said.append(line)
        failed += wrong
    with serving() as url:
        for name, clients in ENVIRONMENTS.items():
            python, why_not = installed(name, folder)
            for asked in clients:
                if why_not:
                    said.append(f"skipped  {asked}: {why_not}")
                    continue
                script = HERE / f"ask_{asked}.py"
                command = [python, "-I", script, url, KEY]
                # A home of its own: bots keep things there.
                home = {**os.environ, "HOME": str(folder)}
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=home)
                failed += done.returncode != 0
                said.append(f"passed   {done.stdout.strip()}" if not done.returncode else f"FAILED   {asked}")
                if done.returncode:
                    print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
    print(*said, sep="\n")
    return failed


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(1 if run(Path(sys.argv[1] if len(sys.argv) > 1 else temporary).resolve()) else 0)
