"""deformable_conv: a convolution whose taps are moved by offsets."""

import pytest

import paddle_mini as pm
from families.deformable import cases, reference, refusals
from harness import op_tests

TOLERANCE = {"float32": 2e-5}  # sums of many products

test_deformable_conv = op_tests(
    "deformable_conv",
    reference,
    cases=cases(True),
    gradients=["Input", "Offset", "Filter", "Mask"],
    tolerance=TOLERANCE,
    refusals=refusals(True),
)


@pytest.mark.parametrize("modulated", [False, True])
def test_the_layer_wants_a_mask_only_if_it_is_modulated(modulated):
    with pm.program_guard(pm.Program()):
        image, offset, mask = (pm.layers.data(name, [1, n, 4, 4]) for name, n in (("image", 2), ("offset", 18), ("mask", 9)))
        with pytest.raises(pm.ProgramError, match=f"mask must be .* with modulated={modulated}"):
            pm.layers.deformable_conv(image, offset, None if modulated else mask, 3, 3, padding=1, modulated=modulated)
