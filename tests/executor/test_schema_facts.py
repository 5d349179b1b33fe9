"""The facts of a schema are checked against the operator, and a schema with a false fact is detected."""

from functools import cache

import numpy as np
import pytest

import paddle_mini as pm
from altered_schemas import altered
from facts import all_cases, all_facts, gradient_cases
from paddle_mini import _core
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, array
from part_checks import check_all_batches, check_all_ranges, check_all_tiles, check_batch, check_parts_of_product
from schema_checks import (
    SINGULAR,
    ask_values,
    check_all_memory,
    check_all_outputs,
    check_all_refusals,
    check_memory,
    check_on_gpu,
    check_outputs,
    check_place,
    check_refusals,
    check_tested,
    stated,
    untested,
)
from thorough import IS_THOROUGH, some, thorough

# Their input BatchGate has offsets that do not form sequences: a scope does not accept such offsets from Python.
BATCHES = {"gru_grad", "lstm_grad"}

# Features that schemas allow and no case of tests/ops and tensor_attrs has.
NO_CASE = {
    # a list of one, which has no order
    **{f"linear_interp{part}": ["SizeTensor"] for part in ("", "_grad", "_v2", "_v2_grad")},
    "parameter_average": ["Block", "Sums"],  # their numbers depend on many steps: tests/averaging
    "batch_norm_grad": ["Mean", "Variance", "ReserveSpace"],
    "unsqueeze2_grad": ["AxesTensor", "AxesTensorList"],  # not read
    "eig_grad": ["X"],  # not read, as the next three
    "affine_grid_grad": ["Theta", "OutputShape"],
    "unpool_grad": ["Out"],
    "unpool3d_grad": ["Out"],
    # Param is then of another element type: tests/amp
    **{op_type: ["MasterParam"] for op_type in "adadelta adagrad adam adamax adamw lamb momentum rmsprop sgd".split()},
    **{op_type: ["MasterParam", "MasterParamOut"] for op_type in "lars_momentum merged_adam merged_momentum".split()},
}


@cache
def everything_asked():
    """All cases, and the operators of their gradients, whose inputs are values of a run."""
    found = [asked for case in all_cases() for asked in [case, *gradient_cases(*case)] if asked[0] not in BATCHES]
    return [asked for asked in found if asked[0] != "lu_unpack_grad" or asked[2]["unpack_ludata"]]  # else it is refused


def says_something_of_memory(op_type):
    schema = op_schema(op_type)
    return schema["in_place"] or schema["views"] or schema["updates"] or any(port["shape_only"] for port in schema["inputs"])


def test_what_records_say_of_memory_is_so():
    for asked in some(everything_asked(), 6):
        if says_something_of_memory(asked[0]):
            check_memory(*asked)


def test_a_refusal_leaves_the_scope_as_it_was():
    for asked in some(everything_asked(), 6):
        check_refusals(*asked)


def test_an_optional_output_can_be_left_out():
    for asked in some(everything_asked(), 6):
        check_outputs(*asked)


@pytest.mark.parametrize("op_type", [op_type for op_type in _core.op_types() if op_schema(op_type)["tiled"]])
def test_in_parts_there_are_the_same_bits(op_type):
    check_all_tiles(op_type)


@pytest.mark.parametrize("op_type", [op_type for op_type in _core.op_types() if op_schema(op_type)["elementwise"]])
def test_on_ranges_there_are_the_same_bits(op_type):
    check_all_ranges(op_type)


@pytest.mark.parametrize(
    "op_type",
    [op_type for op_type in _core.op_types() if op_schema(op_type)["splits_batch"] or op_schema(op_type)["elementwise"]],
)
def test_parts_of_a_batch_have_the_same_bits(op_type):
    if op_type == "depthwise_conv2d":  # has no cases of its own
        images, filters = array(6, 4, 9, 9).astype("float32"), array(4, 1, 3, 3).astype("float32")
        assert check_batch(op_type, {"Input": images, "Filter": filters}, {"groups": 4, "strides": [2, 2]}, {"Output": 1})
    else:
        check_all_batches(op_type)


