# Averages computed from the definitions of their schemes, in float64 from a whole history: the reference of the tests
# of averaging.
import numpy as np

from paddle_mini.averaging import BiasCorrected, Exponential, Latest, Polynomial, Power, Tail, Uniform, Window, fraction


def averaged_steps(steps, every=1, start=0):
    """The steps, from 1 on, whose parameters enter an average."""
    return range(start + every, steps + 1, every)


def from_newest(new):
    """The weight of every update if a <- a + w (p - a) with these weights w, the first of which is 1."""
    new = np.asarray(new, "float64")
    later = np.append(np.cumprod((1 - new)[:0:-1])[::-1], 1.0)
    return new * later


def spans(updates, rule):
    """Number of updates in a window: rule(members, updates so far) returns whether a generation is complete."""
    newer = older = 0
    for u in range(1, updates + 1):
        newer += 1
        if rule(newer, u):
            newer, older = 0, newer
    return newer + older


def of_updates(scheme, n, every):
    """The weight of each of n updates, the newest last."""
    u = np.arange(1, n + 1, dtype="float64")
    if isinstance(scheme, (Uniform, Tail)):
        return np.full(n, 1 / n)
    if isinstance(scheme, Latest):
        return np.where(u > n - scheme.k, 1 / min(n, scheme.k), 0)
    if isinstance(scheme, Polynomial):
        return from_newest((scheme.eta + 1) / (u + scheme.eta))
    if isinstance(scheme, Power):  # the first u updates together have the weight (u/n)^(gamma + 1)
        return np.diff(np.append(0, (u / n) ** (scheme.exponent + 1)))
    if isinstance(scheme, Window):
        limits = (scheme.min_size, scheme.max_size) if scheme.size is None else (scheme.size, scheme.size)
        least, most = (max(1, round(length / every)) for length in limits)
        held = spans(n, lambda held, so_far: held >= least and held >= min(most, (scheme.rate or 1) * so_far))
        return np.where(u > n - held, 1 / held, 0)
    if isinstance(scheme, BiasCorrected):
        return from_newest(np.append(1.0, (scheme.rho + scheme.gamma * every * u[:-1]) ** -scheme.kappa))
    assert isinstance(scheme, Exponential)
    if scheme.decay is None:  # the decay after n updates is 2^(-1/(part n))
        return np.diff(np.append(0, (u / n) ** (np.log(2) / scheme.half_life.part)))
    decay = np.full(n, float(scheme.decay))
    if scheme.warmup == "ratio":
        decay = np.minimum(decay, (1 + u * every) / (10 + u * every))
    elif scheme.warmup:
        length, power = scheme.warmup
        decay = np.minimum(decay, 1 - (1 + u * every / length) ** -power)
    decay = decay**every
    if not scheme.bias_correction:
        return from_newest(np.append(1.0, 1 - decay[1:]))
    weights = (1 - decay) * np.append(np.cumprod(decay[:0:-1])[::-1], 1.0)
    return weights / weights.sum()


def expected(scheme, history, every=1, start_step=0):
    """The average after the steps of a history; before the first update, the newest parameters."""
    if isinstance(scheme, Latest):
        every = scheme.every or every
    steps = averaged_steps(len(history), every, max(start_step, scheme.start))
    if not steps:
        return np.asarray(history[-1], "float64")
    members = np.asarray(history, "float64")[steps[0] - 1 :: every]
    weights = of_updates(scheme, len(steps), every)
    mean = np.tensordot(weights, members, 1)
    if isinstance(scheme, BiasCorrected):
        part = (scheme.rho + scheme.gamma * every * (len(steps) - 1)) ** -scheme.eta
        return mean + part * (np.asarray(history[-1], "float64") - members[0])
    return mean


def digits_off(found, wanted):
    """Distance from the wanted value, in units in the last place of the nearest float32."""
    wanted = np.asarray(wanted, np.longdouble)
    return np.abs((found.astype(np.longdouble) - wanted) / np.spacing(np.abs(wanted).astype("float32")))


class PlainWindow:
    """A window of two generations as float32 stored it before averages had blocks: a <- a + w (p - a), rounded after
    each operation; a generation that ends replaces the previous one, and `average` then stays."""

    def __init__(self, size, begin):
        self.size, self.average, self.previous = size, begin.copy(), begin.copy()
        self.counters = np.zeros(5, "int64")  # updates; members of this generation and the previous one; steps; skipped
        self.state = np.zeros(7)  # stored logarithm; squares of weights; mean age; that of the previous generation; unused ones

    def step(self, p):
        self.counters += [1, 1, 0, 1, 0]
        weight = 1 / self.counters[1]
        moved = p if weight == 1 else self.average + np.float32(weight) * (p - self.average)
        log, squares, age, older_age = self.state[:4]
        self.state[:4] = (
            log + (-1000 if weight == 1 else np.log1p(-weight)),
            (1 - weight) ** 2 * squares + weight**2,
            (age + 1) * (1 - weight),
            older_age + 1,
        )
        if self.counters[1] < self.size:
            self.average = moved.copy()
            return
        self.previous = moved.copy()
        self.counters[1:3], self.state[3] = (0, self.counters[1]), self.state[2]

    def value(self):
        newer, older = self.counters[1:3]
        if newer == 0:
            return self.previous
        return self.average + np.float32(older / (newer + older)) * (self.previous - self.average)


SCHEMES = [
    Uniform(),
    Uniform(compensated=True),
    Tail(4),
    Tail(1000),
    Window(1),
    Window(4),
    Window(300),
    Window(rate=0.15, min_size=20, max_size=200),
    Window(rate=0.5, min_size=1, max_size=7),
    Latest(1),
    Latest(5, every=2),
    Latest(3, every=100),
    Polynomial(),
    Polynomial(0.5),
    Power(gamma=0),
    Power(gamma=6.94),
    Power(relative_width=0.05),
    Exponential(0),
    Exponential(0.8),
    Exponential(0.999),
    Exponential(0.999, compensated=True),
    Exponential(half_life=50),
    Exponential(half_life=fraction(0.05)),
    Exponential(0.999, warmup="ratio"),
    Exponential(0.99, warmup=(1.0, 2 / 3)),
    Exponential(0.99, bias_correction=False),
    Exponential(0.99, warmup="ratio", bias_correction=False),
    BiasCorrected(),
    BiasCorrected(kappa=0.8, eta=0.5, rho=2.0),
]
