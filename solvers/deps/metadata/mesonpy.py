"""Stands in for the build backend while pip downloads a source package.

pip asks the backend for metadata even for a mere download, and would fetch unpinned build tools to get it. The answer
is already in the package: its PKG-INFO. So nothing that is not pinned is fetched or run.
"""

import email
import pathlib
import shutil


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = email.message_from_string(pathlib.Path("PKG-INFO").read_text(encoding="utf-8"))
    folder = pathlib.Path(metadata_directory) / f"{info['Name']}-{info['Version']}.dist-info"
    folder.mkdir()
    shutil.copy("PKG-INFO", folder / "METADATA")
    return folder.name
