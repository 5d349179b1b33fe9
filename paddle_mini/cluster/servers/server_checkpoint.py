# ServerCheckpoints: checkpoint files of one server, verified by checksum when it restarts.
"""
    server-<index>-<uuid>.ckpt    the line MAGIC; then records, each after its length in 8 bytes: facts (JSON), and for
    every block: its description (JSON), its configuration, its optimizer's state; then the SHA-256 of all that
    server-<index>.json           about the newest file: uuid, file, checksum, bytes, timestamp, and the one before

A file gets its name when it is complete on the disk, so a file with this name is complete unless the disk has damaged
it; then the previous one is used. The .json is for people and tools: servers read the .ckpt files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NamedTuple

from ...errors import shown
from ...io.checkpoint_files import NewFile
from ...io.regular_files import open_regular, sync_directory
from ...optimizer.native import StateSnapshot
from ..errors import ClusterError, Gone, Malformed, StorageError, WrongJob, WrongVersion, storage_errors
from ..process_log import ProcessLogger
from ..wire import Header, field, pack, unpack
from .parameter_shard import ParameterShard, about, from_about, translate_errors

MAGIC = b"paddle_mini server checkpoint 1\n"
_ANY_VERSION = re.compile(rb"paddle_mini server checkpoint \d")
_NAME = re.compile(r"server-(0|[1-9][0-9]{0,8})-([0-9a-f]{32})\.ckpt")
_SUM, _CHUNK = 32, 1 << 20
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
                    if (field(facts, "index", int), field(facts, "uuid", str)) == (int(match[1]), match[2]):
                        field(facts, "number", int)
                        checkpoints.append(Found(path, int(match[1]), facts))
            except WrongVersion:
                raise
            except ClusterError as error:
                _log.warning("%s: it is skipped", error)
    return sorted(checkpoints, key=lambda checkpoint: checkpoint.facts["number"], reverse=True)


@contextmanager
def verified(path: str) -> Iterator[tuple[BinaryIO, Header]]:
    """The file, positioned after its facts, and the facts; StorageError if it is truncated or damaged."""
    with _opened(path) as file:
        _require_whole(file)
        facts = _facts(file)
        yield file, facts


def blocks(file: BinaryIO, facts: Mapping[str, Any]) -> Iterator[ParameterShard]:
    """Iterates over the blocks of a file that verified() has opened."""
    for _ in range(field(facts, "blocks", int)):
        described = unpack(_record(file))
        config, state = _record(file), _record(file)
        yield ParameterShard(*from_about(described), config, state=state)
    if file.tell() != os.fstat(file.fileno()).st_size - _SUM:
        raise StorageError(f"'{file.name}' has data after its {facts['blocks']} blocks")


class Cut:
    """The state of a server at one moment, which is written while the server continues: an update copies what it changes and
    what is not written yet. state: facts of the server, which don't change any more. timestamp: nanoseconds since 1970,
    None: now; checkpoints of one request to all servers share it. A block is in one cut at a time."""

    def __init__(self, state: Mapping[str, Any], shards: Iterable[ParameterShard], timestamp: int | None = None):
        self.facts = {**state, "timestamp": time.time_ns() if timestamp is None else timestamp}
        self.blocks: list[tuple[ParameterShard, StateSnapshot]] = []
        try:
            for shard in shards:
                with translate_errors(shard):
                    self.blocks.append((shard, shard.native.snapshot()))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Updates copy nothing for it any more."""
        for _, snapshot in self.blocks:
            snapshot.close()


