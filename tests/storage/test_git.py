"""Git as we run it: nothing that a repository names is started, and the repository is used as git itself would."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hostile_repository import HostileRepository

import intentmatch
from intentmatch.authoring.bots import Bots
from intentmatch.authoring.git_history import GitHistory
from intentmatch.authoring.operations.local import local_author
from intentmatch.authoring.workspace import ANY, Workspace
from intentmatch.cli.commands import cli
from intentmatch.core.errors import InputError
from intentmatch.evaluation.compare.gitref import GitRef, export
from intentmatch.registry.confinement import ReadLimits
from intentmatch.registry.editing.edits import AddUtterance
from intentmatch.storage import git as storage_git
from intentmatch.storage.git import ForeignRepositoryError, Repository

YAML = "intents:\n  greet:\n    utterances: [hello]\n  bye:\n    utterances: [goodbye]\n"


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Owner", "-c", "user.email=owner@example.org")
    return subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> HostileRepository:
    return HostileRepository(tmp_path_factory.mktemp("hostile") / "repository", YAML)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A repository with a registry at its root."""
    (tmp_path / "bot.yaml").write_text(YAML, encoding="utf-8")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "Begin")
    return tmp_path


def write(bot: Path, text: str) -> str:
    written = Workspace(bot).write([AddUtterance("greet", text)], author="anna", note="More", expected=ANY)
    assert written.revision is not None, written.warnings
    return written.revision.id


def write_by_hand(bot: Path) -> None:
    file = bot / "bot.yaml"
    file.write_text(file.read_text(encoding="utf-8") + "# by hand\n", encoding="utf-8")
    write(bot, "after a change by hand")


def restore(bot: Path) -> None:
    workspace = Workspace(bot)
    workspace.write(workspace.restoring(workspace.revisions()[-1].id), author="anna", note="", expected=ANY)


def read_revisions(bot: Path) -> None:
    workspace = Workspace(bot)
    assert [workspace.revision(one.id) for one in workspace.revisions()]


def export_commit(bot: Path) -> None:
    assert export(GitRef("HEAD", str(bot)), bot.parent.parent / "exported").is_dir()


def add_and_remove_a_bot(bot: Path) -> None:
    def found() -> dict[str, Path]:
        return {path.name: path for path in bot.parent.iterdir() if (path / "bot.yaml").exists()}

    bots = Bots(bot.parent, found, ReadLimits.from_settings)
    created = bots.create("shop", {"bot.yaml": YAML}, author="anna")
    assert created.revision is not None, created.warnings
    bots.remove("shop", author="anna", expected=ANY)


