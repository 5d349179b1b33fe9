# Copies of programs: clones, bytes, pickles; each is a program of its own, which is changed, trained and run.
import copy
import pickle

import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run, start


@pytest.mark.parametrize(
    "wrap", [lambda inner: inner, pm.optimizer.Lookahead, lambda inner: pm.optimizer.ParameterAverage(inner, window_size=10)]
)
def test_a_copy_is_trained_by_each_optimizer(wrap):
    loss = pm.layers.mean(pm.layers.fc(pm.layers.data("x", [-1, 4]), 1, param_attr="w"))
    start()
    main, feed = pm.default_main_program(), {"x": np.ones((2, 4), "float32")}
    for one in (main.clone(), pm.Program.from_bytes(main.to_bytes())):
        startup, scope = pm.Program(), pm.Scope()
        scope.set("w", np.ones((4, 1), "float32"))
        scope.set("fc_0.b_0", np.zeros(1, "float32"))
        with pm.program_guard(one, startup):
            wrap(pm.optimizer.SGD(1.0)).minimize(one.global_block().var(loss.name))
        pm.Executor().run(startup, scope=scope)
        pm.Executor().run(one, feed, [], scope)
        assert scope.get("w").ravel().tolist() == [0, 0, 0, 0]


def test_a_copy_knows_what_has_no_shape_yet():
    pm.default_main_program().global_block().create_var("v", persistable=True)
    with pm.program_guard(pm.default_main_program().clone()):
        pm.layers.assign(pm.layers.ones([3]), pm.default_main_program().global_block().var("v"))
        assert run("v")[0].shape == (3,)


def test_clone_is_a_copy_of_its_own():
    x = pm.layers.data("x", [-1, 4])
    pm.layers.fc(x, 2, param_attr=pm.ParamAttr(learning_rate=0.5, need_clip=False))
    main = pm.default_main_program()
    twin = main.clone()
    weight = twin.all_parameters()[0]
    assert (weight.learning_rate, weight.need_clip) == (0.5, False)
    with pm.program_guard(twin):
        pm.layers.relu(twin.global_block().var("fc_0.tmp_1"))
    assert op_types(twin) == op_types() + ["relu"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda program: pickle.loads(pickle.dumps(program))])
@pytest.mark.parametrize("has_run", [False, True])
def test_copies_and_pickles_are_programs_of_their_own(copied, has_run):
    x = pm.layers.data("x", [-1, 2])
    y = pm.layers.scale(x, scale=2.0)
    main, feed = pm.default_main_program(), {"x": [[1, 2]]}
    if has_run:
        pm.Executor().run(feed=feed, fetch_list=[y])
    other = copied(main)
    with pm.program_guard(other):
        z = pm.layers.scale(other.global_block().var(y.name), scale=3.0)
    assert pm.Executor().run(other, feed, [z])[0].tolist() == [[6, 12]]
    assert op_types() == ["scale"] and op_types(other) == ["scale", "scale"]


def test_what_is_not_copied_says_what_to_do(tmp_path):
    x = pm.layers.data("x", [-1, 2])
    y, exe = pm.layers.fc(x, 3), pm.Executor()
    exe.run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "model", [x], [y])
    predictor = pm.Predictor(tmp_path / "model")
    for thing, advice in ((pm.global_scope(), "io.get_state"), (exe, r"Executor\(place\)"), (predictor, "clone")):
        for call in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"can't be copied or pickled: .*{advice}"):
                call(thing)
    trainer = pm.Trainer(pm.layers.mean(y), pm.optimizer.SGD(0.1))
    with pytest.raises(TypeError, match="can't be copied or pickled"):
        copy.deepcopy(trainer)
