"""Transpiling: the programs of trainers and the work of servers, which together equal training on one machine."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cluster.trainers.transpile import transpile
from paddle_mini.optimizer.replica_mean import ReplicaMean
from transpiled import beginning, one_machine, trainer_and_servers


def regression(optimizer, clip=None, **attr):
    x, y = pm.layers.data("x", [-1, 6]), pm.layers.data("y", [-1, 1])
    hidden = pm.layers.fc(x, 5, act="tanh", param_attr=pm.ParamAttr(name="w", **attr))
    out = pm.layers.fc(hidden, 1, param_attr=pm.ParamAttr(name="v"))
    loss = pm.layers.mean(pm.layers.square_error_cost(out, y))
    optimizer.minimize(loss)
    return loss


def batches(count=6):
    rng = np.random.default_rng(1)
    for _ in range(count):
        x = rng.normal(size=(8, 6)).astype("float32")
        yield {"x": x, "y": x[:, :1] * 2 + 1}


def types(program):
    return [op.type for block in program.blocks for op in block.ops]


OPTIMIZERS = {
    "sgd": lambda: pm.optimizer.SGD(0.1),
    "adam": lambda: pm.optimizer.Adam(0.01, regularization=0.01),
    "clipped": lambda: pm.optimizer.Momentum(0.1, 0.9, grad_clip=pm.clip.GradientClipByNorm(0.05)),
    "scheduled": lambda: pm.optimizer.SGD(pm.lr.ExponentialDecay(0.1, 0.9)),
    "averaged": lambda: pm.optimizer.ParameterAverage(pm.optimizer.Adagrad(0.1), window_size=4),
}


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_a_trainer_and_servers_do_what_one_machine_does(kind):
    optimizer = OPTIMIZERS[kind]()
    regression(optimizer, learning_rate=2.0)
    main = pm.default_main_program()
    before = main.to_bytes()
    split = transpile(main)
    assert main.to_bytes() == before
    start, rate = beginning(split), getattr(optimizer, "learning_rate", 0)
    got = trainer_and_servers(main, batches(), start)
    if kind == "scheduled":  # servers advance the schedule with every update

        def stepping():
            for feed in batches():
                yield feed
                rate.step()

        wanted = one_machine(main, stepping(), start)
    else:
        wanted = one_machine(main, batches(), start)
    for name in start:
        np.testing.assert_allclose(got[name], wanted[name], rtol=2e-6, atol=2e-7)


def test_trainers_have_no_operators_nor_variables_of_the_optimizer():
    regression(
        pm.optimizer.ParameterAverage(pm.optimizer.Adam(pm.lr.ExponentialDecay(0.1, 0.9), regularization=0.1), window_size=4)
    )
    split = transpile(pm.default_main_program())
    assert not {"adam", "parameter_average", "average_weight"} & set(types(split.program))
    assert not any(op.attr("op_role") & (2 | 16) for block in split.program.blocks for op in block.ops)
    left = {var.name for var in split.program.list_vars() if var.persistable}
    assert left == {"w", "v", "fc_0.b_0", "fc_1.b_0"} and split.program.schedules == {}
    assert [one.name for one in split.trained] == sorted(left) and split.frozen == split.buffers == []
    assert [one.gradient for one in split.trained if one.name == "w"] == ["w@GRAD"]


def test_each_parameter_has_the_optimizer_that_minimizes_it():
    x, y = pm.layers.data("x", [-1, 6]), pm.layers.data("y", [-1, 1])
    wide = pm.layers.fc(x, 1, param_attr=pm.ParamAttr(name="wide"), bias_attr=False)
    deep = pm.layers.fc(
        pm.layers.fc(x, 4, param_attr=pm.ParamAttr(name="deep"), bias_attr=False),
        1,
        param_attr=pm.ParamAttr(name="top", learning_rate=0.5),
        bias_attr=False,
    )
    loss = pm.layers.mean(pm.layers.square_error_cost(wide + deep, y))
    pm.optimizer.Ftrl(0.1).minimize(loss, parameter_list=["wide"])
    pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), window_size=9).minimize(loss, parameter_list=["deep", "top"])
    deep, top, wide = transpile(pm.default_main_program()).trained
    kinds = type(wide.config).Optimizer
    assert [kinds.Name(one.config.optimizer) for one in (deep, top, wide)] == ["Adam", "Adam", "Ftrl"]
    assert [len(one.config.averaging) for one in (deep, top, wide)] == [1, 1, 0]
    assert [one.config.learning_rate_factor for one in (deep, top, wide)] == [1.0, 0.5, 1.0]
    assert len({one.gradient for one in (deep, top, wide)}) == 3
    main = pm.default_main_program()
    start = beginning(transpile(main))
    got, wanted = trainer_and_servers(main, batches(), start), one_machine(main, batches(), start)
    for name in start:
        np.testing.assert_allclose(got[name], wanted[name], rtol=2e-6, atol=2e-7)


def test_backward_and_apply_gradients_are_minimize():
    x = pm.layers.data("x", [-1, 6])
    loss = pm.layers.mean(pm.layers.fc(x, 1, param_attr=pm.ParamAttr(name="w"), bias_attr=False))
    optimizer = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), window_size=3)
    optimizer.apply_gradients(optimizer.backward(loss))
    (one,) = transpile(pm.default_main_program().clone()).trained
    assert one.name == "w" and len(one.config.averaging) == 1


def test_parameters_that_nobody_trains_and_buffers():
    x = pm.layers.data("x", [-1, 6])
    frozen = pm.layers.fc(x, 5, param_attr=pm.ParamAttr(name="frozen", trainable=False), bias_attr=False)
    kept = pm.layers.fc(pm.layers.batch_norm(frozen), 1, param_attr=pm.ParamAttr(name="kept"), bias_attr=False)
    loss = pm.layers.mean(pm.layers.fc(kept, 1, param_attr=pm.ParamAttr(name="w"), bias_attr=False))
    pm.optimizer.SGD(0.1, parameter_list=["w"]).minimize(loss)
    split = transpile(pm.default_main_program())
    assert [one.name for one in split.trained] == ["w"]
    assert split.frozen == ["batch_norm_0.b_0", "batch_norm_0.w_0", "frozen", "kept"]
    assert split.buffers == ["batch_norm_0.w_1", "batch_norm_0.w_2"]


WHOLE = {
    "lamb": (lambda: pm.optimizer.Lamb(0.1), True),
    "lars": (lambda: pm.optimizer.LarsMomentum(0.1, 0.9), True),
    "dpsgd": (lambda: pm.optimizer.Dpsgd(0.1, seed=1), True),
    "adam": (lambda: pm.optimizer.Adam(0.1), False),
    "by norm": (lambda: pm.optimizer.SGD(0.1, grad_clip=pm.clip.GradientClipByNorm(1.0)), True),
    "by value": (lambda: pm.optimizer.SGD(0.1, grad_clip=pm.clip.GradientClipByValue(1.0)), False),
}


@pytest.mark.parametrize("kind", WHOLE)
def test_what_must_not_be_cut_into_blocks(kind):
    make, whole = WHOLE[kind]
    regression(make())
    assert [one.whole for one in transpile(pm.default_main_program()).trained] == [whole] * 4


SGD = pm.optimizer.SGD
REFUSED = {
    "GradientMerge": lambda: pm.optimizer.GradientMerge(SGD(0.1), 4),
    "GradientMerge is more than one step": lambda: pm.optimizer.ParameterAverage(
        pm.optimizer.GradientMerge(SGD(0.1), 4), window_size=3
    ),
    "LossScaling": lambda: pm.optimizer.LossScaling(SGD(0.1)),
    "Lookahead": lambda: pm.optimizer.Lookahead(SGD(0.1)),
    "ScheduleFree": lambda: pm.optimizer.ScheduleFree(SGD(0.1)),
    "ReplicaMean": lambda: ReplicaMean(SGD(0.1), 2),
    "GradientClipByGlobalNorm": lambda: SGD(0.1, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)),
    "the program computes the learning rate": lambda: SGD(pm.layers.exponential_decay(0.1, 10, 0.9)),
    "buffers='copy'": lambda: pm.optimizer.ParameterAverage(SGD(0.1), window_size=3, buffers="average"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_servers_can_not_do_is_refused_by_name_and_line(what):
    regression(REFUSED[what]())
    with pytest.raises(pm.ProgramError) as refused:
        transpile(pm.default_main_program())
    text = str(refused.value)
    assert what in text and "servers can't train 'fc_0.b_0'" in text
    assert "test_transpile.py" in text and "optimizer.minimize(loss)" in text


def test_a_model_that_reads_what_the_optimizer_computes():
    regression(pm.optimizer.ParameterAverage(SGD(0.1), window_size=3))
    block = pm.default_main_program().global_block()
    weight = next(op for op in block.ops if op.type == "average_weight")
    pm.layers.scale(block.var(weight.output_names[0]), scale=2.0)
    with pytest.raises(pm.ProgramError, match="scale reads '.*', which the optimizer") as refused:
        transpile(pm.default_main_program())
    assert "pm.layers.scale" in str(refused.value)


def test_programs_without_an_optimizer():
    regression(SGD(0.1))
    main = pm.default_main_program()
    with pytest.raises(pm.ProgramError, match="not one made from its bytes\n  added at .*minimize"):
        transpile(pm.Program.from_bytes(main.to_bytes()))
    with pytest.raises(pm.ProgramError, match=r"call minimize\(\) first"):
        transpile(main.clone(for_test=True))
    main.minimizers.pop("w")  # as if the operator that changes it were appended by hand
    with pytest.raises(pm.ProgramError, match="the program does not record which optimizer changes 'w'"):
        transpile(main)
    with pytest.raises(pm.ProgramError, match="takes a Program, not str"):
        transpile("main")


def test_an_optimizer_that_was_refused_is_not_noted():
    x, ids = pm.layers.data("x", [-1, 3]), pm.layers.data("a", [-1, 2], dtype="int64")
    loss = pm.layers.mean(
        pm.layers.elementwise_mul(pm.layers.reduce_sum(pm.layers.embedding(ids, (50, 3), is_sparse=True)), pm.layers.mean(x))
    )
    with pytest.raises(pm.ProgramError):
        pm.optimizer.Lookahead(SGD(0.1)).minimize(loss)
    assert pm.default_main_program().minimizers == {}
