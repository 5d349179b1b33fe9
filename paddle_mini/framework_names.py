# Names of PyTorch and Keras, with the names here; renamed.py gives them as advice.
from __future__ import annotations

from collections.abc import Mapping

_RUN = "exe.run(fetch_list=[x]) gives its value as an array"
_DROPOUT = "layers.dropout(x, dropout_prob, dropout_implementation='upscale_in_train')"
_MINIMIZE = "optimizer.minimize(loss) once appends the update to the program, and each exe.run(feed=...) is a step"
_LOADING = {
    "DataLoader": "data.Loader(samples).shuffle(seed=1).batch(32)",
    "Dataset": "data.Loader takes a dict of arrays, or any sequence of samples",
}

# By what has the name (a path below paddle_mini, or a class): the name there, and what to use here.
HINTS: Mapping[str, Mapping[str, str]] = {
    "": {
        "manual_seed": "seed(1)",
        "save": "io.save_state writes parameters, io.save_inference_model a model",
        "load": "io.load_state reads parameters, io.load_inference_model a model",
        "Model": "a program is the model: layers build it, and fit(loss, data, optimizer) trains it",
        "Sequential": "call one layer function with the result of the other",
        "Tensor": "Variable is a value in a program; arrays of NumPy are fed as they are",
        "tensor": "layers.assign(array) makes a variable of an array; arrays are fed as they are",
        "jit": "programs are always compiled by the Executor; io.save_inference_model writes one",
        "compile": "fit(loss, data, optimizer, metrics=...) takes what compile takes",
        "grad": "gradients([y], [x]) appends the gradients",
    },
    "Variable": {
        "reshape": "layers.reshape(x, shape)",
        "view": "layers.reshape(x, shape)",
        "flatten": "layers.flatten(x, start_axis=0)",
        "mean": "layers.mean(x), or layers.reduce_mean(x, dim=...)",
        **{name: f"layers.reduce_{name}(x, dim=...)" for name in ("sum", "max", "min", "prod", "all", "any")},
        **{name: f"layers.{name}(x, ...)" for name in ("argmax", "argmin", "squeeze", "unsqueeze", "transpose")},
        **{name: f"layers.{name}(x)" for name in ("exp", "log", "sqrt", "tanh", "sigmoid", "relu", "abs")},
        "T": "layers.transpose(x, [1, 0])",
        "permute": "layers.transpose(x, perm)",
        "detach": "layers.assign(x), and stop_gradient = True of the result",
        "backward": _MINIMIZE,
        "grad": "gradients([y], [x]) appends the gradients",
        **{name: _RUN for name in ("numpy", "item", "tolist", "cpu")},
        "size": "x.shape has the dimensions, layers.size(x) is the number of elements at a run",
        "dim": "len(x.shape)",
        "ndim": "len(x.shape)",
        "float": "layers.cast(x, 'float32')",
        "long": "layers.cast(x, 'int64')",
        "astype": "layers.cast(x, dtype)",
        "type": "layers.cast(x, dtype)",
        "to": "layers.cast(x, dtype) converts; Executor(CUDAPlace(0)) runs on a device",
        "cuda": "Executor(CUDAPlace(0)) runs on a device",
        "requires_grad": "stop_gradient is the opposite",
    },
    "layers": {
        "Linear": "layers.fc(x, size)",
        "linear": "layers.fc(x, size)",
        "Dense": "layers.fc(x, size)",
        "Conv2D": "layers.conv2d(x, num_filters, filter_size)",
        "Conv2d": "layers.conv2d(x, num_filters, filter_size)",
        **{name: "layers.pool2d(x, 2, 'max', pool_stride=2)" for name in ("MaxPooling2D", "MaxPool2d", "max_pool2d")},
        **{name: "layers.pool2d(x, 2, 'avg', pool_stride=2)" for name in ("AveragePooling2D", "AvgPool2d", "avg_pool2d")},
        **{name: "layers.batch_norm(x)" for name in ("BatchNorm2d", "BatchNormalization")},
        **{name: "layers.layer_norm(x, begin_norm_axis=...)" for name in ("LayerNorm", "LayerNormalization")},
        "Embedding": "layers.embedding(ids, [rows, width])",
        "Dropout": _DROPOUT,
        "Input": "layers.data(name, shape)",
        "LSTM": "layers.rnn(layers.LSTMCell(hidden_size), x)",
        "GRU": "layers.rnn(layers.GRUCell(hidden_size), x)",
        "gru": "layers.rnn(layers.GRUCell(hidden_size), x)",
        "attention": "layers.multi_head_attention(x, num_heads), or layers.dot_product_attention",
        "MultiheadAttention": "layers.multi_head_attention(x, num_heads)",
        "loss": "layers.softmax_with_cross_entropy, layers.square_error_cost and others are losses",
        "mse_loss": "layers.mean(layers.square_error_cost(input, label))",
        "l1_loss": "layers.mean(layers.abs(x - y))",
        "binary_cross_entropy": "layers.mean(layers.bce_loss(x, label))",
        "binary_cross_entropy_with_logits": "layers.mean(layers.sigmoid_cross_entropy_with_logits(x, label))",
        "cat": "layers.concat(inputs, axis)",
        "view": "layers.reshape(x, shape)",
        "permute": "layers.transpose(x, perm)",
        **{name: f"layers.reduce_{name}(x, dim=...)" for name in ("sum", "max", "min", "prod", "all", "any")},
        "maximum": "layers.elementwise_max(x, y)",
        "minimum": "layers.elementwise_min(x, y)",
    },
    "optimizer": {
        "RMSprop": "optimizer.RMSProp",
        "LookAhead": "optimizer.Lookahead(optimizer, k=5, alpha=0.5)",
        "lr": "the schedules are in lr",
        **{name: "optimizer.ParameterAverage(optimizer, averaging.Exponential(0.999))" for name in ("EMA", "AveragedModel")},
        "SWA": "optimizer.ParameterAverage(optimizer, averaging.Uniform(), start_step=...)",
        "ModelAverage": "optimizer.ParameterAverage(optimizer, window_size=...)",
        "ExponentialMovingAverage": "optimizer.ParameterAverage(optimizer, averaging.Exponential(0.999))",
    },
    "Minimizer": {
        "step": _MINIMIZE,
        "zero_grad": "gradients are computed from the beginning in each run; " + _MINIMIZE,
        "clear_grad": "gradients are computed from the beginning in each run; " + _MINIMIZE,
    },
    "lr": {
        "StepLR": "lr.StepDecay",
        "MultiStepLR": "lr.MultiStepDecay",
        "ExponentialLR": "lr.ExponentialDecay",
        "CosineAnnealingLR": "lr.CosineAnnealingDecay",
        "ReduceLROnPlateau": "lr.ReduceOnPlateau",
        "LambdaLR": "lr.LambdaDecay",
    },
    "averaging": {
        **{name: "averaging.Exponential(0.999)" for name in ("EMA", "ExponentialMovingAverage")},
        "ModelAverage": "averaging.Window(rate=0.15, min_size=..., max_size=...)",
        "SWA": "averaging.Uniform(), with start_step of ParameterAverage; lr.SWALR is its schedule",
    },
    "training": {
        "ModelCheckpoint": "training.BestCheckpoint(folder, 'val_loss'), or checkpoints=folder of fit",
        "ReduceLROnPlateau": "lr.ReduceOnPlateau, which the optimizer takes as its rate",
        "LearningRateScheduler": "a schedule of lr, which the optimizer takes as its rate",
    },
    "initializer": {
        **{name: "initializer.MSRA(uniform=False)" for name in ("KaimingNormal", "HeNormal")},
        **{name: "initializer.MSRA(uniform=True)" for name in ("KaimingUniform", "HeUniform")},
        **{name: "initializer.Xavier(uniform=False)" for name in ("XavierNormal", "GlorotNormal")},
        **{name: "initializer.Xavier(uniform=True)" for name in ("XavierUniform", "GlorotUniform")},
    },
    "io": _LOADING,
    "data": _LOADING,
}

# Names of arguments, each with the one that functions have here, and advice.
ARGUMENT_HINTS: tuple[tuple[str, str, str], ...] = (
    ("use_bias", "bias_attr", "bias_attr=False leaves the bias out"),
    ("bias", "bias_attr", "bias_attr=False leaves the bias out"),
    ("units", "size", "it is size"),
    ("out_features", "size", "it is size"),
    ("filters", "num_filters", "it is num_filters"),
    ("rate", "dropout_prob", "it is dropout_prob; Keras scales in training: dropout_implementation='upscale_in_train'"),
    ("dim", "axis", "it is axis"),
    ("dim", "axes", "it is axes"),
)
