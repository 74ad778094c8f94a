"""Read the values of a cluster's configuration. Each reader raises `ValueError` or `InputError` with what is wrong."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from intentmatch.deploy.cluster_config import Replicas
from intentmatch.storage.postgres.address import Address, is_address

_LOCAL_ENCODER = "static"


def source_reader(folder: Path | None) -> Callable[[Any], str]:
    """Return the reader of a path or an address. A relative path begins at `folder`, and is an error without one."""

    def read(value: Any) -> str:
        text = read_text(value)
        if is_address(text):
            return str(read_without_password(text))
        path = Path(text)
        if not path.is_absolute():
            if folder is None:
                raise ValueError(f"{text!r} must be an absolute path, which every node has, or an address")
            path = folder / path
        # Links stay as they are: the path must hold on the other nodes, where they may lead elsewhere.
        return os.path.normpath(path)

    return read


def read_without_password(value: Any) -> str | None:
    """Read an address that holds no password. Ray shows the file in its dashboard and its logs."""
    from urllib.parse import urlsplit

    if value is None:
        return None
    text = read_text(value)
    if is_address(text):
        hidden, instead = bool(Address.parse(text).secrets), "set PGPASSWORD on the nodes"
    else:
        hidden, instead = urlsplit(text).password is not None, "set INTENTMATCH_SERVE_STORE on the nodes"
    if hidden:
        raise ValueError(f"the address has a password, and Ray shows this file to everyone: {instead}")
    return text


def read_model(value: Any) -> str:
    """Read the model of a shared encoder."""
    text = read_text(value)
    if text.partition(":")[0] == _LOCAL_ENCODER:
        raise ValueError("static encoders are so fast that each replica has its own: leave this section out")
    return text


def read_replicas(value: Any, *, ongoing: int = Replicas.ongoing) -> Replicas:
    """Read a number, or a mapping with `min`, `max` and `ongoing`, whose default is given."""
    if not isinstance(value, Mapping):
        number = whole_number_reader(1)(value)
        return Replicas(number, number, ongoing)
    unknown = value.keys() - {"min", "max", "ongoing"}
    if unknown:
        raise ValueError(f"there is no {', '.join(sorted(map(str, unknown)))} here: known are min, max, ongoing")
    least = whole_number_reader(1)(value.get("min", 1))
    most = whole_number_reader(1)(value.get("max", least))
    if most < least:
        raise ValueError(f"max is {most}, and min is {least}")
    return Replicas(least, most, whole_number_reader(1)(value.get("ongoing", ongoing)))


def whole_number_reader(least: int, most: int | None = None) -> Callable[[Any], int]:
    """Return the reader of a whole number in a range, both ends included."""

    def read(value: Any) -> int:
        try:
            # By its text: a file gives texts, and from a program `True` would be the number 1.
            number = int(str(value))
        except ValueError:
            raise ValueError(f"{value!r} is not a whole number") from None
        if number < least or (most is not None and number > most):
            raise ValueError(f"{number} is not {f'at least {least}' if most is None else f'from {least} to {most}'}")
        return number

    return read


def read_number(value: Any) -> float:
    """Read a number from 0 on."""
    try:
        number = float(str(value))
    except ValueError:
        raise ValueError(f"{value!r} is not a number") from None
    if not 0.0 <= number < float("inf"):
        raise ValueError(f"{value} is not a number from 0 on")
    return number


def read_positive(value: Any) -> float:
    """Read a number above 0."""
    number = read_number(value)
    if number == 0.0:
        raise ValueError("0 is too small")
    return number


def read_gpus(value: Any) -> float:
    """Read a number of GPUs, or a part of one."""
    number = read_number(value)
    # Ray divides a single GPU only.
    if number > 1.0 and not number.is_integer():
        raise ValueError(f"{value} GPUs: write a whole number, or a part of one GPU such as 0.25")
    return number


def read_switch(value: Any) -> bool:
    """Read `true` or `false`; a YAML file gives both as texts."""
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"{value!r} is not true or false")
    return str(value).lower() == "true"


def read_text(value: Any) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise ValueError("this must be a text")
    return value


def read_texts(value: Any) -> tuple[str, ...]:
    """Read one text, or a list of them."""
    return tuple(map(read_text, value)) if isinstance(value, (list, tuple)) else (read_text(value),)


def read_route_prefix(value: Any) -> str:
    """Read the path below which the cluster answers."""
    text = read_text(value)
    if not text.startswith("/") or (text.endswith("/") and text != "/"):
        raise ValueError(f"{text!r} must begin with a slash and not end with one")
    return text
