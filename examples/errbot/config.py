"""Settings of Errbot; another backend (Slack, Discord, XMPP, ...) needs its own BOT_IDENTITY."""

import logging
import os
from pathlib import Path

HERE = Path(__file__).parent

BACKEND = os.environ.get("ERRBOT_BACKEND", "Text")
BOT_DATA_DIR = os.environ.get("ERRBOT_DATA", str(HERE / "data"))
BOT_LOG_FILE = str(Path(BOT_DATA_DIR) / "errbot.log")
BOT_EXTRA_PLUGIN_DIR = str(HERE / "shop")
BOT_LOG_LEVEL = logging.WARNING
BOT_ADMINS = (os.environ.get("ERRBOT_ADMIN", "@you"),)
BOT_IDENTITY = {"username": "@errbot"}

Path(BOT_DATA_DIR).mkdir(exist_ok=True)
