# Models whose parameters do not fit into memory: PREFIX.pdiparams is written piece by piece.
from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from .. import _core
from .._core import ProgramError, ShapeError, printable
from ..program import Program
from .parameters import parameter_names


class InPieces(NamedTuple):
    """A value that is not there as a whole. pieces: arrays of its elements, in their order."""

    dtype: np.dtype
    shape: tuple[int, ...]
    pieces: Iterable[np.ndarray]

    @classmethod
    def whole(cls, array: np.ndarray) -> InPieces:
        """The pieces of an array: itself."""
        return cls(array.dtype, array.shape, [array])


def write_model_in_pieces(prefix: str, program: Program, values: Iterable[InPieces]) -> None:
    """Writes prefix.pdmodel and prefix.pdiparams of an inference_program(), as save_inference_model does, in an existing
    folder. values: of parameter_names(program), in their order; each is read when those before it are written.
    ShapeError when pieces are more or fewer elements than the shape; files that were begun then stay."""
    names, checksum = parameter_names(program), None
    if names:
        try:
            checksum = _write_parameters(prefix + ".pdiparams", names, values)
        except OSError as error:
            raise ProgramError(f"can't write '{printable(prefix)}.pdiparams': {error.strerror}") from None
    _core.write_model(prefix + ".pdmodel", program.to_bytes(), checksum)


def _write_parameters(path: str, names: Sequence[str], values: Iterable[InPieces]) -> int:
    """The checksum of the file."""
    checksum = 0
    with open(path, "wb", buffering=1 << 20) as file:

        def write(some: memoryview | bytes) -> None:
            nonlocal checksum
            file.write(some)
            checksum = _core.crc32c(some, checksum)

        for name, value in zip(names, values, strict=True):
            write(_core.tensor_header(value.dtype, value.shape))
            left, fits = prod(value.shape), True
            for piece in value.pieces:
                left -= piece.size
                fits = left >= 0 and piece.dtype == value.dtype
                if not fits:
                    break
                write(np.ascontiguousarray(piece).reshape(-1).view(np.uint8).data)
            if left or not fits:
                raise ShapeError(f"the pieces of '{printable(name)}' are not {list(value.shape)} {value.dtype}")
    return checksum
