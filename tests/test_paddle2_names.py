"""Names of PaddlePaddle 2.x: accepted where they mean the same, and answered with the right name where they do not; names of
PyTorch and Keras are answered."""

import copy
import inspect
import pickle
import re

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import framework_names, paddle2_names, renamed
from programs import run

L = pm.layers


def test_arguments_of_the_same_meaning():
    x = L.data("x", [-1, 4])
    out = L.fc(x=x, size=3, weight_attr=pm.ParamAttr("w", pm.initializer.Constant(-1.0)), bias_attr=False, activation="relu")
    (value,) = run(out, x=-np.ones((2, 4), "float32"))
    assert value.tolist() == [[4.0] * 3] * 2
    assert L.reduce_sum(x=x, axis=1, keepdim=True).shape == (-1, 1)
    assert [part.shape for part in L.split(x=x, num_or_sections=2, axis=1)] == [(-1, 2), (-1, 2)]
    assert L.squeeze(L.unsqueeze(x, axis=2), axis=2).shape == (-1, 4)
    assert L.full_like(x, fill_value=2.0).shape == (-1, 4)
    op = L.leaky_relu(x, negative_slope=0.5).block.ops[-1]
    assert op.attr("alpha") == 0.5
    assert L.softshrink(x, threshold=0.25).block.ops[-1].attr("lambda") == 0.25


def test_arguments_of_optimizers():
    def program(**arguments):
        main, startup = pm.Program(), pm.Program()
        with pm.program_guard(main, startup):
            x = L.data("x", [-1, 4])
            loss = L.mean(L.fc(L.fc(x, 3, param_attr="w"), 1, param_attr="v"))
            minimize = {name: arguments.pop(name) for name in ("minimize_parameters",) if name in arguments}
            pm.optimizer.Adam(0.1, **arguments).minimize(loss, **{name[9:]: value for name, value in minimize.items()})
        return main.to_bytes()

    assert program(weight_decay=0.1, parameters=["w"]) == program(regularization=0.1, parameter_list=["w"]) != program()
    assert program(minimize_parameters=["w"]) == program(parameter_list=["w"])
    assert pm.optimizer.AdamW(0.1, weight_decay=0.2).weight_decay == 0.2  # its own argument
    assert pm.optimizer.AdamW(0.1, weight_decay=0.2).regularization is None


