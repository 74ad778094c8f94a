"""The mock of jevcompat, once without a fault and once with each, until standard input ends; prints their URLs as JSON.

python mock_systemone.py KEY     # the mock "key" asks for this key
"""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack

from jevcompat.mock import FAULTS, MockConfig, Running

with ExitStack() as mocks:
    configs = {"": MockConfig(), "key": MockConfig(key=sys.argv[1])}
    configs |= {fault: MockConfig(faults=frozenset([fault])) for fault in FAULTS}
    print(json.dumps({name: mocks.enter_context(Running(config)).url for name, config in configs.items()}), flush=True)
    sys.stdin.read()
