"""A program that is read, written and read again is the same program: as a whole, and pruned for each fetch."""

import json
import pathlib
import pickle

import numpy as np
import pytest

import paddle_mini as pm
from book_chapters import CHAPTERS, chapter_to_train
from disks import disk_of
from golden import case_values
from saved_again import assert_the_same_when_saved_again
from small_model import SmallModel, batch
from thorough import some, thorough

L = pm.layers
GOLDEN = sorted((pathlib.Path(__file__).parents[1] / "golden/cases").glob("*/main.pb"))


@pytest.mark.parametrize(
    "path", some([path for path in GOLDEN if not path.parent.name.startswith("bad_")], 2), ids=lambda path: path.parent.name
)
def test_programs_of_paddlepaddle(path, tmp_path):
    meta, fed = json.loads((path.parent / "case.json").read_text()), case_values.load_npz(path.parent / "feeds.npz")
    skipped = meta.get("set_vars", ())
    feeds = [
        {
            name: pm.LoDTensor(*value) if isinstance(value, tuple) else value
            for name, value in case_values.feed_of(fed, str(step), skipped).items()
        }
        for step in range(min(meta["steps"], 2))
    ]
    values = case_values.load_npz(path.parent / "init.npz")
    values.update({name: fed[f"0/{name}"] for name in skipped})
    program = pm.Program.from_bytes(path.read_bytes())
    unread = {name: program.global_block().var(name) for name in pm.io.parameters.parameter_names(program) if name not in values}
    values.update({name: np.zeros(var.shape, var.dtype) for name, var in unread.items()})
    assert_the_same_when_saved_again(program, values, feeds, meta["fetch"], tmp_path)


@thorough
@pytest.mark.parametrize(
    "number, argv, size", CHAPTERS, ids=lambda value: "-".join(value) if isinstance(value, list) else str(value)
)
def test_chapters_of_the_book(monkeypatch, tmp_path, number, argv, size):
    samples, feed_list, loss, optimizer = chapter_to_train(monkeypatch, number, *argv)
    optimizer.minimize(loss)
    pm.seed(1)
    pm.Executor(pm.CPUPlace()).run(pm.default_startup_program())
    feed = pm.data.DataFeeder(feed_list).feed(next(pm.data.batch(samples.train, 2, drop_last=True)))
    scope = pm.global_scope()
    values = {name: scope.get(name) for name in scope.names()}
    assert_the_same_when_saved_again(pm.default_main_program(), values, [feed], [loss.name], tmp_path)


def grown_in_a_loop(x):
    """The loop's variable is the fed one."""
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    more = L.less_than(i, n)
    with L.While(more).block():
        L.assign(L.scale(x, scale=2.0), output=x)
        L.increment(i)
        L.assign(L.less_than(i, n), output=more)
    return [L.scale(x, scale=1.0)]


def changed_in_place(x):
    L.increment(x, value=5.0)
    return [L.scale(x, scale=2.0)]


def overwritten_after_a_read(x):
    before = L.scale(x, scale=3.0)
    L.assign(L.fill_constant([1], "float32", 7.0), output=x)
    return [before, L.scale(x, scale=2.0), x]


def overwritten_in_a_branch(x):
    with L.ConditionalBlock(L.reduce_sum(x) > 0.0).block():
        L.assign(L.scale(x, scale=-3.0), output=x)
    return [L.scale(x, scale=2.0)]


def array_first_written_in_a_loop(x):
    array, i, n = L.create_array(), L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    more = L.less_than(i, n)
    with L.While(more).block():
        L.array_write(L.scale(x, scale=2.0), i, array)
        L.increment(i)
        L.assign(L.less_than(i, n), output=more)
    return [L.tensor_array_to_tensor(array)[0], L.array_length(array)]


def array_written_one_by_one(x):
    array = L.array_write(x, L.fill_constant([1], "int64", 0))
    L.array_write(L.scale(x, scale=2.0), L.fill_constant([1], "int64", 1), array)
    return [L.tensor_array_to_tensor(array)[0]]


def branches_in_a_loop(x):
    def body(i, value):
        even = L.equal(i % L.fill_constant([1], "int64", 2), L.fill_constant([1], "int64", 0))
        inner, _ = L.while_loop(
            lambda v, j: L.less_than(j, i),
            lambda v, j: [v + 1.0, j + L.ones([1], "int64")],
            [value, L.fill_constant([1], "int64", 0)],
        )
        return [i + L.ones([1], "int64"), L.cond(even, lambda: inner * 2.0, lambda: inner - x)]

    unused = L.cond(L.reduce_sum(x) > 0.0, lambda: x * 5.0, lambda: x * 7.0)
    _, value = L.while_loop(
        lambda i, v: L.less_than(i, L.fill_constant([1], "int64", 4)), body, [L.fill_constant([1], "int64", 0), x]
    )
    return [value, unused, L.switch_case(L.cast(L.reduce_sum(value) > 3.0, "int32"), [lambda: value, lambda: unused])]


