# to_config: optimizers that an object for one parameter cannot represent are rejected by name.
import pytest

import paddle_mini as pm
from paddle_mini.averaging import BiasCorrected, Latest, Uniform
from paddle_mini.optimizer.optimizer import Optimizer

O = pm.optimizer


class Own(Optimizer):
    """Defined by a user."""

    def append_optimize_op(self, block, parameter, gradient):
        raise NotImplementedError


class Bent(O.Adam):
    """Defined by a user; it no longer computes Adam."""

    def append_optimize_op(self, block, parameter, gradient):
        raise NotImplementedError


class Other:
    """Defined by a user, without a base class of ours."""

    def backward(self, loss, startup_program=None, parameter_list=None, no_grad_set=None):
        raise NotImplementedError

    def apply_gradients(self, params_grads):
        raise NotImplementedError


class Jump(pm.lr.ExponentialDecay):
    """Defined by a user."""

    def get_lr(self):
        return 1.0 if self.last_epoch > 5 else 0.5


class Sharper(pm.clip.GradientClipByNorm):
    """Defined by a user."""

    def clip(self, pairs):
        raise NotImplementedError


class Penalty(pm.regularizer.Regularizer):
    """Defined by a user."""

    def __call__(self, parameter, block):
        raise NotImplementedError


@pytest.mark.parametrize(
    "optimizer, named",
    [
        (lambda: Bent(0.1), "Bent"),
        (lambda: O.SGD(Jump(0.1, 0.5)), "Jump.*set_learning_rate"),
        (lambda: O.SGD(0.1, grad_clip=Sharper(1.0)), "Sharper"),
        (lambda: O.Dpsgd(0.1, seed=-1), "OptimizerConfig"),
        (lambda: O.SGD(0.1, regularization=lambda parameter, block: None), "function.*L2Decay"),
        (lambda: Own(0.1), "Own"),
        (lambda: O.ParameterAverage(Other(), Uniform()), "Other"),
        (lambda: O.GradientMerge(O.SGD(0.1), 2), "GradientMerge"),
        (lambda: O.LossScaling(O.SGD(0.1)), "LossScaling"),
        (lambda: O.Lookahead(O.SGD(0.1)), "Lookahead"),
        (lambda: O.ScheduleFree(O.SGD(0.1)), "ScheduleFree"),
        (lambda: O.ParameterAverage(O.GradientMerge(O.SGD(0.1), 2), Uniform()), "GradientMerge"),
        (lambda: O.Dpsgd(0.1), "Dpsgd.*seed"),
        (lambda: O.SGD(0.1, regularization=Penalty()), "Penalty"),
        (lambda: O.SGD(0.1, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)), "GradientClipByGlobalNorm"),
        (lambda: O.SGD(0.1, grad_clip=pm.clip.GradientClipByValue(1.0, -0.5)), "GradientClipByValue"),
        (lambda: O.SGD(pm.lr.exponential_decay(0.1, 10, 0.5)), "learning rate"),
        (lambda: O.ParameterAverage(O.SGD(0.1), Latest(3)), "Latest"),
        (lambda: O.ParameterAverage(O.SGD(0.1), BiasCorrected()), "BiasCorrected"),
        (lambda: O.ParameterAverage(O.SGD(0.1), Uniform(), buffers="average"), "buffers"),
        (lambda: O.ParameterAverage(O.SGD(0.1), Uniform(), place=pm.CUDAPlace(0)), "place"),
    ],
)
def test_what_an_object_for_one_parameter_can_not_do(optimizer, named):
    with pytest.raises(pm.ProgramError, match=named):
        optimizer().to_config()
