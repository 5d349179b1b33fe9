# Descriptions of the arguments and errors that layer functions share.
from __future__ import annotations

ARGUMENTS = {
    "act": 'the type of an operator of one input that is applied at the end, such as "relu"; None: none',
    "param_attr": "a ParamAttr, name or initializer for the weight",
    "bias_attr": "a ParamAttr, name or initializer for the bias; False: no bias",
    "epsilon": "ε, which keeps the denominator above 0",
    "is_test": "whether the operator is for tests; Program.clone(for_test=True) sets it",
    "name": "the beginning of the names of its variables; None: that of the layer",
}
ERRORS = {
    "ShapeError": "shapes or element types that do not fit",
    "ProgramError": "other arguments; the program is then unchanged",
}
