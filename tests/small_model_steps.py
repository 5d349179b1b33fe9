# The small model in float64 without the library: its gradients, and steps of optimizers, from their formulas.
import numpy as np

from small_model import CLASSES, SmallModel, batch

W0, B0, W1, B1 = NAMES = ("fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0")
TOLERANCE = {"float32": 3e-4, "float64": 1e-11}


def begin(model):
    return {name: model.scope.get(name).astype("float64") for name in NAMES}


def gradients(values, number, dtype="float32"):
    """The gradients of the mean cross-entropy of a batch."""
    x, label = (batch(number, dtype)[name] for name in ("x", "label"))
    x = x.astype("float64")
    hidden = np.tanh(x @ values[W0] + values[B0])
    logits = hidden @ values[W1] + values[B1]
    odds = np.exp(logits - logits.max(1, keepdims=True))
    out = (odds / odds.sum(1, keepdims=True) - np.eye(CLASSES)[label[:, 0]]) / len(x)
    inner = (out @ values[W1].T) * (1 - hidden**2)
    return {W0: x.T @ inner, B0: inner.sum(0), W1: hidden.T @ out, B1: out.sum(0)}


def merged(values, numbers, dtype="float32"):
    """The mean gradient of several batches."""
    found = [gradients(values, number, dtype) for number in numbers]
    return {name: sum(one[name] for one in found) / len(found) for name in NAMES}


def single(number):
    """The number as operators' attributes store it."""
    return float(np.float32(number))


def clipped(found, most):
    most = single(most)
    norm = np.sqrt(sum((value**2).sum() for value in found.values()))
    return {name: value * (most / max(norm, most)) for name, value in found.items()}


def sgd(rate):
    return lambda p, g, kept, t: p - rate * g


def momentum(rate, mu):
    mu = single(mu)

    def step(p, g, kept, t):
        kept["v"] = mu * kept.get("v", 0) + g
        return p - rate * kept["v"]

    return step


def adam(rate, beta1, beta2, epsilon=1e-8, decay=0.0):
    power1, power2 = beta1, beta2  # start with all digits
    beta1, beta2, epsilon, decay = map(single, (beta1, beta2, epsilon, decay))

    def step(p, g, kept, t):
        kept["m"] = beta1 * kept.get("m", 0) + (1 - beta1) * g
        kept["v"] = beta2 * kept.get("v", 0) + (1 - beta2) * g**2
        p = p - rate * decay * p
        mean = kept["m"] / (1 - power1 * beta1 ** (t - 1))
        return p - rate * mean / (np.sqrt(kept["v"] / (1 - power2 * beta2 ** (t - 1))) + epsilon)

    return step


class Descent:
    """The update of an optimizer: step(gradients), with its state by parameter."""

    def __init__(self, rule, regularization=0.0, clip=None):
        self.rule, self.regularization, self.clip = rule, single(regularization), clip
        self.kept, self.t = {name: {} for name in NAMES}, 0

    def step(self, values, found):
        self.t += 1
        if self.clip:
            found = clipped(found, self.clip)
        return {name: self.rule(p, found[name] + self.regularization * p, self.kept[name], self.t) for name, p in values.items()}


class Free:
    """Schedule-Free by its definition: x, y and z, of which `values` is y."""

    def __init__(self, values, rule, beta=0.9, regularization=0.0, clip=None):
        self.x = self.z = self.values = values
        self.rule, self.beta, self.descent = rule, beta, Descent(None, regularization, clip)
        self.most = self.sum = 0.0

    def step(self, found, rate):
        self.descent.rule = self.rule(rate)
        self.z = self.descent.step(self.z, found)
        self.most = max(self.most, rate)
        self.sum += self.most**2
        part = self.most**2 / self.sum if self.sum else 1.0
        self.x = {name: x + part * (self.z[name] - x) for name, x in self.x.items()}
        self.values = {name: z + self.beta * (self.x[name] - z) for name, z in self.z.items()}


def assert_model_has(model, expected, dtype):
    for name, value in expected.items():
        found, tolerance = model.scope.get(name), TOLERANCE[dtype]
        np.testing.assert_allclose(found, value, rtol=tolerance, atol=tolerance, err_msg=name)


def of(minimize, dtype="float32"):
    """The model, and its initial parameters in float64."""
    model = SmallModel(minimize, dtype)
    return model, begin(model)
