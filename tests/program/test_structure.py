"""Foreign bytes become a program only if its structure is sound, whether or not its operators are known."""

import contextlib
import time

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import paddle_mini as pm
from descriptions import BLOCK, FLOAT, INT, STRING, block, op, program_bytes, var
from paddle_mini import _core

STRINGS, BLOCKS, LONG, VAR = 5, 10, 9, 13
X, Y = var("x", [-1, 4], need_check_feed=True), var("y", [-1, 4])
RELU = op("relu", {"X": ["x"]}, {"Out": ["y"]})
FEED = op("feed", {"X": ["feed"]}, {"Out": ["x"]}, ("col", INT, 0))
FETCH = op("fetch", {"X": ["y"]}, {"Out": ["fetch"]}, ("col", INT, 0))
LISTS = [var("feed", kind=9, persistable=True), var("fetch", kind=10, persistable=True)]
UNKNOWN = op("of_another_build", {"X": ["x"]}, {"Out": ["y"]})


def inner(idx=1, parent=0, forward=-1, vars=(), ops=()):
    return {**block(list(vars), list(ops), idx, parent), "forward_block_idx": forward}


def root(*ops, vars=(X, Y), **facts):
    return {**block(list(vars), list(ops)), **facts}


def without(op_facts, side):
    return {**op_facts, side: []}


def with_attr(*attr):
    return root({**RELU, "attrs": [attr]})


REFUSED = {
    "forward block of block 0": ([root(RELU, forward_block_idx=99)], "block 0 has forward block 99"),
    "block 0 forward of itself": ([root(RELU, forward_block_idx=0)], "block 0 has forward block 0"),
    "forward block that is not there": ([root(RELU), inner(forward=7)], "block 1 has forward block 7"),
    "forward block after it": ([root(RELU), inner(forward=2), inner(2)], "block 1 has forward block 2"),
    "forward block below -1": ([root(RELU), inner(forward=-2)], "block 1 has forward block -2"),
    "block 0 is its own parent": ([root(RELU, parent_idx=0)], "block 0 has parent 0"),
    "parent is itself": ([root(RELU), inner(parent=1)], "block 1 has parent 1"),
    "parents in a circle": ([root(RELU), inner(parent=2), inner(2, parent=1)], "block 1 has parent 2"),
    "two blocks of one number": ([root(RELU), inner(1), inner(1)], "block 2 has index 1"),
    "a block of another number": ([root(RELU, idx=-5)], "block 0 has index -5"),
    "declared twice": ([root(RELU, vars=[X, Y, var("x", [4, 3])])], "variable 'x' is declared twice in block 0"),
    "declared twice inside": ([root(RELU), inner(vars=[Y, Y])], "variable 'y' is declared twice in block 1"),
    "an inner block that is not there": ([with_attr("sub_block", BLOCK, 9)], "'sub_block' points to block 9"),
    "inner blocks that are not there": ([with_attr("blocks", BLOCKS, [1])], "'blocks' points to block 1"),
    "a block of two operators": ([root(*[{**RELU, "attrs": [("sub_block", BLOCK, 1)]}] * 2), inner()], "another operator has"),
    "an unknown operator's own block": ([root({**UNKNOWN, "attrs": [("sub_block", BLOCK, 0)]})], "points to block 0"),
    "role as text": ([with_attr("op_role", STRING, "x")], "attribute 'op_role' is STRING, expected INT"),
    "role as a fraction": ([with_attr("op_role", FLOAT, 1.0)], "attribute 'op_role' is FLOAT, expected INT"),
    "role as a variable": ([with_attr("op_role", VAR, "x")], "attribute 'op_role' is VAR, expected INT"),
    "role as a list": ([with_attr("op_role", STRINGS, ["1"])], "attribute 'op_role' is STRINGS, expected INT"),
    "call stack as text": ([with_attr("op_callstack", STRING, "a")], "attribute 'op_callstack' is STRING, expected STRINGS"),
    "device as a number": ([with_attr("op_device", INT, 0)], "attribute 'op_device' is INT, expected STRING"),
    "role variables as a number": ([with_attr("op_role_var", LONG, 1)], "'op_role_var' is LONG, expected STRINGS"),
    "an unknown operator's role": ([root({**UNKNOWN, "attrs": [("op_role", STRING, "x")]})], "'op_role' is STRING"),
    "feed without output": ([root(without(FEED, "outputs"), vars=[X, Y, *LISTS])], "output Out is missing"),
    "feed of nothing": ([root({**FEED, "outputs": [("Out", [])]}, vars=[X, Y, *LISTS])], "output Out is missing"),
    "feed of two": ([root({**FEED, "outputs": [("Out", ["x", "y"])]}, vars=[X, Y, *LISTS])], "takes one variable"),
    "fetch without input": ([root(without(FETCH, "inputs"), vars=[X, Y, *LISTS])], "input X is missing"),
    "fetch of a hole": ([root({**FETCH, "inputs": [("X", ["@EMPTY@"])]}, vars=[X, Y, *LISTS])], "input X is missing"),
    "two fetches of one column": ([root(FETCH, {**FETCH, "attrs": []}, vars=[X, Y, *LISTS])], "as that of another fetch"),
    "a column before the first": ([root({**FETCH, "attrs": [("col", INT, -1)]}, vars=[X, Y, *LISTS])], "'col' is -1"),
    "a column as text": ([root({**FEED, "attrs": [("col", STRING, "0")]}, vars=[X, Y, *LISTS])], "'col' is STRING"),
    "a type that a terminal obeys": ([root(op("re\x1b[31mlu", {}, {}))], "operator's name has a control character"),
    "a port that a terminal obeys": ([root(op("relu", {"X\n": ["x"]}, {}))], "port's name has a control character"),
    "an attribute that a terminal obeys": ([with_attr("a\rb", INT, 0)], "attribute's name has a control character"),
    "a variable that a terminal obeys": ([root(vars=[var("x\x1b[31m", [2])])], "variable name has a control character"),
}


