# Files of server checkpoints: their format, verified by checksum when they are read.
"""
    server-<index>-<uuid>.ckpt    the line MAGIC; then records, each after its length in 8 bytes: facts (JSON), and for
    every block: its description (JSON), its configuration, its optimizer's state; then the SHA-256 of all that

With the line CHANGES in place of MAGIC a file is relative to another one, its base: the facts have the base's uuid and SHA-256,
and a block whose description says "changes" has these in place of the state. A base is never relative to another one.
A file gets its name when it is complete on the disk, so a file with this name is complete unless the disk has damaged it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NamedTuple

from ..._core import printable
from ...io.new_file import NewFile
from ...io.regular_files import open_regular, sync_directory
from ...optimizer.native import StateSnapshot
from ..errors import ClusterError, Malformed, StorageError, WrongVersion, storage_errors
from ..process_log import ProcessLogger
from ..values import BlockKey
from ..wire import Header, field, pack, unpack
from .parameter_shard import ParameterShard, about, from_about

MAGIC = b"paddle_mini server checkpoint 1\n"
CHANGES = b"paddle_mini server checkpoint 2\n"
_ANY_VERSION = re.compile(rb"paddle_mini server checkpoint \d")
_NAME = re.compile(r"server-(0|[1-9][0-9]{0,8})-([0-9a-f]{32})\.ckpt")
_FACTS = {"index": int, "uuid": str, "number": int, "job": str, "servers": int, "timestamp": int, "version": int, "blocks": int}
SUM_BYTES = 32
_CHUNK = 1 << 20
_log = ProcessLogger(__name__)


class Found(NamedTuple):
    """A checkpoint with its path and the facts at its beginning; verified() checks the rest."""

    path: str
    server: int
    facts: Header


def found(directory: str, index: int | None = None) -> list[Found]:
    """The checkpoints in a directory, of one server or of all, newest first; unreadable ones are skipped and logged.
    WrongVersion for an intact one of another format."""
    names = []
    with storage_errors(f"can't read '{directory}'"), suppress(FileNotFoundError):
        names = sorted(os.listdir(directory))
    checkpoints = []
    for name in names:
        match = _NAME.fullmatch(name)
        if match and index in (None, int(match[1])):
            path = os.path.join(directory, name)
            try:
                with _opened(path) as file:
                    facts = _facts(file)
                    _require_facts(facts)
                    if (facts["index"], facts["uuid"]) == (int(match[1]), match[2]):
                        checkpoints.append(Found(path, int(match[1]), facts))
            except WrongVersion:
                raise
            except ClusterError as error:
                _log.warning("%s: it is skipped", error)
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.facts["number"], reverse=True)


def _require_facts(facts: Header) -> None:
    """Malformed for facts that no server has written."""
    for name, kind in _FACTS.items():
        field(facts, name, kind)
    if "base" in facts:
        base = field(facts, "base", dict)
        field(base, "uuid", str), field(base, "checksum", str)


@contextmanager
def verified(path: str) -> Iterator[tuple[BinaryIO, Header]]:
    """The file, positioned after its facts, and the facts; StorageError if it is truncated or damaged."""
    with _opened(path) as file:
        _require_whole(file)
        facts = _facts(file)
        yield file, facts


def blocks(file: BinaryIO, facts: Mapping[str, Any]) -> Iterator[ParameterShard]:
    """Iterates over the blocks of a file that verified() has opened. StorageError also when its base is missing or damaged."""
    with _base_of(file, facts) as base:
        for _ in range(field(facts, "blocks", int)):
            described, config, state = _block(file)
            shard, changes = from_about(described), None
            if field(described, "changes", bool, False):
                state, changes = _state_in(base, file, BlockKey(shard[1].parameter, shard[1].number)), state
            yield ParameterShard(*shard, config, state=state, changes=changes)
    if file.tell() != os.fstat(file.fileno()).st_size - SUM_BYTES:
        raise StorageError(f"'{file.name}' has data after its {facts['blocks']} blocks")


def file_name(index: int, uuid: str) -> str:
    """The name of a file in the job's directory."""
    return f"server-{index}-{uuid}.ckpt"


def is_checkpoint(name: str) -> bool:
    """Whether a file in a job's directory has the name of a checkpoint."""
    return _NAME.fullmatch(name) is not None


_Blocks = Iterator[tuple[Header, bytes, bytes]]


