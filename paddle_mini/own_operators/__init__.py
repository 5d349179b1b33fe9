# Operators that users define, beside those of the package.
from .cxx import load_op
from .python import python_op

__all__ = ["load_op", "python_op"]
