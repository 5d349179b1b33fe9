# Models for inference, with random parameters: each takes x and returns its result.
from __future__ import annotations

import paddle_mini as pm
from paddle_mini import layers as L
from paddle_mini.program import Variable


def _norm(x: Variable, act: str | None = "relu") -> Variable:
    return L.batch_norm(x, act=act, is_test=True)


def _conv(x: Variable, channels: int, size: int, stride: int = 1, act: str | None = "relu", groups: int = 1) -> Variable:
    y = L.conv2d(x, channels, size, stride=stride, padding=(size - 1) // 2, groups=groups, bias_attr=False)
    return _norm(y, act)


def _head(x: Variable) -> Variable:
    return L.fc(L.pool2d(x, pool_size=1, pool_type="avg", global_pooling=True), 1000)


def small_conv(x: Variable) -> Variable:
    for channels, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1)):
        x = _conv(x, channels, 3, stride)
    return _head(x)


def _residual(x: Variable, channels: int, stride: int, bottleneck: bool) -> Variable:
    out = 4 * channels if bottleneck else channels
    if bottleneck:
        y = _conv(_conv(_conv(x, channels, 1), channels, 3, stride), out, 1, act=None)
    else:
        y = _conv(_conv(x, channels, 3, stride), out, 3, act=None)
    if stride != 1 or x.shape[1] != out:
        x = _conv(x, out, 1, stride, act=None)
    return L.relu(L.elementwise_add(x, y))


def _resnet(x: Variable, depths: tuple[int, ...], bottleneck: bool) -> Variable:
    x = L.pool2d(_conv(x, 64, 7, 2), pool_size=3, pool_stride=2, pool_padding=1, pool_type="max")
    for stage, depth in enumerate(depths):
        for i in range(depth):
            x = _residual(x, 64 << stage, 2 if stage and not i else 1, bottleneck)
    return _head(x)


def resnet18(x: Variable) -> Variable:
    return _resnet(x, (2, 2, 2, 2), False)


def resnet50(x: Variable) -> Variable:
    return _resnet(x, (3, 4, 6, 3), True)


def mobilenet_v2(x: Variable) -> Variable:
    x = _conv(x, 32, 3, 2, "relu6")
    for expand, channels, count, first_stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for i in range(count):
            stride, y = first_stride if i == 0 else 1, x
            if expand > 1:
                y = _conv(y, expand * x.shape[1], 1, act="relu6")
            y = _conv(_conv(y, y.shape[1], 3, stride, "relu6", groups=y.shape[1]), channels, 1, act=None)
            x = L.elementwise_add(x, y) if stride == 1 and x.shape[1] == channels else y
    return _head(_conv(x, 1280, 1, act="relu6"))


def vgg11(x: Variable) -> Variable:
    for channels in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
        if channels:
            x = L.conv2d(x, channels, 3, padding=1, act="relu")
        else:
            x = L.pool2d(x, pool_size=2, pool_stride=2, pool_type="max")
    for _ in range(2):
        x = L.dropout(L.fc(x, 4096, act="relu"), 0.5, is_test=True, dropout_implementation="upscale_in_train")
    return L.fc(x, 1000)


def _attention(x: Variable, heads: int) -> Variable:
    width = x.shape[-1]

    def split(y: Variable) -> Variable:
        return L.transpose(L.reshape(y, [0, 0, heads, width // heads]), [0, 2, 1, 3])

    q, k, v = (split(L.fc(x, width, num_flatten_dims=2)) for _ in range(3))
    weights = L.softmax(L.scale(L.matmul(q, k, transpose_y=True), scale=(width // heads) ** -0.5))
    y = L.reshape(L.transpose(L.matmul(weights, v), [0, 2, 1, 3]), [0, 0, width])
    return L.fc(y, width, num_flatten_dims=2)


def encoder(x: Variable) -> Variable:
    for _ in range(4):
        x = L.layer_norm(x + _attention(x, 8), begin_norm_axis=2)
        hidden = L.fc(x, 4 * x.shape[-1], num_flatten_dims=2, act="gelu")
        x = L.layer_norm(x + L.fc(hidden, x.shape[-1], num_flatten_dims=2), begin_norm_axis=2)
    return L.reduce_mean(x, dim=[1])


# name: the model and the shape of one of its inputs
MODELS = {
    "small_conv": (small_conv, (3, 32, 32)),
    "resnet18": (resnet18, (3, 224, 224)),
    "resnet50": (resnet50, (3, 224, 224)),
    "mobilenet_v2": (mobilenet_v2, (3, 224, 224)),
    "vgg11": (vgg11, (3, 224, 224)),
    "encoder": (encoder, (128, 256)),
}


def save(name: str, prefix: str) -> tuple[int, ...]:
    """Writes the model at the prefix; returns the shape of one input."""
    model, shape = MODELS[name]
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x = L.data("x", [-1, *shape])
        out = model(x)
    exe = pm.Executor()
    pm.seed(1)
    exe.run(startup, scope=scope)
    pm.io.save_inference_model(prefix, [x], [out], exe, main, scope)
    return shape
