"""The schema of a gradient is derived from that of its operator: OpTable::gradient_of."""

import pytest

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import array, run_op

# For an operator with two inputs, one of which is optional, an output that is not kept, and an attribute.
FORWARD = {
    "doc": ["out = in"],
    "input": ["X", "any shape"],
    "optional_input": ["Scale", "[channels]"],
    "output": ["Out", "shape of X"],
    "attr": ["factor", "a number"],
    "infer": [],
    "kernel": [],
    "on_gpu": [],
    "gradient": ["mended_grad", "X", "Scale", "Out", "Out@GRAD", "->X@GRAD", "->Scale@GRAD"],
}
GRADIENT = [("doc", ["in = out"]), ("kernel", [])]
DERIVED = [
    "on_gpu",
    "X: any shape",
    "Scale (optional): [channels]",
    "Out: shape of X",
    "Out@GRAD: shape of Out",
    "X@GRAD (optional): shape of X",
    "Scale@GRAD (optional): shape of Scale",
    "factor: a number",
]


def derived(*gradient, **changed):
    forward = [(call, words) for call, words in {**FORWARD, **changed}.items() if words is not None]
    return _core.try_gradient_schema(forward, [*GRADIENT, *gradient])


def test_ports_attributes_and_devices_are_the_operators():
    assert derived() == DERIVED
    assert derived(on_gpu=None, cpu_only=["it walks"])[0] == "it walks"


def test_the_only_gradient_is_required():
    assert derived(gradient=["mended_grad", "Out@GRAD", "->X@GRAD"])[1:3] == ["Out@GRAD: shape of Out", "X@GRAD: shape of X"]


def test_what_is_named_again_replaces_what_is_inherited():
    changed = derived(("optional_input", ["Out", "not read"]), ("attr", ["factor", "not read"]))
    assert changed == [*DERIVED[:3], "Out (optional): not read", *DERIVED[4:7], "factor: not read"]
    with pytest.raises(pm.ProgramError, match="input 'Out' occurs twice"):
        derived(("input", ["Out", "once"]), ("input", ["Out", "twice"]))


def test_a_schema_without_ports_of_a_gradient_is_refused():
    with pytest.raises(pm.ProgramError, match="schema of 'mended': gradient_of needs a gradient that names its ports"):
        derived(gradient=None, no_gradient=["because"])


def test_the_gradients_of_outputs_are_as_the_operator_gives_them():
    x, y = array(2, 3, 4), array(2, 4, 5)
    with pytest.raises(pm.ShapeError, match=r"Out@GRAD has shape \[2, 3, 4\], Out is \[2, 3, 5\]"):
        run_op("bmm_grad", {"X": x, "Y": y, "Out@GRAD": array(2, 3, 4)})
    with pytest.raises(pm.ShapeError, match="Out@GRAD is float32, Out is float64"):
        run_op("bmm_grad", {"X": x, "Y": y, "Out@GRAD": array(2, 3, 5).astype("float32")})
    with pytest.raises(pm.ShapeError, match=r"Norm has shape \[2, 3\], it must be \[2, 1\]"):
        run_op("norm_grad", {"X": array(2, 3), "Norm": array(2, 3), "Out@GRAD": array(2, 3)}, {"axis": 1})


# Gradients with schemas of their own.
OTHER_ATTRIBUTES = {"conditional_block_grad", "pylayer_grad", "while_grad"}


def test_a_gradient_has_its_operators_attributes():
    """They have the same types and defaults, because programs copy them."""
    types = set(_core.op_types())
    compared = 0
    for op_type in types:
        if not op_type.endswith("_grad") or op_type in OTHER_ATTRIBUTES or op_type[:-5] not in types:
            continue
        forward = {attr["name"]: (attr["type"], attr["default"]) for attr in op_schema(op_type[:-5])["attrs"]}
        for attr in op_schema(op_type)["attrs"]:
            assert forward[attr["name"]] == (attr["type"], attr["default"]), f"{op_type}: {attr['name']}"
            compared += 1
    assert compared > 300
