"""fold: normalizations after products become part of their weights, computed once for each set of values of the scope."""

import gc
import threading
from contextlib import suppress

import numpy as np
import pytest

import paddle_mini as pm

RANDOM = np.random.RandomState(0)
IMAGES = RANDOM.randn(2, 4, 7, 6)
ROWS = RANDOM.randn(5, 12)


def normalized(x, layout="NCHW", **settings):
    return pm.layers.batch_norm(x, is_test=True, data_layout=layout, **settings)


def conv(x, channels=6, size=3, **settings):
    return pm.layers.conv2d(x, channels, size, padding=1, **settings)


def channels_last():
    x = pm.layers.transpose(pm.layers.data("x", [-1, 4, 7, 6], dtype=DTYPE[0]), [0, 2, 3, 1])
    return normalized(conv(x, data_format="NHWC"), "NHWC")


def affine(x, count, layout="NCHW"):
    parameters = [pm.layers.create_parameter([count], DTYPE[0], name=name) for name in ("factor", "shift")]
    return pm.layers.affine_channel(x, *parameters, data_layout=layout)


def product(x, width=8, transposed=False):
    weight = pm.layers.create_parameter([width, x.shape[-1]] if transposed else [x.shape[-1], width], DTYPE[0], name="weight")
    return pm.layers.matmul(x, weight, transpose_y=transposed)


DTYPE = ["float32"]


def image():
    return pm.layers.data("x", [-1, 4, 7, 6], dtype=DTYPE[0])


def rows():
    return pm.layers.data("x", [-1, 12], dtype=DTYPE[0])


def v2_product(transposed):
    def build():
        x = rows()
        shape = [8, 12] if transposed else [12, 8]
        weight = pm.layers.create_parameter(shape, DTYPE[0], name="weight")
        block = pm.default_main_program().global_block()
        out = block.create_var("product", shape=[-1, 8], dtype=DTYPE[0])
        block.append_op("matmul_v2", {"X": x, "Y": weight}, {"Out": out}, {"trans_y": transposed})
        return normalized(out)

    return build


# Each folds once, or as often as its name says.
FOLDED = {
    "conv and batch_norm": lambda: normalized(conv(image(), bias_attr=False)),
    "conv, bias and batch_norm": lambda: normalized(conv(image())),
    "conv, batch_norm and relu": lambda: normalized(conv(image(), bias_attr=False), act="relu"),
    "channels last": channels_last,
    "groups": lambda: normalized(conv(image(), groups=2)),
    "depthwise": lambda: normalized(conv(image(), 8, groups=4)),
    "transposed": lambda: normalized(pm.layers.conv2d_transpose(image(), 6, filter_size=3)),
    "transposed in groups": lambda: normalized(pm.layers.conv2d_transpose(image(), 6, filter_size=3, groups=2, stride=2)),
    "affine_channel": lambda: affine(conv(image()), 6),
    "scale": lambda: pm.layers.scale(conv(image()), scale=-1.5, bias=0.25),
    "scale before bias": lambda: pm.layers.scale(conv(image(), bias_attr=False), scale=2.0, bias=0.5, bias_after_scale=False),
    "scale without bias": lambda: pm.layers.scale(conv(image(), bias_attr=False), scale=3.0),
    "fc": lambda: normalized(pm.layers.fc(rows(), 8)),
    "fc without bias": lambda: normalized(pm.layers.fc(rows(), 8, bias_attr=False)),
    "fc of two axes": lambda: normalized(pm.layers.fc(image(), 8, num_flatten_dims=2), "NHWC"),
    "matmul_v2": v2_product(False),
    "matmul_v2 of a transposed weight": v2_product(True),
    "two times: batch_norm and scale": lambda: pm.layers.scale(normalized(conv(image())), scale=0.5, bias=-1.0),
    "two times: conv, batch_norm, conv, batch_norm": lambda: normalized(conv(normalized(conv(image())), 5)),
    "two times: a block with a sum": lambda: (lambda x: x + normalized(conv(normalized(conv(x, 4), act="relu"), 4)))(image()),
}


def read_twice():
    x = conv(image())
    return normalized(x) + x


def without_constant_weight():
    x = rows()
    weight = pm.layers.reshape(pm.layers.data("w", [12, 8], dtype=DTYPE[0]), [12, 8])
    return normalized(pm.layers.mul(x, weight))


