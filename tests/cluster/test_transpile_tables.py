"""Transpiling: tables with sparse gradients, and the ids whose rows a trainer pulls before a run."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cluster.trainers.transpile import transpile
from transpiled import beginning, one_machine, trainer_and_servers


def table(ids, name="table", sparse=True, size=(50, 3)):
    return pm.layers.embedding(ids, size, is_sparse=sparse, param_attr=pm.ParamAttr(name=name))


def minimized(*parts):
    loss = pm.layers.mean(sum((pm.layers.reduce_sum(part) for part in parts[1:]), pm.layers.reduce_sum(parts[0])))
    pm.optimizer.SGD(0.1).minimize(loss)
    return {one.name: one for one in transpile(pm.default_main_program()).trained}


def ids_named(name, shape=(-1, 2)):
    return pm.layers.data(name, list(shape), dtype="int64")


def test_ids_that_are_fed():
    layers = pm.layers
    a, b = ids_named("a"), ids_named("b")
    through = layers.cast(layers.unsqueeze(layers.reshape(b, [-1]), [1]), "int32")
    found = minimized(
        table(a, "direct"), table(through, "through"), table(layers.squeeze(layers.flatten(layers.assign(b)), []), "more")
    )
    assert {name: one.ids for name, one in found.items()} == {"direct": {"a"}, "through": {"b"}, "more": {"b"}}
    assert all(one.sparse for one in found.values())


def test_a_table_that_is_shared():
    a, b = ids_named("a"), ids_named("b", (-1, 5))
    found = minimized(table(a), table(pm.layers.reshape(b, [-1, 1])))
    assert found["table"].sparse and found["table"].ids == {"a", "b"}


def test_a_table_that_is_read_otherwise_too():
    a, x = ids_named("a"), pm.layers.data("x", [-1, 3])
    looked_up = table(a)
    whole = pm.layers.matmul(x, pm.default_main_program().global_block().var("table"), transpose_y=True)
    found = minimized(looked_up, whole)
    assert found["table"].ids is None and not found["table"].sparse


@pytest.mark.parametrize(
    "computed",
    [lambda a: a + a, lambda a: a[:, 0:1], lambda a: pm.layers.concat([a, a], 0), lambda a: pm.layers.zeros([4], "int64")],
)
def test_ids_that_are_computed(computed):
    found = minimized(table(computed(ids_named("a"))))
    assert found["table"].sparse and found["table"].ids is None


def test_ids_that_are_written_over():
    a, b = ids_named("a"), ids_named("b")
    block = pm.default_main_program().global_block()
    block.append_op("assign", {"X": a}, {"Out": a})
    block.append_op("assign", {"X": pm.layers.assign(b)}, {"Out": b})
    c, d = ids_named("c"), ids_named("d")
    either = pm.layers.assign(c)
    block.append_op("assign", {"X": d}, {"Out": either})
    found = minimized(table(a, "one"), table(b, "two"), table(either, "three"))
    assert [found[name].ids for name in ("one", "two", "three")] == [None, None, None]


def test_a_dense_gradient_is_of_all_rows():
    assert minimized(table(ids_named("a"), sparse=False))["table"][4:8:3] == (False, None)


def test_rows_that_are_pulled_before_a_run_are_all_it_needs():
    a, y = ids_named("a"), pm.layers.data("y", [-1, 1])
    words = pm.layers.reshape(table(pm.layers.reshape(a, [-1])), [-1, 6])
    out = pm.layers.fc(words, 1, param_attr=pm.ParamAttr(name="w"), bias_attr=False)
    pm.optimizer.Adagrad(0.1).minimize(pm.layers.mean(pm.layers.square_error_cost(out, y)))
    main, rng = pm.default_main_program(), np.random.default_rng(5)
    feeds = [{"a": rng.integers(0, 50, (4, 2)), "y": rng.normal(size=(4, 1)).astype("float32")} for _ in range(8)]
    start = beginning(transpile(main))
    got, wanted = trainer_and_servers(main, feeds, start), one_machine(main, feeds, start)
    for name in start:
        np.testing.assert_allclose(got[name], wanted[name], rtol=2e-6, atol=2e-7)
