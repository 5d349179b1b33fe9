# Tables: the durable state of the coordinator as dictionaries, whose changes are noted, undone and written one by one.
from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any, Generic, TypeVar

K = TypeVar("K", int, str)
V = TypeVar("V")
State = Mapping[str, Any]
"""The content of tables as JSON values: by name, a list of pairs of key and value."""
_NONE = object()


class Table(MutableMapping[K, V], Generic[K, V]):
    """A dictionary of texts or integers to values that JSON supports, or to tuples of these. load(value): a value from
    JSON. Values are replaced, not modified in place. note(key, before): is called before each change; None: a table of
    its own, whose changes are not noted."""

    def __init__(self, load: Callable[[Any], V] = lambda value: value):
        self._load = load
        self._values: dict[K, V] = {}
        self.note: Callable[[Any, Any], None] | None = None

    def __getitem__(self, key: K) -> V:
        return self._values[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __setitem__(self, key: K, value: V) -> None:
        if self.note is not None:
            self.note(key, self._values.get(key, _NONE))
        self._values[key] = value

    def __delitem__(self, key: K) -> None:
        if self.note is not None:
            self.note(key, self._values[key])
        del self._values[key]

    def clear(self) -> None:
        for key in list(self._values):
            del self[key]

    def put_back(self, key: K, before: Any) -> None:
        """Undoes a change, without noting it."""
        if before is _NONE:
            self._values.pop(key, None)
        else:
            self._values[key] = before

    def dump(self) -> list[Any]:
        return [[key, value] for key, value in self._values.items()]

    def restore(self, pairs: Sequence[Any]) -> None:
        """Replaces the content by that of dump(), after JSON."""
        self._values = {key: self._load(value) for key, value in pairs}

    def apply(self, pairs: Sequence[Any]) -> None:
        """Sets the values of a record of a Journal: a key without a value is removed."""
        for key, *value in pairs:
            if value:
                self._values[key] = self._load(value[0])
            else:
                self._values.pop(key, None)


class Part:
    """A part of the coordinator. tables: its durable state, by name."""

    tables: Mapping[str, Table[Any, Any]]

    def derive(self) -> None:
        """Computes what follows from the tables, after they were restored or their changes were undone."""

    def snapshot(self) -> dict[str, Any]:
        """All durable state as JSON values."""
        return {name: table.dump() for name, table in self.tables.items()}

    def restore(self, state: State) -> None:
        """Restores a snapshot."""
        for name, table in self.tables.items():
            table.restore(state[name])
        self.derive()


class Facts(Part):
    """A part that is only some values by name."""

    def __init__(self, **facts: Any) -> None:
        self.facts: Table[str, Any] = Table()
        self.facts.update(facts)
        self.tables = {"facts": self.facts}


class Journal:
    """Notes the changes of all tables of parts, to undo them and to write them.

    mark(): the number of changes that are not final. A record has the values of all keys that changed since the previous
    record, so that records in their order make the state of the tables."""

    def __init__(self, parts: Mapping[str, Part]):
        self._parts = parts
        self._tables = {f"{of}.{name}": table for of, part in parts.items() for name, table in part.tables.items()}
        self._undo: list[tuple[Table[Any, Any], Any, Any]] = []
        self._changed: dict[str, dict[Any, None]] = {}
        for name, table in self._tables.items():
            table.note = self._noting(name, table)

    def _noting(self, name: str, table: Table[Any, Any]) -> Callable[[Any, Any], None]:
        def note(key: Any, before: Any) -> None:
            self._undo.append((table, key, before))
            self._changed.setdefault(name, {})[key] = None

        return note

    def mark(self) -> int:
        return len(self._undo)

    def forget(self) -> None:
        """The changes so far are final."""
        self._undo.clear()

    def undo(self, mark: int = 0) -> None:
        """Undoes the changes since a mark; those that are not final."""
        undone, self._undo = self._undo[mark:], self._undo[:mark]
        for table, key, before in reversed(undone):
            table.put_back(key, before)
        for part in self._parts.values() if undone else ():
            part.derive()

    def record(self) -> dict[str, Any]:
        """The changes since the previous written()."""
        return {
            name: [[key, self._tables[name][key]] if key in self._tables[name] else [key] for key in keys]
            for name, keys in self._changed.items()
        }

    def written(self) -> None:
        """The last record, or a snapshot, was written."""
        self._changed.clear()

    def snapshot(self) -> dict[str, Any]:
        return {name: table.dump() for name, table in self._tables.items()}

    def restore(self, state: State, records: Sequence[State]) -> None:
        """Restores a snapshot and the records that follow it. KeyError for a table that does not exist."""
        for name, table in self._tables.items():
            table.restore(state[name])
        for record in records:
            for name, pairs in record.items():
                self._tables[name].apply(pairs)
        for part in self._parts.values():
            part.derive()
