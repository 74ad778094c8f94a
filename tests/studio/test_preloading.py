"""Scripts that a browser fetches early: what a page imports, and what pages that are opened later import."""

from __future__ import annotations

import pytest
from driven_studio import open_screen

pytest.importorskip("nicegui", reason="the extra studio is not installed")
from nicegui import ui

from intentmatch.studio.preloading import scripts

SIZES = "(address) => performance.getEntriesByName(new URL(address, location).href).map((one) => one.transferSize)"


def library(element) -> str:
    """The address of the largest module of an element."""
    return scripts(element)[-1]


def test_element_has_a_component_and_the_library_that_it_imports():
    for element, name in ((ui.echart, "echart"), (ui.codemirror, "codemirror")):
        component, index, imported = scripts(element)
        assert component.endswith(f"/{name}.js")
        assert index.endswith("/index.js")
        assert imported.rpartition("/")[0] == index.rpartition("/")[0]


def test_element_without_a_library_has_its_component_alone():
    assert [address.rpartition("/")[2] for address in scripts(ui.select)] == ["select.js"]
    assert scripts(ui.label) == ()


@pytest.mark.parametrize(("screen", "element"), [("see", ui.echart), ("edit?file=orders.yaml", ui.codemirror)])
def test_screen_fetches_what_its_component_imports_once(page, served, screen, element):
    answers = []
    page.on("response", lambda response: answers.append((response.url, response.status)))
    open_screen(page, served, screen)

    for address in scripts(element):
        assert answers.count((f"{served.url}{address}", 200)) == 1


def test_scripts_of_other_screens_are_in_the_cache_when_they_are_opened(page, served):
    page.goto(f"{served.url}/history")
    for element in (ui.echart, ui.codemirror):
        address = f"{served.url}{library(element)}"
        page.wait_for_function(f"(address) => ({SIZES})(address).some((size) => size > 100_000)", arg=address)

    page.goto(f"{served.url}/see")
    page.locator(".st-map canvas").first.wait_for()

    assert page.evaluate(SIZES, f"{served.url}{library(ui.echart)}") == [0]
