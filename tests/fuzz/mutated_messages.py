"""Messages of jobs: requests to a parameter server and to the coordinator, and replies. A process never ends, and
replies to each."""

import json
import tempfile
from pathlib import Path

import mutations
import numpy as np
from mutated_checkpoints import odd_json
from properties import Violation, accepted, check_message, require

from coordinators import Asked
from paddle_mini.cluster import wire
from paddle_mini.cluster.cut_messages import Collected
from paddle_mini.cluster.dataclass_json import other_names
from paddle_mini.cluster.errors import ClusterError
from paddle_mini.cluster.frames import SMALL as SMALL_BYTES
from paddle_mini.cluster.frames import Kind, offer_of, pack_frames, room_for, unpack_frames
from paddle_mini.cluster.messages import PROTOCOL, REQUESTS, Wait, decode_reply
from paddle_mini.cluster.replies import Pushed
from paddle_mini.cluster.shards import Block, ParameterInfo
from paddle_mini.cluster.trainers.gradient_memory import GradientMemory
from paddle_mini.cluster.trainers.peer import Kept, Peer
from paddle_mini.cluster.values import State, StepId
from server_calls import JOB, SMALL, Group, config, new_block

F6, F22 = np.ones(6, "float32"), np.ones((2, 2), "float32")
SERVER = [
    ({"request": "push", "trainer": 0, "incarnation": 0, "step": 0, "blocks": [["w", 0]]}, [F6]),
    ({"request": "push", "trainer": 0, "incarnation": 0, "step": 1, "blocks": [["t", 0]]}, [np.array([3, 1]), F22]),
    ({"request": "pull", "blocks": [["w", 0], ["t", 0]]}, []),
    ({"request": "pull", "blocks": [["t", 0]]}, [np.array([0, 2])]),
    ({"request": "compare", "blocks": [[["w", [6], "float32", False, False], ["w", 0, 0, 6, 0], "digest"]]}, []),
    ({"request": "status"}, []),
    (
        {
            "request": "init",
            "token": 2,
            "blocks": [new_block(ParameterInfo("w", (6,), "float32"), Block("w", 0, 0, 6, 0), config())],
        },
        [F6],
    ),
    ({"request": "members", "membership": 1, "trainers": [[0, 1]]}, []),
    ({"request": "members", "membership": 2, "trainers": [], "since": 1, "gone": [0]}, []),
    ({"request": "finish_init", "token": 2, "count": 2}, []),
    ({"request": "checkpoint"}, []),
]
COORDINATOR = [
    {"request": "join", "key": "a"},
    {"request": "register", "key": "s", "server": 0, "address": "server 0", "token": 1},
    {"request": "heartbeat", "role": "trainer", "number": 0, "incarnation": 1, "report": {"steps": 3}, "events": []},
    {"request": "leave", "role": "trainer", "number": 0, "incarnation": 1},
    {"request": "view"},
    {"request": "status", "after": 0},
    {"request": "begin_init", "trainer": 0, "incarnation": 1},
    {"request": "ask_save", "trainer": 0, "incarnation": 1, "directory": "d", "seconds": 5.0},
    {"request": "end_init", "trainer": 0, "incarnation": 1, "token": 1, "servers": [[0, 1]]},
    {"request": "set_data", "chunks": ["a", "b", "c"], "chunks_per_task": 1},
    {"request": "get_tasks", "trainer": 0, "incarnation": 1, "pass_number": 0, "serial": 1, "most": 2},
    {
        "request": "join_rendezvous",
        "trainer": 0,
        "incarnation": 1,
        "serial": 1,
        "layout": "x",
        "address": "trainer 0",
        "has": ["epoch", 1],
        "lost": "key",
    },
    {"request": "state_stored", "trainer": 0, "incarnation": 1, "serial": 2, "step_id": ["epoch", 1], "key": "key"},
    {"request": "arrive", "trainer": 0, "incarnation": 1, "serial": 3, "step_id": ["epoch", 1], "has_gradient": True},
    {"request": "leave_rendezvous", "trainer": 0, "incarnation": 1, "serial": 4, "step_id": ["epoch", 1], "done": False},
    {"request": "get_addresses", "of": [[0, 1], [1, 1]]},
    {"request": "end_tasks", "trainer": 0, "incarnation": 1, "tasks": [[0, 0]], "failed": True},
]
STEP = {"step_id": ["epoch", 1], "share": 1, "shares": 2}
TRAINER = [
    {"request": "get_memory"},
    {"request": "get_gradient", **STEP, "copies": True},
    {"request": "get_mean", **STEP, "copies": False},
    {"request": "get_state", "key": "key"},
    {"request": "wake"},
]
REPLIES = [
    {"wait": True, "life": "x", "version": 3},
    {"ok": True, "life": "x", "version": 3, "repeated": False},
    {"error": {"kind": "stale", "text": "too late"}},
]
ARRAYS = [
    F6,
    F22,
    np.array([1, 2]),
    np.ones(6),
    np.ones(0, "float32"),
    np.ones((2, 3), "float32"),
    np.array([2**62, -1]),
    np.full(6, np.nan, "float32"),
    np.array(["x"]),
    np.ones(12, "float32")[::2],
    None,
    "x",
    np.ones(6, "int32"),
    np.array([None]),
    np.ones(6, ">f4"),
]
LARGE = np.ones(SMALL_BYTES, "float32")