def state_changed_in_a_loop(x):
    total = L.create_global_var([1], 1.0, "float32", persistable=True, name="total")
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    more = L.less_than(i, n)
    with L.While(more).block():
        with L.ConditionalBlock(L.reduce_sum(x) > 0.0).block():
            L.assign(total + 1.0, output=total)
        L.increment(i)
        L.assign(L.less_than(i, n), output=more)
    return [x * total]


def state_read_before_it_changes(x):
    count = L.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    out = x + count
    with L.ConditionalBlock(L.reduce_sum(x) > 0.0).block():
        L.assign(count + L.reduce_sum(x), output=count)
    return [out]


PROGRAMS = [
    grown_in_a_loop,
    changed_in_place,
    overwritten_after_a_read,
    overwritten_in_a_branch,
    array_first_written_in_a_loop,
    array_written_one_by_one,
    branches_in_a_loop,
    state_changed_in_a_loop,
    state_read_before_it_changes,
]


@pytest.mark.parametrize("value", [1.0, -1.0])
@pytest.mark.parametrize("build", PROGRAMS, ids=lambda build: build.__name__)
def test_control_flow_and_overwritten_inputs(build, value, tmp_path):
    """The models have the same results as the programs, at every step."""
    x = L.data("x", [1])
    outputs = build(x)
    exe, main, scope = pm.Executor(pm.CPUPlace()), pm.default_main_program(), pm.global_scope()
    exe.run(pm.default_startup_program())
    values = {name: scope.get(name) for name in scope.names()}
    feeds = [{"x": np.full(1, value * (step + 1), "float32")} for step in range(3)]
    for number, output in enumerate(outputs):
        for name, start in values.items():
            scope.set(name, start)
        pm.io.save_inference_model(tmp_path / f"{number}", [x], [output])
        loaded = pm.Scope()
        model, _, fetches = pm.io.load_inference_model(tmp_path / f"{number}", scope=loaded)
        for feed in feeds:
            np.testing.assert_array_equal(exe.run(model, feed, fetches, loaded)[0], exe.run(main, feed, [output])[0])
    assert_the_same_when_saved_again(main, values, feeds, [output.name for output in outputs], tmp_path)


@pytest.mark.parametrize(
    "minimize",
    [
        lambda loss: pm.optimizer.GradientMerge(pm.optimizer.Adam(0.1), 2).minimize(loss),
        lambda loss: pm.optimizer.ParameterAverage(pm.optimizer.Momentum(0.1, 0.9), window_size=3).minimize(loss),
        lambda loss: pm.optimizer.GradientMerge(pm.optimizer.LossScaling(pm.optimizer.SGD(0.1)), 2).minimize(loss),
    ],
    ids=["merged gradients", "averages", "scaled loss"],
)
def test_training(minimize, tmp_path):
    model = SmallModel(minimize)
    assert_the_same_when_saved_again(
        model.main, model.everything(), [batch(step) for step in range(4)], [model.loss.name, model.logits.name], tmp_path
    )


def test_a_block_of_merged_gradients_that_names_itself_as_its_forward_block(tmp_path):
    """PaddlePaddle's gradient merging writes blocks in this way."""
    model = SmallModel(pm.optimizer.GradientMerge(pm.optimizer.SGD(0.1), 2).minimize)
    description = pm._core.decode_program(model.main.to_bytes())
    description["blocks"][1]["forward_block_idx"] = 1
    program = pm.Program.from_bytes(pm._core.encode_program(description))
    assert_the_same_when_saved_again(program, model.everything(), [batch(step) for step in range(4)], [model.loss.name], tmp_path)


def test_a_feed_of_a_computed_variable_stands_for_its_operators(tmp_path):
    x = L.data("x", [1])
    hidden = L.scale(x, scale=2.0)
    L.increment(hidden, value=1.0)
    out = L.scale(hidden, scale=10.0)
    pm.io.save_inference_model(tmp_path / "m", [hidden], [out])
    model, feeds, fetches = pm.io.load_inference_model(tmp_path / "m")
    (found,) = pm.Executor(pm.CPUPlace()).run(model, {feeds[0]: np.float32([1])}, fetches)
    np.testing.assert_array_equal(found, [20])


