"""PyInstaller's hook: the embedded encoder, word lists and guide, and modules that are imported by name.

Adapters for frameworks, the studio and Ray are only in a program that imports them, and so are torch and onnxruntime.
"""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules, copy_metadata

_BY_IMPORT_ONLY = ("intentmatch.integrations", "intentmatch.studio", "intentmatch.deploy")

# The metadata has the entry points, without which plugins are not found.
datas = collect_data_files("intentmatch") + copy_metadata("intentmatch")
hiddenimports = collect_submodules("intentmatch", filter=lambda name: not name.startswith(_BY_IMPORT_ONLY))
