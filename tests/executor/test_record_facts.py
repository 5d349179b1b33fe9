"""What a record states is held against what the operator does, and a record that states something else is noticed."""
import numpy as np
import pytest

import harness
import paddle_mini as pm
from facts import all_cases, all_facts, cases_of, gradient_cases, listed
from one_op import OneOp, Rows, array_of, with_array
from paddle_mini import _core
from paddle_mini.contracts import contract
from records import altered

BY_CHANCE = {"dpsgd", "dropout", "gaussian_random", "truncated_gaussian_random", "uniform_random"}  # other numbers in each run


def bits(outputs):
    """Of each output its values: dtype, shape and bytes, rows, sequences."""
    def one(value):
        numbers = array_of(value)
        more = list(value.rows) if isinstance(value, Rows) else value.lod if isinstance(value, pm.LoDTensor) else []
        return str(numbers.dtype), numbers.shape, numbers.tobytes(), more
    return {port: [one(value) for value in listed(values)] for port, values in outputs.items()}


def unlike(value):
    """A value of the same kind and shape, with other numbers everywhere."""
    numbers = array_of(value)
    return with_array(value, np.full_like(numbers, np.nan) if numbers.dtype.kind == "f" else ~numbers)


def check_memory(op_type, inputs, attrs, counts):
    """in_place, view, updates and reads_shape of one case."""
    record = contract(op_type)
    one = OneOp(op_type, inputs, attrs, counts, aliased=False)
    found = one.run()
    expected = bits(found)
    given = {port: [array_of(value) for value in listed(values)] for port, values in inputs.items()}
    for source, port in record["views"]:
        made = [array_of(value) for value in listed(found.get(port, []))]
        if [value.nbytes for value in made] == [value.nbytes for value in given.get(source, [])]:
            assert [value.tobytes() for value in made] == [value.tobytes() for value in given[source]], f"{port} is not a view of {source}"
    if op_type in BY_CHANCE:
        return
    if record["in_place"] or record["views"]:
        over = OneOp(op_type, inputs, attrs, counts, aliased=False, temporaries=True)
        assert bits(over.run()) == expected, "outputs over inputs"
    if any(source in inputs and port in counts for source, port in record["updates"]):
        same = OneOp(op_type, inputs, attrs, counts)
        assert bits(same.run()) == expected, "outputs in their inputs' variables"
    for port in record["inputs"]:
        if port["shape_only"] and port["name"] in inputs:
            changed = inputs[port["name"]]
            changed = [unlike(value) for value in changed] if isinstance(changed, list) else unlike(changed)
            other = OneOp(op_type, {**inputs, port["name"]: changed}, attrs, counts, aliased=False)
            assert bits(other.run()) == expected, f"{port['name']} is read"


def says_something_of_memory(op_type):
    record = contract(op_type)
    return record["in_place"] or record["views"] or record["updates"] or any(port["shape_only"] for port in record["inputs"])


def test_what_records_say_of_memory_is_so():
    for case in all_cases():
        for asked in [case, *gradient_cases(*case)]:
            if says_something_of_memory(asked[0]):
                check_memory(*asked)


def untested(op_types):
    """What records allow and no case of tests/ops does: (type, port, what)."""
    for op_type in op_types:
        record, cases = contract(op_type), list(cases_of(op_type))
        for port in record["inputs"]:
            name, given = port["name"], [case[1][port["name"]] for case in cases if port["name"] in case[1]]
            if name in record["takes_rows"] and not any(isinstance(item, Rows) for value in given for item in listed(value)):
                yield op_type, name, "takes rows"
            if port["optional"] and (not given or len(given) == len(cases)):
                yield op_type, name, "is optional"
            if port["list"] and not any(isinstance(value, list) and len(value) > 1 for value in given):
                yield op_type, name, "is a list"
        for port in record["outputs"]:
            given = [case[3].get(port["name"], 0) for case in cases]
            if port["list"] and max(given, default=0) < 2:
                yield op_type, port["name"], "is a list"


def test_where_rows_may_stand_a_test_has_rows():
    assert [case for case in untested(sorted(all_facts())) if case[2] == "takes rows"] == []


def ask_values(op_type):
    """The harness's questions about values, dtypes, shapes and sequences of all cases."""
    for cases, reference, unchecked in all_facts()[op_type]:
        for inputs, attrs in cases.values():
            for dtype in harness._dtypes_to_test(op_type, inputs):
                harness._ask_values(op_type, reference, inputs, attrs, dtype, unchecked, {"float16": 1, "float32": 1, "float64": 1}, True, ())


def cases_and_gradients(op_type):
    """The cases that ask the operator itself: its own, or for a gradient those of its operator."""
    plain = op_type[:-len("_grad")] if op_type.endswith("_grad") else op_type
    for case in ((plain, *case[1:4]) for case in cases_of(plain)):
        yield from [case] if plain == op_type else gradient_cases(*case, types={op_type})


def check_all_memory(op_type):
    for case in cases_and_gradients(op_type):
        check_memory(*case)


def check_tested(op_type):
    assert list(untested([op_type])) == []


# A record that states this, and the question that finds it out. Where a fact is left out that does no harm, such as
# in_place, outputs have memory of their own.
@pytest.mark.parametrize("op_type, question, facts", [
    ("transpose2", check_all_memory, {"in_place": [("X", "Out")]}),
    ("relu", check_all_memory, {"view": [("X", "Out")]}),
    ("relu_grad", check_all_memory, {"view": [("Out@GRAD", "X@GRAD")]}),
    ("transpose2", check_all_memory, {"view": [("X", "Out")]}),
    ("gather", check_all_memory, {"updates": [("X", "Out")]}),
    ("cumsum", check_all_memory, {"updates": [("X", "Out")]}),
    ("adam", check_all_memory, {"updates": [("Moment1", "ParamOut")]}),
    ("relu", check_all_memory, {"reads_shape": ["X"]}),
    ("relu_grad", check_all_memory, {"reads_shape": ["Out"]}),
    ("gather", check_all_memory, {"reads_shape": ["Index"]}),
    ("relu", check_tested, {"takes_rows": ["X"]}),
    ("sgd", check_tested, {"takes_rows": ["Grad", "Param"]}),
    ("sgd", ask_values, {"takes_rows": []}),
    ("sgd", check_tested, {"optional_inputs": ["LearningRate"]}),
    ("layer_norm", ask_values, {"optional_inputs": []}),
    ("relu", check_tested, {"input_lists": ["X"]}),
    ("concat", ask_values, {"input_lists": []}),
    ("sequence_pool", ask_values, {"decides_lod": False}),
    ("lookup_table_v2", ask_values, {"dtype_from": ("Ids", False)}),
])
def test_a_record_that_is_wrong_is_noticed(op_type, question, facts):
    question(op_type)
    with altered(op_type, **facts), pytest.raises((AssertionError, pm.Error)):
        question(op_type)
    question(op_type)
