# Programs with gradients of gradients, which several tests run.
import numpy as np

import paddle_mini as pm


def critic(layer, dtype):
    """The loss of a critic with a penalty on its gradient by its input; (parameter, gradient) pairs; feeds."""
    random = np.random.default_rng(3)
    shape = [4, 6] if layer == "fc" else [4, 2, 5, 5]
    real, fake = pm.layers.data("real", shape, dtype=dtype), pm.layers.data("fake", shape, dtype=dtype)
    mixture = pm.layers.data("mixture", [4] + [1] * (len(shape) - 1), dtype=dtype)

    def score(x):
        names = iter("abc")
        attr = lambda: pm.ParamAttr(name=f"critic.{next(names)}", initializer=pm.initializer.Normal(0.0, 0.5, seed=7))
        if layer == "fc":
            hidden = pm.layers.fc(x, 5, act="tanh", param_attr=attr(), bias_attr="critic.bias")
            hidden = pm.layers.fc(hidden, 4, act="sigmoid", param_attr=attr(), bias_attr=False)
            return pm.layers.fc(hidden, 1, param_attr=attr(), bias_attr=False)
        hidden = pm.layers.conv2d(x, 3, 3, padding=1, stride=2, param_attr=attr(), bias_attr="critic.bias")
        hidden = pm.layers.leaky_relu(hidden, alpha=0.2)
        hidden = pm.layers.tanh(pm.layers.conv2d(hidden, 4, 2, param_attr=attr(), bias_attr=False))
        return pm.layers.fc(hidden, 1, param_attr=attr(), bias_attr=False)

    mixed = real * mixture + fake * (1.0 - mixture)
    (slope,) = pm.gradients(score(mixed), mixed)
    axes = list(range(1, len(shape)))
    length = pm.layers.sqrt(pm.layers.reduce_sum(pm.layers.square(slope), dim=axes) + 1e-12)
    penalty = pm.layers.reduce_mean(pm.layers.square(length - 1.0))
    loss = pm.layers.reduce_mean(score(fake)) - pm.layers.reduce_mean(score(real)) + penalty * 10.0
    pairs = pm.append_backward(loss)
    feeds = {name: random.normal(size=shape).astype(dtype) for name in ("real", "fake")}
    return loss, pairs, {**feeds, "mixture": random.uniform(size=mixture.shape).astype(dtype)}


def meta_step(dtype):
    """The loss of a linear model on one set after a step of gradient descent on another; the weight, the gradient, feeds."""
    random = np.random.default_rng(4)
    sets = {"x": (8, 3), "y": (8, 1), "x2": (5, 3), "y2": (5, 1)}
    data = {name: pm.layers.data(name, list(shape), dtype=dtype) for name, shape in sets.items()}
    initial = pm.initializer.NumpyArrayInitializer(random.normal(size=(3, 1)).astype(dtype))
    weight = pm.layers.create_parameter([3, 1], dtype=dtype, attr=pm.ParamAttr("weight", initial))
    inner = pm.layers.mean(pm.layers.square(pm.layers.matmul(data["x"], weight) - data["y"]))
    (slope,) = pm.gradients(inner, weight)
    adapted = weight - slope * 0.125
    outer = pm.layers.mean(pm.layers.square(pm.layers.matmul(data["x2"], adapted) - data["y2"]))
    (gradient,) = pm.gradients(outer, weight)
    return outer, weight, gradient, {name: random.normal(size=shape).astype(dtype) for name, shape in sets.items()}
