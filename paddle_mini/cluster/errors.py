# Errors of a cluster: a class for each kind of error in messages, the same at sender and receiver.
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .._core import Error


class ClusterError(Error):
    """A request failed. Nothing has changed, unless the text says so."""

    kind = "failed"  # an unexpected error; the log of the process has details


class NotInitialised(ClusterError):
    """Parameters are pulled or changed before they are initialised."""

    kind = "not_initialised"


class AlreadyInitialised(ClusterError):
    """The server is initialised already."""

    kind = "already_initialised"


class NotElected(ClusterError):
    """No number is free: all trainers, or all servers, of the job have joined."""

    kind = "not_elected"


class UnknownParameter(ClusterError):
    """The server does not have this parameter or block."""

    kind = "unknown_parameter"


class WrongShape(ClusterError):
    """The shape of an array is not that of its block."""

    kind = "wrong_shape"


class WrongDtype(ClusterError):
    """The dtype of an array is not that of its parameter."""

    kind = "wrong_dtype"


class WrongRow(ClusterError):
    """A row index is not in the block."""

    kind = "wrong_row"


class Stale(ClusterError):
    """A push was dropped because its parameters were too old, or its step was complete."""

    kind = "stale"


class StaleToken(ClusterError):
    """Another trainer was elected since."""

    kind = "stale_token"


class NotFinite(ClusterError):
    """A gradient or difference is not finite: the whole push was dropped."""

    kind = "not_finite"


class WrongJob(ClusterError):
    """A message or file belongs to another job."""

    kind = "wrong_job"


class WrongVersion(ClusterError):
    """A message or file has another version of the protocol or format."""

    kind = "wrong_version"


class Malformed(ClusterError):
    """A message or a setting is invalid."""

    kind = "malformed"


class Timeout(ClusterError):
    """No answer arrived in time."""

    kind = "timeout"


class StorageError(ClusterError):
    """The disk failed, or a file or directory can't be used."""

    kind = "storage"


class Gone(ClusterError):
    """A trainer, server or service is no longer part of the job."""

    kind = "gone"


class TrainerFailed(ClusterError):
    """A trainer's function raised (then the cause of this error), or the trainer died too often. Not used in
    messages."""

    @classmethod
    def of(cls, number: int, error: BaseException) -> TrainerFailed:
        """For an error of trainer `number`; the last line names the user's line that raised it."""
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
    """Maps OSError to a StorageError whose message begins with `what`."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{what}: {error.strerror or error}") from error