def command(*words: str) -> Callable[[Path], None]:
    def run(bot: Path) -> None:
        result = CliRunner().invoke(cli, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output

    return run


OPERATIONS: dict[str, Callable[[Path], object]] = {
    "find": GitHistory.of,
    "folder": lambda bot: Workspace(bot).history.begun,
    "name of the author": local_author,
    "write": lambda bot: write(bot, "good day"),
    "write after a change by hand": write_by_hand,
    "read revisions": read_revisions,
    "restore": restore,
    "export a commit": export_commit,
    "create and remove a bot": add_and_remove_a_bot,
    "command diff": command("diff", "HEAD:bot", "bot"),
    "command revisions": command("revisions", "-i", "bot"),
    "command add": command("add", "greet", "hi you", "-i", "bot", "--yes"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_programs_that_a_repository_names_are_not_started(
    hostile: HostileRepository, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(hostile.root)
    monkeypatch.setenv("INTENTMATCH_CACHE", "off")
    hostile.started()

    OPERATIONS[name](hostile.bot)

    assert hostile.started() == []


@pytest.mark.parametrize("words", [("status",), ("add", "bot"), ("log", "-p")])
def test_git_as_it_is_starts_programs_of_that_repository(hostile: HostileRepository, words: tuple[str, ...]) -> None:
    hostile.started()

    subprocess.run(["git", "-C", str(hostile.root), *words], check=False, capture_output=True)

    assert hostile.started()


def test_one_module_runs_git() -> None:
    package = Path(intentmatch.__file__).parent
    named = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if "subprocess" in (text := file.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value == "git"
    }

    assert named == {"storage/git.py"}


def test_commit_on_a_detached_head_moves_it(plain: Path) -> None:
    git(plain, "checkout", "--quiet", "--detach")

    identity = write(plain, "good day")

    assert git(plain, "rev-parse", "HEAD").strip() == identity != git(plain, "rev-parse", "main").strip()
    assert git(plain, "status", "--porcelain") == ""


def test_folders_of_killed_processes_are_removed(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    storage_git._remove_strays.cache_clear()
    (old := tmp_path / "intentmatch-git-old").mkdir()
    (new := tmp_path / "intentmatch-git-new").mkdir()
    (old / "objects").symlink_to(plain / ".git" / "objects")
    os.utime(old, (1e9, 1e9))

    assert Repository.of(plain).run("status").returncode == 0
    assert (old.exists(), new.exists()) == (False, True)
    assert any((plain / ".git" / "objects").iterdir())


def test_branch_of_a_crafted_head_has_no_lock_outside(plain: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs.lock").touch()
    outside = os.path.relpath(tmp_path / "theirs", plain / ".git")
    (plain / ".git" / "HEAD").write_text(f"ref: refs/heads/../../{outside}\n", encoding="utf-8")

    assert Repository(plain, "", plain / ".git", plain / ".git", {}).locks() == []


def test_linked_working_tree_has_its_own_branch(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    tree = tmp_path_factory.mktemp("linked") / "tree"
    git(plain, "worktree", "add", "--quiet", "-b", "side", str(tree))

    identity = write(tree, "good day")

    assert git(plain, "rev-parse", "side").strip() == identity != git(plain, "rev-parse", "main").strip()
    assert git(tree, "status", "--porcelain") == ""


@pytest.mark.parametrize("form", ["sha256", "packed", "split index", "line ends"])
def test_forms_of_a_repository_are_kept(tmp_path: Path, form: str) -> None:
    git(tmp_path, "init", "--quiet", *(["--object-format=sha256"] if form == "sha256" else []))
    if form == "line ends":
        git(tmp_path, "config", "core.autocrlf", "true")
    (tmp_path / "bot.yaml").write_bytes(YAML.replace("\n", "\r\n").encode() if form == "line ends" else YAML.encode())
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "-m", "Begin")
    if form == "packed":
        git(tmp_path, "gc", "--quiet")
        git(tmp_path, "pack-refs", "--all")
    if form == "split index":
        git(tmp_path, "update-index", "--split-index")

    write(tmp_path, "good day")

    assert git(tmp_path, "status", "--porcelain") == ""
    assert [one.note for one in Workspace(tmp_path).revisions()] == ["More", "Begin"]
    assert "\r" not in git(tmp_path, "cat-file", "blob", "HEAD:bot.yaml")


@pytest.mark.parametrize("name", ["objects", "refs", "HEAD", "index"])
def test_linked_entry_of_a_git_folder_is_not_followed(plain: Path, tmp_path: Path, name: str) -> None:
    entry = plain / ".git" / name
    entry.rename(plain / "elsewhere")
    entry.symlink_to(plain / "elsewhere" if name != "HEAD" else "refs/heads/main")

    with pytest.raises(InputError, match="is a link, which is not followed"):
        Repository.of(plain)
    assert GitHistory.of(plain) is None


def lead_by_file(bot: Path, victim: Path) -> None:
    shutil.rmtree(bot / ".git")
    (bot / ".git").write_text(f"gitdir: {victim}/.git\n", encoding="utf-8")


def lead_by_link(bot: Path, victim: Path) -> None:
    shutil.rmtree(bot / ".git")
    (bot / ".git").symlink_to(victim / ".git")


def lead_by_common_folder(bot: Path, victim: Path) -> None:
    (bot / ".git" / "commondir").write_text(f"{victim}/.git\n", encoding="utf-8")


def lead_by_working_tree(bot: Path, victim: Path) -> None:
    git(bot, "config", "core.worktree", str(victim))


def lead_by_working_tree_above(bot: Path, victim: Path) -> None:
    git(bot, "config", "core.worktree", str(bot.parent))


def lead_by_alternates(bot: Path, victim: Path) -> None:
    (bot / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (bot / ".git" / "objects" / "info" / "alternates").write_text(f"{victim}/.git/objects\n", encoding="utf-8")
    (bot / ".git" / "refs" / "heads" / "main").write_text(git(victim, "rev-parse", "HEAD"), encoding="utf-8")


def lead_by_linked_entry(name: str) -> Callable[[Path, Path], None]:
    def link(bot: Path, victim: Path) -> None:
        entry, target = (one / ".git" / name for one in (bot, victim))
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
        entry.symlink_to(target)

    return link


LINKED = ("refs/heads", "refs/heads/main", "objects/pack", "objects/info", "intentmatch")
LEADS = {
    "file .git": lead_by_file,
    "link .git": lead_by_link,
    "commondir": lead_by_common_folder,
    "core.worktree": lead_by_working_tree,
    "core.worktree above": lead_by_working_tree_above,
    "alternates": lead_by_alternates,
    **{name: lead_by_linked_entry(name) for name in LINKED},
}


@pytest.mark.parametrize("name", LEADS)
def test_repository_that_leads_to_another_one_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Whoever writes a git folder could read the history of any repository of the server, and commit to it."""
    bot, victim = tmp_path / "bot", tmp_path / "victim"
    for folder, text in ((bot, YAML), (victim, YAML.replace("goodbye", "the password is swordfish"))):
        folder.mkdir()
        (folder / "bot.yaml").write_text(text, encoding="utf-8")
        git(folder, "init", "--quiet", "--initial-branch=main")
        git(folder, "add", ".")
        git(folder, "commit", "--quiet", "-m", folder.name)
        git(folder, "gc", "--quiet", *(["--prune=now"] if folder == victim else []))
        git(folder, "update-ref", "refs/heads/main", "HEAD")
    before = git(victim, "log", "--all", "--format=%H")
    LEADS[name](bot, victim)

    with pytest.raises(ForeignRepositoryError):
        Repository.of(bot)
    write(bot, "good day")
    assert [one.note for one in Workspace(bot).revisions()] == ["More", "Before the first edit"]
    assert "revisions are kept in a folder beside the files, and not in git" in caplog.text
    assert git(victim, "log", "--all", "--format=%H") == before


def test_submodule_has_a_history_of_its_own(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outer = tmp_path_factory.mktemp("outer")
    git(outer, "init", "--quiet")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(plain), "bot")

    identity = write(outer / "bot", "good day")

    assert git(outer / "bot", "rev-parse", "HEAD").strip() == identity


@pytest.mark.parametrize("special", ["pipe", "endless"])
def test_list_of_ignored_files_that_is_no_file_is_not_read(plain: Path, special: str) -> None:
    place = plain / ".git" / "info" / "exclude"
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    os.mkfifo(place) if special == "pipe" else place.symlink_to("/dev/zero")

    assert write(plain, "good day")


def test_output_without_end_is_cut(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A commit of a few kilobytes can list millions of files."""
    monkeypatch.setattr(storage_git, "_MOST_BYTES", 10)

    with pytest.raises(InputError, match="printed more than 10 bytes"):
        Repository.of(plain)


def test_git_that_hangs_is_ended(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (plain / ".git" / "packed-refs").unlink(missing_ok=True)
    os.mkfifo(plain / ".git" / "packed-refs")
    monkeypatch.setattr(storage_git, "SECONDS", 0.5)

    with pytest.raises(InputError, match=r"more than 0\.5 seconds"):
        Repository.of(plain).run("rev-parse", "refs/heads/nowhere")


def test_bare_repository_among_the_files_is_not_used(plain: Path) -> None:
    inner = plain / "inner"
    git(plain, "init", "--quiet", "--bare", str(inner))

    with pytest.raises(InputError):
        Repository.of(inner)


def test_log_of_refs_is_not_written(plain: Path, tmp_path: Path) -> None:
    """It is appended to whatever file it is a link to, with a note that an author chooses."""
    victim = tmp_path / "victim"
    victim.write_text("kept\n", encoding="utf-8")
    log = plain / ".git" / "logs" / "HEAD"
    log.parent.mkdir(exist_ok=True)
    log.unlink(missing_ok=True)
    log.symlink_to(victim)

    write(plain, "good day")

    assert victim.read_text(encoding="utf-8") == "kept\n"
