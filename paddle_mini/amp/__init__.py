"""Mixed precision: a program whose products are of 16-bit floats, while its parameters stay float32."""

from ..renamed import show_public
from .decorate import MixedPrecision, decorate
from .lists import AutoMixedPrecisionLists
from .parameters import cast_parameters

__all__ = ["AutoMixedPrecisionLists", "MixedPrecision", "cast_parameters", "decorate"]

show_public(globals())
