"""PaddlePaddle 2.6.2 reads a model with provenance like any other."""

import numpy as np
import pytest

import paddle_mini as pm
from averaged_models import averaged_model, train
from paddle_mini.averaging import Window
from small_model import batch


@pytest.mark.parametrize("job", ["load_inference_model", "predict"])
def test_a_model_with_averaged_parameters(paddle, tmp_path, job):
    model = averaged_model(Window(4))
    train(model, 11)
    model.average.save(tmp_path / "m", [model.x], [model.logits], model.exe, scope=model.scope)
    program, _, fetches = pm.io.load_inference_model(tmp_path / "m", scope=(scope := pm.Scope()))
    assert program.provenance["scheme"] == "Window(4)"
    feed = {"x": batch(0)["x"]}
    np.savez(tmp_path / "feeds.npz", **feed)
    paddle.ask(
        job,
        tmp_path,
        **(
            {"source": tmp_path / "m", "names": {}}
            if job == "load_inference_model"
            else {"model": f"{tmp_path}/m.pdmodel", "params": f"{tmp_path}/m.pdiparams"}
        ),
    )
    (expected,) = model.exe.run(program, feed, fetches, scope)
    with np.load(tmp_path / "results.npz") as found:
        np.testing.assert_allclose(found["arr_0"], expected, rtol=1e-5, atol=1e-6)
