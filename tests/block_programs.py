# Programs with blocks, from descriptions: loops, branches, recurrent steps and their gradients, correct or with one mistake.
from descriptions import BLOCK, FLOAT, INT, block, op, var

INTS64, STRINGS, BOOLEAN = 11, 5, 6
SCOPES, TABLE, ARRAY = 11, 12, 13
INT64, FLOAT32 = 3, 5
# The variables of each program; x is fed.
VARS = [
    var("x", [-1, 4], need_check_feed=True),
    var("y", [-1]),
    var("x@GRAD", [-1]),
    var("y@GRAD", [-1]),
    var("c", [1], "bool"),
    var("d", [1], "bool"),
    var("i", [1], "int64"),
    var("end", [1], "int64"),
    var("a", kind=ARRAY),
    var("b", kind=ARRAY),
    var("s", kind=SCOPES),
    var("t", kind=SCOPES),
    var("r", kind=TABLE),
    var("z", [-1]),
    var("p", [-1], persistable=True),
    var("q", [-1], persistable=True),
]


def constant(name, value, dtype=FLOAT32, shape=(1,)):
    return op(
        "fill_constant",
        {},
        {"Out": [name]},
        ("shape", INTS64, list(shape)),
        ("dtype", INT, dtype),
        ("value", FLOAT, float(value)),
    )


def scale(x, out):
    return op("scale", {"X": [x]}, {"Out": [out]}, ("scale", FLOAT, 2.0))


def write(x="x", array="a"):
    return op("write_to_array", {"X": [x], "I": ["i"]}, {"Out": [array]})


def read(array="a", out="y"):
    return op("read_from_array", {"X": [array], "I": ["i"]}, {"Out": [out]})


def loop(inside=1, scopes="s", condition="c", **ports):
    return op(
        "while",
        {"X": ["x", "c"], "Condition": [condition], **ports},
        {"Out": ["y", "c"], "StepScopes": [scopes]},
        ("sub_block", BLOCK, inside),
    )


def loop_gradient(inside=2, out_grads=("y@GRAD",), names=("y@GRAD",), wanted=("x@GRAD",), scopes="s"):
    return op(
        "while_grad",
        {"X": ["x"], "Out": ["y"], "Out@GRAD": list(out_grads), "StepScopes": [scopes]},
        {"X@GRAD": list(wanted)},
        ("sub_block", BLOCK, inside),
        ("original_output_grad", STRINGS, list(names)),
    )


def branch(inside=1, condition="c", out="y", scopes="s"):
    return op(
        "conditional_block",
        {"Cond": [condition]},
        {"Out": [out], "Scope": [scopes]},
        ("sub_block", BLOCK, inside),
        ("is_scalar_condition", BOOLEAN, True),
    )


def steps(inputs=("x",), initial=(), before=(), after=(), outputs=("y",)):
    return op(
        "recurrent",
        {"inputs": list(inputs), "initial_states": list(initial)},
        {"outputs": list(outputs), "step_scopes": ["s"]},
        ("sub_block", BLOCK, 1),
        ("ex_states", STRINGS, list(before)),
        ("states", STRINGS, list(after)),
    )


def inner(*ops, idx=1, parent=0, forward=-1, vars=()):
    return {**block(list(vars), list(ops), idx, parent), "forward_block_idx": forward}


def looping(*body):
    """A loop of three steps."""
    start = [constant("i", 0, INT64), constant("end", 3, INT64)]
    compare = op("less_than", {"X": ["i"], "Y": ["end"]}, {"Out": ["c"]})
    count = op("increment", {"X": ["i"]}, {"Out": ["i"]})
    return [block(VARS, [*start, compare, loop()]), inner(*body, count, compare)]


def one_step(*ops, gradient=(scale("y@GRAD", "x@GRAD"),), more=()):
    """A loop of one step, and a block of its gradients."""
    start = [constant("i", 0, INT64), constant("c", 1, 0), constant("y", 1, shape=(2, 4)), constant("y@GRAD", 1, shape=(2, 4))]
    return [
        block(VARS, [*start, *ops]),
        inner(scale("x", "y"), constant("c", 0, 0)),
        inner(*gradient, idx=2, forward=1, vars=[var("x@GRAD", [-1]), var("y@GRAD", [-1])]),
        *more,
    ]


def plain(*ops, body=()):
    return [block(VARS, [constant("i", 0, INT64), constant("c", 1, 0), *ops]), inner(*body)]


def recurring(step, *body, vars=()):
    return [
        block(VARS, [constant("i", 0, INT64), constant("z", 0, shape=(4,)), write(), step]),
        inner(*(body or [scale("x", "y")]), vars=[var("y", [-1]), *vars]),
    ]


def step_gradients(given="z", shape=(2, 4)):
    """`recurrent`, and its gradient with outputs@GRAD of some kind and shape."""
    gradient = op(
        "recurrent_grad",
        {"inputs": ["x"], "outputs": ["y"], "step_scopes": ["s"], "outputs@GRAD": [given]},
        {"inputs@GRAD": ["x@GRAD"]},
        ("sub_block", BLOCK, 2),
    )
    first, body = recurring(steps())
    first["ops"] += [constant("z", 1, shape=shape), gradient]
    gradients = [var("x@GRAD", [-1]), var("y@GRAD", [-1])]
    return [first, body, inner(scale("y@GRAD", "x@GRAD"), idx=2, forward=1, vars=gradients)]


def scopes_of_another_block():
    """The frame of the loop no longer exists when its gradient runs."""
    program = one_step(constant("d", 1, 0), branch(1, "d", scopes="t"), loop_gradient(3))
    program[1:] = [
        inner(loop(2), idx=1),
        inner(*program[1]["ops"], idx=2, parent=1),
        {**program[2], "idx": 3, "forward_block_idx": 2},
    ]
    return program
