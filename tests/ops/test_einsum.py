"""einsum: sums of products over labelled axes, given by an equation."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    return {"Out": np.asarray(np.einsum(attrs["equation"], *inputs["Operands"], optimize=False))}


def kept_reference(inputs, attrs):
    """Includes the inputs of PaddlePaddle's gradient."""
    operands = inputs["Operands"]
    return {**reference(inputs, attrs), "InnerCache": operands, "XShape": [np.zeros(0) for _ in operands]}


def case(equation, *shapes):
    return {"Operands": [array(*shape, seed=i) for i, shape in enumerate(shapes)]}, {"equation": equation}


test_kept = op_tests(
    "einsum", kept_reference, cases={"kept": case("ij,jk->ik", (3, 4), (4, 5))}, gradients=["Operands"], gradient_of=["Out"]
)

test_einsum = op_tests(
    "einsum",
    reference,
    cases={
        "matrices": case("ij,jk->ik", (3, 4), (4, 5)),
        "matrices, other order": case("ij,jk->ki", (3, 4), (4, 5)),
        "matrices transposed": case("ji,kj->ik", (4, 3), (5, 4)),
        "stacks": case("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
        "stacks, other order": case("ibj,jkb->kbi", (3, 2, 4), (4, 5, 2)),
        "heads": case("bqhd,bkhd->bhqk", (2, 3, 2, 4), (2, 5, 2, 4)),
        "spaces": case("i j, j k -> i k", (3, 4), (4, 5)),
        "no arrow": case("ij,jk", (3, 4), (4, 5)),
        "no arrow, by alphabet": case("ba", (3, 4)),
        "capitals": case("Ij,jK->IK", (3, 4), (4, 5)),
        "outer": case("i,j->ij", (3,), (4,)),
        "large outer": case("i,j->ji", (30,), (4,)),
        "inner": case("i,i", (30,), (30,)),
        "elements": case("ij,ij->ij", (3, 4), (3, 4)),
        "sum": case("ij->", (3, 4)),
        "sum of one axis": case("ij->j", (3, 4)),
        "transpose": case("ijk->kij", (2, 3, 4)),
        "diagonal": case("ii->i", (4, 4)),
        "trace": case("ii", (4, 4)),
        "diagonal in a product": case("iij,jk->ik", (3, 3, 4), (4, 5)),
        "summed alone": case("ij,kl->il", (3, 4), (2, 5)),
        "dots": case("...ij,...jk->...ik", (2, 3, 4), (2, 4, 5)),
        "dots of other rank": case("...ij,...jk->...ik", (2, 6, 3, 4), (6, 4, 5)),
        "dots that broadcast": case("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 5)),
        "dots, no arrow": case("...ij,...jk", (2, 3, 4), (2, 4, 5)),
        "dots for nothing": case("...i,i...->...i", (3,), (3,)),
        "a size of 1 is broadcast": case("ij,ij->ij", (3, 1), (1, 4)),
        "three operands": case("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
        "one element": case("ij,jk->ik", (1, 1), (1, 1)),
        "numbers": case(",->", (), ()),
        "no rows": case("ij,jk->ik", (0, 4), (4, 5)),
        "nothing to add": case("ij,jk->ik", (3, 0), (0, 5)),
    },
    gradients=["Operands"],
    refusals={
        "other sizes": (*case("ij,jk->ik", (3, 4), (5, 6)), pm.ShapeError, "4 5"),
        "other rank": (*case("ij,jk->ik", (3, 4, 5), (4, 5)), pm.ShapeError, "ij 2 [3, 4, 5]"),
        "too few operands": (*case("ij,jk->ik", (3, 4)), pm.ShapeError, "2 operands 1"),
        "label from nowhere": (*case("ij->ik", (3, 4)), pm.ProgramError, "label no operand"),
        "label twice in the result": (*case("ij->ii", (3, 4)), pm.ProgramError, "label twice"),
        "no letter": (*case("i1->i", (3, 4)), pm.ProgramError, "i1 letter"),
        "dots twice": (*case("......->", (3, 4)), pm.Error, "equation"),
        "two arrows": (*case("ij->i->j", (3, 4)), pm.ProgramError, "letter"),
        "too many axes": (*case("abcde,fghij->abcdefghij", (1,) * 5, (1,) * 5), pm.ProgramError, "10 axes"),
    },
)


def test_caches_hold_the_operands():
    inputs, attrs = case("ij,jk->ik", (3, 4), (4, 5))
    found = run_op("einsum", inputs, attrs, {"Out": 1, "InnerCache": 2, "XShape": 2})
    np.testing.assert_allclose(found["Out"], inputs["Operands"][0] @ inputs["Operands"][1])
    for kept, operand in zip(found["InnerCache"], inputs["Operands"]):
        np.testing.assert_array_equal(kept, operand)
    assert [value.shape for value in found["XShape"]] == [(0,)] * 2


def test_gradient_without_operands():
    """PaddlePaddle's einsum_grad gets InnerCache and x_shape only."""
    x, y, g = array(3, 4), array(4, 5), array(3, 5)
    inputs = {"InnerCache": [x, y], "x_shape": [array(0), array(0)], "Out@GRAD": g}
    found = run_op("einsum_grad", inputs, {"equation": "ij,jk->ik"}, {"Operands@GRAD": 2})["Operands@GRAD"]
    np.testing.assert_allclose(found[0], g @ y.T)
    np.testing.assert_allclose(found[1], x.T @ g)
