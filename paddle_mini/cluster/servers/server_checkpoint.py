# ServerCheckpoints: the checkpoints of one server of a job: which are written, recovered, and removed.
"""
    server-<index>-<uuid>.ckpt    a checkpoint: checkpoint_file.py
    server-<index>.json           about the newest file: uuid, file, base, checksum, bytes, timestamp, and the one before

The .json is for people and tools: servers read the .ckpt files.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...errors import shown
from ...io.new_file import NewFile
from ...io.regular_files import sync_directory
from ..errors import ClusterError, Gone, StorageError, WrongJob, storage_errors
from ..object_store import ObjectStore, is_url, own_folder
from ..process_log import ProcessLogger
from ..wire import Header
from .checkpoint_file import SUM_BYTES, Written, blocks, file_name, found, verified, write_file
from .parameter_shard import ParameterShard, translate_errors

_log = ProcessLogger(__name__)


_MOST_CHANGES = 15
"""Files that are relative to one whole file."""


class Cut:
    """The state of a server at one moment, which is written while the server continues: an update copies what it changes and
    what is not written yet. state: facts of the server, which don't change any more. timestamp: nanoseconds since 1970,
    None: now; checkpoints of one request to all servers share it. A block is in one cut at a time.

    recorded: blocks of which only the changes since their last cut are taken; those of which all may have changed are
    removed from it."""

    def __init__(
        self,
        state: Mapping[str, Any],
        shards: Iterable[ParameterShard],
        timestamp: int | None = None,
        recorded: set[ParameterShard] | None = None,
    ):
        self.facts = {**state, "timestamp": time.time_ns() if timestamp is None else timestamp}
        self.blocks: list[Written] = []
        self.whole = recorded is None
        try:
            for shard in shards:
                with translate_errors(shard):
                    self.blocks.append(_taken(shard, recorded or set()))
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """Bytes of states and changes."""
        return sum(block.state.size for block in self.blocks)

    def close(self) -> None:
        """Updates copy nothing for it any more."""
        for block in self.blocks:
            block.state.close()


def _taken(shard: ParameterShard, recorded: set[ParameterShard]) -> Written:
    changes = shard.native.snapshot_changes() if shard in recorded else None
    if changes is not None:
        return Written(shard, changes, True)
    recorded.discard(shard)  # its next changes would be relative to this state
    return Written(shard, shard.native.snapshot(), False)


class _Kept(NamedTuple):
    """Names of an intact checkpoint, and of the whole one that it is relative to, or itself."""

    file: str
    base: str


class ServerCheckpoints:
    """The checkpoints of one server of a job. directory: created by the first write; or the URL of an object store, to which
    each file is copied when it is complete, and from which a new process copies them.

    A checkpoint after a whole one has only the rows of tables that changed since, if that is at most half as much, and for
    at most _MOST_CHANGES times. Whichever file is damaged, a checkpoint stays that does not need it: the newest and the
    previous one are kept, the newest one that does not depend on the newest whole one, and those that these depend on."""

    def __init__(self, directory: str, job: str, index: int, servers: int):
        self._store = ObjectStore(directory) if is_url(directory) else None
        self.directory = own_folder(self) if self._store else os.path.abspath(directory)
        self._who: dict[str, Any] = {"job": job, "index": index, "servers": servers}
        self._refused: list[str] = []  # files that a store may have or not, as it failed
        self._number = 0  # the number of the newest known one
        self._current: dict[str, Any] | None = None  # facts of the newest intact one
        self._kept: list[_Kept] = []
        self._base: dict[str, Any] | None = None  # the whole one of this process; None until it is complete
        self._recorded: set[ParameterShard] = set()  # the blocks whose changes since then are known
        self._relative = 0  # checkpoints since then

    def recover(self) -> tuple[Header, list[ParameterShard]] | None:
        """Facts and blocks of the newest intact checkpoint, or None. WrongJob if it belongs to another job or another
        number of servers; StorageError if the directory can't be read; WrongVersion as for found()."""
        with storage_errors("can't read the checkpoints"):
            self._fetch()
        newest_first = found(self.directory, self._who["index"])
        self._number = max((checkpoint.facts["number"] for checkpoint in newest_first), default=0)
        for path, _, _ in newest_first:
            try:
                with verified(path) as (file, facts):
                    self._require_ours(facts, path)
                    shards = list(blocks(file, facts))
                    self._current = _published(path, facts, file.read(SUM_BYTES).hex(), file.tell())
                    self._kept = [self._names(facts)]
                    return facts, shards
            except WrongJob:
                raise
            except ClusterError as error:
                _log.error("%s: trying the previous checkpoint", error)
        return None

    def cut(self, state: Mapping[str, Any], shards: Iterable[ParameterShard], timestamp: int | None = None) -> Cut:
        """The argument of the next write(): this moment, or the changes since the last whole one."""
        some = list(shards)
        is_there = self._base is not None and os.path.isfile(os.path.join(self.directory, self._base["file"]))
        if self._base is not None and is_there and self._relative < _MOST_CHANGES:
            cut = Cut(state, some, timestamp, self._recorded)
            if 2 * cut.size <= self._base["bytes"]:
                return cut
            cut.close()
        self._base = None
        cut = Cut(state, some, timestamp)
        self._recorded = set(some)
        return cut

    def write(self, cut: Cut) -> dict[str, Any]:
        """Writes a checkpoint and removes those that are not needed; returns the contents of the .json. StorageError
        when the disk fails, Gone when another process writes checkpoints of this server; older ones do not change."""
        name = uuid.uuid4().hex
        facts = {**cut.facts, **self._who, "number": self._number + 1, "uuid": name, "blocks": len(cut.blocks)}
        if not cut.whole:
            assert self._base is not None
            facts["base"] = {word: self._base[word] for word in ("uuid", "checksum")}
        path = os.path.join(self.directory, file_name(self._who["index"], name))
        with storage_errors(f"can't write a checkpoint in '{self.directory}'"):
            if not os.path.isdir(self.directory):
                os.makedirs(self.directory)
                sync_directory(os.path.dirname(self.directory))
            self._remove_unfinished()
            self._fetch()
            self._require_newest()
            try:
                checksum, size = write_file(path, facts, cut.blocks)
                published = {**_published(path, facts, checksum, size), "previous": self._current}
                self._publish(published)
                self._send(path)
            except OSError:
                self._refused.append(os.path.basename(path))
                with suppress(OSError):  # the first error is raised
                    os.unlink(path)
                with suppress(OSError):
                    self._remove_unfinished()
                raise
            self._number = facts["number"]
            self._current = {**published, "previous": None}
            sync_directory(self.directory)
        self._relative = 0 if cut.whole else self._relative + 1
        if cut.whole:
            self._base = published
        self._kept = _needed([*self._kept, self._names(facts)])
        self._remove_old({name for kept in self._kept for name in kept})
        return published

    def _names(self, facts: Mapping[str, Any]) -> _Kept:
        own = file_name(self._who["index"], facts["uuid"])
        return _Kept(own, file_name(self._who["index"], facts["base"]["uuid"]) if "base" in facts else own)

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
        with NewFile(self.directory, name + ".unfinished", hashlib.sha256()) as file:
            file.write((json.dumps(published, indent=1) + "\n").encode("ascii"))
        os.rename(os.path.join(self.directory, name + ".unfinished"), os.path.join(self.directory, name))

    def _fetch(self) -> None:
        """Copies what other processes of this server have written to the store."""
        if self._store:
            while self._refused:
                self._store.remove(self._refused[-1])
                self._refused.pop()
            ours = re.compile(rf"server-{self._who['index']}-[0-9a-f]{{32}}\.ckpt")
            self._store.mirror(self.directory, ours.fullmatch)

    def _send(self, path: str) -> None:
        if self._store:
            self._store.put(path)
            self._store.put(os.path.join(self.directory, f"server-{self._who['index']}.json"))

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
                    if self._store:
                        self._store.remove(os.path.basename(path))
                    os.unlink(path)
        except (OSError, StorageError) as error:
            _log.warning("an old checkpoint can't be removed: %s", error)


def _needed(kept: Sequence[_Kept]) -> list[_Kept]:
    """The checkpoints that stay; kept: all of them, oldest first."""
    others = [one for one in kept if one.base != kept[-1].base][-1:]
    return [*others, *(one for one in kept[-2:] if one not in others)]


def _published(path: str, facts: Mapping[str, Any], checksum: str, size: int) -> dict[str, Any]:
    words = ("job", "index", "servers", "uuid", "number", "timestamp", "version")
    base = facts["base"]["uuid"] if "base" in facts else None
    about_it = {"file": os.path.basename(path), "base": base, "checksum": checksum, "bytes": size, "previous": None}
    return {**{word: facts[word] for word in words}, **about_it}
