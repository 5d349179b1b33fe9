# Writes what the programs of this folder run: python make_model.py FOLDER
"""FOLDER/model.pdmodel and .pdiparams are for inference; train.pdmodel trains the same model, apply.pdmodel replaces the
parameters by their averages, and restore.pdmodel gives them back."""

import pathlib
import sys

import paddle_mini as pm


def main(folder):
    folder.mkdir(exist_ok=True)
    main, startup, exe, scope = pm.Program(), pm.Program(), pm.Executor(), pm.Scope()
    with pm.program_guard(main, startup):
        x, label = pm.layers.data("x", [-1, 6]), pm.layers.data("label", [-1, 1], dtype="int64")
        logits = pm.layers.fc(pm.layers.fc(x, 16, act="tanh"), 3)
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
        average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.01), window_size=50)
        average.minimize(loss)
    assert loss.name == "mean_0.tmp_0"
    pm.seed(1)
    exe.run(startup, scope=scope)
    pm.io.save_program(folder / "train", main, scope)
    pm.io.save_inference_model(folder / "model", [x], [logits], exe, scope=scope)
    (folder / "apply.pdmodel").write_bytes(average.apply_program(keep_raw=True).to_bytes())
    (folder / "restore.pdmodel").write_bytes(average.restore_program().to_bytes())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
