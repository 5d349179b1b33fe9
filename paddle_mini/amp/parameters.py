# cast_parameters: values of float32 for the 16-bit parameters of a program.
from __future__ import annotations

from .. import dtypes
from .._core import Scope
from ..executor import Executor
from ..guards import default_main_program
from ..io.parameters import parameter_names
from ..io.values import set_values
from ..program import Program
from ..scope import scope_or_global


def cast_parameters(program: Program | None = None, scope: Scope | None = None) -> list[str]:
    """Rounds the float32 values of variables that the program declares as float16 or bfloat16.

    PaddlePaddle's programs of level O2 need it once, after the startup program, which initializes parameters in float32
    and copies them to their masters; it is what amp_init does there.
    program: the one that declares them; None: the default main program. scope: of the values; None: the global one.
    Returns the names of the variables that it changed; a second call changes none.
    Example:
        >>> program, scope = pm.Program(), pm.Scope()
        >>> weight = program.global_block().create_parameter("weight", [2], "bfloat16")
        >>> scope.set("weight", np.array([1.0, 2.0], "float32"))
        >>> pm.amp.cast_parameters(program, scope), scope.info("weight")["dtype"]
        (['weight'], 'bfloat16')
    """
    program = default_main_program() if program is None else program
    scope = scope_or_global(scope)
    variables = program.global_block().vars
    names = [
        name
        for name in parameter_names(program)
        if variables[name].dtype in ("float16", "bfloat16") and name in scope and scope.info(name)["dtype"] == "float32"
    ]
    if not names:
        return []
    casts = Program()
    block = casts.global_block()
    for name in names:
        block.create_var(name, dtype="float32", shape=variables[name].shape, persistable=True)
        block.append_op("cast", {"X": name}, {"Out": f"{name}.cast"}, {"out_dtype": dtypes.NUMBERS[variables[name].dtype]})
    values = Executor().run(casts, fetch_list=[f"{name}.cast" for name in names], scope=scope)
    set_values(scope, program, {name: (value, None) for name, value in zip(names, values)})
    return names