@pytest.mark.parametrize(
    "call, advice",
    [
        (lambda x: L.relu(x, alfa=3), "relu\\(\\) has no argument 'alfa'; it has x, name"),
        (lambda x: L.fc(x, 3, activatoin="relu"), "fc\\(\\) has no argument 'activatoin'; did you mean 'activation'"),
        (lambda x: L.fc(x, 3, act="relu", activation="relu"), "both 'act' and 'activation'"),
        (lambda x: L.fc(x, 3, weight_attr=None, param_attr=None), "both 'param_attr' and 'weight_attr'"),
        (lambda x: L.dropout(x, p=0.5), "dropout_prob; .*upscale_in_train"),
        (lambda x: L.cross_entropy(x, x, use_softmax=True), "softmax_with_cross_entropy takes logits"),
        (lambda x: L.pool2d(x, kernel_size=2), "it is pool_size"),
        (lambda x: L.relu(x, use_cudnn=False), "kernels are chosen by the place"),
        (lambda x: pm.optimizer.Adam(betta1=0.9), "Adam\\(\\) has no argument 'betta1'; did you mean 'beta1'"),
        (lambda x: pm.optimizer.SGD(multi_precision=True), "no argument 'multi_precision'; optimizers change"),
        (lambda x: pm.optimizer.Momentum(0.1, use_multi_tensor=True), "one operator for each parameter"),
        (lambda x: pm.optimizer.Momentum(0.1, rescale_grad=0.5), "multiply the loss"),
        (lambda x: pm.lr.StepDecay(0.1, 3, verbose=True), r"^StepDecay\(\) has no argument 'verbose'; .* schedule\(\)"),
        (lambda x: pm.lr.NoamDecay(512, 3, learning_rat=0.1), r"^NoamDecay\(\) .* did you mean 'learning_rate'"),
        (lambda x: pm.amp.decorate(pm.optimizer.SGD(0.1), master_grad=True), r"^decorate\(\) has no argument 'master_grad'; at "),
        (lambda x: pm.amp.decorate(pm.optimizer.SGD(0.1), init_scale=2.0), r"^decorate\(\) has no argument 'init_scale'"),
        (lambda x: pm.amp.AutoMixedPrecisionLists(dtype="bfloat16"), r"^AutoMixedPrecisionLists\(\) .* decorate takes it"),
        (lambda x: pm.optimizer.SGD(0.1, momentum=0.9), r"^SGD\(\) has no argument 'momentum'; .* optimizer.Momentum\("),
        (lambda x: pm.optimizer.SGD(0.1, nesterov=True), "use_nesterov=True"),
        (lambda x: pm.data.Loader([1], batch_size=2), r"'batch_size'; call a method: Loader\(data\).batch"),
        (lambda x: pm.io.save_inference_model(dirname="m", target_vars=[x]), "'dirname'; it is prefix"),
        (lambda x: L.scale(x, 2.0), r"^scale\(\): too many positional arguments; by position it takes x, by name .*scale=, "),
        (lambda x: pm.optimizer.SGD(lr=0.1), r"^SGD\(\) has no argument 'lr'; optimizers take learning_rate"),
        (lambda x: pm.optimizer.Adam(0.1, betas=(0.9, 0.99)), "takes beta1 and beta2"),
        (lambda x: pm.optimizer.Adam(0.1, clipnorm=1.0), r"grad_clip=clip.GradientClipByNorm\(norm\)"),
        (lambda x: pm.optimizer.Adam(0.1, global_clipnorm=1.0), r"grad_clip=clip.GradientClipByGlobalNorm\(norm\)"),
        (lambda x: pm.optimizer.SGD(0.1, clipvalue=1.0), r"grad_clip=clip.GradientClipByValue\(value\)"),
        (lambda x: pm.optimizer.ParameterAverage(pm.optimizer.SGD(), window_sise=3), "did you mean 'window_size'"),
    ],
)
def test_other_arguments_are_a_type_error_with_advice(call, advice):
    before = pm.default_main_program().to_bytes()
    x = L.data("x", [-1, 4])
    after = pm.default_main_program().to_bytes()
    with pytest.raises(TypeError, match=advice):
        call(x)
    assert before != after == pm.default_main_program().to_bytes()


def test_every_row_of_the_tables_leads_somewhere():
    for path in paddle2_names.OBJECTS:
        assert renamed.found(path) is not None
        assert not any(path == other for other in paddle2_names.WITHOUT)
    homes = (L, pm.Executor, pm.optimizer, pm.training, pm.data, pm.io, pm.lr, pm.amp)
    for _, name, functions in paddle2_names.ARGUMENTS:
        for function in functions.split():
            one = next(getattr(home, function) for home in homes if hasattr(home, function))
            assert name in inspect.signature(one).parameters, (name, function)
    for function, other in paddle2_names.DIFFERENT_ARGUMENTS:
        one = next((getattr(home, function) for home in homes if hasattr(home, function)), None)
        assert not function or other not in inspect.signature(one).parameters, (function, other)


