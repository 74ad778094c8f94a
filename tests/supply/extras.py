"""Install each extra alone, from the wheel, and do with it what it is for.

    python tests/supply/extras.py [NAME ...]

The extras of bot frameworks have environments of their own (`tests/integrations/run.py`). torch, onnx-export and
distill take minutes to install: `tests/integrations/test_extras.py` hides what they do not install.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from environments import CONSTRAINTS, Ran, call, not_installed, print_outcomes

AT_ONCE = 2
SECONDS = 900  # with other work on the machine; some ten otherwise
BEGIN = """
from pathlib import Path
from intentmatch import IntentMatchError, Matcher, MissingExtraError
Path("bot").mkdir()
Path("bot/bot.yaml").write_text('''
intents:
  pay: {utterances: {en: [I want to pay, pay my bill]}}
  meet: {utterances: {en: ["meet me {day}", "see you {day}"]}, slots: {day: {type: DAY}}}
''')
def bot(day="any", **settings):
    file = Path("bot/bot.yaml")
    file.write_text(file.read_text().replace("DAY", day))
    return Matcher.load("bot", cache="off", **settings)
def run(*words):
    import subprocess, sys
    subprocess.run([sys.executable, "-I", "-m", "intentmatch", *words], check=True)
def refused(act):  # for want of a server or a model, not of a package
    try:
        act()
    except MissingExtraError:
        raise
    except IntentMatchError:
        return True
"""
USES = {
    "ann": """
assert bot(scorer="cosine", index="usearch").match("pay my bills").intent == "pay"
assert bot(vectors="float16").match("pay my bills").intent == "pay"
""",
    "dates": """
assert bot("date").match("meet me tomorrow").entities
""",
    "onnx": """
assert refused(lambda: bot(encoder="onnx:nowhere"))
import onnxruntime, tokenizers
""",
    "postgres": """
assert refused(lambda: Matcher.load("postgres://127.0.0.1:1/bots/shop"))
import intentmatch.index.pgvector, pgvector.psycopg
""",
    "redis": """
from intentmatch.integrations.redis import RedisStore
RedisStore.at("redis://127.0.0.1:1/0")
""",
    "remote": """
assert refused(lambda: bot(encoder="remote:http://127.0.0.1:1/v1/embeddings#m"))
""",
    "server": """
import asyncio, uvicorn
from intentmatch.server import create_app
app = create_app(bot(), protocols=["rasa", "clu", "dialogflow", "openai"], authoring=True, admin_keys=["root"])
assert "/match" in app.openapi()["paths"]
""",
    "signing": """
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives import serialization as form
key = Ed25519PrivateKey.generate()
Path("key.pem").write_bytes(key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()))
Path("public.pem").write_bytes(key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo))
bot()
run("build", "bot", "-o", "b.intentmatch", "--sign", "key.pem")
assert Matcher.load("b.intentmatch", require_signature="public.pem").match("pay my bills").intent == "pay"
""",
    "spreadsheets": """
import openpyxl
from intentmatch.formats.spreadsheet import FORMAT
book = openpyxl.Workbook()
for row in (["text", "intent"], ["I want to pay", "pay"], ["see you", "meet"]):
    book.active.append(row)
book.save("lines.xlsx")
run("import", "lines.xlsx", "--language", "en")
""",
    "studio": """
from intentmatch.server import create_app
app = create_app(bot(), studio=True, admin_keys=["root"])
""",
    "telemetry": """
import opentelemetry.context, opentelemetry.propagate, opentelemetry.trace
""",
    "tokenizers": """
import numpy, tokenizers
from safetensors.numpy import save_file
tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "pay": 1, "see": 2}, unk_token="[UNK]"))
tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
Path("model").mkdir()
tokenizer.save("model/tokenizer.json")
save_file({"embeddings": numpy.eye(3, dtype=numpy.float32)}, "model/model.safetensors")
assert bot(encoder="static:model").match("pay").intent == "pay"
""",
    "watch": """
with bot().watch():
    pass
""",
}
"""What each extra is for, in a few lines."""


def run(name: str, wheel: Path, folder: Path) -> Ran:
    """Install an extra alone, and use it."""
    start = time.monotonic()
    venv.create(folder / name)
    python = folder / name / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", "--quiet"]
    pip += ["--disable-pip-version-check", "-c", CONSTRAINTS]
    try:
        call([*pip, f"intentmatch[{name}] @ {wheel.as_uri()}"], seconds=SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return not_installed(name, error)
    ready = time.monotonic()
    place = folder / f"{name}.place"
    place.mkdir()
    done = subprocess.run(
        [python, "-I", "-c", BEGIN + USES[name]],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    seconds = f"{ready - start:.0f} s to install, {time.monotonic() - ready:.0f} s to use"
    return Ran(name, "FAILED" if done.returncode else "passed", seconds, done.stdout + done.stderr)


def main() -> int:
    """Print what ran; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"by default all: {', '.join(USES)}")
    names = parser.parse_args().names or sorted(USES)
    if unknown := set(names) - set(USES):
        parser.error(f"unknown extra: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = Path(temporary).resolve()
        call([sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, "."], seconds=SECONDS)
        (wheel,) = folder.glob("*.whl")
        return print_outcomes(list(pool.map(lambda name: run(name, wheel, folder), names)))


if __name__ == "__main__":
    sys.exit(main())