class Mutants:
    def __init__(self, folder):
        self.folder = folder
        self.begin()

    def begin(self):
        self.group = Group(1, SMALL)
        self.coordinator = Asked(Path(tempfile.mkdtemp(dir=self.folder)))
        self.coordinator.trainer("a")
        memory = GradientMemory.made({"w": (F6.dtype, F6.shape)})
        with memory.gradient.changing(), memory.mean.changing():
            peer = Peer(JOB, memory)
        peer.gradient_of = peer.mean_of = StepId("epoch", 1)
        peer.kept = Kept("key", State({}, "7", []), [F6])
        without = [[(header, []) for header in headers] for headers in (COORDINATOR, TRAINER)]
        servers = [(self.group.servers[0], SERVER)] * 3
        self.services = [*servers, (self.coordinator.service, without[0]), (peer, without[1])]
        self.done = 0

    def run(self, rng):
        self.done += 1
        if self.done % 500 == 0:
            self.begin()
        if rng.random() < 0.1:
            return self.reply(rng)
        if rng.random() < 0.1:
            return self.frames(rng)
        service, examples = rng.choice(self.services)
        header, arrays = rng.choice(examples)
        header = json.loads(json.dumps({"protocol": PROTOCOL, "job": JOB, **header}))
        if rng.random() < 0.75:
            for _ in range(rng.choice((1, 1, 2))):
                header = odd_json(rng, header)
        arrays = list(arrays)
        if rng.random() < 0.3:
            arrays = (
                [rng.choice(ARRAYS) for _ in range(rng.randint(0, 3))] if rng.random() < 0.8 else rng.choice([None, "x", 7, {}])
            )
        data = json.dumps(header).encode()
        kind = REQUESTS["server"].get(str(header.get("request"))) if isinstance(header, dict) else None
        if kind is not None and kind.repeats and rng.random() < 0.4:  # the form of two parts
            values = [header.pop(name, 0) for name in other_names(kind)]
            same = {**{name: [] for name in kind.repeats}, **header}
            data = json.dumps(values).encode() + b"\n" + json.dumps(same).encode()
        if rng.random() < 0.15:
            data = mutations.damaged(rng, data)
        answer, results = service.handle(data, arrays)
        reply = wire.unpack(answer)
        if "error" not in reply:
            wire.check_arrays(results)
            return True
        check_message(reply["error"]["text"])
        if reply["error"]["kind"] == ClusterError.kind:
            raise Violation(f"a failure inside: {reply['error']['text']}")
        return False

    def reply(self, rng):
        data = json.dumps(odd_json(rng, json.loads(json.dumps(rng.choice(REPLIES))))).encode()
        if rng.random() < 0.3:
            data = mutations.damaged(rng, data)
        arrays = [rng.choice(ARRAYS)] if rng.random() < 0.3 else []
        fine, found = accepted(lambda: decode_reply(Pushed, data, arrays))
        require(not fine or isinstance(found, (Pushed, Wait)), "a reply of another class")
        return fine

    def frames(self, rng):
        """The frames of a socket."""
        arrays = [rng.choice([*ARRAYS[:8], LARGE]) for _ in range(rng.randint(0, 3))]
        memory = memoryview(bytearray(room_for([LARGE] * 3))) if rng.random() < 0.3 else None
        header = rng.choice((b'{"a": 1}', b"[[0,0,[2]]]", b"[[0,0,[1,3]],[1,0,[]]]"))
        parts = pack_frames(Kind.REQUEST, header, arrays, rng.choice((0.0, 5.0)), rng.choice((0, 8)), None, memory)
        number = rng.randrange(len(parts))
        if rng.random() < 0.75:
            parts[number] = mutations.damaged(rng, bytes(parts[number]))
        if rng.random() < 0.1:
            parts.insert(rng.randint(1, len(parts)), parts[number])
        given = rng.choice((memory, memory, None, memoryview(bytearray(20_000))))
        fine, found = accepted(lambda: (offer_of(bytes(parts[0])), unpack_frames(bytes(parts[0]), parts[1:], given))[1])
        if fine:
            wire.check_arrays(found.arrays)
            collected = Collected()
            collected.add(found.header, found.arrays)
            accepted(collected.taken)
        return fine
