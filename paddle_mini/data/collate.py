# Collation: samples into one batch, stacked or padded; and Rows, arrays as a sequence of samples.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._core import ProgramError, ShapeError, as_array, printable
from ..errors import listed, shown
from ..feeds import cast
from ..scope import LoDTensor


def columns_of(data: Any) -> Any:
    """A table's columns as a dict of arrays; anything else as it is."""
    if hasattr(data, "columns") and hasattr(data, "to_numpy"):
        return {str(name): data[name].to_numpy() for name in data.columns}
    return data


class Rows(Sequence[Any]):
    """Arrays of equally many rows as a sequence of samples: dicts for a dict of arrays, tuples for a tuple or list."""

    def __init__(self, arrays: Mapping[str, Any] | Sequence[Any]):
        self._names = list(arrays) if isinstance(arrays, Mapping) else None
        held = arrays.values() if isinstance(arrays, Mapping) else arrays
        self._arrays = [_array(array) for array in held]
        lengths = [len(array) if array.ndim else None for array in self._arrays]
        if not lengths or None in lengths or len(set(lengths)) != 1:
            names = self._names or range(len(lengths))
            found = ", ".join(f"'{printable(name)}' {list(array.shape)}" for name, array in zip(names, self._arrays))
            raise ShapeError(f"Loader: arrays must have equally many rows; there are {found or 'none'}")

    def __len__(self) -> int:
        return len(self._arrays[0])

    def __getitem__(self, index: Any) -> Any:
        """Read-only views: a map that changed them would change the data of the next epoch."""
        values = tuple(array[index] for array in self._arrays)
        for value in values:
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        return self._named(values)

    def batch(self, indices: np.ndarray) -> Any:
        """The samples of these indices, stacked."""
        return self._named(tuple(array.take(indices, 0) for array in self._arrays))

    def _named(self, values: tuple[Any, ...]) -> Any:
        return values if self._names is None else dict(zip(self._names, values))


def length_name(key: Any) -> str:
    """The key of the lengths of padded sequences in a batch."""
    return f"{key}_length"


class Collate:
    """Stacks the values of samples along a new first dimension: dicts give a dict of arrays, tuples a tuple, other samples
    an array.

    pad: by key or position the number that fills sequences up to the longest of the batch, along their first dimension.
    Their lengths, int64 [batch], follow as `KEY_length`, or at the end of the tuple.
    """

    def __init__(self, pad: Mapping[Any, Any] | None = None):
        if pad is not None and not isinstance(pad, Mapping):
            raise ProgramError(f"Loader.batch: pad is {shown(pad)}, it must be a dict of the number for each key: {{'words': 0}}")
        self.pad = dict(pad or {})
        for key, fill in self.pad.items():
            if not isinstance(fill, (int, float, np.number, np.bool_)):
                raise ProgramError(f"Loader.batch: pad has {shown(fill)} for {shown(key)}, it must be a number")

    def __call__(self, samples: list[Any]) -> Any:
        first = samples[0]
        if isinstance(first, (Mapping, tuple, list)):
            columns = _columns(samples)
        elif self.pad:
            raise ProgramError(f"Loader: pad needs samples that are dicts or tuples, not {type(first).__name__}")
        else:
            return _stacked("the samples", samples)
        unknown = [key for key in self.pad if key not in columns]
        if unknown:
            raise ProgramError(f"Loader: pad names {shown(unknown[0])}, a sample has {listed(columns)}")
        batch, lengths = {}, {}
        for key, values in columns.items():
            if key in self.pad:
                batch[key], lengths[key] = _padded(key, values, self.pad[key])
            else:
                batch[key] = _stacked(shown(key), values)
        if isinstance(first, Mapping):
            named = {length_name(key): length for key, length in lengths.items()}
            taken = [name for name in named if name in batch]
            if taken:
                raise ProgramError(f"Loader: a sample has {shown(taken[0])}, the name for the lengths that pad adds: rename it")
            return {**batch, **named}
        return (*batch.values(), *lengths.values())


def _columns(samples: list[Any]) -> dict[Any, list[Any]]:
    """The values by key or position, which all samples must have in common."""
    first = samples[0]
    keys = first.keys() if isinstance(first, Mapping) else range(len(first))
    for sample in samples:
        if isinstance(first, Mapping):
            same = isinstance(sample, Mapping) and sample.keys() == keys
        else:
            same = isinstance(sample, (tuple, list)) and len(sample) == len(first)
        if not same:
            hint = "" if isinstance(first, Mapping) else "; a sequence is one value of a sample, such as ([1, 2, 3],)"
            raise ProgramError(f"Loader: a sample of the batch {_held(sample)}, the first one {_held(first)}{hint}")
    return {key: [sample[key] for sample in samples] for key in keys}


def _held(sample: Any) -> str:
    if isinstance(sample, Mapping):
        return f"has the keys {listed(sample)}" if sample else "is empty"
    return f"has {len(sample)} values" if isinstance(sample, (tuple, list)) else f"is {shown(sample)}"


def _array(value: Any) -> np.ndarray:
    if isinstance(value, LoDTensor) and value.lod:
        raise ShapeError("Loader: a LoDTensor is a batch, not a sample: give its sequences, and batch(feeder=DataFeeder([...]))")
    return as_array(value, "Loader: a value", bits=False)


def _stacked(what: str, values: list[Any]) -> np.ndarray:
    arrays = [_array(value) for value in values]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) > 1:
        raise ShapeError(
            f"Loader: {what} of a batch has shapes {listed(list(shape) for shape in shapes[:4])}: give batch(pad={{...}}) to pad "
            "sequences, or batch(feeder=DataFeeder([...])) for a LoDTensor"
        )
    return np.stack(arrays)


def _padded(key: Any, values: list[Any], fill: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values filled up to the longest one, and their lengths."""
    arrays = [_array(value) for value in values]
    tails = {array.shape[1:] for array in arrays if array.ndim and len(array)} or {arrays[0].shape[1:]}
    if len(tails) > 1 or not all(array.ndim for array in arrays):
        raise ShapeError(
            f"Loader: {shown(key)} can't be padded, it must be sequences of equal rows: it has shapes "
            f"{listed(list(array.shape) for array in arrays[:4])}"
        )
    # An empty list is an array of floats; it does not decide.
    dtype = np.result_type(*([array.dtype for array in arrays if len(array)] or [arrays[0].dtype]))
    lengths = np.array([len(array) for array in arrays], np.int64)
    if dtype.kind not in "fiubc":
        raise ShapeError(f"Loader: {shown(key)} can't be padded with a number, it is of {dtype}")
    what = f"Loader: pad fills {shown(key)}, {dtype}, with {shown(fill)}"
    out = np.full((len(arrays), lengths.max(), *tails.pop()), cast(what, np.asarray(fill), dtype), dtype)
    for row, array in zip(out, arrays):
        if len(array):
            row[: len(array)] = array
    return out, lengths
