"""Whole small networks: each trains equally here and in PaddlePaddle 2.6.2."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import layers, nets

RANDOM = np.random.RandomState
# A bias of keys adds the same to all scores of a query, so softmax cancels it; Adam makes steps from the rounding
# errors.
KEYS = ["qkv.b_0", ".kv.b_0"]


def images(shape, classes, rows=4):
    """A batch for image() and label()."""

    def batch(random):
        return {"image": random.randn(rows, *shape).astype("float32"), "label": random.randint(0, classes, (rows, 1))}

    return batch


def image_and_label(*shape):
    return layers.data("image", [-1, *shape]), layers.data("label", [-1, 1], dtype="int64")


def cross_entropy(logits, label):
    return layers.mean(layers.softmax_with_cross_entropy(logits, label))


def train(train_in_both, loss, batch, *more, **options):
    feeds = [batch(RANDOM(100 + step)) for step in range(5)]
    losses = train_in_both(pm.default_main_program(), pm.default_startup_program(), feeds, [loss, *more], **options)
    assert losses[-1] != losses[0]
    return losses


@pytest.mark.parametrize("normalize_before", [False, True])
def test_transformer_encoder(train_in_both, normalize_before):
    ids, label = layers.data("ids", [-1, 7], dtype="int64"), layers.data("label", [-1, 1], dtype="int64")
    mask = layers.padding_mask(ids)
    x = layers.add_sinusoid_positions(layers.embedding(ids, [20, 16]), 10)
    for _ in range(2):
        x = layers.transformer_encoder_layer(
            x, 4, 32, dropout_rate=0.0, act="gelu", normalize_before=normalize_before, attn_mask=mask
        )
    logits = layers.fc(layers.reduce_mean(x, dim=1), 3)
    loss = cross_entropy(logits, label)
    pm.optimizer.Adam(0.003).minimize(loss)

    def batch(random):
        sentences = random.randint(1, 20, (6, 7))
        sentences[:3, 5:] = 0
        return {"ids": sentences, "label": random.randint(0, 3, (6, 1))}

    train(train_in_both, loss, batch, logits, rounding=KEYS)


def test_transformer_decoder(train_in_both):
    source, target = layers.data("source", [-1, 5], dtype="int64"), layers.data("target", [-1, -1], dtype="int64")
    following = layers.data("next", [-1, -1, 1], dtype="int64")
    memory = layers.add_learned_positions(layers.embedding(source, [15, 8]), 5)
    memory = layers.transformer_encoder_layer(memory, 2, 16, dropout_rate=0.0)
    x = layers.add_learned_positions(layers.embedding(target, [15, 12]), 9)
    x = layers.transformer_decoder_layer(x, memory, 3, 24, dropout_rate=0.0, memory_mask=layers.padding_mask(source))
    logits = layers.fc(x, 15, num_flatten_dims=2)
    loss = cross_entropy(logits, following)
    pm.optimizer.Adam(0.003).minimize(loss)

    def batch(random):
        return {
            "source": random.randint(0, 15, (4, 5)),
            "target": random.randint(0, 15, (4, 6)),
            "next": random.randint(0, 15, (4, 6, 1)),
        }

    # Adam divides by the root of the second moment: where gradients nearly cancel, rounding moves an element by its own size.
    train(train_in_both, loss, batch, logits, rounding=KEYS, final_tolerance=1e-3)


@pytest.mark.parametrize("tied", [True, False])
def test_causal_language_model(train_in_both, tied):
    ids, following = layers.data("ids", [-1, -1], dtype="int64"), layers.data("next", [-1, -1, 1], dtype="int64")
    x = layers.embedding(ids, [25, 16], param_attr=pm.ParamAttr("tokens", pm.initializer.Normal(0, 0.1)))
    x = layers.add_learned_positions(x, 12)
    for _ in range(2):
        x = layers.transformer_encoder_layer(x, 2, 64, dropout_rate=0.0, act="gelu", normalize_before=True, causal=True)
    x = layers.layer_norm(x, begin_norm_axis=2)
    table = pm.default_main_program().global_block().var("tokens")
    logits = layers.matmul(x, table, transpose_y=True) if tied else layers.fc(x, 25, num_flatten_dims=2, bias_attr=False)
    loss = cross_entropy(logits, following)
    pm.optimizer.Adam(0.003, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)).minimize(loss)
    train(
        train_in_both,
        loss,
        lambda random: {"ids": random.randint(0, 25, (3, 9)), "next": random.randint(0, 25, (3, 9, 1))},
        logits,
        rounding=KEYS,
        final_tolerance=1e-3,
    )


def test_lenet(train_in_both):
    image, label = image_and_label(1, 28, 28)
    hidden = nets.simple_img_conv_pool(image, 20, 5, 2, 2, act="relu")
    hidden = nets.simple_img_conv_pool(layers.batch_norm(hidden), 50, 5, 2, 2, act="relu")
    logits = layers.fc(hidden, 10)
    loss = cross_entropy(logits, label)
    pm.optimizer.Momentum(0.01, 0.9).minimize(loss)
    train(train_in_both, loss, images((1, 28, 28), 10, rows=8), logits)


def residual(x, channels, stride):
    def normalized(x, size, step, act=None):
        return layers.batch_norm(layers.conv2d(x, channels, size, step, padding=size // 2, bias_attr=False), act=act)

    inner = normalized(normalized(x, 3, stride, "relu"), 3, 1)
    shortcut = x if stride == 1 and x.shape[1] == channels else normalized(x, 1, stride)
    return layers.relu(layers.elementwise_add(inner, shortcut))


def test_resnet20(train_in_both):
    image, label = image_and_label(3, 32, 32)
    x = layers.batch_norm(layers.conv2d(image, 16, 3, padding=1, bias_attr=False), act="relu")
    for channels in (16, 32, 64):
        for block in range(3):
            x = residual(x, channels, 2 if channels > 16 and block == 0 else 1)
    logits = layers.fc(layers.pool2d(x, pool_type="avg", global_pooling=True), 10)
    loss = cross_entropy(logits, label)
    pm.optimizer.Momentum(0.001, 0.9, regularization=pm.regularizer.L2Decay(1e-4)).minimize(loss)
    # If rounding moves one relu across its kink, the momentum of a late channel changes by percents, and logits in the
    # last steps follow.
    train(train_in_both, loss, images((3, 32, 32), 10), logits, tolerance=1e-3, final_tolerance=0.2)


def test_vgg_block(train_in_both):
    image, label = image_and_label(3, 16, 16)
    x = nets.img_conv_group(image, [8, 8], 2, conv_act="relu", conv_with_batchnorm=True, pool_stride=2)
    x = nets.img_conv_group(
        x, [16, 12], 2, conv_padding=[0, 1], conv_act="relu", conv_with_batchnorm=[True, False], pool_stride=2
    )
    logits = layers.fc(layers.batch_norm(layers.fc(x, 32), act="relu"), 5)
    loss = cross_entropy(logits, label)
    pm.optimizer.Momentum(0.01, 0.9).minimize(loss)
    before_a_mean = ["conv2d_0.b", "conv2d_1.b", "conv2d_2.b", "fc_0.b"]  # the normalization cancels it
    train(train_in_both, loss, images((3, 16, 16), 5, rows=8), logits, rounding=before_a_mean)


@pytest.mark.parametrize("optimizer", [pm.optimizer.SGD, pm.optimizer.Adagrad])
def test_wide_and_deep_with_sparse_tables(train_in_both, optimizer):
    fields, rows = 12, 16
    dense, label = layers.data("dense", [-1, 5]), layers.data("label", [-1, 1])
    ids = [layers.data(f"field{i}", [-1], dtype="int64") for i in range(fields)]
    deep = [layers.embedding(field, [40 + i, 6], is_sparse=True) for i, field in enumerate(ids)]
    wide = [layers.embedding(field, [40 + i, 1], is_sparse=True) for i, field in enumerate(ids)]
    tower = layers.fc(layers.fc(layers.concat([*deep, dense], axis=1), 32, act="relu"), 16, act="relu")
    logit = layers.elementwise_add(
        layers.fc(tower, 1), layers.elementwise_add(layers.sums(wide), layers.fc(dense, 1, bias_attr=False))
    )
    loss = layers.mean(layers.sigmoid_cross_entropy_with_logits(logit, label))
    area, _ = layers.auc(layers.sigmoid(logit), layers.cast(label, "int64"), num_thresholds=50)
    optimizer(0.1).minimize(loss)

    def batch(random):
        return {
            "dense": random.randn(rows, 5).astype("float32"),
            "label": random.randint(0, 2, (rows, 1)).astype("float32"),
            **{f"field{i}": random.randint(0, 40, rows) for i in range(fields)},
        }

    train(train_in_both, loss, batch, logit, area, final_tolerance=1e-3)


def test_volumes_groups_and_trees(train_in_both):
    """The layers with parameters, and the operators with several outputs, that no network above has."""
    video, label = layers.data("video", [-1, 2, 4, 6, 6]), layers.data("label", [-1, 1], dtype="int64")
    x = layers.pool3d(layers.conv3d(video, 6, 3, padding=1, act="relu"), 2, "avg", 2)
    x = layers.reshape(x, [-1, 6, 2 * 3, 3])
    x = layers.elementwise_add(layers.group_norm(x, 3), layers.instance_norm(x))
    x = layers.lrn(x, alpha=0.1)
    greatest, _ = layers.max_pool2d_with_index(x, 2, 2)
    patches = layers.unfold(x, [2, 3], strides=[2, 1])
    mixed = layers.bilinear_tensor_product(layers.flatten(greatest), layers.reshape(patches, [-1, 6 * 6 * 3]), 5, act="tanh")
    seen = layers.bmm(layers.unsqueeze(mixed, 2), layers.unsqueeze(layers.fc(mixed, 5), 1))
    seen = layers.elementwise_add(layers.triu(seen), layers.argsort(seen, axis=1)[0])
    features = layers.fc(
        layers.concat([layers.flatten(seen), layers.norm(seen, 3, axis=1), layers.logsumexp(seen, axis=[1])], axis=1), 8
    )
    loss = layers.mean(layers.hsigmoid(features, label, 6))
    pm.optimizer.SGD(0.05).minimize(loss)

    def batch(random):
        return {"video": random.randn(3, 2, 4, 6, 6).astype("float32"), "label": random.randint(0, 6, (3, 1))}

    train(train_in_both, loss, batch, seen, final_tolerance=1e-3)
