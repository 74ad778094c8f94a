"""The files of a bot as its authors edit them: with their revisions, and with evaluations in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from intentmatch.authoring.read_limits import limits_of
from intentmatch.core.errors import InputError, Problem
from intentmatch.core.types import Registry
from intentmatch.matching.matcher import Matcher
from intentmatch.server.bots.loadable import unloadable
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.schemas.problem_details import ProblemDetails

if TYPE_CHECKING:
    from intentmatch.authoring.evaluator import Evaluator
    from intentmatch.authoring.workspace import Workspace


class Editing:
    """What authors need of one bot, opened once the first of them asks."""

    def __init__(self, matcher: Callable[[], Matcher]) -> None:
        """`matcher` returns the matcher in use, or raises `ProblemError` until it is loaded."""
        self._matcher = matcher
        self._workspace: Workspace | None = None
        self._evaluator: Evaluator | None = None
        self._opening = threading.Lock()
        self.evaluating = threading.Lock()
        """Held while this process evaluates the bot for an author."""

    @property
    def workspace(self) -> Workspace:
        """The files.

        Raises `ProblemError` (409) for an artefact or a registry made in code, which have no YAML to edit.
        """
        with self._opening:
            if self._workspace is None:
                self._workspace = self._opened()
            return self._workspace

    @property
    def evaluator(self) -> Evaluator:
        """What evaluates the revisions in the background. Raises as `workspace`."""
        from intentmatch.authoring.evaluator import Evaluator  # needed by few servers

        workspace = self.workspace
        with self._opening:
            if self._evaluator is None:
                self._evaluator = Evaluator(workspace, self._matcher)
            return self._evaluator

    def close(self) -> None:
        """Stop evaluating."""
        if self._evaluator is not None:
            self._evaluator.close()

    def _opened(self) -> Workspace:
        from intentmatch.authoring.workspace import Workspace  # needed by few servers

        matcher = self._matcher()
        if matcher.address is not None:
            from intentmatch.authoring.database_workspace import DatabaseWorkspace  # needs psycopg

            return DatabaseWorkspace(matcher.address, limits_of(matcher), self._unloadable)
        if matcher.path is None:
            detail = "The intents were made in code: there is no YAML to edit."
            raise ProblemError(ProblemDetails.for_status(409, detail))
        try:
            return Workspace(matcher.path, limits_of(matcher), self._unloadable)
        except InputError as error:
            raise ProblemError(ProblemDetails.for_status(409, str(error))) from error

    def _unloadable(self, registry: Registry) -> Problem | None:
        return unloadable(self._matcher(), registry)
