"""A real PgBouncer in front of a server of the tests: a pooler that lends its connections for one transaction each.

PgBouncer refuses to run as root: there, it runs as the user `nobody`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from postgres_server import CannotRunError, Server, free_port

_CONNECTIONS = 3
"""To the server, for any number of clients: few, so that clients get each other's."""

_CONFIGURATION = """
[databases]
* = host={server} port={server_port}
[pgbouncer]
pool_mode = transaction
default_pool_size = {connections}
listen_port = {port}
unix_socket_dir = {folder}
auth_type = trust
admin_users = postgres
server_login_retry = 1
auth_file = {folder}/users
"""


class PgBouncer:
    """A pooler on a socket in a folder of its own."""

    def __init__(self, server: Server) -> None:
        program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
        if program is None:
            raise CannotRunError("needs PgBouncer (apt-get install pgbouncer)")
        user: dict[str, Any] = {}
        self.folder = Path(tempfile.mkdtemp(prefix="pb"))
        if os.geteuid() == 0:
            user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            shutil.chown(self.folder, "nobody", "nogroup")
        self.folder.chmod(0o755)
        self._port = free_port()
        (self.folder / "users").write_text('"postgres" ""\n', encoding="utf-8")
        text = _CONFIGURATION.format(
            server=server.folder,
            server_port=server.port,
            connections=_CONNECTIONS,
            port=self._port,
            folder=self.folder,
        )
        (self.folder / "pgbouncer.ini").write_text(text, encoding="utf-8")
        with (self.folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                [program, str(self.folder / "pgbouncer.ini")], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                cwd=self.folder, **user,
            )  # fmt: skip
        try:
            self._wait(end=time.monotonic() + 60)
        except CannotRunError:
            self.remove()
            raise

    def url(self, more: str = "", database: str = "postgres") -> str:
        """Return the address of a database of the server, with `more` behind its name."""
        return f"postgresql://postgres@/{database}{more}?host={quote(str(self.folder), safe='')}&port={self._port}"

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let statements wait, as they do when the server is lost."""
        import psycopg

        with psycopg.connect(self.url(database="pgbouncer"), autocommit=True) as console:
            console.execute("PAUSE", prepare=False)
            try:
                yield
            finally:
                console.execute("RESUME", prepare=False)
                self._wait_for_the_server(end=time.monotonic() + 60)

    def remove(self) -> None:
        """Stop the pooler and remove its folder."""
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_for_the_server(self, end: float) -> None:
        """Wait until statements are answered: a pause during a login counts as a failed one."""
        import psycopg

        while time.monotonic() < end:
            with suppress(psycopg.Error), psycopg.connect(self.url(), prepare_threshold=None) as connection:
                connection.execute("SELECT 1")
                return
            time.sleep(0.1)

    def _wait(self, end: float) -> None:
        while time.monotonic() < end and self._process.poll() is None:
            with socket.socket(socket.AF_UNIX) as one:
                if one.connect_ex(str(self.folder / f".s.PGSQL.{self._port}")) == 0:
                    return
            time.sleep(0.02)
        said = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        raise CannotRunError(f"PgBouncer cannot run here: {said}")
