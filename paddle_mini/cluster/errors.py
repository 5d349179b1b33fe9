# What the parts of a cluster refuse, by kind: the same class on both ends of a wire.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._core import Error


class ClusterError(Error):
    """A part of a cluster refuses; whoever asked is told, and nothing has changed unless the text says so."""

    kind = "failed"  # a part met something that it has no other word for; its log has more


class NotInitialised(ClusterError):
    """Parameters are wanted or changed before an initialiser has given them all."""

    kind = "not_initialised"


class AlreadyInitialised(ClusterError):
    """Parameters are given to a server that has them all."""

    kind = "already_initialised"


class NotElected(ClusterError):
    """Something that only an elected trainer may do."""

    kind = "not_elected"


class UnknownParameter(ClusterError):
    """A parameter, or a block of one, that the server does not hold."""

    kind = "unknown_parameter"


class WrongShape(ClusterError):
    """An array has another shape than its block."""

    kind = "wrong_shape"


class WrongDtype(ClusterError):
    """An array has another dtype than its parameter."""

    kind = "wrong_dtype"


class WrongRow(ClusterError):
    """The number of a row that is not in the block."""

    kind = "wrong_row"


class Stale(ClusterError):
    """A push comes too late: it was made from a version too far behind, or its step is over. It was dropped."""

    kind = "stale"


class StaleToken(ClusterError):
    """Someone else was elected since."""

    kind = "stale_token"


class NotFinite(ClusterError):
    """A gradient or difference is not finite: the whole push was dropped."""

    kind = "not_finite"


class WrongJob(ClusterError):
    """Of another job."""

    kind = "wrong_job"


class WrongVersion(ClusterError):
    """Of another version of the protocol."""

    kind = "wrong_version"


class Malformed(ClusterError):
    """A message or a setting that says nothing that could be done."""

    kind = "malformed"


class Timeout(ClusterError):
    """No answer in the time that was given."""

    kind = "timeout"


class StorageError(ClusterError):
    """A disk refuses, or what is on it can't be used."""

    kind = "storage"


class Gone(ClusterError):
    """A trainer or server that the job goes on without."""

    kind = "gone"


class TrainerFailed(ClusterError):
    """A trainer's function raised, which is the cause of this, or it died too often. It is in no message."""

    @classmethod
    def of(cls, number: int, error: BaseException) -> TrainerFailed:
        """For what trainer `number` raised; its last line is the user's line that did."""
        return cls(f"trainer {number}: {type(error).__name__}: {error}{getattr(error, 'raised_at', '')}")


ERRORS: dict[str, type[ClusterError]] = {
    error.kind: error
    for error in (
        ClusterError,
        NotInitialised,
        AlreadyInitialised,
        NotElected,
        UnknownParameter,
        WrongShape,
        WrongDtype,
        WrongRow,
        Stale,
        StaleToken,
        NotFinite,
        WrongJob,
        WrongVersion,
        Malformed,
        Timeout,
        StorageError,
        Gone,
    )
}
"""The class of each kind of error that a reply may name."""


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """What the system refuses inside is a StorageError that begins with `what`."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{what}: {error.strerror or error}") from error
