# Behaviour of all layer functions: names, parameters, sharing, operator layers made from schemas.
import inspect

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import initializer
from paddle_mini.schemas import op_schema
from programs import run, start


def test_a_name_begins_the_names_of_all_variables():
    out = pm.layers.fc(pm.layers.data("x", [-1, 4]), 2, act="relu", name="head")
    variables = pm.default_main_program().global_block().vars
    assert list(variables) == ["x", "head.w_0", "head.tmp_0", "head.b_0", "head.tmp_1", "head.tmp_2"]
    assert out.name == "head.tmp_2"


def test_parameters_of_one_name_are_one():
    pm.default_startup_program().random_seed = 1
    x = pm.layers.data("x", [-1, 4])
    first = pm.layers.fc(x, 4, param_attr="shared", bias_attr=False)
    second = pm.layers.fc(first, 4, param_attr=pm.ParamAttr(name="shared"), bias_attr=False)
    assert [p.name for p in pm.default_main_program().all_parameters()] == ["shared"]
    (value,) = run(second, x=np.ones((1, 4), "float32"))
    weight = pm.global_scope().get("shared")
    np.testing.assert_allclose(value, np.ones((1, 4)) @ weight @ weight, rtol=1e-5, atol=1e-6)  # sums of four may cancel out
    with pytest.raises(pm.ShapeError, match=r"'shared' is there already as \[4, 4\] float32"):
        pm.layers.fc(x, 5, param_attr="shared")


def test_param_attr_says_what_a_parameter_is():
    decay = pm.regularizer.L2Decay(0.1)
    attr = pm.ParamAttr(
        "w", initializer.Constant(2.0), learning_rate=0.5, regularizer=decay, trainable=False, average=False, need_clip=False
    )
    pm.layers.fc(pm.layers.data("x", [-1, 3]), 2, param_attr=attr, bias_attr=initializer.Constant(1.0))
    weight, bias = pm.default_main_program().all_parameters()
    assert (weight.name, weight.learning_rate, weight.regularizer) == ("w", 0.5, decay)
    assert not weight.trainable and weight.stop_gradient
    assert not weight.do_model_average and not weight.need_clip
    assert bias.trainable and bias.do_model_average
    start()
    np.testing.assert_array_equal(pm.global_scope().get("w"), np.full((3, 2), 2.0))
    np.testing.assert_array_equal(pm.global_scope().get(bias.name), [1, 1])
    with pytest.raises(pm.ProgramError, match="does not describe a parameter"):
        pm.ParamAttr.of(3)


def test_operator_layers_have_the_schemas_signature_and_docs():
    signature = inspect.signature(pm.layers.scale)
    assert list(signature.parameters) == ["x", "scale", "bias", "bias_after_scale", "name"]
    assert signature.parameters["scale"].default == 1.0
    assert signature.parameters["scale"].kind is inspect.Parameter.KEYWORD_ONLY
    assert pm.layers.scale.__name__ == "scale"
    assert pm.layers.scale.__doc__.startswith(op_schema("scale")["doc"].replace("X", "x"))
    required = inspect.signature(pm.layers.clip).parameters
    assert required["min"].default is inspect.Parameter.empty
    with pytest.raises(TypeError, match=r"scale\(\) has no argument 'factor'"):
        pm.layers.scale(pm.layers.data("x", [2]), factor=2.0)


def test_every_layer_is_documented():
    for name in pm.layers.__all__:
        assert inspect.getdoc(getattr(pm.layers, name)), name


@pytest.mark.parametrize(
    "name, function",
    [
        ("relu", lambda v: np.maximum(v, 0)),
        ("tanh", np.tanh),
        ("exp", np.exp),
        ("square", np.square),
        ("abs", np.abs),
        ("sigmoid", lambda v: 1 / (1 + np.exp(-v))),
        ("mean", np.mean),
        ("sign", np.sign),
    ],
)
def test_operator_layers_compute(name, function):
    x = np.array([[-1.5, 0.25], [2.0, -0.5]], "float32")
    (value,) = run(getattr(pm.layers, name)(pm.layers.data("x", [-1, 2])), x=x)
    np.testing.assert_allclose(value, function(x), rtol=1e-6)


@pytest.mark.parametrize(
    "mistake, words",
    [
        (lambda x: pm.layers.fc(x, 3, act=pm.layers.relu), "act is a function, give its name 'relu'"),
        (lambda x: pm.layers.fc(x, 3, act=3), "act is 3, give its name"),
        (lambda x: pm.layers.fc(x, 3, act="Gelu"), "operator 'Gelu' is not known; did you mean 'gelu'"),
        (lambda x: pm.layers.fc(x, 3, act="LeakyReLU"), "operator 'LeakyReLU' is not known; did you mean 'leaky_relu'"),
        (lambda x: pm.layers.fc(x, 3, act="linear"), "act is 'linear': leave act out"),
        (lambda x: pm.layers.fc(x, 3, param_attr=np.ones((99, 99))), "ndarray does not describe a parameter"),
        (lambda x: pm.layers.relu(x, name=3), "relu: name is 3, it must be a string"),
        (lambda x: pm.layers.create_parameter("4"), "'4' is not a shape"),
        (lambda x: pm.layers.create_global_var([1], 1.5, "int64"), "value is 1.5, which is not a valid int64"),
    ],
)
def test_arguments_of_every_layer_that_are_refused(mistake, words):
    with pytest.raises(pm.ProgramError, match=words) as caught:
        mistake(pm.layers.data("x", [-1, 4]))
    assert "test_emit.py:" in str(caught.value) and len(str(caught.value)) < 400


def test_numpys_numbers_are_numbers_and_its_arrays_no_operands():
    x, array = pm.layers.data("x", [-1, 2]), np.ones(2, "float32")
    outs = [np.float32(2) * x, x - np.uint8(3), np.float64(1) / x]
    values = run(*outs, x=np.array([[1, 4]], "float32"))
    np.testing.assert_array_equal(np.concatenate(values), [[2, 8], [-2, 1], [1, 0.25]])
    for mix in (lambda: x + array, lambda: array + x, lambda: array - x, lambda: array / x, lambda: x @ array):
        with pytest.raises(pm.ProgramError, match="'x' meets a NumPy array"):
            mix()


def test_operator_layers_take_what_is_required_by_position():
    signature = inspect.signature(pm.layers.shard_index).parameters
    assert list(signature) == ["input", "index_num", "nshards", "shard_id", "ignore_value", "name"]
    assert signature["shard_id"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert list(inspect.signature(pm.layers.addmm).parameters) == ["input", "x", "y", "beta", "alpha", "name"]
    assert "beta: factor of input" in pm.layers.addmm.__doc__
    out = pm.layers.clip(pm.layers.data("x", [2]), -1.0, 1.0)
    np.testing.assert_array_equal(run(out, x=np.array([-3, 0.5], "float32"))[0], [-1, 0.5])
