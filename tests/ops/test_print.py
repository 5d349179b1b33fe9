"""print: Out = In, printed on standard output."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.layers.emit import emit

L = pm.layers


def program(**attrs):
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[2, 2])
        x.stop_gradient = False
        out = emit(
            "print", {"In": x}, attrs, outputs={"Out": main.global_block().create_var("out", shape=[2, 2], dtype="float32")}
        )
        (gradient,) = pm.backward.gradients([L.reduce_sum(out * 3.0)], [x])
    return main, out, gradient


def run(capfd, times=1, **attrs):
    main, out, gradient = program(**attrs)
    executor, scope, value = pm.Executor(pm.CPUPlace()), pm.Scope(), np.arange(4, dtype="float32").reshape(2, 2)
    for _ in range(times):
        found = executor.run(main, feed={"x": value}, fetch_list=[out, gradient], scope=scope)
    np.testing.assert_array_equal(found[0], value)
    np.testing.assert_array_equal(found[1], np.full((2, 2), 3))
    return capfd.readouterr().out


def test_it_shows_value_and_gradient(capfd):
    text = run(capfd, message="here")
    assert text.count("here") == 2
    assert "name: x\n" in text and "shape: [2, 2]" in text and "dtype: float32" in text
    assert "data: [0 1 2 3]" in text and "data: [3 3 3 3]" in text


def test_parts_can_be_left_out(capfd):
    text = run(
        capfd, print_tensor_name=False, print_tensor_shape=False, print_tensor_type=False, print_phase="FORWARD", summarize=2
    )
    assert text == "  data: [0 1 ...]\n"


def test_only_the_first_runs_are_shown(capfd):
    assert run(capfd, times=3, first_n=2, print_phase="FORWARD", message="again").count("again") == 2


def test_a_phase_that_is_none_is_refused():
    with pytest.raises(pm.ProgramError, match="print_phase"):
        program(print_phase="SOMETIMES")
