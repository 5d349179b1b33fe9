# The C library changes a parameter by the same bits as the operators of a program.
import numpy as np
import pytest

import paddle_mini as pm
from one_parameter import Program, gradients, row_gradients, same_bits, values
from optimizers import OPTIMIZERS

O, R, C = pm.optimizer, pm.regularizer, pm.clip
STEPS = 24
MORE = {
    "Nesterov": lambda **k: O.Momentum(0.1, 0.9, use_nesterov=True, **k),
    "RMSProp centered": lambda **k: O.RMSProp(0.05, momentum=0.5, centered=True, **k),
    "Adagrad begun": lambda **k: O.Adagrad(0.1, initial_accumulator_value=0.3, **k),
    "Lamb always": lambda **k: O.Lamb(0.05, lamb_weight_decay=0.0, always_adapt=True, **k),
    "Lamb without decay": lambda **k: O.Lamb(0.05, lamb_weight_decay=0.0, **k),
    "Lars rescaled": lambda **k: O.LarsMomentum(0.5, 0.9, lars_coeff=0.1, rescale_grad=0.5, epsilon=1e-3, **k),
    "Ftrl other power": lambda **k: O.Ftrl(0.1, l1=0.01, l2=0.1, lr_power=-0.6, **k),
    "Adam other betas": lambda **k: O.Adam(0.05, beta1=0.8, beta2=0.95, epsilon=1e-3, **k),
}
ALL = {**OPTIMIZERS, **MORE}
CHANGES = {
    "plain": {},
    "l1": {"regularization": R.L1Decay(0.01)},
    "l2": {"regularization": R.L2Decay(0.1)},
    "value": {"grad_clip": C.GradientClipByValue(0.7)},
    "norm": {"grad_clip": C.GradientClipByNorm(2.0)},
    "norm and l2": {"grad_clip": C.GradientClipByNorm(2.0), "regularization": R.L2Decay(0.1)},
}
# Dpsgd draws a number per update: the operator the same one each time, the library another one.
NOT_RANDOM = [name for name in ALL if name != "Dpsgd"]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", NOT_RANDOM)
def test_dense(name, change, dtype):
    begin = values(dtype)
    program = Program(ALL[name](**CHANGES[change]), begin, learning_rate=0.7)
    native = program.native(begin)
    for number, gradient in enumerate(gradients(STEPS, dtype)):
        program.update(gradient)
        native.update(gradient)
        same_bits(native.view(), program.value(), f"update {number}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dpsgd_without_noise(dtype):
    begin = values(dtype)
    program = Program(O.Dpsgd(0.1, clip=2.0, sigma=0.0, seed=5), begin)
    native = program.native(begin)
    for gradient in gradients(STEPS, dtype):
        program.update(gradient)
        native.update(gradient)
        same_bits(native.view(), program.value())


def test_dpsgd_draws_update_n_from_seed_and_n():
    begin, native_steps = values(), gradients(5)
    native = O.NativeOptimizer(O.Dpsgd(0.1, seed=5).to_config(), begin)
    for n, gradient in enumerate(native_steps, 1):
        program = Program(O.Dpsgd(0.1, seed=5 + n), native.parameter())
        program.update(gradient)
        native.update(gradient)
        same_bits(native.view(), program.value())


# Optimizers whose operators accept selected rows with the same updates: Adam's with lazy_mode corrects the moments for
# one step more than were made, as PaddlePaddle does, and Lamb's sums its norms in another order.
SPARSE = [
    "SGD",
    "Adagrad",
    "Adagrad begun",
    "Adam",
    "Adam other betas",
    "Momentum",
    "Nesterov",
    "RMSProp",
    "RMSProp centered",
    "Ftrl",
]


def same_bits_by_rows(optimizer, dtype, distinct=False):
    begin = values(dtype)
    program = Program(optimizer, begin, sparse=True)
    native = program.native(begin)
    for rows, gradient in row_gradients(STEPS, dtype, distinct=distinct):
        program.update_rows(rows, gradient)
        native.update_rows(rows, gradient)
        same_bits(native.parameter(), program.value(), str(rows))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("change", ["plain", "norm"])
@pytest.mark.parametrize("name", SPARSE)
def test_rows(name, change, dtype):
    # The operator sgd subtracts the gradients of a row that is named twice one by one; the library subtracts their sum.
    same_bits_by_rows(ALL[name](**CHANGES[change]), dtype, distinct=name == "SGD" and change == "plain")


@pytest.mark.parametrize("name", ["Momentum", "Adam", "RMSProp", "Adagrad", "Ftrl"])
@pytest.mark.parametrize("change", ["l1", "l2"])
def test_regularized_rows_are_a_dense_gradient(name, change):
    same_bits_by_rows(ALL[name](**CHANGES[change]), "float32", distinct=True)


@pytest.mark.parametrize("change", ["l2", "norm and l2"])
@pytest.mark.parametrize("name", ALL)
def test_like_zeros_is_a_dense_gradient(name, change):
    """To the bit, but for the norm: its sum over the named rows has another order."""
    config = ALL[name](**CHANGES[change]).to_config()
    config.row_policy = config.LikeZeros
    begin = values()
    by_rows, dense = O.NativeOptimizer(config, begin), O.NativeOptimizer(config, begin)
    for rows, gradient in row_gradients(STEPS):
        by_rows.update_rows(rows, gradient)
        whole = np.zeros_like(begin)
        np.add.at(whole, rows, gradient)
        dense.update(whole)
        if change == "l2":
            same_bits(by_rows.view(), dense.view(), str(rows))
        else:
            np.testing.assert_allclose(by_rows.view(), dense.view(), rtol=1e-5, atol=1e-6)
