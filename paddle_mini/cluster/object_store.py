# ObjectStore: the directory of a job in an object store, through fsspec. Processes work in local folders and copy files.
"""
An object appears with all its content, or not at all, and replaces another one as a whole: that is what the names of files in a
directory of a job rely on. Nothing can be appended to an object, renamed or locked.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePath
from typing import Any

from .._core import printable
from ..errors import shown
from ..io.parameters import Path
from ..io.regular_files import path_of
from .errors import Malformed, StorageError, storage_errors

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://.")
_CUT_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/[^/]")


def is_url(directory: Path) -> bool:
    """Whether a directory is in an object store, as "s3://bucket/job". Malformed for a Path that was made from a URL."""
    text = path_of(directory)
    if isinstance(directory, PurePath) and _CUT_URL.match(text):
        raise Malformed(f"{shown(directory)} is a URL without one of its slashes, which a Path removes: give the text of the URL")
    return _URL.match(text) is not None


class ObjectStore:
    """The objects directly below a URL, by name. Methods raise OSError, also for what libraries raise besides.

    StorageError if fsspec, or the package for this kind of store, is not installed."""

    def __init__(self, url: str):
        self.url = path_of(url).rstrip("/")
        try:
            import fsspec
        except ImportError:
            raise StorageError(f"'{url}' needs fsspec: pip install 'paddle_mini[store]'") from None
        with storage_errors(f"can't use '{url}'"), _failures():
            # Another process writes there too, so listings must not be kept.
            self._fs, root = fsspec.core.url_to_fs(self.url, use_listings_cache=False, skip_instance_cache=True)
        self._root = str(root).rstrip("/")

    def names(self) -> list[str]:
        """The names of all objects, sorted; none for a store without the place."""
        with _failures():
            self._fs.invalidate_cache()
            try:
                found = self._fs.ls(self._root, detail=True)
            except FileNotFoundError:
                return []
        return sorted(os.path.basename(one["name"]) for one in found if one["type"] == "file")

    def put(self, path: str) -> None:
        """Copies a file, under its name."""
        with _failures():
            self._fs.put_file(path, self._at(os.path.basename(path)))

    def write(self, name: str, data: bytes) -> None:
        with _failures():
            self._fs.pipe_file(self._at(name), data)

    def read(self, name: str) -> bytes:
        with _failures():
            return bytes(self._fs.cat_file(self._at(name)))

    def get(self, name: str, folder: str) -> None:
        """Copies an object to a folder; its file is complete when it has the name."""
        beside = os.path.join(folder, name + ".unfinished")
        with _failures():
            self._fs.get_file(self._at(name), beside)
        os.replace(beside, os.path.join(folder, name))

    def remove(self, name: str) -> None:
        """Removes an object, if it is there."""
        with _failures(), suppress(FileNotFoundError):
            self._fs.rm_file(self._at(name))

    def mirror(self, folder: str, wanted: Callable[[str], Any]) -> None:
        """Makes the files of a folder those objects whose names are wanted; files with the name of an object have its
        content, as such objects never change."""
        names = set(filter(wanted, self.names()))
        there = set(filter(wanted, os.listdir(folder)))
        for name in sorted(there - names):
            os.unlink(os.path.join(folder, name))
        for name in sorted(names - there):
            self.get(name, folder)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"


def own_folder(owner: object) -> str:
    """A new folder, which is removed with its owner, or at the end of the process."""
    folder = tempfile.mkdtemp(prefix="paddle_mini_")
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def local_files(directory: str) -> Iterator[str]:
    """The directory itself, or a copy of all objects for as long as the block runs."""
    if not is_url(directory):
        yield directory
        return
    store = ObjectStore(directory)
    with tempfile.TemporaryDirectory(prefix="paddle_mini_") as folder:
        with storage_errors(f"can't read '{printable(directory)}'"):
            store.mirror(folder, lambda name: True)
        yield folder


@contextmanager
def _failures() -> Iterator[None]:
    """Libraries of object stores have errors of their own kinds, for example for a host that does not answer."""
    try:
        yield
    except (OSError, StorageError):
        raise
    except Exception as error:
        raise OSError(None, f"{type(error).__name__}: {error}") from error
