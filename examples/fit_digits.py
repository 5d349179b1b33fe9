# A convolutional network in one call of pm.fit: validation, early stopping, checkpoints, averages of the parameters.
"""Run it again after Ctrl-C: it continues from the folder of checkpoints with the same bits.

.venv/bin/python examples/fit_digits.py out/digits
"""

import sys

import paddle_mini as pm
from paddle_mini import layers, nets


def main(folder, epochs=10, train=4000):
    samples = pm.data.mnist.synthetic(train=train)
    image = layers.data("image", [-1, 1, 28, 28])
    label = layers.data("label", [-1, 1], dtype="int64")
    hidden = nets.simple_img_conv_pool(image, filter_size=5, num_filters=8, pool_size=2, pool_stride=2, act="relu")
    hidden = nets.simple_img_conv_pool(hidden, filter_size=5, num_filters=16, pool_size=2, pool_stride=2, act="relu")
    predicted = layers.fc(hidden, 10, act="softmax")
    average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.002), pm.averaging.Exponential(0.99))
    history = pm.fit(
        layers.mean(layers.cross_entropy(predicted, label)),
        pm.data.Loader(samples.train).shuffle(seed=1),
        average,
        epochs=epochs,
        validation=pm.data.Loader(samples.test),
        metrics={"accuracy": layers.accuracy(predicted, label)},
        callbacks=[pm.training.EarlyStopping("averaged_val_loss", patience=2, restore_best=True)],
        checkpoints=f"{folder}/checkpoints",
    )
    average.save(f"{folder}/digits", [image], [predicted], pm.Executor())
    return history


if __name__ == "__main__":
    main(*sys.argv[1:])
