"""Loops that several tests run."""

import numpy as np

import paddle_mini as pm

L = pm.layers


def count(n):
    return np.array([n], "int64")


def power_loop(x, w, n):
    i = L.fill_constant([1], "int64", 0)
    _, h = L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, L.tanh(L.matmul(h, w))], [i, x])
    return h


def doubled_in_a_loop(x, steps=3):
    """Doubles x in each step, in place: the loop's block is planned separately."""
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", steps)
    below = L.less_than(i, n)
    with L.While(below).block():
        L.assign(L.scale(x, scale=2.0), output=x)
        L.increment(i)
        L.assign(L.less_than(i, n), output=below)
    return x


def run(build, feeds, fetch=None, steps=1, dtype="float64"):
    """The result of build(x, w), and the gradients of the sum of its squares with respect to x and w."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x = L.data("x", shape=[2, 3], dtype=dtype)
        x.stop_gradient = False
        w = L.create_parameter([3, 3], dtype=dtype, name="w")
        extra = {
            name: L.data(name, shape=list(value.shape), dtype=str(value.dtype))
            for name, value in feeds.items()
            if name not in ("x", "w")
        }
        out = build(x, w, **extra)
        loss = L.reduce_sum(L.square(out))
        gradients = pm.backward.gradients([loss], [x, w])
    executor = pm.Executor(pm.CPUPlace())
    scope.set("w", feeds["w"])
    given = {name: value for name, value in feeds.items() if name != "w"}
    wanted = [loss] + [gradient for gradient in gradients if gradient is not None]
    for program in (main, pm.Program.from_bytes(main.to_bytes())):
        for _ in range(steps):
            values = executor.run(program, feed=given, fetch_list=[var.name for var in wanted], scope=scope)
    found = iter(values[1:])
    return values[0], [None if gradient is None else next(found) for gradient in gradients]


def values(seed=0):
    rng = np.random.default_rng(seed)
    return {"x": rng.uniform(-1, 1, (2, 3)), "w": rng.uniform(-1, 1, (3, 3))}


def check_gradients(build, feeds):
    """Against central differences of the loss."""
    loss, gradients = run(build, feeds)
    for name, gradient in zip(("x", "w"), gradients):
        for place in np.ndindex(*feeds[name].shape):
            losses = []
            for step in (1e-5, -1e-5):
                moved = {**feeds, name: feeds[name].copy()}
                moved[name][place] += step
                losses.append(run(build, moved)[0])
            numeric = (losses[0] - losses[1]) / 2e-5
            analytic = 0.0 if gradient is None else gradient[place]
            assert abs(numeric - analytic) < 1e-6 * (1 + abs(numeric)), (name, place, numeric, analytic)
    return loss
