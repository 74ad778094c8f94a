"""Load a candidate: a revision of the bot's history, or a folder, a file or an artefact beside its own files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from intentmatch.authoring.past_registries import registry_of
from intentmatch.authoring.read_limits import limits_of
from intentmatch.authoring.revisions import Files, digest_of
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.errors import InputError, Location, Problem, RegistryError
from intentmatch.matching.matcher import Matcher
from intentmatch.registry import is_yaml, read_registry
from intentmatch.registry.confinement import RULE
from intentmatch.server.candidates.records import CandidateSource
from intentmatch.storage.regular_files import home_path, is_inside, is_there

NOT_PROMOTED = (
    "only a folder of YAML takes the place of another: put the candidate where the server reads its registry, and call "
    "/reload"
)


class LoadedCandidate(NamedTuple):
    """A candidate that is built, trained and self-tested."""

    matcher: Matcher
    digest: str
    """Digest of the files of a folder, which could be promoted; empty for other sources."""


def load_candidate(
    source: CandidateSource, present: Matcher, workspace: Workspace | None, *, several: bool = False
) -> LoadedCandidate:
    """Load a candidate, which shares the encoder of `present` if both have the same.

    `workspace` holds the revisions; None if the bot has none. With `several`, the bot is one of a folder of bots.

    Raises `UnknownNameError` for an unknown revision, `InputError` for a source that cannot be one, and what
    `Matcher.load` raises.
    """
    if source.kind == "revision":
        if workspace is None:
            raise InputError("this bot has no revisions: name a `path` instead")
        return LoadedCandidate(present.trial(registry_of(workspace, source.name)), "")
    place = place_of(source.name, present, several=several)
    limits = limits_of(present, place)  # the matcher itself may have been loaded without any
    if not place.is_dir():
        # Under the limits first: `trial` reads as the matcher in use does, which may have none.
        if is_yaml(place):
            read_registry(place, limits=limits)
        return LoadedCandidate(present.trial(place), "")
    files = _folder(place, present)
    found = files.files()
    if not found:
        raise InputError(f"there is no .yaml or .yml file in the folder {source.name}")
    read_registry(place, limits=limits)
    digest = digest_of(found)
    matcher = present.trial(place)
    # Promoting writes the files of this digest: they must be those that were tried.
    if digest_of(files.files()) != digest:
        raise InputError(f"{source.name} is being changed: begin the candidate again")
    return LoadedCandidate(matcher, digest)


def place_of(name: str, present: Matcher, *, several: bool = False) -> Path:
    """Return the path that an author names, from the folder of the bot's own files.

    An artefact among several bots lies in the folder of them all, so its candidates lie in a hidden folder of its name.

    Raises `RegistryError` if the bot is confined to its folder and the path lies outside, and `InputError` if the bot
    has no files, or nothing can be or is there.
    """
    own = present.path
    if own is None:
        raise InputError("only a bot in files takes a path: name a revision instead")
    if "\0" in name:
        raise InputError("a path cannot contain the character 0")
    folder = own if own.is_dir() else own.parent
    place = folder / home_path(name)
    limits = limits_of(present)
    if not limits.allows(place):
        raise RegistryError([limits.refused(place, Location("body.path"))])
    # The folder of an artefact is that of all bots: its author could otherwise load the registry of any other bot.
    if several and limits.folder == folder != own and not is_inside(place, hidden := folder / f".{own.stem}"):
        hint = f"put the candidate of this artefact into the folder {hidden}, or turn `confine` off"
        raise RegistryError([Problem(Location("body.path"), "error", RULE, f"{place} may belong to another bot", hint)])
    if not is_there(place):
        raise InputError(f"there is no file or folder {name}: relative paths count from {folder}, the bot's folder")
    return place


def files_of(source: CandidateSource, present: Matcher) -> Files:
    """Return the files of a candidate's folder by their names from it.

    Raises `InputError` unless both the candidate and the registry in use are folders of YAML.
    """
    place, own = place_of(source.name, present), present.path
    if own is None or not own.is_dir() or not place.is_dir() or not is_yaml(place):
        raise InputError(NOT_PROMOTED)
    return _folder(place, present).files()


def _folder(place: Path, present: Matcher) -> Workspace:
    return Workspace(place, limits_of(present, place))


def describe(source: CandidateSource, mode: str, share: float) -> str:
    """Describe a candidate in a line, for the audit log."""
    return f"Candidate {source}: {mode}" + (f", {share:.1%} of the conversations" if mode == "canary" else "")
