# Assignment of elements to servers: every element in one block, the same in every process, evenly.
import itertools
import json
import subprocess
import sys
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_mini.cluster import Malformed, ParameterInfo, WrongShape, plan_shards
from paddle_mini.cluster.shards import BLOCK, block_values, join_blocks

SHAPES = st.lists(st.sampled_from([0, 1, 2, 3, 7, 64, 1000, 20001]), max_size=2).map(tuple)


@st.composite
def parameters(draw, shapes=SHAPES, whole=st.booleans()):
    infos = []
    for name in draw(st.lists(st.text("abcé.日", min_size=1, max_size=4), unique=True, max_size=12)):
        shape, dtype = draw(shapes), draw(st.sampled_from(["float32", "float64"]))
        infos.append(ParameterInfo(name, shape, dtype, bool(shape) and draw(st.booleans()), draw(whole)))
    return infos


def loads(infos, plan, servers):
    by_name = {info.name: info for info in infos}
    found = [0] * servers
    for block in plan:
        found[block.server] += (block.end - block.begin) * by_name[block.parameter].unit_bytes
    return found


@given(parameters(), st.integers(1, 9))
def test_each_element_is_in_one_block(infos, servers):
    plan = plan_shards(infos, servers)
    assert plan == sorted(plan, key=lambda block: (block.parameter.encode(), block.number))
    for info in infos:
        mine = [block for block in plan if block.parameter == info.name]
        assert [block.number for block in mine] == list(range(len(mine))) and 1 <= len(mine) <= servers
        assert mine[0].begin == 0 and mine[-1].end == info.units
        assert all(before.end == after.begin for before, after in itertools.pairwise(mine))
        assert all(0 <= block.server < servers for block in mine)
        if len(mine) > 1:
            assert not info.whole
            assert min(block.end - block.begin for block in mine) >= (1 if info.sparse else BLOCK)


@given(parameters(), st.integers(1, 9), st.randoms(use_true_random=False))
def test_the_order_of_parameters_says_nothing(infos, servers, random):
    shuffled = random.sample(infos, len(infos))
    assert plan_shards(shuffled, servers) == plan_shards(infos, servers)


