"""Protocols that bots already speak, one file each: its routes and the shape of its errors."""

from intentmatch.server import require_extra

require_extra()
