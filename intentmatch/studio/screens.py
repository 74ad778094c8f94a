"""The screens in the order of the navigation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from intentmatch.studio import edit_page, history_page, inbox_page, issues_page, review_page, see_page, try_page
from intentmatch.studio.host import Role
from intentmatch.studio.visit import Visit


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen: one module with one function that draws it."""

    path: str
    title: str
    icon: str
    key: str
    """The key that opens it after `g`."""
    show: Callable[[Visit], Awaitable[None]]
    """Draws the screen. What takes longer than 0.2 s must wait for the page: see `parts.later`."""
    needs: Role = "author"


SCREENS = (
    Screen("try", "Try", "forum", "t", try_page.show, "match"),
    Screen("edit", "Edit", "edit_note", "e", edit_page.show),
    Screen("see", "See", "scatter_plot", "s", see_page.show),
    Screen("inbox", "Inbox", "inbox", "i", inbox_page.show),
    Screen("review", "Review", "fact_check", "r", review_page.show),
    Screen("issues", "Issues", "rule", "u", issues_page.show),
    Screen("history", "History", "history", "h", history_page.show),
)