@pytest.mark.parametrize("blocks, words", REFUSED.values(), ids=REFUSED)
def test_every_door_refuses(blocks, words, tmp_path):
    data = program_bytes(*blocks)
    (tmp_path / "model.pdmodel").write_bytes(data)
    for read in (
        lambda: pm.Program.from_bytes(data),
        lambda: _core.Program(data),
        lambda: pm.io.read_program(tmp_path / "model"),
        lambda: pm.io.load_program(tmp_path / "model"),
        lambda: pm.io.load_inference_model(tmp_path / "model"),
    ):
        with pytest.raises(pm.ProgramError) as error:
            read()
        message = str(error.value)
        assert words in message and len(message.splitlines()) <= 12 and message.replace("\n", "").isprintable()


def test_a_variable_without_description_is_refused():
    """Descriptions in Python always have one: this is a message of protobuf."""
    desc = program_desc()
    desc.ParseFromString(program_bytes(root(RELU)))
    desc.blocks[0].vars[0].type.ClearField("lod_tensor")
    with pytest.raises(pm.ProgramError, match="variable 'x' in block 0 has no tensor description"):
        pm.Program.from_bytes(desc.SerializeToString())


def program_desc():
    """An empty ProgramDesc, from protobuf itself."""
    from pathlib import Path

    files = descriptor_pb2.FileDescriptorSet.FromString((Path(__file__).parents[2] / "proto/framework.desc").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("paddle.framework.proto.ProgramDesc"))()


def test_the_file_is_named(tmp_path):
    (tmp_path / "model.pdmodel").write_bytes(program_bytes(root(RELU, forward_block_idx=3)))
    with pytest.raises(pm.ProgramError, match="model.pdmodel': block 0 has forward block 3"):
        pm.io.load_program(tmp_path / "model")


