# Loader: samples in a seeded order, mapped, in batches, prefetched; it resumes in the middle of an epoch. Order and values
# depend on data, seeds and epoch alone, not on workers.
from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .._core import ProgramError, printable
from ..errors import listed, shown, whole
from ..renamed import answers_names, takes_other_names
from .collate import Collate, Rows, columns_of
from .feeder import DataFeeder
from .reader import batch, opened, require_positive, shuffle
from .workers import in_order

Arrays = Mapping[str, Any] | tuple[Any, ...]
Source = Arrays | Sequence[Any] | Iterable[Any] | Callable[[], Iterable[Any]]


class _Map(NamedTuple):
    function: Callable[..., Any]
    random: bool


class _Work(NamedTuple):
    """The computation of one item, by a worker. A task: epoch, number of the item, and its members: (index, sample) pairs."""

    source: Sequence[Any] | None  # samples are read from it by index; None: the members hold them
    maps: tuple[_Map, ...]
    collate: Callable[[list[Any]], Any] | None
    batch_maps: tuple[_Map, ...]
    seed: int

    def make(self, task: tuple[int, int, list[tuple[int, Any]]]) -> Any:
        epoch, number, members = task
        if self.collate is None:
            ((index, sample),) = members
            return self._sample(epoch, index, sample)
        if isinstance(self.source, Rows) and not self.maps and isinstance(self.collate, Collate) and not self.collate.pad:
            value = self.source.batch(np.fromiter((index for index, _ in members), np.intp, len(members)))
        else:
            value = self.collate([self._sample(epoch, index, sample) for index, sample in members])
        return self._mapped(self.batch_maps, epoch, "batch", number, value)

    def make_packed(self, task: tuple[int, int, list[tuple[int, Any]]]) -> bytes:
        """make() for another process; an error says which result can't be sent."""
        from multiprocessing.reduction import ForkingPickler  # here, because paddle_mini is imported without it

        value = self.make(task)
        try:
            return bytes(ForkingPickler.dumps(value))
        except Exception as error:  # what can't be sent to a process raises errors of many types
            indices = listed(index for index, _ in task[2])
            what = f"sample {indices}" if self.collate is None else f"the batch of the samples {indices}"
            raise ProgramError(
                f"Loader: {what} can't be sent from its process: {type(error).__name__}: {printable(str(error), 500)}"
            ) from None

    def _sample(self, epoch: int, index: int, sample: Any) -> Any:
        if self.source is not None:
            sample = _located(self.source.__getitem__, "sample", index, index)
        return self._mapped(self.maps, epoch, "sample", index, sample)

    def _mapped(self, maps: tuple[_Map, ...], epoch: int, kind: str, index: int, value: Any) -> Any:
        for place, (function, random) in enumerate(maps):
            rest = (np.random.default_rng((self.seed, epoch, index, place, kind == "batch")),) if random else ()
            value = _located(function, kind, index, value, *rest)
            if value is None:
                name = printable(getattr(function, "__name__", type(function).__name__))
                raise ProgramError(f"Loader: '{name}' of {kind} {index} returned None, it must return the {kind}")
        return value


class _Once:
    """The samples of an iterator, which can be read once."""

    def __init__(self, samples: Iterator[Any]):
        self._samples: Iterator[Any] | None = samples

    def __iter__(self) -> Iterator[Any]:
        if self._samples is None:
            raise ProgramError("Loader: the data is an iterator, which can be read once: give a function that makes it")
        samples, self._samples = self._samples, None
        return samples