LEFT_ALONE = {
    "a result that is read twice": read_twice,
    "an operator in between": lambda: normalized(pm.layers.relu(conv(image()))),
    "another axis": lambda: normalized(pm.layers.fc(image(), 8, num_flatten_dims=3), "NCHW"),
    "a weight that is fed": without_constant_weight,
    "statistics of the batch": lambda: pm.layers.batch_norm(conv(image())),
}


class Model:
    def __init__(self, build, dtype="float32"):
        DTYPE[0] = dtype
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup), pm.unique_name.guard():
            self.out = build()
        pm.Executor().run(self.startup, scope=self.scope)
        random = np.random.RandomState(3)
        for name in self.scope.names():
            value = np.asarray(self.scope.get(name))
            if value.ndim == 0 or "learning_rate" in name:
                continue
            new = random.randn(*value.shape)
            is_variance = name.endswith(".w_2")
            self.scope.set(name, (np.abs(new) + 0.1 if is_variance else new).astype(value.dtype))
        declared = self.main.global_block().vars
        self.feed = {"x": (IMAGES if len(declared["x"].shape) == 4 else ROWS).astype(dtype)}
        if "w" in declared:
            self.feed["w"] = np.ones((12, 8), dtype)

    def run(self, exe=None, fetch=None):
        return (exe or pm.Executor()).run(self.main, self.feed, fetch or [self.out], self.scope)

    def plan(self, stage="fold", fetch=None):
        return pm.Executor().plan_text(self.main, self.feed, fetch or [self.out], self.scope, stage=stage)


def unfolded(model, monkeypatch, **others):
    with monkeypatch.context() as patch:
        patch.setenv("PM_PASSES", "fuse")
        assert "fold_normalization" not in model.plan()
        return model.run(**others)


@pytest.mark.parametrize("name", FOLDED)
def test_results_are_those_of_the_program(name, monkeypatch):
    """As near to float64 as the operators one after another, but for the last digits of float32."""
    folded, exact = Model(FOLDED[name]), Model(FOLDED[name], "float64")
    for parameter in exact.scope.names():
        exact.scope.set(parameter, folded.scope.get(parameter).astype(exact.scope.get(parameter).dtype))
    exact.feed = {key: value.astype("float64") for key, value in folded.feed.items()}
    [expected] = unfolded(exact, monkeypatch)
    table = folded.plan()
    assert table.count("fold_normalization(") == (2 if name.startswith("two times") else 1)
    assert "batch_norm(" not in table and "affine_channel(" not in table and "scale(" not in table
    [found] = folded.run()
    scale = np.abs(expected).max()
    assert np.abs(found - expected).max() <= 1e-6 * scale
    [in_double] = exact.run()
    assert np.abs(in_double - expected).max() <= 1e-14 * scale


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_does_not_fold_is_left_alone(name, monkeypatch):
    model = Model(LEFT_ALONE[name])
    assert "fold_normalization" not in model.plan() and "batch_norm(" in model.plan()
    assert model.run()[0].tobytes() == unfolded(model, monkeypatch)[0].tobytes()


def test_a_fetched_result_is_left_alone(monkeypatch):
    model = Model(lambda: normalized(conv(image())))
    inner = next(op for op in model.main.global_block().ops if op.type == "conv2d").output("Output")[0]
    fetch = [model.out, inner]
    assert "batch_norm(" in model.plan(fetch=fetch)
    for found, expected in zip(model.run(fetch=fetch), unfolded(model, monkeypatch, fetch=fetch)):
        assert found.tobytes() == expected.tobytes()


def test_the_chain_that_stays():
    """conv2d, elementwise_add of a constant along the channels, relu: later passes look for it."""
    table = Model(FOLDED["conv, batch_norm and relu"]).plan()
    operators = [line.split()[1].split("(")[0] for line in table.splitlines() if line.startswith("#")]
    assert operators == ["fold_normalization", "conv2d", "elementwise_add", "relu"]
    assert table.count(" derived") == 2 and table.count("when values of the scope have changed") == 1