def test_a_program_with_unknown_operators_is_read_shown_and_written_again():
    body = {**UNKNOWN, "attrs": [("optimize_blocks", BLOCKS, [1, 2]), ("op_role", INT, 1)]}
    data = program_bytes(root(body, FETCH, vars=[X, Y, *LISTS]), inner(1), inner(2, parent=1))
    program = pm.Program.from_bytes(data)
    assert program.to_bytes() == data and "of_another_build(X=x" in str(program)
    with pytest.raises(pm.ProgramError, match="operator 'of_another_build' is not known"):
        program.handle()


def test_all_unknown_operators_are_told_at_once():
    types = ["reluu", "made_up", "made_up", "another"]
    ops = [op(name, {"X": ["x"]}, {"Out": ["y"]}) for name in types]
    with pytest.raises(pm.ProgramError) as error:
        _core.Program(program_bytes(root(RELU, ops[0], ops[1], ops[2], vars=[X, Y]), inner(ops=[ops[3]])))
    first, where = str(error.value).splitlines()
    assert first == "reluu: 3 types of operators are not known: 'reluu', 'made_up', 'another'"
    assert where == "  in op #1 reluu -> 'y', block 0"
    many = [op(f"made_up_{i}" + "x" * 1000, {}, {}) for i in range(1000)]
    with pytest.raises(pm.ProgramError, match="1000 types of operators are not known") as error:
        _core.Program(program_bytes(root(*many)))
    assert len(str(error.value)) < 2000


def test_a_block_that_names_itself_as_forward_block_has_none():
    """As written by PaddlePaddle's GradientMergeOptimizer."""
    branch = op(
        "conditional_block",
        {"Cond": ["c"]},
        {"Out": ["y"], "Scope": ["s"]},
        ("sub_block", BLOCK, 1),
        ("is_scalar_condition", 6, True),
    )
    ones = op("fill_constant", {}, {"Out": ["c"]}, ("shape", 11, [1]), ("dtype", INT, 0), ("value", FLOAT, 1.0))
    two = op("fill_constant", {}, {"Out": ["y"]}, ("shape", 11, [1]), ("dtype", INT, 5), ("value", FLOAT, 2.0))
    vars = [var("c", [1], "bool"), var("y", [1]), var("s", kind=11)]
    data = program_bytes(root(ones, branch, vars=vars), inner(forward=1, ops=[two]))
    program = pm.Program.from_bytes(data)
    assert program.to_bytes() == data
    (value,) = pm.Executor(pm.CPUPlace()).run(program, fetch_list=["y"], scope=pm.Scope())
    assert value == [2.0]
    assert program.blocks[1].find_var("y") is program.blocks[0].vars["y"]


def test_types_are_told_by_name():
    with pytest.raises(pm.ProgramError, match="variable 'z' has elements of type size_t, which is not supported"):
        _core.Program(program_bytes(root(vars=[var("z", [2], dtype=19)])))
    program = pm.Program.from_bytes(program_bytes(root(vars=[var("z", [2], dtype=19)])))
    assert str(program.blocks[0].vars["z"]) == "z size_t[2]"
    assert _core.type_name(99) == "number 99"


@pytest.mark.parametrize("value", [[5], [], "x", 2.0], ids=repr)
def test_attributes_that_end_in_dtype_may_be_of_any_type(value):
    kind = {list: 3, str: STRING, float: FLOAT}[type(value)]
    program = pm.Program.from_bytes(program_bytes(with_attr("my_dtype", kind, value)))
    assert "relu(X=x, my_dtype=" in str(program)


@pytest.mark.parametrize("given", ["text", 10**12, None, [1]], ids=repr)
def test_only_bytes_are_read(given):
    with pytest.raises(pm.ProgramError, match="from_bytes takes bytes, not"):
        pm.Program.from_bytes(given)


def seconds(data, read):
    start = time.process_time()
    with contextlib.suppress(pm.ProgramError):
        read(data)
    return time.process_time() - start


def ports(count):
    return [root({**RELU, "inputs": [("X", ["x"]), *((f"p{i}", []) for i in range(count))]})]