class ServerCheckpoints:
    """The checkpoints of one server of a job. directory: created by the first write."""

    def __init__(self, directory: str, job: str, index: int, servers: int):
        self.directory = os.path.abspath(directory)
        self._who: dict[str, Any] = {"job": job, "index": index, "servers": servers}
        self._number = 0  # the number of the newest known one
        self._current: dict[str, Any] | None = None  # facts of the newest intact one

    def recover(self) -> tuple[Header, list[ParameterShard]] | None:
        """Facts and blocks of the newest intact checkpoint, or None. WrongJob if it belongs to another job or another
        number of servers; StorageError if the directory can't be read; WrongVersion as for found()."""
        newest_first = found(self.directory, self._who["index"])
        self._number = max((checkpoint.facts["number"] for checkpoint in newest_first), default=0)
        for path, _, _ in newest_first:
            try:
                with verified(path) as (file, facts):
                    self._require_ours(facts, path)
                    shards = list(blocks(file, facts))
                    self._current = _published(path, facts, file.read(_SUM).hex(), file.tell())
                    return facts, shards
            except WrongJob:
                raise
            except ClusterError as error:
                _log.error("%s: trying the previous checkpoint", error)
        return None

    def write(self, cut: Cut) -> dict[str, Any]:
        """Writes a checkpoint and removes all but it and the previous one; returns the contents of the .json. StorageError
        when the disk fails, Gone when another process writes checkpoints of this server; older ones do not change."""
        name = uuid.uuid4().hex
        facts = {**cut.facts, **self._who, "number": self._number + 1, "uuid": name, "blocks": len(cut.blocks)}
        path = os.path.join(self.directory, f"server-{self._who['index']}-{name}.ckpt")
        with storage_errors(f"can't write a checkpoint in '{self.directory}'"):
            if not os.path.isdir(self.directory):
                os.makedirs(self.directory)
                sync_directory(os.path.dirname(self.directory))
            self._remove_unfinished()
            self._require_newest()
            try:
                checksum, size = _write(path, facts, cut)
                published = {**_published(path, facts, checksum, size), "previous": self._current}
                self._publish(published)
            except OSError:
                with suppress(OSError):  # the first error is raised
                    os.unlink(path)
                with suppress(OSError):
                    self._remove_unfinished()
                raise
            self._number = facts["number"]
            before, self._current = self._current, {**published, "previous": None}
            sync_directory(self.directory)
        self._remove_old({self._current["file"], before["file"] if before else ""})
        return published

    def _require_ours(self, facts: Header, path: str) -> None:
        if facts.get("job") != self._who["job"]:
            raise WrongJob(
                f"'{path}' is of job {shown(facts.get('job'))}, this is job {shown(self._who['job'])}: "
                "give each job its own directory"
            )
        if facts.get("servers") != self._who["servers"]:
            raise WrongJob(
                f"'{path}' is of one of {shown(facts.get('servers'))} servers, this job has "
                f"{self._who['servers']}: convert the checkpoints to a model and start from it"
            )

    def _require_newest(self) -> None:
        newest = next(iter(found(self.directory, self._who["index"])), None)
        if newest and newest.facts["number"] > self._number:
            raise Gone(f"'{newest.path}' was written by another process, which runs this server now")

    def _publish(self, published: Mapping[str, Any]) -> None:
        name = f"server-{self._who['index']}.json"
        with NewFile(self.directory, name + ".unfinished") as file:
            file.write((json.dumps(published, indent=1) + "\n").encode("ascii"))
        os.rename(os.path.join(self.directory, name + ".unfinished"), os.path.join(self.directory, name))

    def _remove_unfinished(self) -> None:
        """Removes files of an interrupted write."""
        ours = re.compile(rf"server-{self._who['index']}(-[0-9a-f]{{32}}\.ckpt|\.json)\.unfinished")
        for name in filter(ours.fullmatch, os.listdir(self.directory)):
            os.unlink(os.path.join(self.directory, name))

    def _remove_old(self, keep: Iterable[str]) -> None:
        """Removes all checkpoints of this server and job but these. A file that can't be removed is tried again after
        the next write."""
        try:
            for path, _, facts in found(self.directory, self._who["index"]):
                if os.path.basename(path) not in keep and facts.get("job") == self._who["job"]:
                    os.unlink(path)
        except (OSError, StorageError) as error:
            _log.warning("an old checkpoint can't be removed: %s", error)


def _write(path: str, facts: Mapping[str, Any], cut: Cut) -> tuple[str, int]:
    """Writes a file in pieces; returns its checksum and size."""
    directory, name = os.path.split(path)
    with NewFile(directory, name + ".unfinished") as file:

        def record(data: bytes) -> None:
            file.write(len(data).to_bytes(8, "little"))
            file.write(data)

        file.write(MAGIC)
        record(pack(facts))
        for block, state in cut.blocks:
            record(pack(about(block.info, block.block)))
            record(block.config)
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


def _published(path: str, facts: Mapping[str, Any], checksum: str, size: int) -> dict[str, Any]:
    words = ("job", "index", "servers", "uuid", "number", "timestamp", "version")
    about_it = {"file": os.path.basename(path), "checksum": checksum, "bytes": size, "previous": None}
    return {**{word: facts[word] for word in words}, **about_it}


def _facts(file: BinaryIO) -> Header:
    """Reads the facts of an open file, up to its first block."""
    begin = file.read(len(MAGIC))
    if begin == MAGIC:
        return unpack(_record(file))
    if not _ANY_VERSION.match(begin):
        raise StorageError(f"'{file.name}' is not a checkpoint of a server")
    _require_whole(file)
    raise WrongVersion(f"'{file.name}' is '{begin.decode('ascii', 'replace').strip()}', another version than this one")


def _require_whole(file: BinaryIO) -> None:
    """Verifies the checksum, and seeks to the beginning."""
    file.seek(0)
    left, total = os.fstat(file.fileno()).st_size - _SUM, hashlib.sha256()
    while left > 0 and (chunk := file.read(min(left, _CHUNK))):
        total.update(chunk)
        left -= len(chunk)
    if left != 0 or file.read() != total.digest():
        raise StorageError(f"'{file.name}' is truncated or damaged: its SHA-256 differs")
    file.seek(0)


def _record(file: BinaryIO) -> bytes:
    size = int.from_bytes(file.read(8), "little")
    if size > os.fstat(file.fileno()).st_size - _SUM - file.tell():  # before memory is allocated for it
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
