# Checkpoints of servers, for tests: their contents, and ways to damage them.
import hashlib
import json
import os
from pathlib import Path

from paddle_mini.cluster.servers.checkpoint_file import MAGIC
from server_calls import BOTH, Group, call, train


def bits(group):
    return {name: value.tobytes() for name, value in group.pull().items()}


def checkpoint(group, index=0, **fields):
    return call(group.servers[index], "checkpoint", **fields)[0]["checkpoint"]


def files(directory, pattern="*"):
    return sorted(path.name for path in Path(directory).glob(pattern))


def expected(step):
    """Bits of BOTH after this many steps without an interruption."""
    if not EXPECTED:
        THROUGH.append(Group(1, BOTH))
    for number in range(len(EXPECTED), step + 1):
        EXPECTED.append(bits(THROUGH[0]))
        train(THROUGH[0], number, number + 1)
    return EXPECTED[step]


EXPECTED, THROUGH = [], []


def recovered(directory):
    group = Group(1, BOTH, directory=str(directory), begin=False)
    return group, group.status()["version"] if group.status()["initialised"] else None


def forge(path, **facts):
    """Changes facts of a checkpoint; None removes one. Its checksum is right."""
    data = path.read_bytes()
    begin = len(MAGIC) + 8
    end = begin + int.from_bytes(data[len(MAGIC) : begin], "little")
    known = {**json.loads(data[begin:end]), **facts}
    text = json.dumps({name: value for name, value in known.items() if value is not None}).encode()
    content = data[: len(MAGIC)] + len(text).to_bytes(8, "little") + text + data[end:-32]
    path.write_bytes(content + hashlib.sha256(content).digest())


DAMAGES = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "shorter by one": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"x"),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "directory": lambda path: (path.unlink(), path.mkdir()),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "link": lambda path: (path.rename(path.parent / "x"), path.symlink_to(path.parent / "x")),
    "zeros": lambda path: path.write_bytes(bytes(2000)),
    "large length": lambda path: path.write_bytes(MAGIC + bytes(5) + b"\1" + path.read_bytes()[len(MAGIC) + 6 :]),
    "huge length": lambda path: path.write_bytes(MAGIC + b"\xff" * 8 + path.read_bytes()[len(MAGIC) + 8 :]),
    "flipped": lambda path: path.write_bytes(path.read_bytes()[:-500] + b"flipped" + path.read_bytes()[-493:]),
    "other version": lambda path: path.write_bytes(path.read_bytes().replace(b"checkpoint 1", b"checkpoint 3")),
}
