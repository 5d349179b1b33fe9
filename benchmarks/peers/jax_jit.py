# JAX: forward, gradient and update in one jitted function.
import jax
import jax.numpy as jnp

import workloads
from worker import serve


def forward(params, x):
    for weight, bias in params[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = params[-1]
    return x @ weight + bias


def loss_of(params, x, label):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(forward(params, x)), label[:, None], axis=1)
    return -chosen.mean()


def training(work, initial, update):
    """update(params, gradients, state) gives params and state."""
    params = jax.tree.map(jnp.asarray, work.layers)
    x, label = jnp.asarray(work.x), jnp.asarray(work.label)
    state = initial(params)

    def step(params, state, x, label):
        loss, gradients = jax.value_and_grad(loss_of)(params, x, label)
        return (*update(params, gradients, state), loss)

    compiled = jax.jit(step, donate_argnums=(0, 1)).lower(params, state, x, label).compile()

    def run(steps):
        nonlocal params, state
        for _ in range(steps):
            params, state, loss = compiled(params, state, x, label)
        jax.block_until_ready(params)
        return float(loss)

    return run


def tiny_mlp():
    work = workloads.tiny_mlp()

    def update(params, gradients, state):
        return jax.tree.map(lambda p, g: p - work.rate * g, params, gradients), state

    return training(work, lambda params: (), update)


def mlp():
    work = workloads.mlp()
    beta1, beta2, epsilon = (workloads.ADAM[key] for key in ("beta1", "beta2", "epsilon"))

    def initial(params):
        zeros = lambda: jax.tree.map(jnp.zeros_like, params)
        return zeros(), zeros(), jnp.zeros(())

    def update(params, gradients, state):
        first, second, t = state
        t = t + 1
        first = jax.tree.map(lambda m, g: beta1 * m + (1 - beta1) * g, first, gradients)
        second = jax.tree.map(lambda v, g: beta2 * v + (1 - beta2) * g * g, second, gradients)
        root = jnp.sqrt(1 - beta2 ** t)
        rate = work.rate * root / (1 - beta1 ** t)
        params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + epsilon * root), params, first, second)
        return params, (first, second, t)

    return training(work, initial, update)


serve({"tiny_mlp": tiny_mlp, "mlp": mlp})
