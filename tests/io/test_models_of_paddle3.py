"""PREFIX.json of PaddlePaddle 3, where 2.6 writes PREFIX.pdmodel: the error says which file it is, and how to save another."""

import pytest

import paddle_mini as pm
from small_model import SmallModel

BEGIN = '{"base_code":{"magic":"pir","trainable":true,"version":4},"program":{"regions":[]}}'
LOADS = (pm.Predictor, pm.io.load_inference_model, pm.io.load_program, pm.io.read_program)


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("given", ["m", "m.json", "m.pdmodel"])
def test_a_program_of_paddlepaddle_3_is_named(tmp_path, load, given):
    (tmp_path / "m.json").write_text(BEGIN)
    with pytest.raises(pm.ProgramError, match=r"'.*/m\.json' is .* of PaddlePaddle 3, .* FLAGS_enable_pir_api=0"):
        load(tmp_path / given)


@pytest.mark.parametrize("load", LOADS)
def test_another_json_file_is_not_mentioned(tmp_path, load):
    (tmp_path / "m.json").write_text('{"name": "m"}')
    with pytest.raises(pm.ProgramError, match="can't open '.*/m.pdmodel': No such file"):
        load(tmp_path / "m")


def test_a_model_beside_it_is_loaded(tmp_path):
    model = SmallModel()
    pm.io.save_inference_model(tmp_path / "m", [model.x], [model.logits], scope=model.scope)
    (tmp_path / "m.json").write_text(BEGIN)
    assert pm.Predictor(tmp_path / "m").inputs == ["x"]
