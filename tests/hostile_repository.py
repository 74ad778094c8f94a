"""A repository whose configuration, attributes and hooks name a program for everything that git can start one for."""

from __future__ import annotations

import subprocess
from pathlib import Path

_HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change",
    "post-rewrite", "pre-auto-gc", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "reference-transaction",
)  # fmt: skip
_CONFIG = """\
[core]
	fsmonitor = {program}
	hooksPath = {hooks}
	attributesFile = {attributes}
	editor = {program}
	pager = {program}
	askPass = {program}
	sshCommand = {program}
	gitProxy = {program}
	alternateRefsCommand = {program}
[filter "evil"]
	clean = {program}
	smudge = {program}
	process = {program}
	required = true
[diff]
	external = {program}
[diff "evil"]
	command = {program}
	textconv = {program}
	cachetextconv = true
[merge "evil"]
	driver = {program}
[commit]
	gpgSign = true
[log]
	showSignature = true
[gpg]
	program = {program}
	format = openpgp
[gpg "ssh"]
	program = {program}
	defaultKeyCommand = {program}
[user]
	signingKey = evil
[credential]
	helper = !{program}
[sequence]
	editor = {program}
[interactive]
	diffFilter = {program}
[pager]
	log = {program}
	status = {program}
	config = {program}
[alias]
	log = !{program}
	status = !{program}
	evil = !{program}
[gc]
	auto = 1
	recentObjectsHook = {program}
[maintenance]
	auto = true
[protocol "ext"]
	allow = always
[remote "evil"]
	url = ext::{program}
	promisor = true
	uploadpack = {program}
	receivepack = {program}
	partialCloneFilter = blob:none
[extensions]
	partialClone = evil
[submodule "evil"]
	update = !{program}
[status]
	submoduleSummary = true
[hook "evil"]
	command = {program}
	event = reference-transaction
	event = pre-commit
	event = post-index-change
[include]
	path = {included}
"""


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "protocol.file.allow=always")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


class HostileRepository:
    """A repository with a registry in `bot/`, committed before it became hostile."""

    def __init__(self, root: Path, yaml: str) -> None:
        self.root, self.bot = root, root / "bot"
        self._marker = root.parent / f"{root.name}-started"
        self.bot.mkdir(parents=True)
        (self.bot / "bot.yaml").write_text(yaml, encoding="utf-8")
        (self.bot / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
        _git(root, "init", "--quiet", "--initial-branch=main")
        _git(root, "add", ".")
        _git(root, "commit", "--quiet", "-m", "Begin")
        self._add_submodule()
        self._sign_last_commit()
        self._turn_hostile(root / ".git")
        self._turn_hostile(root / ".git" / "modules" / "sub")

    def _add_submodule(self) -> None:
        inner = self.root.parent / f"{self.root.name}-inner"
        inner.mkdir()
        _git(inner, "init", "--quiet")
        (inner / "a.txt").write_text("1\n", encoding="utf-8")
        _git(inner, "add", ".")
        _git(inner, "commit", "--quiet", "-m", "Inner")
        _git(self.root, "submodule", "--quiet", "add", "--name", "sub", str(inner), "bot/sub")
        _git(self.root, "commit", "--quiet", "-m", "Submodule")
        (self.bot / "sub" / "a.txt").write_text("2\n", encoding="utf-8")

    def _sign_last_commit(self) -> None:
        """Make the newest commit one with a signature, which `log.showSignature` has a program check."""
        raw = subprocess.run(
            ["git", "-C", str(self.root), "cat-file", "commit", "HEAD"], check=True, capture_output=True
        ).stdout
        head, _, message = raw.partition(b"\n\n")
        signature = b"gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----"
        made = subprocess.run(
            ["git", "-C", str(self.root), "hash-object", "-t", "commit", "-w", "--stdin"],
            input=head + b"\n" + signature + b"\n\n" + message, check=True, capture_output=True,
        )  # fmt: skip
        _git(self.root, "update-ref", "refs/heads/main", made.stdout.decode().strip())

    def _turn_hostile(self, git_folder: Path) -> None:
        program = self.root.parent / f"{self.root.name}-program"
        program.write_text(f'#!/bin/sh\necho "$0 $*" >> {self._marker}\nexit 1\n', encoding="utf-8")
        program.chmod(0o755)
        hooks = git_folder / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in _HOOKS:
            (hooks / name).write_text(program.read_text(encoding="utf-8"), encoding="utf-8")
            (hooks / name).chmod(0o755)
        attributes = git_folder / "info" / "attributes"
        attributes.parent.mkdir(exist_ok=True)
        attributes.write_text("* filter=evil diff=evil merge=evil\n", encoding="utf-8")
        included = git_folder / "included"
        included.write_text(f"[core]\n\tfsmonitor = {program}\n", encoding="utf-8")
        written = _CONFIG.format(program=program, hooks=hooks, attributes=attributes, included=included)
        with (git_folder / "config").open("a", encoding="utf-8") as file:
            file.write(written)

    def started(self) -> list[str]:
        """Return the programs that were started since the last call."""
        lines = self._marker.read_text(encoding="utf-8").splitlines() if self._marker.exists() else []
        self._marker.unlink(missing_ok=True)
        return lines
