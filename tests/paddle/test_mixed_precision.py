"""Programs of paddle.static.amp train here to PaddlePaddle's losses and parameters, with each of its optimizers."""

import numpy as np
import pytest

import census
import paddle_mini as pm
from bfloat16 import numbers_of

NAMES = ["SGD", "Momentum", "Adam", "AdamW", "Lamb", "Adamax", "Adagrad", "Adadelta", "RMSProp"]
OPTIMIZERS = {name: f"paddle.optimizer.{name}" for name in NAMES}
OPTIMIZERS |= {  # several parameters in one operator
    f"{name} merged": f"(lambda rate: paddle.optimizer.{name}(rate, use_multi_tensor=True))" for name in ("Momentum", "Adam")
}
OPTIMIZERS["LarsMomentum"] = "(lambda rate: paddle.incubate.optimizer.LarsMomentumOptimizer(rate, 0.9))"

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
    call = DECORATIONS[decoration].format(OPTIMIZERS[optimizer])
    difference = census.ask(paddle, tmp_path, "paddle.static.amp", f"train({call})", TOLERANCE.get(decoration))
    assert difference is None, str(difference)
    narrow = b"cast_bf16" in (tmp_path / "forward.pb").read_bytes()
    assert narrow == (decoration == "O1 bfloat16")


# As PaddlePaddle writes them for a GPU: with casts, and for O2 with parameters of 16 bits and their masters. A CPU can't run
# them there, so the losses are compared with those of float32.
LEVELS = {
    "O1 bfloat16": "level='O1', dtype='bfloat16'",
    "O1 float16": "level='O1', dtype='float16', init_loss_scaling=1024.0, use_dynamic_loss_scaling=True",
    "O2 bfloat16": "level='O2', dtype='bfloat16'",
    "O2 float16": "level='O2', dtype='float16', init_loss_scaling=1024.0, use_dynamic_loss_scaling=True",
    "O1 other lists": "amp_lists=CustomOpLists(['layer_norm', 'gelu'], ['conv2d'], dtype='bfloat16'), dtype='bfloat16'",
    "O1 promoted": "level='O1', dtype='bfloat16', use_promote=True",
    "O2 gradients of float32": "level='O2', dtype='bfloat16', master_grad=True",
    "OD": "level='OD', dtype='bfloat16'",
}
WITH_EVERY_OPTIMIZER = ["O1 bfloat16", "O1 float16", "O2 bfloat16", "O2 float16"]
PROGRAMS = [(one, level) for level in LEVELS for one in OPTIMIZERS if level in WITH_EVERY_OPTIMIZER or one == "Adam"]


@pytest.fixture(scope="module")
def of_float32(paddle, tmp_path_factory):
    """The initial values, the feeds and the losses of each optimizer in PaddlePaddle."""
    known = {}

    def trained(optimizer):
        if optimizer not in known:
            folder = tmp_path_factory.mktemp("float32")
            paddle.ask("census", folder, module="paddle", expression=f"classify({optimizer})")
            with np.load(folder / "init.npz") as init, np.load(folder / "feeds.npz") as feeds:
                state, fed = dict(init), dict(feeds)
            with np.load(folder / "results.npz") as results:
                losses = [float(results[name]) for name in results.files if name[0] in "123"]
            known[optimizer] = state, fed, losses
        return known[optimizer]

    return trained


@pytest.mark.parametrize("optimizer, level", PROGRAMS)
def test_programs_for_a_gpu(paddle, of_float32, tmp_path, optimizer, level):
    optimizer = f"{OPTIMIZERS[optimizer]}(0.01)"
    state, feeds, wanted = of_float32(optimizer)
    paddle.ask("mixed_precision", tmp_path, expression=f"classify(decorate({optimizer}, {LEVELS[level]}))")
    startup, main = (pm.Program.from_bytes((tmp_path / f"{name}.pb").read_bytes()) for name in ("startup", "forward"))
    exe, scope = pm.Executor(), pm.Scope()
    exe.run(startup, scope=scope)
    for name, value in state.items():
        scope.set(name, value)
        if f"{name}_fp32_master_0" in scope:
            scope.set(f"{name}_fp32_master_0", value)
    narrow = pm.amp.cast_parameters(main, scope)
    assert bool(narrow) == level.startswith("O2")
    assert any(op.type == "cast" for op in main.global_block().ops)
    losses = [exe.run(main, feeds, [(tmp_path / "loss").read_text()], scope)[0] for _ in wanted]
    found = [float(numbers_of(loss) if loss.dtype == np.uint16 else loss) for loss in losses]
    assert found != wanted
    np.testing.assert_allclose(found, wanted, rtol=0.02)
