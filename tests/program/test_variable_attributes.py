"""Attributes whose value is a variable (AttrType VAR, VARS), in programs of PaddlePaddle: the operator reads this variable."""

import pytest

import paddle_mini as pm

VAR, VARS = 13, 14


def program_with(attr_type, value):
    """(program, name): scale has an attribute that its schema lacks; nothing else reads the variable of this name.
    `value` makes that of the attribute from the name."""
    with pm.program_guard(pm.Program(), pm.Program()):
        name = pm.layers.fill_constant([1], "float32", 3.0).name
        pm.layers.scale(pm.layers.data("x", [2]), scale=2.0)
        description = pm.default_main_program().describe()
    description["blocks"][0]["ops"][1]["attrs"].append(("OfLater", attr_type, value(name)))
    return pm.Program._from_description(description), name


KINDS = pytest.mark.parametrize("attr_type, value", [(VAR, lambda name: name), (VARS, lambda name: ["x", name])])


@KINDS
def test_a_pruned_program_and_a_copy_keep_the_variable(attr_type, value):
    program, name = program_with(attr_type, value)
    out = program.global_block().ops[1].output("Out")
    for copy in (program.clone(), program.clone(for_test=True), program.prune(["x"], out)):
        assert [op.type for op in copy.global_block().ops] == ["fill_constant", "scale"]
        assert name in copy.global_block().vars
        assert copy.global_block().ops[1].attr("OfLater") == value(name)
        copy.handle()


@KINDS
def test_a_renamed_variable_has_its_new_name(attr_type, value):
    program, name = program_with(attr_type, value)
    op = program.global_block().ops[1]
    assert name in op.input_names
    op.rename(name, "new")
    assert op.attr("OfLater") == value("new")


@KINDS
def test_a_variable_that_is_not_declared_is_refused(attr_type, value):
    program, _ = program_with(attr_type, lambda name: value("nothing"))
    with pytest.raises(pm.ProgramError, match="attribute OfLater names the variable 'nothing', .* does not declare"):
        program.handle()
