# PaddlePaddle: a static program and its Executor.
import numpy as np
import paddle

import workloads
from worker import serve

paddle.enable_static()


def assigned(array):
    return paddle.ParamAttr(initializer=paddle.nn.initializer.Assign(array))


def program(build, feed):
    """build() gives the variable to fetch; the step runs the program it made."""
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        result = build()
    scope, exe = paddle.static.Scope(), paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup, scope=scope)

    def run(steps):
        for _ in range(steps):
            value, = exe.run(main, feed=feed, fetch_list=[result], scope=scope)
        return float(value.sum())

    return run


def tiny_mlp():
    work = workloads.tiny_mlp()

    def build():
        hidden = paddle.static.data("x", list(work.x.shape), "float32")
        label = paddle.static.data("label", [len(work.label), 1], "int64")
        for i, (weight, bias) in enumerate(work.layers):
            last = i + 1 == len(work.layers)
            hidden = paddle.static.nn.fc(hidden, weight.shape[1], weight_attr=assigned(weight),
                                         bias_attr=assigned(bias), activation=None if last else "relu")
        loss = paddle.mean(paddle.nn.functional.softmax_with_cross_entropy(hidden, label))
        paddle.optimizer.SGD(work.rate).minimize(loss)
        return loss

    return program(build, {"x": work.x, "label": work.label[:, None]})


def chain():
    work = workloads.chain()

    def build():
        x, factor, addend = (paddle.static.data(name, [8], "float32") for name in ("x", "factor", "addend"))
        for _ in range(work.length // 2):
            x = paddle.multiply(x, factor)
            x = paddle.add(x, addend)
        return x

    return program(build, {"x": work.x, "factor": work.factor, "addend": work.addend})


serve({"tiny_mlp": tiny_mlp, "chain": chain})
