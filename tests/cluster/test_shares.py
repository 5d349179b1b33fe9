"""The parts of gradients that each server gets, and of parameters that it gives, for few servers and for many."""

import numpy as np
import pytest

from paddle_mini.cluster.client import Client
from paddle_mini.cluster.shards import ParameterInfo, block_values
from paddle_mini.cluster.trainers.remote_parameters import RemoteParameter, RemoteParameters

INFOS = [
    ParameterInfo("a table", (5000, 16), "float32", sparse=True),
    ParameterInfo("dense", (300, 200), "float32"),
    ParameterInfo("z table", (40, 3), "float64", sparse=True),
    ParameterInfo("é", (7,), "float64"),
]
SERVERS = [1, 2, 7, 40]


def parameters(servers):
    return RemoteParameters(Client(None, "job"), [RemoteParameter(info, b"") for info in INFOS], servers)


def gradients():
    draw = np.random.RandomState(3)
    found = {}
    for info in INFOS:
        if info.sparse:
            rows = np.concatenate([draw.randint(0, info.shape[0], 500), [0, info.shape[0] - 1]])
            found[info.name] = rows, draw.randn(len(rows), *info.shape[1:]).astype(info.dtype)
        else:
            found[info.name] = draw.randn(*info.shape).astype(info.dtype)
    return found


@pytest.mark.parametrize("servers", SERVERS)
def test_each_server_gets_its_part_in_the_order_of_the_gradient(servers):
    some, held, infos = gradients(), parameters(servers), {info.name: info for info in INFOS}
    for index, (keys, arrays) in enumerate(held.shares(some)):
        assert keys == [(block.parameter, block.number) for block in held.blocks[index]]
        rest = list(arrays)
        for block in held.blocks[index]:
            gradient = some[block.parameter]
            if infos[block.parameter].sparse:
                inside = (gradient[0] >= block.begin) & (gradient[0] < block.end)
                expected = [gradient[0][inside], gradient[1][inside]]
            else:
                expected = [block_values(infos[block.parameter], block, gradient)]
            for right in expected:
                found = rest.pop(0)
                assert found.flags.c_contiguous and found.dtype == right.dtype
                np.testing.assert_array_equal(found, right)
        assert not rest


@pytest.mark.parametrize("servers", SERVERS)
def test_parts_of_some_parameters(servers):
    held, name = parameters(servers), "dense"
    shares = held.shares({name: gradients()[name]})
    assert sum(len(keys) for keys, _ in shares) == sum(len(arrays) for _, arrays in shares) == min(servers, 7)
    rows = np.unique(gradients()["a table"][0])
    selected = held.select([], {"a table": rows})
    read = np.concatenate([inside for index in range(servers) for _, inside in selected.tables[index]])
    np.testing.assert_array_equal(np.sort(read), rows)
    for index in range(servers):
        for block, inside in selected.tables[index]:
            assert block.server == index and len(inside) and inside.min() >= block.begin and inside.max() < block.end
