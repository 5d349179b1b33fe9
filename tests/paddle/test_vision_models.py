"""Networks of paddle.vision.models train here to PaddlePaddle's losses and parameters; the census compares what they infer."""

import pytest

import census
from thorough import thorough

# Images so large, and batches so wide, that a batch normalization of the last maps has several elements for each channel.
NETWORKS = {
    "LeNet()": (2, 1, 28, 28),
    "squeezenet1_1(num_classes=10)": (2, 3, 32, 32),
    "shufflenet_v2_x0_25(num_classes=10)": (2, 3, 32, 32),
}
LARGE = {
    "mobilenet_v1(scale=0.25, num_classes=10)": (4, 3, 64, 64),
    "mobilenet_v2(scale=0.25, num_classes=10)": (4, 3, 64, 64),
    "mobilenet_v3_small(scale=0.5, num_classes=10)": (4, 3, 64, 64),
    "mobilenet_v3_large(scale=0.35, num_classes=10)": (4, 3, 64, 64),
    "resnet18(num_classes=10)": (4, 3, 64, 64),
    "resnext50_32x4d(num_classes=10)": (8, 3, 32, 32),
}


@pytest.mark.parametrize("network", [*NETWORKS, *(pytest.param(network, marks=thorough) for network in LARGE)])
def test_training(paddle, tmp_path, network):
    shape = ", ".join(map(str, (NETWORKS | LARGE)[network]))
    difference = census.ask(paddle, tmp_path, "paddle.vision.models", f"trained({network}, x({shape}))", tolerance=1e-6)
    assert difference is None, str(difference)