def test_each_operator_has_a_kernel_for_gpus_or_says_why_not():
    for op_type in _core.op_types():
        check_place(op_type)


@thorough
def test_an_operator_that_says_so_runs_on_gpus():
    """For one operator: tests/gpu asks about all of them (make test-gpu-on-host)."""
    check_on_gpu("relu")


def test_what_records_allow_has_a_case():
    # Those of gradients have the cases of tests/test_second_gradients.py and of the harness, whose programs call them.
    gradients = {
        op_type
        for op_type in _core.op_types()
        if op_type.endswith("_grad") and not op_type.endswith("_grad_grad") and op_type[: -len("_grad")] in all_facts()
    }
    found = {(op_type, port) for op_type, port, _ in untested(sorted({*all_facts(), *gradients}))}
    assert found == {(op_type, port) for op_type, ports in NO_CASE.items() for port in ports}


def reads_halves_as_they_are(op_type):
    one = OneOp(op_type, {"Param": np.ones(3, "float16"), "Average": np.zeros(3, "float32"), "Weight": np.full(1, 0.5)}, {})
    assert "cast" not in one.executor.plan_text(one.program, scope=one.scope)


def has_no_sequences_of_nothing(op_type):
    found = OneOp(op_type, {"Input": pm.LoDTensor(np.array([[0]]), [[0, 1]])}, {}).run()["Output"]
    assert isinstance(found, np.ndarray) and found.tolist() == [[-1]]


def does_without_xshape(op_type):
    program = pm.Program()
    with pm.program_guard(program):
        x = pm.layers.fill_constant([2, 3], "float32", 1.0)
    program.global_block().append_op(op_type, {"X": x}, {"Out": "out"}, {"shape": [6]})
    assert pm.Executor().run(program, fetch_list=["out"])[0].shape == (6,)


# A schema with this false fact, and the question that detects it. If a fact is missing whose absence does no harm, such
# as in_place, outputs have memory of their own.
LIES = [
    ("transpose2", check_all_memory, {"in_place": [("X", "Out")]}),
    ("relu", check_all_memory, {"views": [("X", "Out")]}),
    ("relu_grad", check_all_memory, {"views": [("Out@GRAD", "X@GRAD")]}),
    ("transpose2", check_all_memory, {"views": [("X", "Out")]}),
    ("gather", check_all_memory, {"updates": [("X", "Out")]}),
    ("cumsum", check_all_memory, {"updates": [("X", "Out")]}),
    ("adam", check_all_memory, {"updates": [("Moment1", "ParamOut")]}),
    ("relu", check_all_memory, {"inputs.shape_only": ["X"]}),
    ("relu_grad", check_all_memory, {"inputs.shape_only": ["Out"]}),
    ("gather", check_all_memory, {"inputs.shape_only": ["Index"]}),
    ("relu", check_tested, {"accepts_selected_rows": ["X"]}),
    ("ftrl", check_tested, {"accepts_selected_rows": ["Grad", "Param"]}),
    ("sgd", ask_values, {"accepts_selected_rows": []}),
    ("ftrl", check_tested, {"inputs.optional": ["LearningRate"]}),
    ("layer_norm", ask_values, {"inputs.optional": []}),
    ("relu", check_tested, {"inputs.list": ["X"]}),
    ("concat", ask_values, {"inputs.list": []}),
    ("layer_norm", check_all_outputs, {"outputs.optional": ["Y", "Mean", "Variance"]}),
    ("reshape2", does_without_xshape, {"outputs.optional": []}),
    ("relu", check_tested, {"outputs.list": ["Out"]}),
    ("split", ask_values, {"outputs.list": []}),
    ("sequence_pool", ask_values, {"custom_lod": False}),
    ("ctc_align", has_no_sequences_of_nothing, {"custom_lod": False}),
    ("relu_grad", check_all_memory, {"custom_lod": True}),
    ("lookup_table_v2", ask_values, {"dtype_from": ("Ids", False)}),
    ("relu", ask_values, {"dtype_from": ("X", False)}),
    ("parameter_average", reads_halves_as_they_are, {"dtype_from": ("", False)}),
    ("gather", check_all_refusals, {"checks_data": False}),
    ("gather_grad", check_all_refusals, {"checks_data": False}),
    ("gather_nd", check_all_refusals, {"checked_port": "X"}),
    ("scatter", check_all_refusals, {"checked_port": "Updates"}),
    ("lamb", check_all_tiles, {"tiled": True}),
    ("softmax", check_all_ranges, {"elementwise": True}),
    ("cumsum", check_all_batches, {"splits_batch": ["X"]}),
    ("mul", check_parts_of_product, {"stores_parts": ""}),
    ("relu", check_place, {"on_gpu": False}),
    ("sequence_pool", check_place, {"on_gpu": True}),
    ("sequence_enumerate", check_on_gpu, {"cpu_only": "", "on_gpu": True}),
    ("relu", check_place, {"cpu_only": "because"}),
    ("sequence_pool", check_place, {"cpu_only": ""}),
    ("while", check_place, {"control": 0}),
    ("relu", check_place, {"control": 1}),
    ("relu", check_place, {"no_gradient": "because"}),
    ("adam", check_place, {"no_gradient": ""}),
]


