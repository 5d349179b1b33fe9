# Layers that draw random numbers.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..guards import default_main_program
from ..variable import Variable
from .emit import emit


def dropout(
    x: Variable,
    dropout_prob: float = 0.5,
    is_test: bool = False,
    seed: int | None = None,
    dropout_implementation: str = "downgrade_in_infer",
    name: str | None = None,
) -> Variable:
    """Sets each element to 0 with probability dropout_prob.

    "downgrade_in_infer": training gives x · mask, a test x · (1 − dropout_prob).
    "upscale_in_train": training gives x · mask / (1 − dropout_prob), a test x.
    seed: the same elements at every run; None: the program's random_seed, or else the executor's
    generator. Returns the shape of x. Program.clone(for_test=True) sets is_test.
    Srivastava et al., "Dropout", JMLR 2014.
    dropout_implementation: one of these two.
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.dropout(x, 0.1, dropout_implementation="upscale_in_train").shape
        (-1, 8)
    """
    drawn = default_main_program().next_seed() if seed is None else seed
    attrs = {
        "dropout_prob": dropout_prob,
        "is_test": is_test,
        "seed": drawn,
        "fix_seed": seed is not None or drawn != 0,
        "dropout_implementation": dropout_implementation,
    }
    return emit("dropout", {"X": x}, attrs, name=name, outputs={"Out": 1, "Mask": 1})


def uniform_random(
    shape: Sequence[int], dtype: Any = "float32", min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Variable:
    """A tensor whose elements are drawn from [min, max), all equally likely.

    seed: the same elements at every run; 0: the program's random_seed, or else the executor's generator.
    shape: all dimensions known. dtype: a float type. Returns a tensor of this shape.
    Example:
        >>> pm.layers.uniform_random([2, 3], min=0.0, max=1.0).shape
        (2, 3)
    """
    return _drawn("uniform_random", shape, dtype, seed, name, min=min, max=max)


def gaussian_random(
    shape: Sequence[int], mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = "float32", name: str | None = None
) -> Variable:
    """A tensor whose elements are drawn from the normal distribution; seed: as in uniform_random.

    shape: all dimensions known. mean, std: of the distribution. dtype: a float type. Returns a tensor of this shape.
    Example:
        >>> pm.layers.gaussian_random([2, 3], std=0.1).shape
        (2, 3)
    """
    return _drawn("gaussian_random", shape, dtype, seed, name, mean=mean, std=std)


def truncated_gaussian_random(
    shape: Sequence[int], mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = "float32", name: str | None = None
) -> Variable:
    """As gaussian_random, but only what lies within two standard deviations of the mean.

    Args:
        shape: the dimensions
        mean: of the distribution
        std: its standard deviation
        seed: 0: the executor's generator
        dtype: the element type
    Returns:
        a tensor of this shape
    Example:
        >>> pm.layers.truncated_gaussian_random([2, 3]).shape
        (2, 3)
    """
    return _drawn("truncated_gaussian_random", shape, dtype, seed, name, mean=mean, std=std)


def _drawn(op_type: str, shape: Sequence[int], dtype: Any, seed: int, name: str | None, **attrs: float) -> Variable:
    drawn = {"shape": shape, "dtype": dtype, "seed": seed or default_main_program().next_seed(), **attrs}
    out = emit(op_type, {}, drawn, name=name)
    out.stop_gradient = True
    return out
