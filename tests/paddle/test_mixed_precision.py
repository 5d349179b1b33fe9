"""Programs of paddle.static.amp train here to PaddlePaddle's losses and parameters, with each of its optimizers."""

import pytest

import census

OPTIMIZERS = ["SGD", "Momentum", "Adam", "AdamW", "Lamb", "Adamax", "Adagrad", "Adadelta", "RMSProp"]

# PaddlePaddle's CPU computes in bfloat16 only; float16 programs there have the operators of loss scaling.
DECORATIONS = {
    "scaling": "decorate({}(0.1), init_loss_scaling=1024.0, use_dynamic_loss_scaling=True)",
    "O2 float16": "decorate({}(0.1), level='O2', dtype='float16', master_grad=True)",
    "O2 bfloat16": "decorate({}(0.1), level='O2', dtype='bfloat16')",
    "O1 bfloat16": "bf16.decorate_bf16({}(0.1))",
}
# PaddlePaddle cuts digits off where it casts to bfloat16; here numbers are rounded. RMSProp divides by the root of small squares.
TOLERANCE = {"O1 bfloat16": 1e-1}


@pytest.mark.parametrize("decoration", DECORATIONS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_training(paddle, tmp_path, optimizer, decoration):
    call = DECORATIONS[decoration].format(f"paddle.optimizer.{optimizer}")
    difference = census.ask(paddle, tmp_path, "paddle.static.amp", f"train({call})", TOLERANCE.get(decoration))
    assert difference is None, str(difference)
    narrow = b"cast_bf16" in (tmp_path / "forward.pb").read_bytes()
    assert narrow == (decoration == "O1 bfloat16")
