# Batches: any kind of data as feeds of a program, epoch by epoch, checked before they reach the executor.
from __future__ import annotations

import inspect
from collections.abc import Generator, Iterator, Mapping
from itertools import chain, islice
from typing import Any

import numpy as np

from .._core import ProgramError, ShapeError, as_array, printable
from ..data.collate import columns_of, length_name
from ..data.feeder import DataFeeder
from ..data.loader import Loader
from ..data.reader import opened
from ..errors import listed, near, shown
from ..feeds import cast, differing_row, numpy_dtype
from ..program import Program
from ..scope import LoDTensor
from ..variable import Variable

Feed = dict[str, Any]


def data_variables(program: Program) -> list[Variable]:
    """The variables of layers.data that operators of the program read, in the order of their declaration."""
    read = {name for block in program.blocks for op in block.ops for name in op.input_names}
    return [var for var in program.global_block().vars.values() if var.need_check_feed and var.name in read]


class Batches:
    """Feeds for the data variables of a program.

    data: arrays, all of whose rows are one epoch: a dict by the names of the variables, a tuple in their order, one array, or a
    table with `columns` (pandas); a Loader; samples by index, without an iterator, as a Dataset of torch; or an iterable of
    batches, or a function, of the epoch or of nothing, that returns one. A batch is a dict, a tuple in the order of the
    variables, or a table; its values are arrays of any library that NumPy can read. Values are converted as DataFeeder does,
    and dimensions of 1 are added or removed.

    what: the name of the argument, for messages. seed: of the order of arrays; None: the order they have. steps: batches of an
    epoch; None: as many as there are. first_epoch: the epoch at the beginning of an iterator.
    """

    def __init__(
        self,
        what: str,
        data: Any,
        program: Program,
        batch_size: int = 32,
        seed: int | None = None,
        steps: int | None = None,
        first_epoch: int = 0,
    ):
        self.what, self.steps, self.first_epoch = what, steps, first_epoch
        self._program, self.variables = program, data_variables(program)
        self._padded: tuple[Any, ...] = ()  # keys of a Loader's batches whose lengths follow
        if not self.variables:
            raise ProgramError(f"{what}: the program reads no variable of layers.data")
        data = columns_of(data)
        if isinstance(data, np.ndarray):
            data = (data,)
        if isinstance(data, (Mapping, tuple)):
            data = self._loader(self._named(data, "the data"))
            data = data if seed is None else data.shuffle(seed)
        if hasattr(data, "__getitem__") and hasattr(data, "__len__") and not hasattr(data, "__iter__"):
            data = Loader(data) if seed is None else Loader(data).shuffle(seed)
        if isinstance(data, Loader) and not data.is_batched:
            drop_last = any(var.shape[:1] > (0,) for var in self.variables)
            feeder = DataFeeder(self.variables) if any(var.lod_level for var in self.variables) else None
            data = data.batch(batch_size, drop_last, feeder=feeder)
        if not (hasattr(data, "__iter__") or callable(data)) or isinstance(data, (str, bytes, Variable)):
            raise ProgramError(
                f"{what} is {shown(data)}: give arrays, a Loader, an iterable of batches or a function that returns one"
            )
        self._padded = data.padded if isinstance(data, Loader) else ()
        self.batch_size = data.batch_size if isinstance(data, Loader) else None
        """Rows of a batch; None: the data is of batches that were made elsewhere."""
        data = iter(data) if isinstance(data, Loader) and data.is_one_pass else data
        self.is_one_pass = isinstance(data, Iterator)
        self._takes_epoch = not hasattr(data, "__iter__") and _takes_argument(data)
        self._data: Any = data
        self._read = 0  # batches of an iterator

    def check(self, epochs: int) -> None:
        """Reads the first batch. ProgramError, or ShapeError, if there is none, it does not fit, or an iterator would end."""
        if self.is_one_pass and self.steps is None and epochs > 1:
            raise ProgramError(
                f"{self.what} is an iterator, which ends after the first of {epochs} epochs: give the function that makes it, a "
                "list, or a Loader; or steps_per_epoch"
            )
        # The first batch does not need workers.
        batches = iter(self._data.prefetch(1, workers=0) if isinstance(self._data, Loader) else self._opened(self.first_epoch))
        first = next(batches, None)
        if first is None:
            raise ProgramError(f"{self.what} has no batches")
        if self.is_one_pass:
            self._data = chain([first], batches)
        self.feed(0, first)

    def kept(self, limit: int | None = None) -> Batches:
        """The first batches of the first epoch, copied, for each epoch; None: all of them."""
        feeds = [{name: _copied(value) for name, value in feed.items()} for feed in islice(self.epoch(0), limit)]
        return Batches(self.what, feeds, self._program)

    def count(self) -> int | None:
        """Batches of an epoch; None where that is not known."""
        if self.is_one_pass or not hasattr(self._data, "__len__"):
            return self.steps
        try:
            count = len(self._data)
        except TypeError:  # a Loader, or another one's, of an iterable
            return self.steps
        return count if self.steps is None else min(count, self.steps)

    def epoch(self, number: int, position: int = 0) -> Generator[Feed, None, None]:
        """The feeds of an epoch, from 0, without the first `position` ones. A Loader begins there; other batches are read and
        left out, so they must have the same order in each process."""
        left = None if self.steps is None else max(self.steps - position, 0)
        if isinstance(self._data, Loader):
            self._data.load_state_dict({"epoch": number, "position": position})
            source, skipped = iter(self._data), 0
        else:
            source = self._opened(number)
            done = (number - self.first_epoch) * (self.steps or 0) + position
            skipped = max(done - self._read, 0) if self.is_one_pass else position
        given = 0
        self._read += skipped
        try:
            for given, batch in enumerate(islice(source, skipped, None if left is None else skipped + left), 1):
                self._read += 1
                yield self.feed(position + given - 1, batch)
        finally:
            if isinstance(source, Generator) and not self.is_one_pass:
                source.close()  # ends the workers of a Loader
        if self.is_one_pass and left is not None and given < left:
            raise ProgramError(
                f"{self.what} is an iterator and ended after {position + given} of {self.steps} batches of epoch {number + 1}: "
                "give the function that makes it, a list, or a Loader"
            )

    def feed(self, number: int, batch: Any) -> Feed:
        """A batch as a feed; ShapeError with its number and the name of the variable if it does not fit."""
        where = f"batch {number}"
        named = self._named(columns_of(batch), where)
        return {var.name: fitted(f"{self.what}: {where}", var, named[var.name]) for var in self.variables}

    def rows(self, feed: Feed) -> int:
        """The rows, or sequences, of a feed: the weight of its means; those of a variable with a batch dimension, if there is
        one."""
        with_rows = (var for var in self.variables if var.lod_level or var.shape[:1] == (-1,))
        value = feed[next(with_rows, self.variables[0]).name]
        return len(value.lod[0]) - 1 if isinstance(value, LoDTensor) and value.lod else len(np.atleast_1d(np.asarray(value)))

    def _opened(self, epoch: int) -> Iterator[Any]:
        if hasattr(self._data, "__iter__"):
            return iter(self._data)
        return iter(opened(self.what, self._data, *([epoch] if self._takes_epoch else [])))

    def _named(self, batch: Any, where: str) -> Mapping[str, Any]:
        """The values by the names of the variables. Lengths that a Loader adds to padded sequences may be left over."""
        names = [var.name for var in self.variables]
        if not isinstance(batch, Mapping):
            values = batch if isinstance(batch, (tuple, list)) else (batch,)
            if len(values) not in (len(names), len(names) + len(self._padded)):
                count = "1 value" if len(values) == 1 else f"{len(values)} values"
                held = count if isinstance(batch, (tuple, list)) else f"of type {type(batch).__name__}"
                raise ProgramError(f"{self.what}: {where} is {held}; the program reads {listed(names)}, in this order")
            return dict(zip(names, values))
        missing = [name for name in names if name not in batch]
        lengths = [length_name(key) for key in self._padded]
        unknown = [name for name in batch if name not in names and name not in lengths]
        if missing:
            hint = near(missing[0], unknown).replace("did you mean", "is that")
            raise ProgramError(
                f"{self.what}: {where} has no '{printable(missing[0])}'; the program reads {listed(names)}, "
                f"{where} has {listed(batch) or 'nothing'}{hint}"
            )
        if unknown:
            raise ProgramError(
                f"{self.what}: {where} has '{printable(unknown[0])}', which the program does not read: {listed(names)}"
            )
        return batch

    def _loader(self, columns: Mapping[str, Any]) -> Loader:
        """Rows of the columns: of arrays as they are, of sequences one by one."""
        if any(var.lod_level for var in self.variables):
            values = [columns[var.name] for var in self.variables]
            for var, value in zip(self.variables, values):
                if not hasattr(value, "__len__"):
                    name = printable(var.name)
                    raise ProgramError(f"{self.what}: the column '{name}' is {shown(value)}, it must be a list or an array")
            lengths = {len(value) for value in values}
            if len(lengths) != 1:
                raise ShapeError(f"{self.what}: the columns have different numbers of rows: {listed(sorted(lengths))}")
            return Loader(list(zip(*values)))
        arrays = {var.name: fitted(self.what, var, columns[var.name], any_rows=True) for var in self.variables}
        counts = {name: len(array) for name, array in arrays.items()}
        if len(set(counts.values())) != 1:
            raise ShapeError(f"{self.what}: the arrays have different numbers of rows: {shown(counts)}")
        return Loader(arrays)