@contextmanager
def _base_of(file: BinaryIO, facts: Mapping[str, Any]) -> Iterator[_Blocks]:
    """The blocks of the file that this one is relative to: description, configuration and state; none if it is whole."""
    base = field(facts, "base", dict, None)
    if base is None:
        yield iter(())
        return
    path = os.path.join(os.path.dirname(file.name), file_name(field(facts, "index", int), field(base, "uuid", str)))
    if not _NAME.fullmatch(os.path.basename(path)):
        raise Malformed(f"the base is {os.path.basename(path)!r}")
    try:
        with verified(path) as (found, its_facts):
            if "base" in its_facts or _checksum(found) != field(base, "checksum", str):
                raise StorageError(f"'{path}' is another file than at that time")
            yield (_block(found) for _ in range(field(its_facts, "blocks", int)))
    except StorageError as error:
        raise StorageError(f"'{file.name}' has changes only: {error}") from None


def _state_in(base: _Blocks, file: BinaryIO, key: BlockKey) -> bytes:
    """The state of a block; blocks have the same order in both files."""
    for described, _, state in base:
        if (described.get("parameter"), described.get("number")) == key:
            return state
    raise StorageError(f"'{file.name}' has changes of block {key.number} of '{printable(key.parameter)}', which its base lacks")


def _checksum(file: BinaryIO) -> str:
    return os.pread(file.fileno(), SUM_BYTES, os.fstat(file.fileno()).st_size - SUM_BYTES).hex()


def _block(file: BinaryIO) -> tuple[Header, bytes, bytes]:
    return unpack(_record(file)), _record(file), _record(file)


class Written(NamedTuple):
    """A block to write. state: that of its optimizer, or if `changes` the changes to its state in the base."""

    shard: ParameterShard
    state: StateSnapshot
    changes: bool


def write_file(path: str, facts: Mapping[str, Any], some: Iterable[Written]) -> tuple[str, int]:
    """Writes a file in pieces; returns its checksum and size. facts: with a base if some blocks have only changes."""
    directory, name = os.path.split(path)
    with NewFile(directory, name + ".unfinished", hashlib.sha256()) as file:

        def record(data: bytes) -> None:
            file.write(len(data).to_bytes(8, "little"))
            file.write(data)

        file.write(CHANGES if "base" in facts else MAGIC)
        record(pack(facts))
        for shard, state, changes in some:
            record(pack({**about(shard.info, shard.block), **({"changes": True} if changes else {})}))
            record(shard.config)
            file.write(state.size.to_bytes(8, "little"))
            for piece in state.pieces(_CHUNK):
                file.write(piece)
            state.close()
        checksum = file.facts()["sha256"]
        file.write(bytes.fromhex(checksum))
        size = file.facts()["bytes"]
    os.rename(path + ".unfinished", path)
    sync_directory(directory)
    return checksum, size


def _facts(file: BinaryIO) -> Header:
    """Reads the facts of an open file, up to its first block."""
    begin = file.read(len(MAGIC))
    if begin in (MAGIC, CHANGES):
        facts = unpack(_record(file))
        if ("base" in facts) != (begin == CHANGES):
            raise StorageError(f"'{file.name}' is damaged: its first line does not say what it is relative to")
        return facts
    if not _ANY_VERSION.match(begin):
        raise StorageError(f"'{file.name}' is not a checkpoint of a server")
    _require_whole(file)
    raise WrongVersion(f"'{file.name}' is '{begin.decode('ascii', 'replace').strip()}', another version than this one")


def _require_whole(file: BinaryIO) -> None:
    """Verifies the checksum, and seeks to the beginning."""
    file.seek(0)
    left, total = os.fstat(file.fileno()).st_size - SUM_BYTES, hashlib.sha256()
    while left > 0 and (chunk := file.read(min(left, _CHUNK))):
        total.update(chunk)
        left -= len(chunk)
    if left != 0 or file.read() != total.digest():
        raise StorageError(f"'{file.name}' is truncated or damaged: its SHA-256 differs")
    file.seek(0)


def _record(file: BinaryIO) -> bytes:
    size = int.from_bytes(file.read(8), "little")
    if size > os.fstat(file.fileno()).st_size - SUM_BYTES - file.tell():  # before memory is allocated for it
        raise StorageError(f"'{file.name}' is truncated or damaged: {size} bytes are missing")
    return file.read(size)


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    """The file, open for reading. StorageError, which names it, when its content is malformed."""
    with (
        storage_errors(f"can't read '{path}'"),
        open(path, "rb", opener=lambda name, flags: open_regular(name, flags | os.O_NOFOLLOW)) as file,
    ):
        try:
            yield file
        except Malformed as error:
            raise StorageError(f"'{path}' is damaged: {error}") from None
