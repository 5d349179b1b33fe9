"""Wide & deep on a click log, on one machine or as a job of trainers and parameter servers, which is the same script:

    python examples/cluster/clicks.py
    paddle-mini launch --trainers 2 --servers 2 --mode sync examples/cluster/clicks.py

The wide part has a weight for each value of each field, trained by ftrl; the deep part a vector for each, and layers,
trained by adagrad (Cheng et al. 2016, Wide & Deep Learning for Recommender Systems). The log is
generated: the reader of chunk n draws it with the seed n.
"""

import argparse

import numpy as np

import paddle_mini as pm

FIELDS, VALUES, WIDTH, ROWS = 8, 5000, 16, 4096
"""Fields of a row, values of a field, width of a value's vector, rows of a chunk."""


def chunk(seed):
    """Rows of the log: frequent and rare values, and whether there was a click, which depends on each value and on the
    first two together."""
    draw, truth = np.random.default_rng(seed), np.random.default_rng(2016)
    weights, pairs = truth.normal(0.0, 0.7, (FIELDS, VALUES)), truth.normal(0.0, 2.0, (10, 10))
    values = np.minimum(draw.zipf(1.3, (ROWS, FIELDS)) - 1, VALUES - 1)
    score = weights[np.arange(FIELDS), values].sum(1) + pairs[values[:, 0] % 10, values[:, 1] % 10]
    clicks = draw.random(ROWS) < 1 / (1 + np.exp(1.0 - score))
    return {"ids": values + VALUES * np.arange(FIELDS), "click": clicks[:, None].astype("float32")}


def wide_and_deep():
    """The probability of a click, and the loss."""
    ids = pm.layers.data("ids", [-1, FIELDS], "int64")
    click = pm.layers.data("click", [-1, 1])
    wide, deep = (
        pm.layers.embedding(
            ids,
            [FIELDS * VALUES, width],
            is_sparse=True,
            param_attr=pm.ParamAttr(name=name, initializer=pm.initializer.Normal(0.0, 0.01)),
        )
        for name, width in (("wide", 1), ("deep", WIDTH))
    )
    x = pm.layers.reshape(deep, [-1, FIELDS * WIDTH])
    for number, size in enumerate((64, 32, 1)):
        x = pm.layers.fc(x, size, act="relu" if size > 1 else None, param_attr=f"deep_{number}.w", bias_attr=f"deep_{number}.b")
    logit = x + pm.layers.reduce_sum(wide, dim=1)
    return pm.layers.sigmoid(logit), pm.layers.mean(pm.layers.sigmoid_cross_entropy_with_logits(logit, click))


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=100)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--out", default="out/clicks", help="where models are saved")
    args = parser.parse_args(words)
    probability, loss = wide_and_deep()
    test = pm.default_main_program().clone(for_test=True)
    names = [parameter.name for parameter in pm.default_main_program().all_parameters()]
    pm.optimizer.Ftrl(0.05).minimize(loss, parameter_list=["wide"])
    pm.optimizer.Adagrad(0.05).minimize(loss, parameter_list=[name for name in names if name != "wide"])
    exe = pm.Executor()
    pm.seed(1)
    exe.run(pm.default_startup_program())
    trainer = pm.cluster.join(exe=exe)
    for seed in trainer.batches(list(range(args.chunks)), chunks_per_task=5):
        rows = chunk(seed)
        for begin in range(0, ROWS, args.batch):
            trainer.run({name: array[begin : begin + args.batch] for name, array in rows.items()}, [loss])
    folder = pm.cluster.save_model(args.out, ["ids"], [probability])
    if folder:
        trainer.pull()
        losses = [exe.run(test, chunk(seed), [loss])[0].item() for seed in range(args.chunks, args.chunks + 10)]
        print(
            f"trainer {trainer.number} of {trainer.trainers}: log loss {np.mean(losses):.4f} on rows outside of "
            f"training; the model is in {folder}"
        )


if __name__ == "__main__":
    main()