@partial(answers_names, fixed=("data", "is_batched"))
class Loader:
    """Samples of a data set, epoch by epoch. Each method returns a new Loader with one property more.

    data: a dict or tuple of arrays with equally many rows, or a pandas DataFrame; a sequence of samples (len and []); an
    iterable of samples, which each epoch reads from its beginning; or a function without arguments that returns one. A sample
    is a dict, a tuple or a single value. iter(loader) is the next epoch; len(loader) the number of its items, TypeError where
    the data has no length.

    ProgramError for arguments of the wrong kind, and for the second epoch of an iterator, which can be read once. An error
    of a function, or while a sample is read, is a ProgramError with the index of the sample in the data.

    >>> loader = pm.data.Loader((np.arange(5), 2 * np.arange(5))).batch(2)
    >>> [x.tolist() for x, y in loader]
    [[0, 1], [2, 3], [4]]
    """

    @takes_other_names
    def __init__(self, data: Source):
        data = columns_of(data)
        if isinstance(data, (Mapping, tuple)):
            data = Rows(data)
        self._by_index = hasattr(data, "__len__") and hasattr(data, "__getitem__")
        if isinstance(data, (str, bytes)) or not (self._by_index or hasattr(data, "__iter__") or callable(data)):
            raise ProgramError(
                f"Loader: data is {shown(data)}: give arrays, a sequence, an iterable or a function that returns one"
            )
        self.data: Any = _Once(data) if isinstance(data, Iterator) else data
        self.is_batched = False
        by_index: Any = self.data if self._by_index else None
        self._work = _Work(by_index, (), None, (), 0)
        self._buffer: int | None = 0  # 0: no shuffling; None: as large as the data
        self._size, self._drop_last = 1, False
        self._length: Callable[[Any], int] | None = None
        self._window = 1
        self._ahead, self._workers, self._processes = 0, 0, False
        # Epoch and position: where the next iterator begins, and where the one made last is, which changes its list.
        self._next, self._at = (0, 0), [0, 0]

    @property
    def is_one_pass(self) -> bool:
        """Whether the data is an iterator, which can be read once."""
        return isinstance(self.data, _Once)

    @property
    def batch_size(self) -> int | None:
        """Samples of a batch; None: items are samples."""
        return self._size if self.is_batched else None

    @property
    def padded(self) -> tuple[Any, ...]:
        """The keys, or positions, of the sequences that batch(pad=) fills up: their lengths follow in a batch."""
        collate = self._work.collate
        return tuple(collate.pad) if isinstance(collate, Collate) else ()

    def map(self, function: Callable[..., Any], random: bool = False) -> Loader:
        """function(sample) instead of each sample; after batch() of each batch. Rows of arrays are read-only. random: it is
        called with a second argument, a numpy.random.Generator that depends on the seed of shuffle(), the epoch and the sample
        only."""
        if not callable(function):
            raise ProgramError(f"Loader.map: {shown(function)} is not a function")
        added = _Map(function, random)
        if self.is_batched:
            return self._with(_work=self._work._replace(batch_maps=(*self._work.batch_maps, added)))
        return self._with(_work=self._work._replace(maps=(*self._work.maps, added)))

    def shuffle(self, seed: int = 0, buffer_size: int | None = None) -> Loader:
        """Another order in each epoch, by the seed. buffer_size: how many samples are permuted at a time; None: all, for
        which the data must have a length."""
        if buffer_size is not None:
            require_positive("Loader.shuffle", "buffer_size", buffer_size)
        elif not self._by_index:
            raise ProgramError("Loader.shuffle: the data has no length: give buffer_size")
        seed = whole("Loader.shuffle: seed", seed, low=0)
        return self._with(_buffer=buffer_size, _work=self._work._replace(seed=seed))

    @takes_other_names
    def batch(
        self,
        size: int,
        drop_last: bool = False,
        pad: Mapping[Any, Any] | None = None,
        feeder: DataFeeder | None = None,
        length: Callable[[Any], int] | None = None,
        window: int = 100,
    ) -> Loader:
        """Batches of `size` samples; the last one may be shorter, or is left out with drop_last.

        Values are stacked. pad: {key or position: number}: sequences are filled up with the number, and the batch has their
        lengths, int64 [size], as `KEY_length`, or at the end of the tuple. feeder: samples become feeds with LoDTensors.
        length: the length of a sample as it is in the data: samples of similar length share a batch, chosen among the
        `window` × size samples that come next. ShapeError, when it is read, for values that don't make an array.
        """
        require_positive("Loader.batch", "size", size)
        require_positive("Loader.batch", "window", window)
        if self.is_batched or (pad is not None and feeder is not None):
            raise ProgramError("Loader.batch: " + ("the loader has batches" if self.is_batched else "give pad or feeder"))
        if feeder is not None and not callable(getattr(feeder, "feed", None)):
            raise ProgramError(f"Loader.batch: feeder is {shown(feeder)}, it must be a DataFeeder")
        if length is not None and not callable(length):
            raise ProgramError(f"Loader.batch: length is {shown(length)}, it must be a function of a sample, such as len")
        collate = Collate(pad) if feeder is None else feeder.feed
        changed = {"_size": int(size), "_drop_last": drop_last, "_length": length, "_window": window, "is_batched": True}
        return self._with(_work=self._work._replace(collate=collate), **changed)

    @takes_other_names
    def prefetch(self, ahead: int, workers: int = 1, processes: bool = False) -> Loader:
        """Computes up to `ahead` items before they are asked for, in `workers` threads, or processes, that end with the
        iteration; workers=0: no item is computed ahead. Processes are spawned at the beginning of each epoch, and receive a
        copy of data and functions: these must be importable, and a script needs `if __name__ == "__main__":`."""
        require_positive("Loader.prefetch", "ahead", ahead)
        if workers:
            require_positive("Loader.prefetch", "workers", workers)
        return self._with(_ahead=int(ahead), _workers=int(workers), _processes=processes)

    def __len__(self) -> int:
        if not self._by_index:
            raise TypeError("this Loader has no length: its data is an iterable")
        count = len(self.data)
        return count // self._size if self._drop_last else -(-count // self._size)

    def __iter__(self) -> Iterator[Any]:
        epoch, position = self._next
        self._next, self._at = (epoch + 1, 0), [epoch, position]
        return self._epoch(epoch, position, self._at)

    def state_dict(self) -> dict[str, int]:
        """Epoch and position of the iterator made last: how many of its items have been given."""
        return dict(zip(("epoch", "position"), self._at))

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """The next iterator begins where that of a state_dict() was; ProgramError for anything else."""
        values = [state.get(key) for key in ("epoch", "position")] if isinstance(state, Mapping) else []
        if not values or not all(isinstance(value, (int, np.integer)) and value >= 0 for value in values):
            raise ProgramError(f"Loader.load_state_dict: {shown(state)} is not the result of state_dict()")
        epoch, position = map(int, values)  # type: ignore[arg-type]
        if self._by_index and position > len(self):
            raise ProgramError(
                f"Loader.load_state_dict: position {position} is beyond the {len(self)} items of an epoch: the state is that of "
                "other data, or of another size of batches"
            )
        self._next, self._at = (epoch, position), [epoch, position]

    def _with(self, **changed: Any) -> Loader:
        other = copy.copy(self)
        vars(other).update(changed, _next=(0, 0), _at=[0, 0])
        return other

    def _epoch(self, epoch: int, position: int, at: list[int]) -> Iterator[Any]:
        tasks = self._tasks(epoch, position)
        unpack: Callable[[Any], Any] | None = None
        if self._processes and self._workers:
            from multiprocessing.reduction import ForkingPickler

            unpack = ForkingPickler.loads
        work = self._work.make if unpack is None else self._work.make_packed
        with closing(in_order(tasks, work, self._ahead, self._workers, self._processes)) as items:
            for number, item in enumerate(items, position + 1):
                at[:] = epoch, number
                yield item if unpack is None else unpack(item)
        at[:] = epoch + 1, 0

    def _tasks(self, epoch: int, position: int) -> Generator[Any, None, None]:
        for number, members in islice(enumerate(self._groups(epoch)), position, None):
            yield epoch, number, members

    def _groups(self, epoch: int) -> Iterator[list[tuple[int, Any]]]:
        members = self._members()
        shuffled = self._buffer != 0
        if shuffled:
            size = max(len(self.data), 1) if self._buffer is None else self._buffer
            members = shuffle(members, size, (self._work.seed, epoch))
        if self._length is None:
            yield from batch(members, self._size, self._drop_last)
            return
        random = np.random.default_rng((self._work.seed, epoch, 1))
        for some in batch(members, self._size * self._window):
            groups = list(batch(sorted(some, key=self._length_of), self._size, self._drop_last))
            yield from (groups[i] for i in random.permutation(len(groups))) if shuffled else groups

    def _members(self) -> Iterator[tuple[int, Any]]:
        if self._by_index:
            return ((index, None) for index in range(len(self.data)))
        return _numbered(opened("Loader", self.data) if callable(self.data) else self.data)

    def _length_of(self, member: tuple[int, Any]) -> int:
        index, sample = member
        if self._by_index:
            sample = _located(self.data.__getitem__, "sample", index, index)
        measured = _located(self._length, "sample", index, sample)
        if not isinstance(measured, (int, float, np.number)):
            raise ProgramError(f"Loader.batch: the length of sample {index} is {shown(measured)}, it must be a number")
        return measured  # type: ignore[return-value]


def _numbered(samples: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    source, index = iter(samples), 0
    end = object()
    while (sample := _located(next, "sample", index, source, end)) is not end:
        yield index, sample
        index += 1


def _located(function: Any, kind: str, index: int, *arguments: Any) -> Any:
    """function(*arguments); an error says at which sample or batch it came."""
    try:
        return function(*arguments)
    except Exception as error:
        name = getattr(function, "__name__", type(function).__name__)
        what = {"__getitem__": "reading", "next": "reading"}.get(name, f"'{printable(name)}' of")
        raise ProgramError(
            f"Loader: {what} {kind} {index} failed: {type(error).__name__}: {printable(str(error), 500)}"
        ) from error
