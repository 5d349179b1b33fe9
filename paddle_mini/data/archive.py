# Files of data sets where they lie: in a folder, a .zip, a .tar, or alone; nothing is unpacked onto the disk.
from __future__ import annotations

import gzip
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Union

from .._core import ProgramError, printable
from ..io.regular_files import open_regular

Path = Union[str, "os.PathLike[str]"]

# The largest file of these data sets has less; what unpacks to more is damaged or was made to fill the memory.
MOST_BYTES = 1 << 30
_BROKEN = (OSError, EOFError, zlib.error, tarfile.TarError, zipfile.BadZipFile, RuntimeError, NotImplementedError)


def members(path: Path, pattern: str) -> Iterator[tuple[str, bytes]]:
    """(name, content) of the files whose name with / the pattern is found in, in the order of the archive, or
    of the names in a folder; what ends with .gz is unpacked. ProgramError when it cannot be read."""
    path, wanted = os.fspath(path), re.compile(pattern)
    try:
        for name, read in _files(path):
            if wanted.search(name) and not name.rsplit("/", 1)[-1].startswith("._"):  # macOS adds those to archives
                yield name, _unpacked(name, read)
    except _BROKEN as error:
        raise ProgramError(f"can't read '{path}': {error}") from None


def named_members(path: Path, *endings: str) -> list[bytes]:
    """The content of the one file with each of these endings of names; .gz may stand behind.
    ProgramError when one is missing or there are two."""
    found: dict[str, tuple[str, bytes]] = {}
    for name, content in members(path, "(" + "|".join(map(re.escape, endings)) + r")(\.gz)?$"):
        ending = max((ending for ending in endings if re.search(re.escape(ending) + r"(\.gz)?$", name)), key=len)
        if ending in found:
            raise ProgramError(f"'{os.fspath(path)}' has both '{found[ending][0]}' and '{printable(name)}'")
        found[ending] = name, content
    missing = [ending for ending in endings if ending not in found]
    if missing:
        raise ProgramError(f"'{os.fspath(path)}' has no file whose name ends with '{printable(missing[0])}'")
    return [found[ending][1] for ending in endings]


def lines(content: bytes, encoding: str = "utf-8") -> list[str]:
    """The lines of a text without their ends. ProgramError when it is not in this encoding."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise ProgramError(f"it is not valid {encoding} text: {error}") from None
    rows = text.split("\n")  # not splitlines, which also ends lines at characters that words of the data hold
    return [row.rstrip("\r") for row in (rows[:-1] if rows[-1] == "" else rows)]


def _files(path: str) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    """Names, and functions that open the files."""
    if not os.path.exists(path):
        raise FileNotFoundError("no such file")
    if not os.path.isdir(path):
        os.close(open_regular(path))  # the modules of archives would wait for a pipe
    if os.path.isdir(path):
        for folder, inner, names in os.walk(path):
            inner.sort()
            for name in sorted(names):
                full = os.path.join(folder, name)
                yield full.replace(os.sep, "/"), lambda full=full: open(full, "rb", opener=open_regular)  # type: ignore[misc]  # noqa: SIM115
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for entry in packed.infolist():
                if not entry.is_dir():
                    yield entry.filename, lambda entry=entry: packed.open(entry)  # type: ignore[misc]
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as tar:
            for part in tar:
                if part.isfile():
                    yield part.name, lambda part=part: tar.extractfile(part)  # type: ignore[misc]
    else:
        yield path.replace(os.sep, "/"), lambda: open(path, "rb", opener=open_regular)  # noqa: SIM115 (the caller closes the file)


def _unpacked(name: str, read: Callable[[], IO[bytes]]) -> bytes:
    with read() as raw:
        stream: IO[bytes] = gzip.GzipFile(fileobj=raw) if name.endswith(".gz") else raw  # type: ignore[assignment]
        content = stream.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ProgramError(f"'{printable(name)}' unpacks to more than {MOST_BYTES} bytes")
    return content
