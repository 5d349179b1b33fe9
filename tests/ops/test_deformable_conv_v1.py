"""deformable_conv_v1: a convolution whose taps are moved by offsets, without a mask."""

from families.deformable import cases, reference, refusals
from harness import op_tests

test_deformable_conv_v1 = op_tests(
    "deformable_conv_v1",
    reference,
    cases=cases(False),
    gradients=["Input", "Offset", "Filter"],
    tolerance={"float32": 2e-5},  # sums of many products
    refusals=refusals(False),
)
