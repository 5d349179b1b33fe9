# A parameter server: blocks of parameters, each with its optimizer; trainers push gradients and pull values.
from __future__ import annotations

import base64
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import shown
from ..errors import AlreadyInitialised, ClusterError, Malformed, NotInitialised, StaleToken, StorageError
from ..part_log import PartLogger
from ..wire import Arrays, Header, Reply, answer, field
from .held import Held, Key, digest, from_about, named
from .server_checkpoint import ServerCheckpoints
from .settings import ServerSettings
from .updates import Updates

_log = PartLogger(__name__)


class ParameterServer:
    """Server `index` of a job. With a directory it goes on from its newest checkpoint there, and writes more.

    It does one request at a time and never waits: who uses it calls handle() for each message, one call after the
    other, and tick() now and then. What it gives are copies; what it is given is checked before anything changes.
    """

    def __init__(
        self, index: int, settings: ServerSettings, directory: str | None = None, clock: Callable[[], float] = time.time
    ):
        if type(index) is not int or not 0 <= index < settings.servers:
            raise Malformed(f"server {shown(index)} is none of {settings.servers}")
        self.index, self.settings, self.life = index, settings, uuid.uuid4().hex
        self.initialised = False
        self._in_use = False  # whether a trainer has had or changed the parameters
        self._token = 0
        self._held: dict[Key, Held] = {}
        self._updates = Updates(settings)
        self._received = self._given = 0  # bytes of arrays
        self._clock = clock
        self._tried = self._period()
        self._asked_for: tuple[int, int] | None = None  # token and version of a checkpoint that was asked for
        self._checkpoints = ServerCheckpoints(directory, settings.job, index, settings.servers) if directory else None
        self._about_checkpoints: dict[str, Any] = {
            "recovered": None,
            "newest": None,
            "seconds": 0.0,
            "errors": 0,
            "last_error": "",
        }
        self._requests: dict[str, Callable[[Header, Arrays], Reply]] = {
            "init": self._init,
            "finish_init": self._finish_init,
            "push": self._push,
            "push_delta": self._push,
            "pull": self._pull,
            "compare": self._compare,
            "members": self._members,
            "checkpoint": self._checkpoint,
            "status": self._status,
        }
        self._recover()

    def handle(self, header: bytes, arrays: Sequence[Any]) -> tuple[bytes, Arrays]:
        """Does one request and returns the reply; never raises. Each reply has "version", and "life", which is another
        one after a restart: what was pushed in another life may be lost."""

        def stamp() -> Header:
            return {"life": self.life, "version": self._updates.version}

        return answer(self.settings.job, self._do, header, arrays, stamp)

    @property
    def token(self) -> int | None:
        """Of the initialiser that gave the parameters; None before they are all here."""
        return self._token if self.initialised else None

    def tick(self) -> None:
        """Writes a checkpoint when another period of checkpoint_seconds has begun: at one moment at all servers, as
        trainers wait for each that writes. What a disk refuses is logged and counted, and training goes on. As long as
        nothing has changed, one that was asked for stays the newest: it is of all servers together."""
        changed = (self._token, self._updates.version) != self._asked_for
        if self.initialised and self._checkpoints and self._period() != self._tried and changed:
            self._try_checkpoint()

    def _period(self) -> int:
        return int(self._clock() // self.settings.checkpoint_seconds)

    def _do(self, name: str, asked: Header, arrays: Arrays) -> Reply:
        if name not in self._requests:
            raise Malformed(f"a server knows no request {shown(name)}")
        header, results = self._requests[name](asked, arrays)
        self._received += sum(array.nbytes for array in arrays)
        self._given += sum(array.nbytes for array in results)
        return header, results

    def _init(self, asked: Header, arrays: Arrays) -> Reply:
        """ "token" of the initialiser; "blocks", each as about() says, with "config" in base64; an array each. A newer
        token begins anew: its initialiser gives all blocks. That is so, too, when this server has all of its blocks,
        and the one before died while others had not: trainers pull and push only when all servers are initialised, so
        the first of these requests is what ends it."""
        token, given = field(asked, "token", int), field(asked, "blocks", list)
        self._require_token(token)
        if len(given) != len(arrays):
            raise Malformed(f"{len(given)} blocks come with {len(arrays)} arrays")
        held = [self._new_block(facts, array) for facts, array in zip(given, arrays)]
        self._begin_anew(token)
        self._held.update((block.key, block) for block in held)
        return {}, []

    def _new_block(self, facts: Any, value: Any) -> Held:
        info, block = from_about(facts if isinstance(facts, dict) else {})
        if block.server != self.index:
            raise Malformed(f"block {block.number} of '{info.name}' is for server {block.server}, this is {self.index}")
        if info.sparse and self.settings.by_trainers:
            raise Malformed(f"'{info.name}' is a table: in {self.settings.mode} mode there are none")
        try:
            config = base64.b64decode(field(facts, "config", str), validate=True)
        except ValueError as error:
            raise Malformed(f"the configuration of '{info.name}' is no base64: {error}") from None
        return Held(info, block, config, value)

    def _finish_init(self, asked: Header, arrays: Arrays) -> Reply:
        """ "token", and "count" of the blocks that were given; may be repeated. The first checkpoint is written."""
        token, count = field(asked, "token", int), field(asked, "count", int)
        if self.initialised and token == self._token:
            return {"repeated": True}, []
        self._require_token(token)
        have = len(self._held) if token == self._token else 0
        if count != have:
            raise NotInitialised(f"{have} blocks have come, the initialiser gave {count}")
        self._begin_anew(token)
        self.initialised = True
        if self._checkpoints:
            self._try_checkpoint()
        return {}, []

    def _require_token(self, token: int) -> None:
        if self.initialised and (self._in_use or token <= self._token):
            raise AlreadyInitialised("the server has its parameters")
        if token < self._token:
            raise StaleToken(f"token {token} is over: the initialiser has {self._token}")

    def _begin_anew(self, token: int) -> None:
        if token > self._token:
            self._token, self._held, self.initialised = token, {}, False

    def _push(self, asked: Header, arrays: Arrays) -> Reply:
        """As Updates.push says; "push_delta", differences, where trainers optimize."""
        right = "push_delta" if self.settings.by_trainers else "push"
        if asked["request"] != right:
            raise Malformed(f"in {self.settings.mode} mode a server takes {right}")
        self._require_initialised()
        self._in_use = True
        return self._updates.push(self._held, asked, arrays)

    def _pull(self, asked: Header, arrays: Arrays) -> Reply:
        """Copies, all of one version: of "blocks", [name, number] pairs, then of "rows", pairs with an array each that
        names rows. "min_version": the reply waits until there is that one. "average": one of the averages, from 0."""
        if not self.initialised or self._updates.version < field(asked, "min_version", int, 0):
            return {"wait": True}, []
        self._in_use = True
        average = field(asked, "average", int, None)
        blocks = named(self._held, field(asked, "blocks", list, []))
        tables = named(self._held, field(asked, "rows", list, []))
        if len(tables) != len(arrays):
            raise Malformed(f"rows of {len(tables)} tables come with {len(arrays)} arrays")
        values = [held.values(average) for held in blocks]
        return {}, values + [held.row_values(rows, average) for held, rows in zip(tables, arrays)]

    def _compare(self, asked: Header, arrays: Arrays) -> Reply:
        """ "blocks": [name, number, digest of an OptimizerConfig]. "other": parameters that have another one here."""
        given = field(asked, "blocks", list)
        if not all(isinstance(one, list) and len(one) == 3 for one in given):
            raise Malformed("'blocks' must be a list of [name, number, digest]")
        self._require_initialised()
        blocks = named(self._held, [one[:2] for one in given])
        other = {block.info.name for block, one in zip(blocks, given) if digest(block.config) != one[2]}
        return {"other": sorted(other)}, []

    def _members(self, asked: Header, arrays: Arrays) -> Reply:
        """As Updates.set_members says."""
        return {} if self._updates.set_members(asked) else {"repeated": True}, []

    def _require_initialised(self) -> None:
        if not self.initialised:
            raise NotInitialised(f"server {self.index} has no parameters yet")

    def _checkpoint(self, asked: Header, arrays: Arrays) -> Reply:
        """Writes one now. "timestamp", nanoseconds since 1970: the same for servers that are asked together."""
        timestamp = field(asked, "timestamp", int, None)
        self._require_initialised()
        if not self._checkpoints:
            raise StorageError(f"server {self.index} has no directory for checkpoints")
        written = self._write_checkpoint(self._checkpoints, timestamp)
        self._asked_for = self._token, self._updates.version
        return {"checkpoint": written}, []

    def _try_checkpoint(self) -> None:
        try:
            if self._checkpoints:
                self._write_checkpoint(self._checkpoints)
        except ClusterError as error:
            _log.error("%s", error)

    def _write_checkpoint(self, checkpoints: ServerCheckpoints, timestamp: int | None = None) -> dict[str, Any]:
        begin, about = self._clock(), self._about_checkpoints
        state = {
            "mode": self.settings.mode,
            "token": self._token,
            "version": self._updates.version,
            "ledger": self._updates.ledger.state(len(self._updates.rounds)),
        }
        try:
            written = about["newest"] = checkpoints.write(state, list(self._held.values()), timestamp)
        except ClusterError as error:
            about["errors"] += 1
            about["last_error"] = str(error)
            raise
        finally:
            self._tried = self._period()
            about["seconds"] = self._clock() - begin
        return written

    def _recover(self) -> None:
        found = self._checkpoints.recover() if self._checkpoints else None
        if found is None:
            return
        facts, held = found
        self._token, self._updates.version = field(facts, "token", int), field(facts, "version", int)
        self._updates.ledger.restore(field(facts, "ledger", dict))
        self._in_use = self._updates.version > 0
        self._held = {block.key: block for block in held}
        words = ("uuid", "number", "timestamp", "version")
        self._about_checkpoints["recovered"] = {word: facts[word] for word in words}
        self.initialised = True

    def _status(self, asked: Header, arrays: Arrays) -> Reply:
        """What the server is and has done; also before it has parameters."""
        held, ledger = self._held.values(), self._updates.ledger
        return {
            "index": self.index,
            "mode": self.settings.mode,
            "initialised": self.initialised,
            "blocks": len(held),
            "bytes": sum((block.block.end - block.block.begin) * block.info.unit_bytes for block in held),
            "membership": ledger.membership,
            "members": [list(pair) for pair in ledger.members.items()],
            "pushes": {**ledger.counts(), "waiting": len(self._updates.rounds)},
            "checkpoints": self._about_checkpoints,
            "received": self._received,
            "given": self._given,
            "behind": self._updates.behind,
            "worst_behind": self._updates.worst_behind,
        }, []
