"""The frame of HTML pages: contents and anchors, tables, and colours that everybody can read."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from intentmatch.evaluation.reports import page as module
from intentmatch.evaluation.reports.page import Section, page, paragraph, table
from intentmatch.evaluation.reports.svg_plots import DEEPEST

FOLDER = Path(module.__file__).parent
STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
LEAST_CONTRAST = 4.5

TEXT_ON_BACKGROUND = [
    *((text, background) for text in ("ink", "dim", "main") for background in ("paper", "card")),
    ("good", "paper"),
    ("bad", "paper"),
]
"""Every colour that CSS gives to text, with every background that it may stand on."""

Colour = tuple[float, float, float]


def colours(scheme: str) -> dict[str, Colour]:
    """The colours of the page by name: those of the light scheme, or of the dark one."""
    light, dark = re.findall(r":root \{(.*?)\}", STYLE, re.DOTALL)
    named = re.findall(r"--(\w+): #(\w{6})", light if scheme == "light" else dark)
    return {name: tuple(int(code[at : at + 2], 16) / 255 for at in (0, 2, 4)) for name, code in named}


def luminance(colour: Colour) -> float:
    """WCAG 2.2, relative luminance."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: Colour, other: Colour) -> float:
    """WCAG 2.2, contrast ratio."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_formula():
    assert contrast((0, 0, 0), (1, 1, 1)) == pytest.approx(21)
    assert contrast((0.5, 0.5, 0.5), (0.5, 0.5, 0.5)) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "background"), TEXT_ON_BACKGROUND)
def test_text_has_enough_contrast(scheme: str, text: str, background: str):
    found = colours(scheme)

    assert contrast(found[text], found[background]) >= LEAST_CONTRAST


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fill", ["bad", "good"])
def test_numbers_in_the_deepest_cells_of_the_confusions_have_enough_contrast(scheme: str, fill: str):
    found = colours(scheme)
    cell = tuple(DEEPEST * f + (1 - DEEPEST) * p for f, p in zip(found[fill], found["paper"], strict=True))

    assert contrast(found["ink"], cell) >= LEAST_CONTRAST


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fill", ["good", "ask", "lost", "bad", "main"])
def test_bars_lines_and_dots_have_enough_contrast(scheme: str, fill: str):
    found = colours(scheme)

    assert contrast(found[fill], found["paper"]) >= LEAST_CONTRAST


def test_all_colours_are_among_those_that_are_checked():
    """No colour is named outside of the two palettes, and text has no other colour than those of the pairs."""
    rest = re.sub(r":root \{.*?\}", "", STYLE, flags=re.DOTALL)
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgb|hsl|\b(?:white|black|red|gray|grey)\b", rest) == []
    used = re.findall(r"(?<![-\w])color: var\(--(\w+)\)", rest)
    used += re.findall(r"text \{ fill: var\(--(\w+)\)", rest)
    assert set(used) == {text for text, _ in TEXT_ON_BACKGROUND}
    assert set(re.findall(r"background: var\(--(\w+)\)", rest)) == {"paper", "card", "part"}
    assert set(colours("light")) == set(colours("dark"))


def test_contents_link_to_every_section_by_an_anchor_of_its_own():
    inner = (Section("Confusions", ""), Section("Confusions", ""))
    sections = [Section("Test cases: 5", paragraph("x"), inner), Section("テスト", ""), Section("a & <b>", "")]

    html = page("title", "<h1>title</h1>", sections)

    contents = re.search(r"<nav.*?</nav>", html, re.DOTALL)[0]
    links = re.findall(r'href="#([\w-]+)"', contents)
    anchors = re.findall(r'<h[23] id="([\w-]+)"', html)
    assert links == anchors == ["test-cases", "confusions", "confusions-2", "part", "a-b"]
    assert "a &amp; &lt;b&gt;</a>" in contents
    assert html.index("<nav") < html.index("<main>")
    levels = [int(level) for level in re.findall(r"<h(\d)", html.replace(contents, ""))]
    assert all(after - before <= 1 for before, after in pairwise(levels)), "no level is left out"


def test_page_without_sections_has_no_contents():
    assert "<nav" not in page("title", "<h1>title</h1>", [])


def test_cells_carry_their_header_and_are_escaped():
    html = table(["message", "cases"], [["<b>", "1,200"], ["أين", "–"]])

    assert '<td data-label="message">&lt;b&gt;</td>' in html
    assert '<td class="n" data-label="cases">1,200</td>' in html
    assert '<span dir="auto">أين</span>' in html
    assert '<th scope="col" class="n">cases</th>' in html


def test_column_without_any_number_is_text():
    assert 'class="n"' not in table(["a", "b"], [["x", ""], ["3 apples", ""]])


def rendered(html: str, folder: Path) -> str:
    """The document as chromium leaves it after running a script that reports into `data-` attributes."""
    file = folder / "page.html"
    file.write_text(html, encoding="utf-8")
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--dump-dom"]
    command = [str(CHROMIUM), *words, "--window-size=1400,1000", f"--user-data-dir={folder / 'profile'}", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


ROWS = [["b", "10 %"], ["a", "9 %"], ["c", "–"], ["d", "1,000 %"], ["e", "2 %"], ["f", "3 %"]]


def with_probe(probe: str) -> str:
    """A page with a table, and a script that runs after the page's own."""
    html = page("t", "<h1>t</h1>", [Section("s", table(["name", "share"], ROWS))])
    return html.replace("</body>", f"<script>{probe}</script></body>")


