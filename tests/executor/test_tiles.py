"""Products of bfloat16 in tiles (AMX), which a process gets from Linux when it first multiplies; each test is a new process."""

import os
import subprocess
import sys

import numpy as np
import pytest

from bfloat16 import bits_of, numbers_of
from paddle_mini import _core
from paddle_mini.testing.one_op import array

pytestmark = pytest.mark.skipif("v4-amx" not in _core.cpu_levels(), reason="the CPU has no tiles")

# Every remainder of the 32 rows, 32 columns and 32 elements of k of a block, and several segments of k.
EDGES = [1, 15, 16, 17, 31, 32, 33, 65]
SIZES = [(m, n, k) for m in EDGES for n in EDGES for k in (1, 31, 33, 64)]
SIZES += [(33, 65, k) for k in (2, 30, 63, 96, 97, 1023, 1024, 1025, 2049)] + [(545, 33, 1030), (40, 1100, 2050)]

COMMON = """
import sys; sys.path[:0] = sys.argv[2:]
import os, signal, threading
import numpy as np
from bfloat16 import bits_of, numbers_of
from executor.test_tiles import SIZES
from paddle_mini import _core
from paddle_mini.testing.one_op import array, run_op

def product(m, n, k, **flags):
    x, y = array(m, k, seed=1), array(k, n, seed=2)
    if flags.get("trans_x"): x = x.T.copy()
    if flags.get("trans_y"): y = y.T.copy()
    return run_op("matmul_v2", {"X": bits_of(x), "Y": bits_of(y)}, flags)["Out"]

def save(products):
    np.savez(sys.argv[1], *products)
"""


def results(program, tmp_path, level="v4-amx"):
    """The arrays that the program saves."""
    file = tmp_path / f"{level}.npz"
    done = subprocess.run(
        [sys.executable, "-c", COMMON + program, str(file), *sys.path],
        env={**os.environ, "PM_CPU": level},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    with np.load(file) as saved:
        return [saved[name] for name in saved.files]


MANY = """
turns = [(i + i // 4) % 4 for i in range(len(SIZES))]  # every k meets every pair of flags
save([product(*size, trans_x=turn % 2 == 1, trans_y=turn > 1) for size, turn in zip(SIZES, turns)])
"""
ONE = "save([product(70, 90, 1100)])"


def test_each_level_gives_the_same_within_rounding(tmp_path):
    tiles, pairs = (results(MANY, tmp_path, level) for level in ("v4-amx", "v4-bf16"))
    cast = results(MANY, tmp_path, "v4")
    for i, (m, n, k) in enumerate(SIZES):
        x, y = (numbers_of(bits_of(one)).astype("float64") for one in (array(m, k, seed=1), array(k, n, seed=2)))
        exact, size = x @ y, np.abs(x) @ np.abs(y)
        bound = 2.0**-8 * np.abs(exact) + (k + 1) * 2.0**-23 * size
        for found in (tiles[i], pairs[i], cast[i]):
            assert (np.abs(numbers_of(found) - exact) <= bound).all(), (m, n, k)
        assert (np.abs(numbers_of(tiles[i]) - numbers_of(pairs[i])) <= 2 * bound).all()


def test_subnormal_numbers_are_zeros(tmp_path):
    """Both instructions take them as zeros; casts do not."""
    program = """
x = np.full((3, 40), 0x0001, "uint16")  # 2^-133
y = bits_of(np.full((40, 5), 2.0**120))
save([run_op("matmul_v2", {"X": x, "Y": y}, {})["Out"]])
"""
    for level, value in {"v4-amx": 0.0, "v4-bf16": 0.0, "v4": 40 * 2.0**-13}.items():
        np.testing.assert_array_equal(numbers_of(results(program, tmp_path, level)[0]), np.full((3, 5), value))


def test_threads_that_began_before_and_children_have_tiles(tmp_path):
    program = """
asked, found = threading.Event(), []
def work():
    asked.wait()
    found.append(product(70, 90, 1100))
before = threading.Thread(target=work)
before.start()
first = product(70, 90, 1100)  # asks for tiles
asked.set()
before.join()
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(product(70, 90, 1100), first) else 1)
assert os.waitpid(child, 0)[1] == 0
save([first, *found])
"""
    first, before = results(program, tmp_path)
    np.testing.assert_array_equal(before, first)
    np.testing.assert_array_equal(results(ONE, tmp_path)[0], first)


def test_signals_leave_tiles_as_they_were(tmp_path):
    """A handler runs between any two instructions of a product, on the stack of the thread."""
    program = """
first, signals = product(300, 300, 2100), 0
def handle(number, frame):
    global signals
    signals += 1
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
for _ in range(60):
    assert np.array_equal(product(300, 300, 2100), first)
signal.setitimer(signal.ITIMER_REAL, 0)
assert signals > 20, signals
save([first])
"""
    results(program, tmp_path)


def test_a_small_stack_for_signals_means_no_tiles(tmp_path):
    """Linux refuses tiles to a process with an alternate stack that is too small for their registers."""
    program = """
import ctypes
libc, size = ctypes.CDLL(None, use_errno=True), 4096
class Stack(ctypes.Structure):
    _fields_ = [("at", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
memory = ctypes.create_string_buffer(size)
assert libc.sigaltstack(ctypes.byref(Stack(ctypes.addressof(memory), 0, size)), None) == 0
save([product(70, 90, 1100)])
libc.sigaltstack(ctypes.byref(Stack(None, 2, 0)), None)  # SS_DISABLE: the memory ends before the thread
"""
    (without,) = results(program, tmp_path)
    np.testing.assert_array_equal(without, results(ONE, tmp_path, "v4-bf16")[0])