@pytest.mark.parametrize("op_type, question, facts", LIES)
def test_a_wrong_schema_is_detected(op_type, question, facts):
    if question is check_on_gpu and not IS_THOROUGH:
        pytest.skip("compiles the runtime of GPUs: PM_THOROUGH=1, as in .ci/run")
    question(op_type)
    with pytest.raises((AssertionError, pm.Error)), altered(op_type, facts):
        question(op_type)
    question(op_type)


NO_LIE = {
    "type": "a name",
    "inputs.name": "a name",
    "outputs.name": "a name",
    "doc": "words",
    "inputs.doc": "words",
    "outputs.doc": "words",
    "attrs": "tests/test_operator_ports.py, and the references of tests/ops are given the presets",
    "dtypes": "made of the kernels",
    "widened": "made of the kernels",
    "has_kernels": "made of the kernels",
}


def test_each_fact_has_a_lie():
    assert stated() == sorted({fact for _, _, facts in LIES for fact in facts} | set(NO_LIE))


# harness.py states neither types that differ nor sequences that are dropped; c_allreduce_sum rejects when another
# replica does.
ASKED_ELSEWHERE = {
    "dtype_from": {"parameter_average"},
    "custom_lod": {
        "bipartite_match",
        "class_center_sample",
        "collect_fpn_proposals",
        "ctc_align",
        "distribute_fpn_proposals",
        "eig",
        "eigvals",
        "generate_proposals",
        "generate_proposals_v2",
        "graph_reindex",
        "graph_sample_neighbors",
        "lu",
        "matrix_nms",
        "multiclass_nms",
        "multiclass_nms2",
        "multiclass_nms3",
        "nce",
        "nms",
        "warprnnt",
        "weighted_sample_neighbors",
    },
    "checks_data": {
        "c_allreduce_sum",
        "check_numerics",
        "class_center_sample",
        "graph_reindex",
        "graph_sample_neighbors",
        "histogram",
        "weighted_sample_neighbors",
        "yolov3_loss",
        "yolov3_loss_grad",
        *SINGULAR,
    },
}


@pytest.mark.parametrize(
    "fact, nothing, question",
    [
        ("custom_lod", False, ask_values),
        ("dtype_from", ("", False), ask_values),
        ("accepts_selected_rows", [], ask_values),
        ("checks_data", False, check_all_refusals),
    ],
)
def test_what_is_said_is_needed(fact, nothing, question):
    """Without it the question fails, for every operator that states it."""
    silent = []
    for op_type in sorted(_core.op_types() if question == check_all_refusals else all_facts()):
        plain = op_type[: -len("_grad")] if op_type.endswith("_grad") else op_type
        if plain not in all_facts() or not op_schema(op_type)[fact] or op_type in ASKED_ELSEWHERE.get(fact, ()):
            continue
        try:
            with altered(op_type, {fact: nothing}):
                question(op_type)
            silent.append(op_type)
        except (AssertionError, pm.Error):
            pass
    assert silent == []
