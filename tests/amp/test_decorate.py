"""Mixed precision: which variables are of 16 bits, and that training gives what float32 gives, up to rounding."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from paddle_mini import layers

RANDOM = np.random.default_rng(7)
IMAGES = RANDOM.standard_normal((16, 1, 12, 12)).astype("float32")
LABELS = RANDOM.integers(0, 4, (16, 1))
DTYPES = ["bfloat16", "float16"]


def network():
    images, label = layers.data("images", [-1, 1, 12, 12]), layers.data("label", [-1, 1], "int64")
    hidden = layers.batch_norm(layers.conv2d(images, 4, 3, act="relu"))
    hidden = layers.layer_norm(layers.fc(layers.pool2d(hidden, 2, pool_stride=2), 16, act="gelu"))
    logits = layers.fc(hidden + layers.fc(hidden, 16), 4)
    return layers.mean(layers.softmax_with_cross_entropy(logits, label))


def losses(optimizer, steps=12):
    with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()):
        loss = network()
        optimizer.minimize(loss)
        exe = pm.Executor()
        pm.seed(5)
        exe.run(pm.default_startup_program())
        feed = {"images": IMAGES, "label": LABELS}
        return [float(exe.run(feed=feed, fetch_list=[loss])[0]) for _ in range(steps)]


def dtypes_of(op_type, blocks=None):
    """The element types of what the first operator of this type reads and writes, by port."""
    blocks = blocks or pm.default_main_program().blocks
    op = next(op for block in blocks for op in block.ops if op.type == op_type)
    return {port: [op.block.var(name).dtype for name in names] for port, names in (op.inputs | op.outputs).items() if names}


@pytest.mark.parametrize("dtype", DTYPES)
def test_training_follows_float32(dtype):
    wide = losses(pm.optimizer.Adam(0.01))
    scaling = {"init_loss_scaling": 1024.0} if dtype == "float16" else {}
    narrow = losses(pm.amp.decorate(pm.optimizer.Adam(0.01), dtype=dtype, **scaling))
    assert narrow != wide
    assert narrow == pytest.approx(wide, abs=0.06)
    assert narrow[-1] < narrow[0] / 3


def test_an_optimizer_that_scales_the_loss_scales_it_once():
    scales = pm.optimizer.LossScaling(pm.optimizer.SGD(0.5), init_loss_scaling=1024.0)
    once = losses(pm.amp.decorate(scales, dtype="float16"))
    assert once == losses(pm.amp.decorate(pm.optimizer.SGD(0.5), dtype="float16", init_loss_scaling=1024.0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_types_of_operators(dtype):
    pm.amp.decorate(pm.optimizer.Adam(0.01), dtype=dtype).minimize(network())
    assert set(sum(dtypes_of("conv2d").values(), [])) == {dtype}
    assert set(sum(dtypes_of("pool2d").values(), [])) == {dtype}  # follows
    norm = dtypes_of("batch_norm")
    assert norm.pop("X") == norm.pop("Y") == [dtype]
    assert set(sum(norm.values(), [])) == {"float32"}  # factors and statistics
    assert set(sum(dtypes_of("layer_norm").values(), [])) == {"float32"}
    loss = dtypes_of("softmax_with_cross_entropy")
    assert (loss["Logits"], loss["Softmax"], loss["Label"], loss["Loss"]) == ([dtype], [dtype], ["int64"], ["float32"])
    assert {parameter.dtype for parameter in pm.default_main_program().all_parameters()} == {"float32"}
    assert set(sum(dtypes_of("adam").values(), [])) == {"float32"}
    assert dtypes_of("conv2d_grad")["Filter@GRAD"] == [dtype]


def attention(x):
    """One head whose mask is a constant, with the operators of a transformer that only move elements."""
    query, key, value = layers.split(layers.fc(x, 24, num_flatten_dims=2), 3, dim=2)
    mask = layers.assign(np.triu(np.full((5, 5), -1e9, "float32"), 1))
    scores = layers.elementwise_add(layers.matmul(query, layers.transpose(key, [0, 2, 1])), mask)
    return layers.matmul(layers.dropout(layers.softmax(scores), 0.1), value)


def test_attention_has_no_float32_inside():
    """bfloat16 holds -1e9; in float16 the mask would be infinite, and a row with nothing else NaN."""
    for dtype in DTYPES:
        with pm.program_guard(pm.Program(), pm.Program()):
            loss = layers.mean(attention(layers.data("x", [2, 5, 8])))
            pm.amp.decorate(pm.optimizer.SGD(0.1), dtype=dtype).minimize(loss)
            narrow = "bfloat16" if dtype == "bfloat16" else "float32"
            assert dtypes_of("split")["Out"] == [dtype] * 3
            assert dtypes_of("transpose2")["Out"] == [dtype]
            assert dtypes_of("elementwise_add_grad")["Out@GRAD"] == [narrow]
            assert dtypes_of("softmax")["Out"] == dtypes_of("softmax_grad")["X@GRAD"] == [narrow]


def test_probabilities_are_float32_for_metrics_and_as_results():
    x, label = layers.data("x", [-1, 8]), layers.data("label", [-1, 1], "int64")
    logits = layers.fc(x, 4)
    scores = layers.softmax(logits)
    loss, read = layers.softmax_with_cross_entropy(logits, label, return_softmax=True)
    layers.accuracy(read, label)
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(layers.mean(loss))
    assert (logits.dtype, scores.dtype, read.dtype) == ("bfloat16", "float32", "float32")


def test_soft_labels_are_not_rounded():
    x, label = layers.data("x", [-1, 8]), layers.data("label", [-1, 4])
    loss = layers.softmax_with_cross_entropy(layers.fc(x, 4), label, soft_label=True)
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(layers.mean(loss))
    assert set(sum(dtypes_of("softmax_with_cross_entropy").values(), [])) == {"float32"}


def test_data_that_is_written_keeps_its_type():
    x = layers.data("x", [-1, 4])
    layers.assign(layers.fc(x, 4), output=x)
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(layers.mean(layers.fc(x, 2)))
    assert x.dtype == "float32"


def test_a_normalization_that_is_used_twice_is_narrow_twice():
    names = dict(param_attr="scale", bias_attr="bias", moving_mean_name="mean", moving_variance_name="variance")
    hidden = layers.fc(layers.data("x", [-1, 4]), 4)
    for _ in range(2):
        hidden = layers.fc(layers.batch_norm(hidden, **names), 4)
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(layers.mean(hidden))
    ops = [op for op in pm.default_main_program().global_block().ops if op.type == "batch_norm"]
    assert [op.block.var(op.output("Y")[0]).dtype for op in ops] == ["bfloat16", "bfloat16"]


def test_a_product_is_that_of_rounded_factors_rounded_once():
    x = layers.data("x", [-1, 8])
    weight = layers.create_parameter([8, 4])
    product = layers.mul(x, weight)
    pm.amp.decorate(pm.optimizer.SGD(0.0)).minimize(layers.mean(product))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    values = RANDOM.standard_normal((3, 8)).astype("float32")
    found, w = exe.run(feed={"x": values}, fetch_list=[product, weight])
    wanted = numbers_of(bits_of(values)).astype("float64") @ numbers_of(bits_of(w)).astype("float64")
    np.testing.assert_allclose(numbers_of(found), numbers_of(bits_of(wanted)), rtol=2**-7)


def test_a_variable_is_cast_once_until_it_is_written_again():
    x = layers.data("x", [-1, 4])
    scaled = layers.scale(x, scale=2.0)
    first, second = layers.fc(scaled, 4, bias_attr=False), layers.fc(scaled, 4, bias_attr=False)
    layers.assign(x, output=scaled)
    third = layers.fc(scaled, 4, bias_attr=False)
    optimizer = pm.amp.decorate(pm.optimizer.SGD(0.1))
    optimizer.minimize(layers.mean(first + second + third))
    casts = [op for op in pm.default_main_program().global_block().ops if op.type == "cast" and op.input("X") == [scaled.name]]
    assert len(casts) == 2


def test_a_loss_that_is_a_product_stays_float32():
    x = layers.data("x", [1, 4])
    loss = layers.fc(x, 1)
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(loss)
    assert loss.dtype == "float32"


def test_loops_and_what_they_name_stay_float32():
    x = layers.data("x", [2, 4])
    weight = layers.create_parameter([4, 4])
    state, count, end = layers.mul(x, weight), layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    result = layers.while_loop(lambda i, s: i < end, lambda i, s: (i + 1, layers.mul(s, weight)), [count, state])[1]
    loss = layers.mean(layers.fc(result, 2))
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(loss)
    assert result.dtype == "float32"
    assert dtypes_of("mul", pm.default_main_program().blocks[1:])["X"] == ["float32"]
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    assert np.isfinite(exe.run(feed={"x": np.ones((2, 4), "float32")}, fetch_list=[loss])[0])


def test_lists_change_what_is_narrow():
    lists = pm.amp.AutoMixedPrecisionLists({"layer_norm"}, {"conv2d"}, {"label_free"})
    pm.amp.decorate(pm.optimizer.SGD(0.1), lists).minimize(network())
    assert dtypes_of("conv2d")["Input"] == ["float32"]
    assert dtypes_of("layer_norm")["X"] == dtypes_of("layer_norm")["Y"] == ["bfloat16"]
    assert dtypes_of("layer_norm")["Scale"] == dtypes_of("layer_norm")["Mean"] == ["float32"]


def test_black_variables():
    x = layers.data("x", [-1, 4])
    hidden, out = layers.fc(x, 4, name="first"), layers.fc(x, 4)
    lists = pm.amp.AutoMixedPrecisionLists(custom_black_varnames=[hidden.name])
    pm.amp.decorate(pm.optimizer.SGD(0.1), lists).minimize(layers.mean(hidden) + layers.mean(out))
    assert (hidden.dtype, out.dtype) == ("float32", "bfloat16")


def test_averages_are_of_float32_parameters():
    average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), pm.averaging.Exponential(0.9))
    pm.amp.decorate(average).minimize(network())
    exe, scope = pm.Executor(), pm.global_scope()
    exe.run(pm.default_startup_program())
    exe.run(feed={"images": IMAGES, "label": LABELS})
    weight = pm.default_main_program().all_parameters()[0].name
    before = scope.get(weight)
    with average.apply(exe):
        assert scope.get(weight).dtype == np.float32
    exe.run(feed={"images": IMAGES, "label": LABELS})
    with average.apply(exe):
        assert not np.array_equal(scope.get(weight), before)


def test_float16_leaves_out_steps_that_overflow():
    x = layers.data("x", [-1, 4])
    weight = layers.create_parameter([4, 4], attr=pm.initializer.Constant(1.0))
    optimizer = pm.amp.decorate(pm.optimizer.SGD(0.1), dtype="float16", init_loss_scaling=1024.0, decr_every_n_nan_or_inf=1)
    optimizer.minimize(layers.mean(layers.mul(x, weight)))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    exe.run(feed={"x": np.full((2, 4), 6e4, "float32")})
    assert (pm.global_scope().get(weight.name) == 1).all()
    exe.run(feed={"x": np.ones((2, 4), "float32")})
    assert (pm.global_scope().get(weight.name) < 1).all()


def test_a_saved_network_runs_as_it_was_trained(tmp_path):
    x = layers.data("x", [-1, 8])
    scores = layers.softmax(layers.fc(layers.fc(x, 8, act="relu"), 3))
    pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(layers.mean(layers.square(scores)))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    values = RANDOM.standard_normal((5, 8)).astype("float32")
    test = pm.default_main_program().clone(for_test=True)
    (wanted,) = exe.run(test, {"x": values}, [scores.name])
    pm.io.save_inference_model(str(tmp_path / "model"), [x], [scores], exe)
    program, feeds, fetches = pm.io.load_inference_model(str(tmp_path / "model"), exe)
    np.testing.assert_array_equal(exe.run(program, {feeds[0]: values}, fetches)[0], wanted)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda sgd: pm.amp.decorate(sgd, dtype="float64"), "dtype is 'float64', it must be 'bfloat16' or 'float16'"),
        (lambda sgd: pm.amp.decorate(sgd, level="O3"), "level is 'O3', it must be 'O1'"),
        (lambda sgd: pm.amp.decorate(sgd, {"mul"}), "it must be an AutoMixedPrecisionLists"),
        (lambda sgd: pm.amp.decorate(pm.amp.decorate(sgd)), "decorated for mixed precision already"),
        (lambda sgd: pm.amp.decorate(pm.optimizer.LossScaling(sgd), use_dynamic_loss_scaling=True), "scales the loss already"),
        (lambda sgd: pm.amp.decorate(pm.optimizer.LossScaling(sgd), init_loss_scaling=2.0), "scales the loss already"),
        (lambda sgd: pm.amp.AutoMixedPrecisionLists({"multiply"}), "operator 'multiply' is not known"),
        (lambda sgd: pm.amp.AutoMixedPrecisionLists({"mul"}, {"mul"}), "'mul' is in custom_white_list and in custom_black_list"),
        (lambda sgd: pm.amp.AutoMixedPrecisionLists("mul"), "custom_white_list is 'mul', it must be a list of strings"),
        (lambda sgd: pm.amp.AutoMixedPrecisionLists({"bitwise_and"}), "'bitwise_and' has no kernel for 16-bit floats"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(pm.ProgramError, match=message):
        make(pm.optimizer.SGD(0.1))


def test_a_program_with_gradients_is_refused_and_stays_the_same():
    loss = network()
    pm.append_backward(loss)
    before = pm.default_main_program().to_bytes()
    with pytest.raises(pm.ProgramError, match="minimize once, on the program without gradients"):
        pm.amp.decorate(pm.optimizer.SGD(0.1)).minimize(loss)
    assert pm.default_main_program().to_bytes() == before
