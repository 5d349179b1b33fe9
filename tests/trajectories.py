"""Trajectories of parameters, and averages of them tracked step by step from the schemes' definitions."""

import numpy as np

from paddle_mini.averaging import Checkpoint, Exponential, Latest, Polynomial, Power, Window
from paddle_mini.averaging.profiles import gamma_of

STEPS = 1170


def recursion(scheme, updates, every=1):
    """The weights w_t of a <- a + w_t (p - a) for each update, from the schemes' definitions."""
    t = np.arange(1, updates + 1, dtype=float)
    if isinstance(scheme, Exponential):
        decay = scheme.decay**every
        return (1 - decay) / (1 - decay**t)
    if isinstance(scheme, Power):
        return 1 - (1 - 1 / t) ** (exponent(scheme) + 1)
    if isinstance(scheme, Polynomial):
        return (scheme.eta + 1) / (t + scheme.eta)
    return 1 / t


def exponent(scheme):
    return gamma_of(scheme.relative_width) if scheme.gamma is None else scheme.gamma


def weights(scheme, steps, every=1, start_step=0):
    """The weight of each step in the average, found update by update."""
    if scheme is not None:
        every, start_step = scheme.own_every or every, max(start_step, scheme.start)
    result, updates = np.zeros(steps), [t for t in range(start_step + 1, steps + 1) if (t - start_step) % every == 0]
    if isinstance(scheme, Window) and updates:
        size = max(1, round(scheme.size / every))
        updates = updates[max(0, len(updates) // size - 1) * size :]
    if isinstance(scheme, Latest) and updates:
        updates = updates[-scheme.k :]
    if scheme is None or not updates:
        updates = [steps]
    for t, w in zip(updates, recursion(scheme, len(updates), every)):
        result *= 1 - w
        result[t - 1] += w
    return result


def descent(steps=STEPS, size=300, seed=0):
    """Parameters that descend and shake, with all time scales from 3 to 10,000 steps: [steps, size]."""
    random, curvature = np.random.RandomState(seed), np.logspace(-4, -0.3, size)
    value, path = 1 + random.randn(size), []
    for _ in range(steps):
        value = value - curvature * value + 0.05 * np.sqrt(curvature) * random.randn(size)
        path.append(value + 2)
    return np.array(path)


def walk(steps, size=3000, seed=0):
    return np.cumsum(np.random.RandomState(seed).randn(steps, size), 0)


def checkpoint(path, step, average=None, **arguments):
    return Checkpoint(step, {"w": weights(average, step, **arguments) @ path[:step]}, average, **arguments)


def tracked(path, scheme, step):
    """The average, tracked step by step."""
    value = np.zeros(path.shape[1])
    for w, parameters in zip(recursion(scheme, step), path):
        value = value + w * (parameters - value)
    return value


def evenly(count, steps=STEPS):
    return [steps * (i + 1) // count for i in range(count)]


def norm(values):
    return float(np.linalg.norm(values))
