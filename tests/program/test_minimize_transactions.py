"""A call of backward or minimize that fails leaves no trace, and can be repeated."""

import numpy as np
import pytest

import paddle_mini as pm
from no_trace import FailAfter, Fault, leaves_no_trace
from optimizers import OPTIMIZERS
from paddle_mini.optimizer.replica_mean import ReplicaMean
from paddle_mini.transaction import transaction

L, O = pm.layers, pm.optimizer


def model():
    x = L.data("x", [-1, 6])
    return L.mean(L.fc(L.fc(x, 4, act="relu"), 1))


class Clip(pm.clip.GradientClip):
    """Appends an operator, and then fails."""

    def clip(self, pairs):
        L.scale(pairs[0][1], scale=2.0)
        raise Fault("clip")


class Penalty(pm.regularizer.Regularizer):
    def __call__(self, parameter, block):
        L.scale(parameter, scale=2.0)
        raise Fault("penalty")


class Schedule(pm.lr.LRScheduler):
    def get_lr(self):
        return 0.1


WRAPPERS = {
    "GradientMerge": lambda o: O.GradientMerge(o, 2),
    "LossScaling": O.LossScaling,
    "Lookahead": O.Lookahead,
    "ScheduleFree": O.ScheduleFree,
    "ParameterAverage": lambda o: O.ParameterAverage(o, window_size=10),
    "rate": lambda o: O.ParameterAverage(O.LossScaling(O.GradientMerge(o, 2)), [pm.averaging.Uniform(), pm.averaging.Latest(3)]),
    "AveragedSGD": lambda o: O.AveragedSGD(0.1),
    "level O1": lambda o: O.ParameterAverage(pm.amp.decorate(o), window_size=3),
    "level O2": lambda o: pm.amp.decorate(O.GradientMerge(o, 2), level="O2", dtype="float16"),
    "ReplicaMean": lambda o: O.ParameterAverage(ReplicaMean(o, 2), window_size=3),
}
ALL = {
    **{name: lambda make=make: make() for name, make in OPTIMIZERS.items()},
    **{
        name: lambda around=around: around(
            O.Momentum(0.1, 0.9, regularization=0.1, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0))
        )
        for name, around in WRAPPERS.items()
    },
    "schedule": lambda: O.Adam(Schedule()),
}


@pytest.mark.parametrize("name", ALL)
def test_minimize_fails_after_each_operator_and_then_succeeds(name, monkeypatch):
    loss, optimizer = model(), ALL[name]()
    with monkeypatch.context() as patch:
        counter = FailAfter(patch)
        main, startup = pm.default_main_program(), pm.default_startup_program()
        with transaction():
            ALL[name]().minimize(loss)
            wanted = [
                [(op.type, op.inputs, op.outputs) for block in program.blocks for op in block.ops] for program in (main, startup)
            ]
            before = counter.seen
            leaves_no_trace(lambda: ALL[name]().minimize(loss), pm.ProgramError)  # a second minimize
            with pytest.raises(Fault), transaction():
                raise Fault
    step = max(1, before // 5)
    assert before > 5
    with pm.program_guard(pm.Program(), pm.Program()):
        loss = model()
        for count in [*range(1, before, step), before]:
            with monkeypatch.context() as patch:
                FailAfter(patch, count)
                leaves_no_trace(lambda: optimizer.minimize(loss), Fault)
        optimizer.minimize(loss)
        main, startup = pm.default_main_program(), pm.default_startup_program()
        assert [
            [(op.type, op.inputs, op.outputs) for block in program.blocks for op in block.ops] for program in (main, startup)
        ] == wanted
        if name != "ReplicaMean":
            exe = pm.Executor()
            exe.run(startup)
            exe.run(main, {"x": np.ones((2, 6), "float32")})


@pytest.mark.parametrize(
    "minimize",
    [
        lambda loss: O.SGD(grad_clip=Clip()).minimize(loss),
        lambda loss: O.Adam(regularization=Penalty()).minimize(loss),
        lambda loss: O.Adam(Schedule(), grad_clip=Clip()).minimize(loss),
        lambda loss: O.SGD(parameter_list=["nothing"]).minimize(loss),
        lambda loss: O.SGD(parameter_list=["x"]).minimize(loss),
        lambda loss: O.SGD().minimize(loss, no_grad_set=["fc_0.w_0", "fc_1.w_0", "fc_0.b_0", "fc_1.b_0"]),
        lambda loss: O.SGD().minimize("loss"),
        lambda loss: O.SGD().minimize(pm.default_main_program().global_block().var("x")),
        lambda loss: O.ParameterAverage(O.SGD(), window_size=3, parameters=["x"]).minimize(loss),
        lambda loss: O.ParameterAverage(O.GradientMerge(O.SGD(regularization=Penalty()), 3), window_size=3).minimize(loss),
        lambda loss: O.LossScaling(O.Adam(grad_clip=Clip())).minimize(loss),
        lambda loss: pm.append_backward(loss, ["nothing"]),
        lambda loss: pm.gradients([loss], [loss], [None, None]),
        lambda loss: pm.gradients([loss], ["nothing"]),
        lambda loss: O.SGD().apply_gradients([(loss, None)]),
    ],
)
def test_what_minimize_refuses(minimize):
    loss = model()
    leaves_no_trace(lambda: minimize(loss))


@pytest.mark.parametrize("name", ALL)
def test_a_second_minimize_of_one_program(name):
    loss, optimizer = model(), ALL[name]()
    optimizer.minimize(loss)
    for other in (optimizer, O.SGD(0.1)):
        kept = dict(vars(other))
        leaves_no_trace(lambda: other.minimize(loss), pm.ProgramError)
        assert vars(other) == kept


def test_names_and_seeds_go_on_as_if_the_call_had_not_been():
    def build(mistaken):
        main, startup = pm.Program(), pm.Program()
        main.random_seed = startup.random_seed = 7
        with pm.program_guard(main, startup):
            x = L.data("x", [-1, 6])
            for call in (lambda: L.fc(x, 3, act="rleu"), lambda: L.multi_head_attention(x, x, x, 8, 3)) if mistaken else ():
                leaves_no_trace(call)
            loss = L.mean(L.dropout(L.fc(x, 3), 0.5))
            if mistaken:
                leaves_no_trace(lambda: O.Adam(grad_clip=Clip()).minimize(loss))
            O.Adam().minimize(loss)
        return main.to_bytes(), startup.to_bytes()

    assert build(False) == build(True)
