"""Hardening of loaded libraries: relocations are read-only and bound at the start, so that address tables can't be
overwritten. Code that reads foreign files has stack protection."""

import pathlib
import struct
import sys

import pytest

import paddle_mini as pm
from paddle_mini import _core

FOLDER = pathlib.Path(_core.__file__).parent
FILES = [
    pathlib.Path(_core.__file__),
    *sorted(FOLDER.glob("lib*.so")),
    *sorted(FOLDER.glob("capi/lib/*.so")),
    pathlib.Path(sys.executable).parent / "pm_run",
]
PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO = 2, 0x6474E551, 0x6474E552
DT_FLAGS, DT_FLAGS_1, DF_BIND_NOW, DF_1_NOW, EXECUTABLE = 30, 0x6FFFFFFB, 8, 1, 1


def segments(data):
    """Type, flags, place and size of each program header of a 64-bit little-endian ELF file."""
    assert data[:6] == b"\x7fELF\x02\x01"
    place, (size, count) = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<HH", data, 54)
    for number in range(count):
        kind, flags, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, place + number * size)
        yield kind, flags, offset, length


def test_there_are_files():
    names = {path.name.split(".")[0] for path in FILES}
    assert {"_core", "libpaddle_mini", "libpaddle_mini_optimizer", "pm_run"} <= names
    assert pathlib.Path(_core.kernel_library()["path"]).name in {path.name for path in FILES} and pm


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_it_is_sealed(path):
    data = path.read_bytes()
    found = {kind: (flags, offset, length) for kind, flags, offset, length in segments(data)}
    assert PT_GNU_RELRO in found and not found[PT_GNU_STACK][0] & EXECUTABLE
    _, offset, length = found[PT_DYNAMIC]
    entries = dict(struct.iter_unpack("<QQ", data[offset : offset + length]))
    assert entries.get(DT_FLAGS, 0) & DF_BIND_NOW or entries.get(DT_FLAGS_1, 0) & DF_1_NOW


@pytest.mark.parametrize(
    "path", [path for path in FILES if "kernels" not in path.name and "cuda" not in path.name], ids=lambda path: path.name
)
def test_its_stack_is_guarded(path):
    """It calls the function that ends a process whose stack was overwritten."""
    assert b"__stack_chk_fail" in path.read_bytes()