def attributes(count):
    later = bytes([0xC0, 0x3E, 0x07])  # field 1000, of a later format
    desc = program_desc()
    desc.ParseFromString(program_bytes(root({**RELU, "attrs": [(f"a{i}", INT, i) for i in range(count)]})))
    for attr in desc.blocks[0].ops[0].attrs:
        attr.MergeFromString(later)
    return desc.SerializeToString()


def declarations(count):
    facts = {"is_parameter": True, "persistable": True}
    return [root(vars=[X, Y, *(var("_1" * 300 + f"_{i}", [1], **facts) for i in range(count))])]


GROWING = {
    "ports": (10_000, lambda n: program_bytes(*ports(n)), lambda data: _core.Program(data)),
    "attributes of a later format": (2_000, attributes, lambda data: pm.Program.from_bytes(data).to_bytes()),
    "parameters that are shown": (
        1_000,
        lambda n: program_bytes(*declarations(n)),
        lambda data: str(pm.Program.from_bytes(data)),
    ),
    "operators that are not known": (
        2_000,
        lambda n: program_bytes(root(*(op(f"u{i}", {}, {}) for i in range(n)))),
        _core.Program,
    ),
}


@pytest.mark.parametrize("count, make, read", GROWING.values(), ids=GROWING)
def test_time_is_linear_in_the_size(count, make, read):
    small, large = make(count), make(8 * count)
    at_first = min(seconds(small, read) for _ in range(3))
    assert min(seconds(large, read) for _ in range(2)) < 30 * max(at_first, 0.002)


def test_what_is_written_again_says_the_same():
    """A missing description of an array stays missing, and an empty text stays empty."""
    desc = program_desc()
    desc.ParseFromString(program_bytes(root(vars=[X, var("a", kind=13)])))
    desc.blocks[0].vars[1].type.ClearField("tensor_array")
    desc.provenance = ""
    data = desc.SerializeToString()
    again = type(desc)()
    again.ParseFromString(pm.Program.from_bytes(data).to_bytes())
    assert again == desc and not again.blocks[0].vars[1].type.HasField("tensor_array") and again.HasField("provenance")


UNSHOWN = ["\x1b[31m", "a\nb", "\u009b2J", "\u202egnp.exe", "\u2028", "\ufeff"]


@pytest.mark.parametrize("name", UNSHOWN, ids=ascii)
def test_names_in_messages_are_shown_safely(name):
    program = pm.Program()
    block = program.global_block()
    if min(name) >= " ":
        block.create_var(name + "x", shape=[2], need_check_feed=True)
    for call in (
        lambda: block.var(name),
        lambda: block.create_var(name + "x"),
        lambda: pm.Executor(pm.CPUPlace()).run(program, feed={name: [1]}, scope=pm.Scope()),
        lambda: pm.Executor(pm.CPUPlace()).run(program, fetch_list=[name], scope=pm.Scope()),
        lambda: _core.Program(program_bytes(root({**RELU, "outputs": [("Out", [name])]}))),
    ):
        with pytest.raises(pm.ProgramError) as error:
            call()
        assert str(error.value).replace("\n", "").isprintable()
    assert str(program).replace("\n", "").isprintable()


def test_messages_are_bounded():
    program = pm.Program()
    for i in range(3000):
        program.global_block().create_var(f"{i}" + "x" * 900, shape=[2], need_check_feed=True)
    for run in (dict(feed={"y" * 10**6: [1]}), dict(fetch_list=["y" * 10**6])):
        with pytest.raises(pm.ProgramError) as error:
            pm.Executor(pm.CPUPlace()).run(program, scope=pm.Scope(), **run)
        assert len(str(error.value)) < 5000


@pytest.mark.parametrize("text", ["a" * 199 + "é", "é" * 150, "a" * 38 + "\U0001f600" * 50], ids=["2", "many", "4"])
def test_messages_are_cut_between_characters(text):
    with pytest.raises(pm.ProgramError) as error:
        _core.Program(program_bytes(root({**RELU, "outputs": [("Out", [text])]})))
    assert "which the program does not declare" in str(error.value)
