# Operators that users define, beside those of the package.
from .cxx import load_op
from .py_func import register_py_func
from .python import python_op

__all__ = ["load_op", "python_op", "register_py_func"]