@pytest.mark.parametrize("name", ["conv, bias and batch_norm", "fc", "two times: batch_norm and scale"])
def test_a_changed_parameter_is_seen_by_the_next_run(name):
    model = Model(FOLDED[name])
    exe = pm.Executor()
    before = model.run(exe)[0]
    for parameter in model.scope.names():
        model.scope.set(parameter, np.abs(model.scope.get(parameter)) * 1.5 + 0.25)
        after = model.run(exe)[0]
        assert after.tobytes() != before.tobytes(), parameter
        fresh = pm.Scope()
        for each in model.scope.names():
            fresh.set(each, model.scope.get(each))
        assert after.tobytes() == pm.Executor().run(model.main, model.feed, [model.out], fresh)[0].tobytes()
        before = after


def test_plans_and_executors_share_the_values():
    def wide():
        x = pm.layers.data("x", [-1, 256, -1, -1])
        return pm.layers.reduce_sum(normalized(pm.layers.conv2d(x, 512, 3, bias_attr=False)))

    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        out = wide()
    pm.Executor().run(startup, scope=scope)
    filters = 256 * 512 * 9 * 4
    executors = [pm.Executor() for _ in range(3)]
    before = pm._core.memory_in_use()
    for size in range(3, 7):
        images = RANDOM.randn(1, 256, size, size).astype("float32")
        assert len({float(exe.run(main, {"x": images}, [out], scope)[0]) for exe in executors}) == 1
    assert pm._core.memory_in_use() - before < 4 * filters  # the folded filters, and copies of them in two orders, for 12 plans
    executors.clear()
    gc.collect()
    assert pm._core.memory_in_use() - before < filters


def test_threads_that_read_while_another_one_sets():
    """Each result is that of one of the two values, never of a mixture."""
    model = Model(FOLDED["two times: conv, batch_norm, conv, batch_norm"])
    name = next(name for name in model.scope.names() if model.scope.get(name).ndim == 4)
    values = [model.scope.get(name), -2 * model.scope.get(name)]
    results = set()
    for value in values:
        model.scope.set(name, value)
        results.add(model.run()[0].tobytes())
    found, stop = set(), threading.Event()

    def read():
        exe = pm.Executor()
        while not stop.is_set():
            found.add(model.run(exe)[0].tobytes())

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(200):
        with suppress(pm.ScopeInUse):  # while a run executes
            model.scope.set(name, values[i % 2])
    stop.set()
    for thread in threads:
        thread.join()
    assert found <= results


def test_training_stays_as_it_is(monkeypatch):
    """Also where the statistics are not of the batch: the same operators and the same bits."""

    def trained():
        def build():
            x = normalized(conv(image()), use_global_stats=True)
            loss = pm.layers.mean(x * x)
            pm.optimizer.SGD(0.1).minimize(loss)
            return loss

        model = Model(build)
        exe = pm.Executor()
        for _ in range(3):
            model.run(exe)
        return model.plan(), {name: model.scope.get(name).tobytes() for name in model.scope.names()}

    folded = trained()
    monkeypatch.setenv("PM_PASSES", "")
    assert folded == trained()


def test_nan_and_infinity_pass():
    model = Model(FOLDED["conv, bias and batch_norm"])
    model.feed["x"][0, :, 3, 3] = [np.nan, np.inf, -np.inf, 1]
    [found] = model.run()
    assert np.isnan(found[0, :, 3, 3]).all() and np.isfinite(found[1]).all()


def test_an_error_names_the_line_of_the_normalization():
    """A run out of memory, or a check of values, finds the user's line at the operator that replaces it."""
    model = Model(FOLDED["conv and batch_norm"])
    name = next(name for name in model.scope.names() if model.scope.get(name).ndim == 1 and "b_0" in name)
    model.scope.set(name, np.full_like(model.scope.get(name), np.inf))
    with pytest.raises(pm.OpError, match=r"(?s)infinite.*test_fold\.py"), pm.check_finite():
        model.run()


def test_unknown_passes_are_refused(monkeypatch):
    monkeypatch.setenv("PM_PASSES", "fold,fues")
    with pytest.raises(pm.ProgramError, match="PM_PASSES=fold,fues: 'fues' is not an optional pass; .*heads, lanes, fuse"):
        pm.Executor()


@pytest.mark.parametrize("variable", ["PM_FUSE", "PM_GRAPHS"])
@pytest.mark.parametrize("value", ["no", "false", "2", "00"])
def test_unknown_switches_are_refused(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value)
    with pytest.raises(pm.ProgramError, match=f"{variable}={value}: it must be 0 or 1"):
        pm.Executor()
