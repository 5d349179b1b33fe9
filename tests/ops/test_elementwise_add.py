"""elementwise_add: Out = X + Y."""

import paddle_mini as pm
from broadcast_cases import broadcast_cases, broadcast_refusals, operands, whole_number_cases
from harness import op_tests


def reference(inputs, attrs):
    x, y = operands(inputs, attrs)
    return {"Out": x + y}


test_elementwise_add = op_tests(
    "elementwise_add", reference, broadcast_cases(), gradients=["X", "Y"], refusals=broadcast_refusals(pm)
)
test_whole_numbers = op_tests("elementwise_add", reference, whole_number_cases())
