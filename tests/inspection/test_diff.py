"""pm.diff: equal programs, each kind of difference, and long lists."""

import numpy as np
import pytest

import paddle_mini as pm
from small_model import SmallModel

L = pm.layers


def program(build):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        build()
    return main


def network(size=3, act="relu"):
    return lambda: L.fc(L.data("x", [-1, 2]), size, act=act)


def test_equal_programs_have_no_difference():
    main = SmallModel(pm.optimizer.SGD(0.1).minimize).main
    assert pm.diff(main, main) == ""
    assert pm.diff(main, pm.Program.from_bytes(main.to_bytes())) == ""
    assert pm.diff(program(network()), program(network())) == ""


def test_an_operator_more():
    lines = pm.diff(program(network(act=None)), program(network())).splitlines()
    assert [line[:2] for line in lines] == ["@ ", "+ "] and "= relu(" in lines[1]
    back = pm.diff(program(network()), program(network(act=None))).splitlines()
    assert [line[:2] for line in back] == ["@ ", "- "] and back[1][2:] == lines[1][2:]


def test_a_shape():
    lines = pm.diff(program(network(3)), program(network(4))).splitlines()
    assert "- param fc_0.w_0 float32[2, 3]" in lines and "+ param fc_0.w_0 float32[2, 4]" in lines


def test_an_attribute():
    main = program(lambda: L.dropout(L.data("x", [-1, 2]), 0.5))
    lines = pm.diff(main, main.clone(for_test=True)).splitlines()
    assert len(lines) == 3 and "is_test=True" not in lines[1] and "is_test=True" in lines[2]


def test_the_last_element_of_a_long_list():
    first, second = (program(lambda last=last: L.assign(np.array([*range(20), last]))) for last in (1, 2))
    assert str(first) == str(second)
    assert pm.diff(first, second).count("\n") == 2


def test_the_last_digit_of_a_number():
    first, second = (
        program(lambda rate=rate: L.scale(L.data("x", [-1, 2]), scale=rate)) for rate in (1000 + 2**-14, 1000 + 2**-13)
    )
    assert str(first) == str(second) and pm.diff(first, second).count("\n") == 2


def test_blocks_of_loops():
    def loop(act):
        x, n = L.data("x", [-1, 4]), L.fill_constant([1], "int64", 3)
        L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, act(h)], [L.fill_constant([1], "int64", 0), x])

    lines = pm.diff(program(lambda: loop(L.relu)), program(lambda: loop(L.tanh))).splitlines()
    assert any("= relu(" in line for line in lines) and any("= tanh(" in line for line in lines)


def test_other_objects_are_refused():
    with pytest.raises(pm.ProgramError, match="after is 3, it must be a Program"):
        pm.diff(pm.Program(), 3)
