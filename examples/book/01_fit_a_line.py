# Chapter 1: predicts the price of a house as a linear function of 13 features.
"""Linear regression by stochastic gradient descent.

.venv/bin/python examples/book/01_fit_a_line.py
.venv/bin/python examples/book/01_fit_a_line.py --data housing.data
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers
from paddle_mini.data import uci_housing


def main(argv=None):
    args = arguments(argv, __doc__, epochs=100, batch=20)
    samples = uci_housing.load(args.data) if args.data else uci_housing.synthetic()

    x = layers.data("x", [-1, uci_housing.FEATURES])
    y = layers.data("y", [-1, 1])
    predicted = layers.fc(x, size=1)
    loss = layers.mean(layers.square_error_cost(predicted, y))

    executor, means = fit(samples, [x, y], loss, pm.optimizer.SGD(learning_rate=0.1), args)

    rows = samples.test[:5]
    (prices,) = saved_and_used(args, [x], [predicted], executor, [row[:1] for row in rows])
    for (_, price), (guess,) in zip(rows, prices):
        print(f"price {price[0]:5.1f}, predicted {guess:5.1f}")
    return means["loss"]


if __name__ == "__main__":
    main(sys.argv[1:])