def _copied(value: Any) -> Any:
    """Its source may use the memory again for the next batch."""
    return LoDTensor(np.array(value.array), value.lod) if isinstance(value, LoDTensor) else np.array(value)


def _takes_argument(function: Any) -> bool:
    try:
        inspect.signature(function).bind(0)
    except (TypeError, ValueError):  # it takes none, or does not say
        return False
    return True


def fitted(where: str, var: Variable, value: Any, any_rows: bool = False) -> Any:
    """The value as an array of the variable's dtype and shape. A LoDTensor is left as it is. ShapeError for a conversion that
    loses more than digits, or another shape; dimensions of 1 after the first may be missing or additional."""
    if isinstance(value, LoDTensor):
        return value
    if type(value) is np.ndarray and value.dtype == numpy_dtype(var.dtype) and not any_rows and _fits(value.shape, var.shape):
        return value
    name = printable(var.name)
    try:
        array = as_array(value, f"{where}: '{name}'", bits=var.dtype == "bfloat16")
    except ShapeError:
        if not (differs := differing_row(value)):
            raise
        raise ShapeError(f"{where}: '{name}': {differs}") from None
    array = cast(f"{where}: '{name}' is an array of {array.dtype}", array, var.dtype)
    wanted = (-1, *var.shape[1:]) if any_rows and var.shape else var.shape
    if _fits(array.shape, wanted):
        return array
    known = array.ndim > 0 and len(wanted) > 0 and min(wanted[1:], default=0) >= 0
    same = [dim for dim in array.shape[1:] if dim != 1] == [dim for dim in wanted[1:] if dim != 1]
    if known and same and _fits(array.shape[:1], wanted[:1]):
        return array.reshape(len(array), *wanted[1:])
    hint = ""
    if wanted[:1] == (-1,) and [dim for dim in array.shape if dim != 1] == [dim for dim in wanted[1:] if dim != 1]:
        hint = ", the rows of a batch: for single samples give pm.data.Loader(samples)"
    raise ShapeError(f"{where}: '{name}' is {list(array.shape)}, the program wants {list(var.shape)}{hint}")


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    return len(shape) == len(wanted) and all(want in (-1, has) for has, want in zip(shape, wanted))
