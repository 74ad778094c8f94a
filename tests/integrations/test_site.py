"""The guide as a site, built by MkDocs: dead links end the build, and the pages need no network and no server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("material", reason="needs mkdocs-material")

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LOADED = re.compile(r'<(?:script|img|iframe)\b[^>]*?\bsrc="([^"]+)"|<link rel="stylesheet" href="([^"]+)"')


def built(root: Path, site: Path) -> subprocess.CompletedProcess[str]:
    words = ["build", "--strict", "--config-file", str(root / ".github" / "mkdocs.yml"), "--site-dir", str(site)]
    command = [sys.executable, "-m", "mkdocs", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(ROOT, folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_of_the_guide_is_there(site: Path) -> None:
    pages = {path.stem for path in (ROOT / "intentmatch" / "guide").glob("*.md")} | {"index", "404"}
    assert {path.stem for path in site.glob("*.html")} == pages


def test_pages_load_files_of_the_site_only(site: Path) -> None:
    for page in site.glob("*.html"):
        loaded = [one or other for one, other in LOADED.findall(page.read_text(encoding="utf-8"))]
        assert loaded
        places = [(site / name.removeprefix("/") if page.stem == "404" else page.parent / name) for name in loaded]
        assert [str(place) for place in places if not place.exists()] == []


@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_search_needs_neither_network_nor_server(site: Path, tmp_path: Path) -> None:
    alone = ["--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=10000", f"--user-data-dir={tmp_path}"]
    command = [str(CHROMIUM), "--headless=new", "--no-sandbox", "--disable-gpu", *alone, "--dump-dom"]
    address = f"{(site / 'index.html').as_uri()}?q=calibration"
    page = subprocess.run([*command, address], capture_output=True, text=True, check=True, timeout=120).stdout
    assert re.search(r"\d+ matching documents", page)


@pytest.mark.parametrize("link", ["no-such-page.md", "slots.md#no-such-heading"])
def test_dead_link_ends_the_build(link: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / ".github", tmp_path / ".github")
    shutil.copytree(ROOT / "intentmatch" / "guide", tmp_path / "intentmatch" / "guide")
    (tmp_path / "README.md").write_text(f"# Shop\n\n[dead](intentmatch/guide/{link})\n", encoding="utf-8")
    done = built(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert link in done.stderr