def test_modules_of_paddlepaddle_2():
    assert pm.static.nn.fc is L.fc and pm.static.Program is pm.Program and pm.nn.functional.relu is L.relu
    assert pm.nn.ClipGradByGlobalNorm is pm.clip.GradientClipByGlobalNorm
    assert pm.optimizer.lr is pm.lr and pm.static.Scope is pm.Scope
    assert pm.static.amp.CustomOpLists is pm.amp.AutoMixedPrecisionLists
    assert "fc" in dir(pm.static.nn) and "nn" in dir(pm.static) and repr(pm.static.nn)
    for path, advice in (
        ("nn.Linear", "'nn.Linear'; layers.fc makes"),
        ("nn.functional.cross_entropy", "softmax_with_cross_entropy takes logits"),
        ("to_tensor", "layers.assign"),
        ("static.nn.fcc", "did you mean 'static.nn.fc'"),
        ("Excutor", "did you mean 'Executor'"),
        ("matmul", "it is layers.matmul"),
    ):
        value = pm
        with pytest.raises(AttributeError, match=advice):
            for name in path.split("."):
                value = getattr(value, name)
    assert not hasattr(pm, "__wrapped__")


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: pm.lr.ReduceOnPlateau(0.1, monitor="loss"), r"ReduceOnPlateau\(\) has no argument 'monitor'; fit steps it with"),
        (lambda: pm.lr.ExponentialDecay(0.1, gama=0.5), r"ExponentialDecay\(\) has no argument 'gama'; did you mean 'gamma'"),
        (lambda: pm.training.BestCheckpoint(filepath="b"), r"BestCheckpoint\(\) has no argument 'filepath'; it is folder"),
        (lambda: pm.clip.GradientClipByNorm(max_norm=1.0), "has no argument 'max_norm'; it is clip_norm"),
        (lambda: pm.Executor().run(feeds={}), r"^run\(\) has no argument 'feeds'; it is feed"),
        (lambda: pm.Executor().run(fetch=[]), r"^run\(\) has no argument 'fetch'; did you mean"),
        (lambda: pm.Executor().run(use_prune=True), r"'use_prune'; .* Program.prune\(feeds, fetches\)"),
        (lambda: pm.Executor().run(x=1), r"'x'; it has program, feed, fetch_list, scope, return_numpy$"),
        (lambda: pm.data.batch([1], size=3), r"batch\(\) has no argument 'size'"),
        (lambda: pm.Predictor("m", device="cpu"), r"Predictor\(\) has no argument 'device'; it is place"),
    ],
)
def test_unknown_arguments_of_all_public_functions_are_answered(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def hinted():
    """Each name of the tables for PyTorch and Keras, with what lacks it."""
    owners = {
        "": pm,
        "Variable": L.data("x", [-1, 4]),
        "Minimizer": pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), window_size=3),
        "Program": pm.Program(),
        "Executor": pm.Executor(),
        "Scope": pm.Scope(),
        "Predictor": object.__new__(pm.Predictor),
        "Trainer": object.__new__(pm.Trainer),
        "Loader": pm.data.Loader([1, 2]),
        "Callback": pm.training.EarlyStopping(),
        "LRScheduler": pm.lr.StepDecay(0.1, 3),
    }
    for home, names in framework_names.HINTS.items():
        owner = owners[home] if home in owners else getattr(pm, home)
        yield from ((home, owner, name, hint) for name, hint in names.items())


def test_names_of_pytorch_and_keras_are_answered():
    for home, owner, name, hint in hinted():
        if home in ("", "layers") and inspect.ismodule(vars(owner).get(name)):  # such as layers.linear and clip
            with pytest.raises(TypeError) as raised:
                getattr(owner, name)(None, 3)
        else:
            with pytest.raises(AttributeError) as raised:
                getattr(owner, name)
        assert str(raised.value).endswith(f"; here: {hint}") and f"{name}'" in str(raised.value)
    assert not hasattr(pm.optimizer.SGD(0.1), "state_dict_") and not hasattr(L, "lineer")


