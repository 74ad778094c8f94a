"""Calculate on paper what a load needs: cores, memory and replicas, from numbers that `bench_cluster.py` measures.

    python tests/benchmarks/plan_cluster.py
    python tests/benchmarks/plan_cluster.py --messages 1000000 --tenants 200 --peak 10

The formula, with the names of the options:

    messages in the peak second   p = messages / 86,400 * peak
    cores                         c = p * CPU milliseconds of a message / 1000 / used
    bots in memory                b = tenants * active * copies
    replicas                      the larger of c (a replica uses one core) and b * MB of a bot / MB for bots,
                                  at least `copies`
    memory                        replicas * MB of a replica + b * MB of a bot

A calculation, not a measurement: it knows no network, no database and no uneven tenants.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import NamedTuple

from entry import option_parser
from tables import print_table, write

_SECONDS_OF_A_DAY = 86_400


class Way(NamedTuple):
    """A way to serve, with numbers of `bench_cluster.py`."""

    name: str
    cpu_ms: float
    """Processor time of a message, all processes together."""
    replica_mb: float
    """Memory of a replica without bots."""


class Load(NamedTuple):
    """What is asked of a cluster."""

    messages: float
    """In a day."""
    tenants: int
    peak: float
    """Messages of the busiest second, in those of the mean second."""
    active: float
    """Share of the bots that are in memory at a time."""
    copies: int
    """Replicas that hold a bot, so that one may die."""
    used: float
    """Share of a core that is planned for."""
    bot_mb: float
    mb_for_bots: float
    """Memory for bots in a replica."""


class Need(NamedTuple):
    """What a load needs."""

    per_second: float
    cores: float
    replicas: int
    gigabytes: float


WAYS = (
    Way("workers on one machine", 1.1, 124.0),
    Way("Ray without a gateway", 12.5, 176.0),
    Way("Ray with a gateway", 23.9, 176.0),
)


def need(load: Load, way: Way) -> Need:
    """Apply the formula."""
    per_second = load.messages / _SECONDS_OF_A_DAY * load.peak
    cores = per_second * way.cpu_ms / 1000 / load.used
    bots = load.tenants * load.active * load.copies
    replicas = max(math.ceil(cores), math.ceil(bots * load.bot_mb / load.mb_for_bots), load.copies)
    return Need(per_second, cores, replicas, (replicas * way.replica_mb + bots * load.bot_mb) / 1000)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what a load needs, one line for each way; return 0."""
    parser = option_parser(__doc__)
    parser.add_argument("--messages", type=float, default=10_000_000, help="in a day (default 10,000,000)")
    parser.add_argument("--tenants", type=int, default=10_000, help="bots (default 10,000)")
    parser.add_argument("--peak", type=float, default=5.0, help="busiest second, in mean seconds (default 5)")
    parser.add_argument("--active", type=float, default=1.0, help="share of bots in memory (default 1)")
    parser.add_argument("--copies", type=int, default=2, help="replicas that hold a bot (default 2)")
    parser.add_argument("--used", type=float, default=0.6, help="planned share of a core (default 0.6)")
    parser.add_argument("--bot-mb", type=float, default=0.7, help="memory of a bot (default 0.7)")
    parser.add_argument("--mb-for-bots", type=float, default=4000.0, help="for bots in a replica (default 4000)")
    options = parser.parse_args(arguments)
    load = Load(**vars(options))
    rows = []
    for way in WAYS:
        found = need(load, way)
        rows.append(
            [way.name, f"{found.per_second:.0f}", f"{found.cores:.1f}", str(found.replicas), f"{found.gigabytes:.1f}"]
        )
    print_table(("", "messages in the peak second", "cores", "replicas", "GB"), rows, left=1)
    write("Calculated, not measured.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
