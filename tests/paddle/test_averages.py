"""PaddlePaddle's own averages, ModelAverage and ExponentialMovingAverage, as programs that it wrote: they give its
numbers."""

import numpy as np
import pytest

import paddle_mini as pm

STEPS = 25


@pytest.mark.parametrize("kind", ["window", "exponential"])
def test_programs_of_paddlepaddles_averages(paddle, tmp_path, kind):
    paddle.ask("averages", tmp_path, kind=kind, steps=STEPS)
    main, apply, restore = (
        pm.Program.from_bytes((tmp_path / f"{name}.pb").read_bytes()) for name in ("main", "apply", "restore")
    )
    with np.load(tmp_path / "values.npz") as values:
        parts = {}
        for key in values.files:
            part, name = key.split("/", 1)
            parts.setdefault(part, {})[name] = values[key]
    scope, exe = pm.Scope(), pm.Executor()
    for name, value in parts["begin"].items():
        scope.set(name, value)

    def expect(part):
        for name, value in parts[part].items():
            # Sums of many steps have elements near 0, whose error is relative to the size of the others.
            np.testing.assert_allclose(scope.get(name), value, rtol=1e-5, atol=1e-6 * abs(value).max(), err_msg=f"{part}: {name}")

    for step in range(STEPS):
        exe.run(main, feed=parts[f"feed{step}"], scope=scope)
    expect("trained")
    raw = {name: scope.get(name) for name in parts["applied"]}
    exe.run(apply, scope=scope)
    expect("applied")
    assert any((scope.get(name) != value).any() for name, value in raw.items())
    exe.run(restore, scope=scope)
    for name, value in raw.items():
        np.testing.assert_array_equal(scope.get(name), value)
    expect("restored")