@pytest.mark.parametrize(
    "get, advice",
    [
        (lambda: pm.Adam, "it is optimizer.Adam"),
        (lambda: pm.EarlyStopping, "it is training.EarlyStopping"),
        (lambda: pm.Dense, r"here: layers.fc\(x, size\)"),
        (lambda: pm.nn.ReLU, "it is layers.relu"),
        (lambda: pm.nn.functional.max_pool2d, "here: layers.pool2d"),
        (lambda: L.MultiHeadAttention, "it is layers.multi_head_attention"),
        (lambda: L.CSVLogger, "it is loggers.CSVLogger"),
        (lambda: L.data("x", [3]).softmax, r"here: layers.softmax\(x, ...\)"),
        (lambda: pm.static.py_func, "it is layers.py_func"),
        (lambda: pm.full, r"'full'; layers.fill_constant\("),
        (lambda: pm.uniform, r"'uniform'; layers.uniform_random\("),
        (lambda: pm.remainder, r"'remainder'; x % y"),
        (lambda: pm.int64, "element types are strings: 'int64'"),
        (lambda: pm.disable_static, "always static here"),
        (lambda: pm.outer, "'outer'$"),  # not like cluster
        (lambda: pm.unique, "'unique'$"),  # not like unique_name
        (lambda: pm.nn.MaxPool2D, "here: layers.pool2d"),  # as PyTorch's MaxPool2d
        (lambda: pm.nn.SmoothL1Loss, "here: layers.mean.layers.huber_loss"),
        (lambda: pm.nn.LayerList, "'nn.LayerList'; a layer is a function here"),
        (lambda: pm.nn.functional.ctc_loss, "'nn.functional.ctc_loss'; layers.warpctc"),
        (lambda: pm.nn.functional.rnnt_loss, "'nn.functional.rnnt_loss'; docs/operators.md"),
        (lambda: pm.Normal, "it is initializer.Normal"),
        (lambda: pm.static.Programm, "did you mean 'static.Program'"),
        (lambda: pm.static.nothing_alike, "'static.nothing_alike'$"),
        (lambda: pm.static.nn.fcc, "did you mean 'static.nn.fc'"),
    ],
)
def test_a_name_that_is_elsewhere_or_spelled_otherwise_is_answered(get, advice):
    with pytest.raises(AttributeError, match=advice):
        get()


def test_the_advice_for_pytorch_and_keras_names_what_exists():
    hints = [hint for _, _, _, hint in hinted()]
    homes = "|".join(name for name in pm.__all__ if inspect.ismodule(getattr(pm, name)))
    found = [path for hint in hints for path in re.findall(rf"\b(?:{homes})\.[A-Za-z]\w*", hint)]
    assert len(found) > 50
    for path in set(found) - {"optimizer.minimize"}:  # a method of the reader's optimizer
        home, name = path.split(".")
        assert name in getattr(pm, home).__all__, path


@pytest.mark.parametrize(
    "call, advice",
    [
        (lambda x: abs(x), "here: layers.abs"),
        (lambda x: ~x, "here: layers.logical_not"),
        (lambda x: x & x, "here: layers.logical_and"),
        (lambda x: x | x, "here: layers.logical_or"),
        (lambda x: x ^ x, "here: layers.logical_xor"),
        (lambda x: L.fc(x, 3, use_bias=False), "'use_bias'; bias_attr=False"),
        (lambda x: L.fc(x, units=3), "'units'; it is size"),
        (lambda x: L.dropout(x, rate=0.5), "'rate'; it is dropout_prob"),
        (lambda x: pm.data.Loader([1]).batch(batch_size=3), "'batch_size'; it is size"),
        (lambda x: pm.data.Loader([1]).prefetch(2, num_workers=3), "'num_workers'; it is workers"),
        (lambda x: L.concat([x], dim=1), "'dim'; it is axis"),
    ],
)
def test_operators_and_arguments_of_pytorch_and_keras_are_answered(call, advice):
    x = L.data("x", [-1, 4])
    with pytest.raises(TypeError, match=advice):
        call(x)


def test_public_modules_show_public_names_only():
    for module in (pm, *(getattr(pm, name) for name in pm.__all__ if inspect.ismodule(getattr(pm, name)))):
        assert {name for name in dir(module) if not name.startswith("__")} == set(module.__all__)


def test_a_module_with_the_name_of_a_function_is_pickled_by_name():
    """Functions that are sent to other processes, such as those of jobs on Ray, may refer to it."""
    assert pickle.loads(pickle.dumps(pm.layers.linear)) is pm.layers.linear
    with pytest.raises(TypeError, match=r"here: layers.fc\(x, size\)"):
        pm.layers.linear(3)
    with pytest.raises(TypeError, match=r"'paddle_mini.clip' is a module, .* layers.clip\("):
        pm.clip(3, 0.0, 1.0)


def test_modules_of_paddlepaddle_2_are_copied_and_pickled():
    for module in (pm.static, pm.static.nn, pm.nn.functional):
        for other in (pickle.loads(pickle.dumps(module)), copy.copy(module), copy.deepcopy(module)):
            assert repr(other) == repr(module)
    assert pickle.loads(pickle.dumps(pm.static)).nn.fc is L.fc