@settings(max_examples=200)
@given(parameters(), st.integers(1, 9))
def test_loads(infos, servers):
    """The bound that the file states, and at most 1.5 times as many bytes if servers have three of the largest uncut
    blocks."""
    plan = plan_shards(infos, servers)
    count = {info.name: sum(block.parameter == info.name for block in plan) for info in infos}
    few = [info for info in infos if count[info.name] < servers]
    uncut = max((info.units * info.unit_bytes // count[info.name] for info in few), default=0)
    uneven = sum(info.unit_bytes for info in infos if info not in few)  # block sizes differ by one element or row
    found = loads(infos, plan, servers)
    allowed = uncut + max([info.unit_bytes for info in infos], default=0) + uneven
    assert max(found) - min(found) <= allowed
    if sum(found) >= 3 * allowed * servers:
        assert max(found) <= 1.5 * min(found)


@pytest.mark.parametrize("servers", [1, 2, 3, 5, 10])
def test_a_thousand_parameters(servers):
    infos = [ParameterInfo(f"p{number}", (25 * (number + 1),), "float32") for number in range(1000)]
    found = loads(infos, plan_shards(infos, servers), servers)
    assert max(found) <= 1.01 * min(found)


@pytest.mark.parametrize(
    "info", [ParameterInfo("w", (1000, 1000), "float32"), ParameterInfo("t", (1000000, 16), "float32", True)]
)
def test_one_large_parameter_is_cut(info):
    biases = [ParameterInfo(f"b{number}", (100,), "float32") for number in range(7)]
    for servers in (1, 2, 3, 8):
        found = loads([info, *biases], plan_shards([info, *biases], servers), servers)
        assert max(found) <= 1.1 * min(found)


def test_more_servers_than_parameters():
    plan = plan_shards([ParameterInfo("a", (10,), "float32"), ParameterInfo("b", (), "float64")], 5)
    assert [block[:4] for block in plan] == [("a", 0, 0, 10), ("b", 0, 0, 1)] and plan[0].server != plan[1].server
    assert plan_shards([], 3) == []


def test_a_plan_by_hand():
    """Values that an implementation in another language must reproduce."""
    infos = [
        ParameterInfo("w", (3, 10000), "float32"),
        ParameterInfo("t", (5, 8192), "float32", True),
        ParameterInfo("b", (9,), "float64"),
        ParameterInfo("l", (200, 200), "float32", whole=True),
    ]
    assert [tuple(block) for block in plan_shards(infos, 3)] == [
        ("b", 0, 0, 9, 2),
        ("l", 0, 0, 40000, 0),
        ("t", 0, 0, 1, 2),
        ("t", 1, 1, 3, 1),
        ("t", 2, 3, 5, 2),
        ("w", 0, 0, 10000, 1),
        ("w", 1, 10000, 20000, 2),
        ("w", 2, 20000, 30000, 1),
    ]


def test_another_process_has_the_same():
    code = (
        "import json; from paddle_mini.cluster import ParameterInfo, plan_shards;"
        "infos = [ParameterInfo(f'p{n % 7}{n}', (n * 997,), 'float32') for n in range(60)];"
        "print(json.dumps(plan_shards(infos, 4)))"
    )
    infos = [ParameterInfo(f"p{n % 7}{n}", (n * 997,), "float32") for n in range(60)]
    found = subprocess.run(
        [
            sys.executable,
            *(["-S"] if sys.flags.no_site else []),
            "-c",
            "import sys; sys.path[:] = " + repr(sys.path) + "; " + code,
        ],
        env={"PYTHONHASHSEED": "12345"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(found.stdout) == [list(block) for block in plan_shards(infos, 4)]


@given(parameters(st.lists(st.integers(0, 300), min_size=1, max_size=2).map(tuple)), st.integers(1, 4))
def test_parts_join(infos, servers):
    plan = plan_shards(infos, servers)
    for info in infos:
        value = np.arange(prod(info.shape), dtype=info.dtype).reshape(info.shape)
        mine = [block for block in reversed(plan) if block.parameter == info.name]
        pieces = [(block.begin, block.end, block_values(info, block, value)) for block in mine]
        assert np.array_equal(join_blocks(info, pieces), value)
        with pytest.raises(WrongShape, match="it must be"):
            block_values(info, mine[0], value[None])
        if value.size:
            with pytest.raises(WrongShape):
                join_blocks(info, pieces[1:])
            with pytest.raises(WrongShape):
                join_blocks(info, [*pieces, pieces[0]])


@pytest.mark.parametrize(
    "info",
    [
        ParameterInfo("", (3,), "float32"),
        ParameterInfo("a\n", (3,), "float32"),
        ParameterInfo("a" * 1025, (3,), "float32"),
        ParameterInfo("a", (-1, 3), "float32"),
        ParameterInfo("a", (1 << 32, 1 << 32), "float32"),
        ParameterInfo("a", (1,) * 10, "float32"),
        ParameterInfo("a", (1 << 41,), "float32"),
        ParameterInfo("a", (2.0,), "float32"),
        ParameterInfo("a", (3,), "int64"),
        ParameterInfo("a", (), "float32", True),
    ],
)
def test_no_parameter(info):
    with pytest.raises(Malformed):
        plan_shards([info], 2)


@pytest.mark.parametrize("servers", [0, -1, 2.0, True, "2"])
def test_no_number_of_servers(servers):
    with pytest.raises(Malformed, match="servers is"):
        plan_shards([], servers)


def test_a_name_twice():
    with pytest.raises(Malformed, match="'a' is repeated"):
        plan_shards([ParameterInfo("a", (1,), "float32"), ParameterInfo("a", (2,), "float32")], 2)
