"""A model that is written in pieces has the bytes of one that is written whole."""

import pytest

import paddle_mini as pm
from paddle_mini import ShapeError
from paddle_mini.io.model import inference_program
from paddle_mini.io.model_in_pieces import InPieces, write_model_in_pieces
from paddle_mini.io.parameters import parameter_names


def small_model():
    x = pm.layers.data("x", [-1, 6])
    y = pm.layers.batch_norm(pm.layers.fc(pm.layers.fc(x, 5, act="relu"), 3))
    pm.Executor().run(pm.default_startup_program())
    return x, y


def in_pieces(name, size):
    value = pm.global_scope().get(name)
    flat = value.reshape(-1)
    return InPieces(value.dtype, value.shape, (flat[at : at + size] for at in range(0, flat.size, size)))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_files_are_those_of_save_inference_model(tmp_path, size):
    x, y = small_model()
    pm.io.save_inference_model(tmp_path / "whole", [x], [y])
    program = inference_program([x], [y], None)
    write_model_in_pieces(str(tmp_path / "pieces"), program, [in_pieces(name, size) for name in parameter_names(program)])
    for suffix in (".pdmodel", ".pdiparams"):
        assert (tmp_path / ("pieces" + suffix)).read_bytes() == (tmp_path / ("whole" + suffix)).read_bytes()


@pytest.mark.parametrize("wrong", ["fewer", "more", "dtype"])
def test_pieces_that_are_not_the_value(tmp_path, wrong):
    x, y = small_model()
    program = inference_program([x], [y], None)
    first, *others = [InPieces.whole(pm.global_scope().get(name)) for name in parameter_names(program)]
    (array,) = first.pieces
    flat = array.reshape(-1)
    pieces = {"fewer": [flat[1:]], "more": [flat, flat[:1]], "dtype": [flat.astype("float64")]}[wrong]
    with pytest.raises(ShapeError, match="the pieces of 'batch_norm_0.b_0' are not .3. float32"):
        write_model_in_pieces(str(tmp_path / "m"), program, [first._replace(pieces=pieces), *others])


def test_a_model_without_parameters(tmp_path):
    x = pm.layers.data("x", [-1, 6])
    y = pm.layers.relu(x)
    write_model_in_pieces(str(tmp_path / "m"), inference_program([x], [y], None), [])
    program, _, _ = pm.io.load_inference_model(tmp_path / "m")
    assert [op.type for op in program.global_block().ops if op.type == "relu"]
    assert not (tmp_path / "m.pdiparams").exists()
