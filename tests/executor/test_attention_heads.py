"""heads: attention reads and writes heads where they lie, without the transposes around it, and gives the same bits."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import layers

BATCH, WORDS, HEADS, WIDTH = 2, 40, 3, 8
X = np.random.default_rng(0).normal(size=(BATCH, WORDS, 3 * HEADS, WIDTH)).astype("float32")


def swapped(x):
    return layers.transpose(x, [0, 2, 1, 3])


def attended(q, k, v, **how):
    return layers.dot_product_attention(q, k, v, **how)


def split_and_joined(x):
    return swapped(attended(*layers.split(swapped(x), 3, dim=1), causal=True))


def with_unequal_parts(x):
    """2 heads of queries from the third on, and 2 each of keys and values."""
    _, q, k, v, _ = layers.split(swapped(x), [2, 2, 2, 2, 1], dim=-3)
    return swapped(attended(q, k, v))


def with_a_part_for_others(x):
    q, k, v, rest = layers.split(swapped(x), [2, 2, 2, 3], dim=1)
    return layers.elementwise_add(swapped(attended(q, k, v)), layers.reduce_mean(rest))


def with_three_parts(x):
    q, k, v, _ = layers.split(swapped(x), [2, 2, 2, 3], dim=1)
    return swapped(attended(v, q, k))


def of_three_sources(x):
    q, k, v = (swapped(layers.scale(x, scale=factor)) for factor in (0.5, 2.0, 3.0))
    return swapped(attended(q, k, v, attn_mask=layers.slice(layers.reduce_mean(x, dim=[2, 3], keep_dim=True), [1], [0], [1])))


def of_other_lengths(x):
    """Queries, keys and values of different numbers of words and widths."""
    k, v = (swapped(layers.slice(x, [1], [0], [33])) for _ in range(2))
    return swapped(attended(swapped(layers.scale(x, scale=0.5)), k, layers.scale(v, scale=1.0, bias=0.0)))


IN_PLACE = {"a split": split_and_joined, "three sources": of_three_sources, "other lengths": of_other_lengths}


def with_a_split_that_is_read(x):
    q, k, v = layers.split(swapped(x), 3, dim=1)
    return layers.elementwise_add(swapped(attended(q, k, v)), swapped(layers.relu(v)))


def with_heads_that_are_read(x):
    heads = swapped(x)
    return layers.elementwise_add(swapped(attended(*layers.split(heads, 3, dim=1))), layers.reduce_mean(heads))


def with_a_result_that_is_read(x):
    out = attended(*layers.split(swapped(x), 3, dim=1))
    return layers.elementwise_add(swapped(out), layers.reduce_mean(out))


def with_a_source_that_changes(x):
    source = layers.scale(x, scale=2.0)
    q, k, v = layers.split(swapped(source), 3, dim=1)
    layers.assign(layers.scale(source, scale=-1.0), source)
    return layers.elementwise_add(swapped(attended(q, k, v)), layers.reduce_mean(source))


LEFT_ALONE = {
    "another order": lambda x: layers.transpose(attended(*layers.split(swapped(x), 3, dim=1)), [0, 2, 3, 1]),
    "another split": lambda x: swapped(attended(*layers.split(swapped(x), 2, dim=3), layers.scale(swapped(x), scale=2.0))),
    "heads that are not transposed back": lambda x: layers.relu(attended(*layers.split(swapped(x), 3, dim=1))),
    "parts that nothing reads": with_three_parts,
    "more parts that nothing reads": with_unequal_parts,
    "a part for another operator": with_a_part_for_others,
    "a part with another reader": with_a_split_that_is_read,
    "heads with another reader": with_heads_that_are_read,
    "a result with another reader": with_a_result_that_is_read,
    "a source that changes": with_a_source_that_changes,
}


def run(build):
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor()
    with pm.program_guard(main, pm.Program()), pm.unique_name.guard():
        out = build(layers.data("x", list(X.shape)))
    arguments = main, {"x": X}, [out], scope
    return exe.plan_text(*arguments, stage="heads"), exe.run(*arguments)[0]


def both(build, monkeypatch):
    """The operators that run, after results with and without this pass have been compared."""
    text, found = run(build)
    with monkeypatch.context() as patch:
        patch.setenv("PM_PASSES", "identities,constants,fold,attention,fuse,epilogues")
        _, expected = run(build)
    assert found.tobytes() == expected.tobytes() and found.shape == expected.shape
    operators = [line.split()[1].split("(")[0] for line in text.splitlines() if line.startswith("#")]
    assert "attention" in operators
    return operators


@pytest.mark.parametrize("name", IN_PLACE)
def test_transposes_go(name, monkeypatch):
    assert "transpose2" not in both(IN_PLACE[name], monkeypatch)


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_transposes_stay(name, monkeypatch):
    assert "transpose2" in both(LEFT_ALONE[name], monkeypatch)
