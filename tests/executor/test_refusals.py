"""Guarantees of operators to the executor, which backs up only values that a rejection would leave changed: an operator
that rejects its data has written nothing, and its gradient accepts all data that it has accepted."""

import numpy as np

import paddle_mini as pm
from facts import all_cases, gradient_cases, listed
from paddle_mini import _core
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, array_of, with_array
from schema_checks import SINGULAR, spoiled

# It rejects when another replica does, and its runs back up their outputs: tests/devices/test_parallel_failures.py.
# histogram refuses only equal limits that are infinite, and yolov3_loss boxes outside of the image; clip_double_grad refuses as
# clip does, by tensors that its cases do not have; check_numerics by infinities: tests/ops/test_check_numerics.py.
NOT_BY_ITSELF = {
    "c_allreduce_sum",
    "check_numerics",
    "clip_double_grad",
    "histogram",
    "yolov3_loss",
    "yolov3_loss_grad",
    *SINGULAR,
}
CHECKING = {op_type for op_type in _core.op_types() if op_schema(op_type)["checks_data"]} - NOT_BY_ITSELF


def marked(value):
    """A value of the same kind that no operator produces."""
    numbers = array_of(value)
    return with_array(value, np.full_like(numbers, True if numbers.dtype.kind == "b" else 93))


def count_refusals(op_type, inputs, attrs, counts):
    """Number of corrupted inputs that the operator rejects when it runs. Its outputs are in the scope, and stay as they
    are."""
    one, refused = OneOp(op_type, inputs, attrs, counts), 0
    for names in one.outputs.values():
        for name in names:
            one.block.var(name).persistable = True
    found = one.run()
    made = {name: value for port, names in one.outputs.items() for name, value in zip(names, listed(found[port]))}
    one.written = set()
    assert "keeps" not in one.executor.plan_text(one.program, scope=one.scope)  # the kernel decides
    for others in spoiled(inputs):
        for name, value in made.items():
            one.put(name, marked(value))
        for port, names in one.arguments.items():
            for name, value in zip(names, listed(others[port])):
                one.put(name, value)
        try:
            one.run()
        except pm.Error:
            refused += 1
            one.check_inputs_unchanged()
    return refused


def gradients_of(*case):
    """The operators of the gradient that check their data."""
    return gradient_cases(*case, types=CHECKING)


def test_what_is_refused_has_not_been_written():
    refused = dict.fromkeys(CHECKING, 0)
    for case in all_cases():
        asked = [case] if case[0] in CHECKING else []
        for op_type, *arguments in [*asked, *gradients_of(*case)]:
            refused[op_type] += count_refusals(op_type, *arguments)
    assert [op_type for op_type, count in refused.items() if not count] == []


def test_a_gradient_refuses_nothing_that_the_operator_has_accepted():
    asked = set()
    for op_type, inputs, *more in [case for case in all_cases() if case[0] in CHECKING]:
        for others in [inputs, *spoiled(inputs)]:
            try:
                gradients = list(gradients_of(op_type, others, *more))
            except pm.Error:
                continue
            for gradient in gradients:
                OneOp(*gradient).run()
                asked.add(gradient[0])
    assert {name for name in CHECKING if name.endswith("_grad") and name[: -len("_grad")] in CHECKING} <= asked
