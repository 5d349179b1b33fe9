# Chapter 2: recognizes handwritten digits: softmax regression, a multilayer perceptron, a convolutional network.
"""Three networks for MNIST.

.venv/bin/python examples/book/02_recognize_digits.py --net mlp
.venv/bin/python examples/book/02_recognize_digits.py --data FOLDER_WITH_IDX_FILES --epochs 5
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers, nets
from paddle_mini.data import mnist


def softmax_regression(image):
    return layers.fc(image, size=10, act="softmax")


def multilayer_perceptron(image):
    hidden = layers.fc(image, size=200, act="tanh")
    hidden = layers.fc(hidden, size=200, act="tanh")
    return layers.fc(hidden, size=10, act="softmax")


def convolutional_network(image):
    hidden = nets.simple_img_conv_pool(image, filter_size=5, num_filters=20, pool_size=2, pool_stride=2, act="relu")
    hidden = layers.batch_norm(hidden)
    hidden = nets.simple_img_conv_pool(hidden, filter_size=5, num_filters=50, pool_size=2, pool_stride=2, act="relu")
    return layers.fc(hidden, size=10, act="softmax")


NETS = {"cnn": convolutional_network, "mlp": multilayer_perceptron, "softmax": softmax_regression}


def main(argv=None):
    args = arguments(argv, __doc__, epochs=3, batch=64, nets=list(NETS))
    samples = mnist.load(args.data) if args.data else mnist.synthetic()

    image = layers.data("image", [-1, 1, mnist.SIDE, mnist.SIDE])
    label = layers.data("label", [-1, 1], dtype="int64")
    predicted = NETS[args.net](image)
    loss = layers.mean(layers.cross_entropy(predicted, label))
    accuracy = layers.accuracy(predicted, label)

    optimizer = pm.optimizer.Adam(learning_rate=0.001)
    executor, means = fit(samples, [image, label], loss, optimizer, args, accuracy=accuracy)

    rows = [samples.test[i] for i in range(10)]
    (probability,) = saved_and_used(args, [image], [predicted], executor, [row[:1] for row in rows])
    print("written:  ", *(digit for _, digit in rows))
    print("predicted:", *probability.argmax(1))
    return means["accuracy"]


if __name__ == "__main__":
    main(sys.argv[1:])
