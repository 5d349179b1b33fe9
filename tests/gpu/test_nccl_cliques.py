"""GPUs of several processes add up by NCCL: the stand-in for it works between processes of one machine."""

import ast

import numpy as np
import pytest

from clique_processes import DTYPES, values

HEAD = """
import os, signal, time
from clique_processes import *
from paddle_mini import _core
folder, size = os.path.dirname(os.environ["STAND_IN_LOG"]), int(os.environ.get("SIZE", 2))
"""


@pytest.fixture
def in_processes(stand_in, in_child):
    """Runs code with the stand-in; returns the last line of its output, evaluated, and all lines."""

    def run(code, **variables):
        out, calls = in_child(HEAD + code, PM_NCCL=stand_in("nccl"), **variables)
        return ast.literal_eval(out.splitlines()[-1]), calls

    return run


ADD_UP = """
def work(rank):
    scope = scope_of(rank)
    members = clique(rank, size, folder)
    before = {name: scope.get(name).tobytes() for name in DTYPES}
    for _ in range(3):
        members.add_up(scope, SUMS, rank != 2, 20.0)
    assert {scope.place(to) for _, to in SUMS} == {f"gpu:{rank}"}
    assert before == {name: scope.get(name).tobytes() for name in DTYPES}, "a sum that fails may be repeated"
    np.savez(f"{folder}/{rank}.npz", **{name: scope.get(to) for name, to in SUMS})
print(fork(size, work))
"""


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_get_the_same_bits(in_processes, tmp_path, size):
    """The third one takes no part: zeros stand for its values."""
    ended, calls = in_processes(ADD_UP, SIZE=size)
    assert ended == [0] * size
    assert not [line for line in calls if "refused" in line]
    assert calls.count("ncclAllReduce") == 3 * size * len(DTYPES) and calls.count("ncclGroupEnd") == 3 * size
    found = [dict(np.load(tmp_path / f"{rank}.npz")) for rank in range(size)]
    for name in DTYPES:
        assert len({one[name].tobytes() for one in found}) == 1, name
    parts = [values(rank) for rank in range(min(size, 2))]
    for name in DTYPES[:-1]:
        total = parts[0][name].astype("float32" if name == "float16" else name)
        for part in parts[1:]:
            total = total + part[name]
        np.testing.assert_array_equal(found[0][name], total.astype(name), name)


MISSING = """
def work(rank):
    if rank == 1:
        return
    print([refused(clique, rank, size, folder, 0.3)])
fork(size, work)
"""


def test_one_that_does_not_come_is_not_waited_for_for_ever(in_processes):
    (told,), calls = in_processes(MISSING)
    assert told == "NCCL failed (connecting processes): another process has not taken part for 0.3 s"
    assert calls.count("ncclCommAbort") == 1


DIES = """
def work(rank):
    scope = scope_of(rank)
    members = clique(rank, size, folder)
    members.add_up(scope, SUMS, True, 20.0)
    first = {to: scope.get(to).tobytes() for _, to in SUMS}
    if rank == 2:
        os.environ["STAND_IN_FAILS"] = os.environ["DIES"]
    try:
        members.add_up(scope, SUMS, True, 0.6)
        assert first == {to: scope.get(to).tobytes() for _, to in SUMS}
        told = "done"
    except pm.DeviceError as error:
        told = str(error)
        assert "has left its clique, after a sum that failed" in refused(members.add_up, scope, SUMS, True, 0.6)
    open(f"{folder}/told {rank}", "w").write(told)
ended = fork(size, work)
print((ended, [open(f"{folder}/told {rank}").read() for rank in range(2)]))
"""


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("dies", ["ncclAllReduce 8 -9", "ncclGroupEnd 2 -9", "ncclCommGetAsyncError 0 -9"])
def test_a_member_dies(in_processes, dies, silent):
    """Before it has launched its sums, and after that: then the others have what they need."""
    variables = {"STAND_IN_SILENT": 1} if silent else {}
    has_launched = "Async" in dies
    (ended, told), _ = in_processes(DIES, SIZE=3, DIES=dies, **variables)
    assert ended == [0, 0, -9]
    lost = "another process has not taken part for 0.6 s" if silent else "a remote process has exited"
    assert told == ["done"] * 2 if has_launched else told == [f"NCCL failed (adding up): {lost}"] * 2


REFUSALS = """
def work(rank):
    scope = scope_of(rank)
    members = clique(rank, size, folder)
    before = members.add_up(scope, SUMS[:1], True, 20.0)
    try:
        members.add_up(scope, [("nothing", "to")], True, 20.0)
    except pm.OpError as error:
        assert "'nothing' is not a tensor in the scope" in str(error)
    print(repr(refused(members.add_up, scope, SUMS[rank : rank + 1], True, 20.0)))
def refusals(rank):
    id = _core.new_clique_id()
    for arguments in [("cpu", id, 0, 1, 1.0), ("gpu:0", b"short", 0, 1, 1.0), ("gpu:0", id, 1, 1, 1.0), ("gpu:9", id, 0, 1, 1.0),
                      ("gpu:0", bytes(128), 0, 1, 1.0)]:
        print(refused(_core.Clique, *arguments))
print((fork(size, work), fork(1, refusals)))
"""


def test_what_can_not_be_is_refused(in_processes, stand_in, in_child):
    out, calls = in_child(HEAD + REFUSALS, PM_NCCL=stand_in("nccl"))
    for text in (
        "'cpu': a clique has GPUs only",
        "the name of a clique has 5 bytes, it must have 128",
        "member 1 of 1 does not exist",
        "device 'gpu:9' is not available",
        "NCCL failed (connecting processes): an error of the caller",
    ):
        assert text in out
    assert out.count("'NCCL failed (adding up): an error of the caller'") == 2, "the members ask for different sums"
    assert out.endswith("([0, 0], [0])\n")
    assert "refused: ranks differ" in calls


def test_versions_without_what_it_takes(stand_in, in_child):
    version = "from paddle_mini import _core; print(_core.nccl_version())"
    code = f"{version}; from clique_processes import refused; print(refused(_core.new_clique_id))"
    for library in ({}, {"PM_NCCL": stand_in("nccl", "-DBEFORE_2_14")}):
        out, _ = in_child(code, **library)
        assert out.startswith("None\nno NCCL 2.14 or newer is used: CUDA")
    assert in_child(version, PM_NCCL=stand_in("nccl"))[0] == "2.21.5\n"


INTERRUPTED = """
def alarm(*_):
    raise KeyboardInterrupt
def work(rank):
    if rank == 1:
        return
    signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    begin = time.monotonic()
    try:
        clique(rank, size, folder, 60.0)
    except KeyboardInterrupt:
        print(time.monotonic() - begin < 30)
fork(size, work)
"""


def test_who_waits_can_be_interrupted(in_processes):
    assert in_processes(INTERRUPTED)[0] is True
