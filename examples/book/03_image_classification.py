# Chapter 3: classifies small photographs: a residual network, or VGG with batch normalization.
"""Two networks for CIFAR-10. The book's are ResNet-32 and VGG-16, which take hours on one core:
here BLOCKS and WIDTH make them smaller.

    .venv/bin/python examples/book/03_image_classification.py --net vgg
    .venv/bin/python examples/book/03_image_classification.py --data cifar-10-python.tar.gz --epochs 50
"""

import sys

import paddle_mini as pm
from chapter import arguments, fit, saved_and_used
from paddle_mini import layers, nets
from paddle_mini.data import cifar

BLOCKS, WIDTH = 1, 8  # 5 and 16 make ResNet-32; VGG-16 has 64
DROPPED = 0.2  # 1 in the book, but so few filters need all of their outputs


def conv_norm(x, filters, size, stride, padding, act="relu"):
    x = layers.conv2d(x, filters, size, stride=stride, padding=padding, bias_attr=False)
    return layers.batch_norm(x, act=act)


def residual_block(x, filters, stride):
    straight = x if stride == 1 and x.shape[1] == filters else conv_norm(x, filters, 1, stride, 0, act=None)
    bent = conv_norm(conv_norm(x, filters, 3, stride, 1), filters, 3, 1, 1, act=None)
    return layers.relu(bent + straight)


def resnet(image):
    x = conv_norm(image, WIDTH, 3, 1, 1)
    for group in range(3):
        for block in range(BLOCKS):
            x = residual_block(x, WIDTH << group, 2 if group and not block else 1)
    return layers.fc(layers.pool2d(x, 8, "avg", 1), size=10, act="softmax")


def vgg(image):
    def group(x, filters, times, rates):
        return nets.img_conv_group(
            x,
            [filters] * times,
            pool_size=2,
            pool_stride=2,
            conv_act="relu",
            conv_with_batchnorm=True,
            conv_batchnorm_drop_rate=[DROPPED * rate for rate in rates],
        )

    x = group(image, WIDTH, 2, [0.3, 0])
    x = group(x, 2 * WIDTH, 2, [0.4, 0])
    for width in (4, 8, 8):
        x = group(x, width * WIDTH, 3, [0.4, 0.4, 0])
    x = layers.fc(layers.dropout(x, 0.5 * DROPPED), size=8 * WIDTH)
    x = layers.dropout(layers.batch_norm(x, act="relu"), 0.5 * DROPPED)
    return layers.fc(layers.fc(x, size=8 * WIDTH), size=10, act="softmax")


NETS = {"resnet": resnet, "vgg": vgg}


def main(argv=None):
    args = arguments(argv, __doc__, epochs=3, batch=32, nets=list(NETS))
    samples = cifar.load(args.data) if args.data else cifar.synthetic()

    image = layers.data("image", [-1, 3, cifar.SIDE, cifar.SIDE])
    label = layers.data("label", [-1, 1], dtype="int64")
    predicted = NETS[args.net](image)
    loss = layers.mean(layers.cross_entropy(predicted, label))
    accuracy = layers.accuracy(predicted, label)

    optimizer = pm.optimizer.Adam(learning_rate=0.001)
    executor, means = fit(samples, [image, label], loss, optimizer, args, accuracy=accuracy)

    rows = [samples.test[i] for i in range(10)]
    (probability,) = saved_and_used(args, [image], [predicted], executor, [row[:1] for row in rows])
    print("kind:     ", *(kind for _, kind in rows))
    print("predicted:", *probability.argmax(1))
    return means["accuracy"]


if __name__ == "__main__":
    main(sys.argv[1:])