def test_an_update_that_needs_what_is_not_fed_is_left_out(tmp_path):
    x, label = L.data("x", [2]), L.data("label", [2])
    center = L.create_global_var([2], 1.0, "float32", persistable=True, name="center")
    out = x * center
    L.assign(center + label, output=center)
    model = pm.default_main_program().prune([x], [out])
    assert [op.type for op in model.global_block().ops] == ["elementwise_mul"]


def test_blocks_that_nothing_runs_are_left_out():
    x = L.data("x", [1])
    first = L.cond(L.reduce_sum(x) > 0.0, lambda: x * 5.0, lambda: x * 7.0)
    second = L.cond(L.reduce_sum(x) > 1.0, lambda: x * 2.0, lambda: x * 3.0)
    for out, expected in ((first, 10), (second, 4)):
        pruned = pm.default_main_program().prune([x], [out])
        assert len(pruned.blocks) == 3
        assert pm.Executor(pm.CPUPlace()).run(pruned, {"x": np.float32([2])}, [out.name])[0] == expected


def test_variables_called_feed_and_fetch(tmp_path):
    x = L.data("feed", [2])
    out = L.scale(x, scale=2.0, name="fetch")
    L.assign(out, pm.default_main_program().global_block().create_var("fetch", shape=[2]))
    for _ in range(2):
        pm.io.save_inference_model(tmp_path / "m", ["feed"], ["fetch"], program=pm.default_main_program())
        model, feeds, fetches = pm.io.load_inference_model(tmp_path / "m")
        assert (feeds, [fetch.name for fetch in fetches]) == (["feed"], ["fetch"])
        (found,) = pm.Executor(pm.CPUPlace()).run(model, {"feed": np.float32([1, 2])}, fetches)
        np.testing.assert_array_equal(found, [2, 4])


def test_what_paddlepaddle_keeps_of_parameters_is_kept(tmp_path):
    """A pickled file that jit.load reads: none of its code is run here."""
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    entries = {
        name: {"structured_name": f"layer.{name}", "stop_gradient": name.endswith("b_0"), "trainable": True}
        for name in model.parameters
    }
    (tmp_path / "m.pdiparams.info").write_bytes(pickle.dumps({**entries, "pruned": {"stop_gradient": True}}, protocol=2))
    loaded = pm.Scope()
    _, feeds, fetches = pm.io.load_inference_model(tmp_path / "m", scope=loaded)
    pm.io.save_inference_model(tmp_path / "again", feeds, fetches, scope=loaded)
    assert pickle.loads((tmp_path / "again.pdiparams.info").read_bytes()) == entries
    pm.io.save_inference_model(tmp_path / "again", [model.x], [model.logits], scope=model.scope)
    assert not (tmp_path / "again.pdiparams.info").exists()


@pytest.mark.parametrize("refused", ["by the disk", "a folder"])
def test_what_is_kept_of_parameters_is_replaced_with_the_model_or_not_at_all(tmp_path, refused):
    model = SmallModel()
    program = model.main.clone(for_test=True)
    program.parameter_info = {name: {"structured_name": "old"} for name in model.parameters}
    pm.io.save_program(tmp_path / "m", program, model.scope)
    if refused == "a folder":
        (tmp_path / "m.pdiparams.info").unlink()
        (tmp_path / "m.pdiparams.info").mkdir()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    model.step(0)
    program.parameter_info = {name: {"structured_name": "n" * 50_000} for name in model.parameters}
    with disk_of(100_000), pytest.raises(pm.ProgramError, match="can't write '.*m.pdiparams.info'"):
        pm.io.save_program(tmp_path / "m", program, model.scope)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
    program.parameter_info = {}
    if refused == "a folder":
        with pytest.raises(pm.ProgramError, match="can't write '.*m.pdiparams.info'"):
            pm.io.save_program(tmp_path / "m", program, model.scope)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    "data, words",
    [
        (pickle.dumps({"w": {"stop_gradient": 3}}, protocol=2), "'w'"),
        (pickle.dumps({"w": 3}, protocol=2), "'w'"),
        (pickle.dumps({"w": print}, protocol=2), "nothing is run"),
        (b"\x80\x02", "cut off"),
    ],
)
def test_a_damaged_file_of_what_is_kept_of_parameters(tmp_path, data, words):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    (tmp_path / "m.pdiparams.info").write_bytes(data)
    with pytest.raises(pm.ProgramError, match=f"m.pdiparams.info.*{words}"):
        pm.io.load_inference_model(tmp_path / "m", scope=pm.Scope())
