"""Pages and flows of Dialogflow CX as tags of `when:`.

CX matches an intent only where a route names it: on a page, or in a whole flow. An intent that the start flow names can
be matched on each of its pages, so it gets no tags. One that only pages name gets their names as tags, and one that
another flow names gets the name of the flow. Routes of a route group belong to the pages and flows that list the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from intentmatch.core.errors import NOWHERE, Problem
from intentmatch.core.types import Intent, Registry
from intentmatch.formats.dialogflow import file_name, identity
from intentmatch.formats.kit.source import File
from intentmatch.formats.kit.tree import Value

START_FLOW = "Default Start Flow"
_PAGES, _GROUPS = "pages", ("transitionRouteGroups", "agentTransitionRouteGroups")
_BACK = "CURRENT_PAGE"
"""The target of a route that stays on its page."""


Place = tuple[str, str | None]
"""The flow and the page, None for the flow itself."""


class Route(NamedTuple):
    """A route that names an intent, and where it is."""

    intent: str
    root: Value
    place: Place
    is_repeated: bool
    """Whether it is of a route group that another page has listed before."""


class _FlowOrPage(NamedTuple):
    """A flow or page, with its routes and the route groups that it lists."""

    flow: str
    page: str | None
    root: Value


class Pages:
    """The flows, pages and route groups of an agent."""

    def __init__(self) -> None:
        self.start_flow = START_FLOW
        self._parts: list[_FlowOrPage] = []
        self._groups: dict[str, Value] = {}

    def take(self, file: File, root: Value) -> None:
        """Add a file of a flow, a page or a route group. A file outside of these folders is the start flow."""
        folders = file.path.split("/")[:-1]
        own = folders[-1] if folders else ""
        name = root["displayName"].text() or file.name.removesuffix(".json")
        if own in _GROUPS:
            # Pages list groups by their display names or by their identifiers.
            for key in (name, root["name"].text()):
                self._groups.setdefault(key or name, root)
        elif own == _PAGES and len(folders) > 1:
            self._parts.append(_FlowOrPage(folders[-2], name, root))
        else:
            self._parts.append(_FlowOrPage(own or name, None, root))

    def roots(self) -> Iterator[Value]:
        """Yield the flows, pages and groups."""
        yield from (part.root for part in self._parts)
        yield from {id(root): root for root in self._groups.values()}.values()

    def unknown_groups(self) -> Iterator[Value]:
        """Yield the names of route groups that have no file."""
        for part in self._parts:
            yield from (
                group for group in part.root["transitionRouteGroups"].items() if group.text() not in self._groups
            )

    def routes(self) -> Iterator[Route]:
        """Yield the routes that name an intent, once for each flow or page that has them."""
        known: set[int] = set()
        for flow, page, root in self._parts:
            for part in (root, *self._listed(root)):
                for route in part["transitionRoutes"].items():
                    if intent := route["intent"].text():
                        yield Route(intent, route, (self._flow_name(flow), page), id(part) in known)
                known.add(id(part))

    def _listed(self, root: Value) -> Iterator[Value]:
        for group in root["transitionRouteGroups"].items():
            if found := self._groups.get(group.text() or ""):
                yield found

    def _flow_name(self, folder: str) -> str:
        """Return the name of the flow in a folder, which may have signs that a path cannot have."""
        named = (part.root["displayName"].text() for part in self._parts if part.flow == folder and part.page is None)
        return next(filter(None, named), folder)

    def tags(self, places: Sequence[Place]) -> list[str]:
        """Return the tags of an intent that routes in these places name: none if one is the whole start flow."""
        if any(flow in ("", self.start_flow) and page is None for flow, page in places):
            return []
        return list(dict.fromkeys(self._tag(flow, page) for flow, page in places))

    def target(self, route: Route) -> str | None:
        """Return the tag of the page or flow that a route leads to; None for a special page such as the end."""
        flow, page = route.root["targetFlow"].text(), route.root["targetPage"].text()
        if page and any(part.page == page and self._flow_name(part.flow) == route.place[0] for part in self._parts):
            return self._tag(route.place[0], page)
        return flow if flow and any(self._flow_name(part.flow) == flow for part in self._parts) else None

    def _tag(self, flow: str, page: str | None) -> str:
        """Return the name of a page, with its flow if another flow has a page of this name."""
        if page is None:
            return flow
        same = {part.flow for part in self._parts if part.page == page}
        return page if len(same) == 1 else f"{flow}/{page}"


def leads_elsewhere(route: Value) -> bool:
    """Return whether a route leaves its page."""
    target = route["targetPage"].text() or route["targetFlow"].text()
    return bool(target) and target != _BACK


def page_files(registry: Registry, route: Callable[[Intent], dict[str, Any]]) -> dict[str, Any]:
    """Return the files of the pages for the tags of a registry; `route` makes the route of an intent."""
    tags = dict.fromkeys(tag for intent in registry for tag in intent.when)
    return {
        f"flows/{START_FLOW}/{_PAGES}/{file_name(tag)}.json": {
            "name": identity("page", tag),
            "displayName": tag,
            "transitionRoutes": [route(intent) for intent in registry if tag in intent.when],
        }
        for tag in tags
    }


def unreached(registry: Registry) -> list[Problem]:
    """Report that no route leads to the pages: a registry does not say which intent activates a tag."""
    conditional = [intent for intent in registry if intent.when]
    tags = dict.fromkeys(tag for intent in conditional for tag in intent.when)
    if not tags:
        return []
    message = f"tags are exported as pages, and no route leads to them yet: {', '.join(tags)}"
    place = conditional[0].location or NOWHERE
    return [Problem(place, "info", "unreached-page", message, "add the target page to the routes before them")]
