"""Ports and attributes: every one of PaddlePaddle's operators is known here, or its absence has a reason.

operator_ports.json is made by tests/paddle/operator_ports.py, which queries PaddlePaddle.
"""

import json
import pathlib

import pytest

import paddle_mini as pm
from paddle_mini.schemas import op_schema

TABLE = json.loads((pathlib.Path(__file__).parent / "operator_ports.json").read_text())

AXES = {"AxisTensor", "AxisTensorList"}  # axes that are known only while a program runs
UNKNOWN_PORTS = {
    **dict.fromkeys(["reduce_all", "reduce_amax", "reduce_amin", "reduce_any"], AXES),
    "batch_norm": {"MomentumTensor"},
    "conv2d_transpose": {"Bias"},  # attributes of its kernels for oneDNN
    "depthwise_conv2d_transpose": {"Bias"},
    "pad2d": {"Paddings"},
    "save": {"kLookupTablePath"},
    "sequence_conv": {"PaddingData"},
}
# Attributes for its own servers or kernels, which do not affect an operator's result.
UNKNOWN_ATTRS = {
    "adam": {"min_row_size_to_use_multithread"},
    "adamw": {"min_row_size_to_use_multithread"},
    "coalesce_tensor": {"concated_ranks", "concated_shapes"},
    **dict.fromkeys(["equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"], frozenset({"force_cpu"})),
    "fill_constant": {"place_type"},
    "hierarchical_sigmoid": {"epmap", "height_sections", "table_names", "trainer_id"},
    "lookup_table": {
        "height_sections",
        "epmap",
        "table_names",
        "slot",
        "is_test",
        "is_distributed",
        "entry",
        "remote_prefetch",
        "table_class",
        "trainer_id",
        "entry_config",
        "grad_inplace",
    },
    "lstm": {"is_test"},
    "matmul": {"Scale_x", "Scale_y", "Scale_out", "force_fp32_output"},
    "sequence_enumerate": {"@ALL_KERNELS_MUST_COMPUTE_RUNTIME_SHAPE@"},
}
INTEGERS = ({3, 11}, {0, 9})  # ints and longs, int and long: either is read as the other


def test_ports_are_known():
    for op_type, proto in TABLE.items():
        schema = op_schema(op_type)
        known = {port["name"] for side in ("inputs", "outputs") for port in schema[side]}
        assert {*proto["inputs"], *proto["outputs"]} - known == UNKNOWN_PORTS.get(op_type, set()), op_type


def test_attributes_are_known_with_their_types():
    for op_type, proto in TABLE.items():
        types = {attr["name"]: attr["type"] for attr in op_schema(op_type)["attrs"]}
        assert set(proto["attrs"]) - set(types) == UNKNOWN_ATTRS.get(op_type, set()), op_type
        for name, wanted in proto["attrs"].items():
            alike = name not in types or types[name] == wanted or any({types[name], wanted} <= pair for pair in INTEGERS)
            assert alike, f"{op_type}: {name} has type {types.get(name)}, PaddlePaddle's {wanted}"


def test_attributes_that_are_not_known_do_no_harm():
    main = pm.Program()
    with pm.program_guard(main):
        x = pm.layers.fill_constant([2], "float32", 1.0)
    main.global_block().append_op("less_than", {"X": x, "Y": x}, {"Out": "below"}, {"force_cpu": True})
    assert not pm.Executor().run(main, fetch_list=["below"])[0].any()


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize(
    "layer",
    [
        lambda value: pm.layers.fill_constant([2], "float32", value),
        lambda value: pm.layers.fill_constant([2], "bool", value),
        lambda value: pm.layers.scale(pm.layers.fill_constant([2], "float32", 1), scale=value),
    ],
)
def test_true_is_a_number(layer, value):
    main = pm.Program()
    with pm.program_guard(main):
        out = layer(value)
    assert (pm.Executor().run(main, fetch_list=[out])[0] == value).all()


@pytest.mark.parametrize("op_type, inputs", [("fill_any_like", {"X": "x"}), ("fill_constant_batch_size_like", {"Input": "x"})])
def test_true_is_a_number_in_attributes(op_type, inputs):
    main = pm.Program()
    with pm.program_guard(main):
        x = pm.layers.fill_constant([2, 1], "float32", 3.0)
    attrs = {"value": True, **({"shape": [-1, 1], "dtype": 5} if len(op_type) > 20 else {})}
    main.global_block().append_op(op_type, {port: x for port in inputs}, {"Out": "out"}, attrs)
    assert (pm.Executor().run(main, fetch_list=["out"])[0] == 1).all()
