"""Edits of whole files: replace the text of a file, add a file, or remove one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from intentmatch.core.errors import InputError, RegistryError, UnknownNameError
from intentmatch.registry.editing.document import Document
from intentmatch.registry.editing.edits import target_file
from intentmatch.registry.editing.folder import Folder
from intentmatch.registry.reading.reader import problems_of


@dataclass(frozen=True, slots=True)
class ReplaceFile:
    """Replaces the whole text of a file of the registry, or adds the file."""

    file: Path
    text: str

    def apply(self, folder: Folder) -> Folder:
        """Return the folder with the new text.

        Raises `RegistryError` with the places of what is wrong if the text is not valid YAML, and `InputError` for a
        file outside of the registry.
        """
        # JSON can hold one, and UTF-8 cannot.
        if any("\ud800" <= sign <= "\udfff" for sign in self.text):
            raise InputError(f"{self.file} cannot be written: the text contains a lone surrogate")
        file = target_file(folder, self.file, "the text")
        try:
            document = Document(str(file), self.text)
        except yaml.YAMLError as error:
            found = problems_of(file, self.text)
            raise (RegistryError(found) if found else InputError(f"{file} is not valid YAML: {error}")) from None
        return folder.replaced(file, document)


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """Removes a file of the registry."""

    file: Path

    def apply(self, folder: Folder) -> Folder:
        """Return the folder without the file. Raises `UnknownNameError` if the registry has no such file."""
        target = self.file.absolute()
        rest = {file: document for file, document in folder.documents.items() if file.absolute() != target}
        if len(rest) == len(folder.documents):
            raise UnknownNameError("file", str(self.file), list(map(str, folder.documents)))
        return Folder(folder.path, rest)