@needs_chromium
@pytest.mark.parametrize(
    ("clicks", "order"), [(0, "bacdef"), (1, "efabdc"), (2, "dbafec")], ids=["as written", "ascending", "descending"]
)
def test_click_on_a_header_sorts_by_number_with_missing_values_last(tmp_path: Path, clicks: int, order: str):
    probe = "document.querySelectorAll('th button')[1].click();" * clicks
    probe += "const cells = [...document.querySelectorAll('tbody td:first-child')];"
    probe += "document.body.dataset.order = cells.map(cell => cell.textContent).join('')"

    assert f'data-order="{order}"' in rendered(with_probe(probe), tmp_path)


@needs_chromium
def test_filter_hides_rows_that_lack_a_word(tmp_path: Path):
    probe = (
        "const input = document.querySelector('input'); input.value = '3 F'; input.dispatchEvent(new Event('input'));"
        "document.body.dataset.shown = [...document.querySelectorAll('tbody tr:not([hidden])')].map(r => r.textContent)"
    )

    html = rendered(with_probe(probe), tmp_path)

    assert 'data-shown="f3 %"' in html
    assert "1 of 6" in html


def test_page_is_whole_without_its_script():
    """Rows, contents and parts that open are HTML; only what sorts and filters is added."""
    html, _, _ = with_probe("").partition("<script>")

    assert html.count("<tr>") == len(ROWS) + 1
    assert not re.search(r"<button|<input| hidden", html)


@needs_chromium
@pytest.mark.parametrize("width", [375, 1280])
def test_page_is_not_wider_than_its_window(tmp_path: Path, width: int):
    """In a frame as wide as a phone, which headless windows cannot be."""
    long = [["where is my order and when will it arrive " * 3, "x" * 90, f"{n}"] for n in range(8)]
    inner = page("t", "<h1>t</h1>", [Section("s", table(["message", "a long header of a column", "n"], long))])
    (tmp_path / "inner.html").write_text(inner, encoding="utf-8")
    probe = (
        f"<iframe src='inner.html' style='width:{width}px;height:900px'></iframe><script>onload = () => {{ const d = "
        "document.querySelector('iframe').contentDocument.documentElement;"
        "document.body.dataset.fits = d.scrollWidth <= d.clientWidth }</script>"
    )

    html = rendered(f"<!doctype html><body>{probe}</body>", tmp_path)

    assert 'data-fits="true"' in html
