"""Memory that an encoder takes: measured in a process of its own, so that encoders do not share their libraries."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from intentmatch.core.settings import Settings

_LONGEST_SECONDS = 300
_STATUS = Path("/proc/self/status")


def megabytes_of(settings: Settings, texts: Sequence[str]) -> float | None:
    """Return the megabytes that loading the encoder of `settings` and encoding texts adds to a process.

    Libraries that the encoder needs count, and memory on a GPU does not. None if the process fails or the system does
    not say how much memory a process takes.
    """
    names = ("encoder", "device", "precision", "threads", "remote_seconds", "prompts")
    order = {"settings": {name: getattr(settings, name) for name in names}, "texts": list(texts)}
    try:
        done = subprocess.run(  # noqa: S603 - this module
            [sys.executable, "-m", __name__],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_LONGEST_SECONDS,
            check=True,
        )
        # The last line: libraries may print before it.
        return float(json.loads(done.stdout.splitlines()[-1])["megabytes"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError, TypeError):
        return None


def peak_megabytes() -> float | None:
    """Return the most memory that this process has had; None if the system does not say."""
    if _STATUS.exists():
        # Not getrusage: its peak starts from that of the parent process.
        lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
        sizes = [line.split()[1] for line in lines if line.startswith("VmHWM:")]
        return int(sizes[0]) / 1024 if sizes else None
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes, others kilobytes.
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def _main() -> None:
    order: dict[str, Any] = json.load(sys.stdin)
    # After the order is read, and before the first measurement: only what the encoder adds should count.
    from intentmatch.core.settings import resolve
    from intentmatch.encoders import load_encoder

    before = peak_megabytes()
    encoder = load_encoder(resolve(order["settings"]))
    for text in order["texts"]:
        encoder.encode([text], kind="query")
    after = peak_megabytes()
    sys.stdout.write(json.dumps({"megabytes": None if before is None or after is None else after - before}))


if __name__ == "__main__":
    _main()
