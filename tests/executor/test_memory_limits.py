"""Memory: the sum of all plans and values is checked against the machine's and the container's limit."""

import os
import pathlib
import signal
import subprocess
import sys
import textwrap

import pytest

import paddle_mini as pm
from paddle_mini import _core, dtypes

NONE = 2**64 - 1
UNLIMITED = 2**63 - 4096  # cgroup v1 writes this for "no limit"


def plant(root, groups, files):
    """A folder with the files of / from which limits are read."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(groups)
    for path, text in files.items():
        (root / "sys/fs/cgroup" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "sys/fs/cgroup" / path).write_text(f"{text}\n")
    return _core.container_memory_limit(str(root))


@pytest.mark.parametrize(
    "groups, files, limit",
    [
        ("", {}, NONE),
        ("0::/\n", {}, NONE),
        ("0::/\n", {"memory.max": 1000}, 1000),
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": 2000}, 2000),
        ("0::/a/b\n", {"a/b/memory.max": 3000, "a/memory.max": 2000, "memory.max": "max"}, 2000),
        ("0::/a/b\n", {"a/b/memory.max": 1000, "a/memory.max": 2000}, 1000),
        ("0::/a/b\n", {"c/memory.max": 1000}, NONE),
        ("0::/docker/1f2e\n", {"memory.max": 5000}, 5000),  # the path is the host's, the tree the container's
        (
            "9:cpu,cpuacct:/x\n4:memory:/a/b\n0::/\n",
            {
                "memory/a/b/memory.limit_in_bytes": UNLIMITED,
                "memory/a/memory.limit_in_bytes": 700,
                "memory/memory.limit_in_bytes": UNLIMITED,
            },
            700,
        ),
        ("4:cpu,memory:/docker/1\n", {"memory/memory.limit_in_bytes": 800}, 800),
        ("4:memoryless:/a\n", {"memory/a/memory.limit_in_bytes": 800}, NONE),
        ("4:memory:/a\n0::/b\n", {"memory/a/memory.limit_in_bytes": 900, "unified/b/memory.max": 600}, 600),
        ("0::/with:colon\n", {"with:colon/memory.max": 400}, 400),
        ("nonsense\n::\n0::relative\n", {"relative/memory.max": 1}, NONE),
        ("0::/a\n", {"a/memory.max": "many"}, NONE),
    ],
)
def test_the_least_limit_of_all_groups_around_a_process(tmp_path, groups, files, limit):
    assert plant(tmp_path, groups, files) == limit


def filling(count, name):
    """Programs that fill a tensor of this many float32."""
    with pm.program_guard(pm.Program(), pm.Program()):
        big = pm.layers.fill_constant([count // 1024, 1024], "float32", 1.0)
        return pm.default_main_program(), pm.layers.scale(big, scale=2.0), name


def test_plans_are_held_against_the_limit_together():
    """Each alone would fit; their memory is never written."""
    share = _core.memory_limit() // 10
    before, exe, scope = _core.memory_in_use(), pm.Executor(), pm.Scope()
    made, refused = 0, None
    programs = [filling(share * 3 // 4, i) for i in range(5)]  # 3 tenths of the limit each
    for program, out, _ in programs:
        try:
            exe.plan_text(program, fetch_list=[out], scope=scope)
            made += 1
        except pm.DeviceError as error:
            refused = str(error)
            break
    assert made in (1, 2, 3)
    assert "out of memory" in refused and "are in use" in refused and "the largest are 'fill_constant_0.tmp_0'" in refused
    assert len(refused.splitlines()) <= 12
    assert scope.names() == []
    del exe
    assert _core.memory_in_use() == before


@pytest.mark.parametrize("dtype, part, index, user", [("float16", 5, 0, "fill_constant"), ("int8", 3, 1, "square")])
def test_an_inserted_cast_names_the_operator_of_the_user(dtype, part, index, user):
    """The narrow values fit, beside wide ones they don't. part: elements are this part of all bytes."""
    filled = pm.layers.fill_constant([_core.memory_limit() // (part << 10), 1024], dtype, 1.0)
    out = pm.layers.square(filled)
    with pytest.raises(pm.DeviceError) as refused:
        pm.Executor().plan_text(pm.default_main_program(), fetch_list=[out], scope=pm.Scope())
    first, *_, place, line = str(refused.value).splitlines()
    assert first.startswith(f"cast inserted for {user}: out of memory: "), refused.value
    assert place == f"  in op #{index} {user} -> '{[filled, out][index].name}', block 0", refused.value
    assert "test_memory_limits.py" in line, refused.value


@pytest.mark.parametrize("value", [[], ["relu"], ["relu", "out", "more"]], ids=len)
def test_a_program_may_have_the_attribute_of_inserted_operators(value):
    out = pm.layers.relu(pm.layers.data("x", [-1, 3]))
    operator = pm.default_main_program().global_block().ops[-1]
    operator._attrs["inserted_for"] = dtypes.STRINGS, value
    operator._inputs["X"] = ["nowhere"]
    pm.default_main_program().changed()
    with pytest.raises(pm.ProgramError, match="^relu: input X names the variable 'nowhere'"):
        pm.Executor().run(fetch_list=[out])


LIMITED = textwrap.dedent("""
    import resource, sys, paddle_mini as pm
    from paddle_mini import _core
    which, exe, out = getattr(resource, sys.argv[1]), pm.Executor(), []
    before = _core.memory_limit()
    resource.setrlimit(which, (4 << 30, resource.getrlimit(which)[1]))
    print(_core.memory_limit() == min(before, 4 << 30))
    for i in range(3):
        with pm.program_guard(pm.Program(), pm.Program()):
            out.append(pm.layers.fill_constant([3 << 18, 1024], "float32", 1.0))
            try:
                exe.plan_text(pm.default_main_program(), fetch_list=[pm.layers.scale(out[-1], scale=2.0)], scope=pm.Scope())
            except pm.DeviceError as error:
                print(error)
                sys.exit()
""")


@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_limits_of_the_process_count(limit):
    done = subprocess.run([sys.executable, "-c", LIMITED, limit], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == "True", done
    assert ": out of memory: " in lines[1] and lines[1].endswith(f"this process may have {4 << 30}"), done


LONG = textwrap.dedent("""
    import resource, numpy as np, paddle_mini as pm
    resource.setrlimit(resource.RLIMIT_AS, (12 << 30, resource.getrlimit(resource.RLIMIT_AS)[1]))
    def plan(op_type, x, attrs):
        with pm.program_guard(pm.Program(), pm.Program()):
            x = pm.layers.assign(x)
            out = pm.default_main_program().global_block().create_var("out")
            pm.default_main_program().global_block().append_op(op_type, {"X": x}, {"Out": out}, attrs)
            pm.Executor().plan_text(pm.default_main_program(), fetch_list=[out], scope=pm.Scope())
            print("planned", out.shape)
    most = 2**31 - 2
    plan("repeat_interleave", np.ones(1, "bool"), {"Repeats": most})
    for op_type, x, attrs in [
        ("pool2d", np.ones((1, 1, 1, 1), "float32"), {"ksize": [1, most], "paddings": [0, most - 1], "pooling_type": "max"}),
        ("expand_v2", np.ones((1, 1), "float32"), {"shape": [most, 1]}),
    ]:
        try:
            plan(op_type, x, attrs)
        except pm.DeviceError as error:
            print(str(error).splitlines()[0])
""")


def test_offsets_of_long_axes_are_held_against_the_limit():
    """Those of repeated slices are as many as the slices of X; where there is one for each element of Out, they are refused."""
    if _core.memory_limit() < 12 << 30:
        pytest.skip("too little memory")
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert lines[0] == f"planned ({2**31 - 2},)", done
    assert lines[1].startswith(f"pool2d: out of memory: {24 * (2**31 - 2)} bytes requested, "), done
    assert lines[2].startswith(f"expand_v2: out of memory: {8 * (2**31 - 2)} bytes requested, "), done


def test_values_count_until_they_are_gone():
    before, scope, exe = _core.memory_in_use(), pm.Scope(), pm.Executor()
    with pm.program_guard(pm.Program(), pm.Program()):
        value = pm.layers.fill_constant([1 << 20], "float32", 1.0)
        value.persistable = True
        program = value.block.program
    exe.run(program, scope=scope)
    assert _core.memory_in_use() >= before + (4 << 20)
    del exe
    scope.erase(value.name)
    assert _core.memory_in_use() == before


INTERRUPTED = textwrap.dedent("""
    import os, signal, sys, threading, time, numpy as np, paddle_mini as pm
    count, kind = int(sys.argv[1]), sys.argv[2]
    block = pm.default_main_program().global_block()
    if kind == "fill":
        out = pm.layers.fill_constant([count], "float32", 1.0)
    elif kind == "random":
        out = pm.layers.uniform_random([count], "float32")
    else:
        layers = {"copy": pm.layers.assign, "map": pm.layers.relu, "map of two": lambda x: x + x, "map ahead": pm.layers.gelu}
        out = layers[kind](pm.layers.data("x", [-1]))
    out.persistable = True
    # Pages of zeros are not there until they are read.
    feed = {} if kind in ("fill", "random") else {"x": np.zeros(count, "float32")}
    scope, exe = pm.Scope(), pm.Executor()
    def interrupt():
        time.sleep(0.25)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    sent = []
    threading.Thread(target=interrupt).start()
    try:
        exe.run(feed=feed, scope=scope)
        print("finished")
    except KeyboardInterrupt:
        print("stopped", time.monotonic() - sent[0] < 5, scope.names())
""")


@pytest.mark.parametrize(
    "kind, gigabytes", [("fill", 4), ("random", 2), ("copy", 4), ("map", 4), ("map of two", 4), ("map ahead", 2)]
)
def test_ctrl_c_inside_one_large_operator(kind, gigabytes):
    """It is handled in the middle, and half-written values are removed."""
    if _core.memory_limit() < 12 << 30:
        pytest.skip("too little memory")
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(gigabytes << 28), kind],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=pathlib.Path(__file__).parent,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.stdout.split("\n")[0] == "stopped True []", done
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
