# PaddlePaddle's averages alone, in static programs.
import paddle
import workloads
from worker import serve

paddle.enable_static()


def exponential():
    paddle.static.ExponentialMovingAverage(workloads.DECAY).update()


def model_average():
    paddle.incubate.ModelAverage(0.15, min_average_window=workloads.WINDOW, max_average_window=workloads.WINDOW)


def alone(append, tensors):
    main, startup = paddle.static.Program(), paddle.static.Program()
    one = paddle.nn.initializer.Constant(1.0)
    with paddle.static.program_guard(main, startup):
        for i in range(tensors):
            paddle.static.create_parameter(
                [workloads.OPTIMIZER_ELEMENTS // tensors], "float32", name=f"parameter_{i}", default_initializer=one
            )
        append()
    scope, exe = paddle.static.Scope(), paddle.static.Executor(paddle.CPUPlace())
    exe.run(startup, scope=scope)

    def run(steps):
        for _ in range(steps):
            exe.run(main, scope=scope)
        return 0.0

    return run


serve(
    {
        f"{append.__name__}_{tensors}": lambda facts=(append, tensors): alone(*facts)
        for append in (exponential, model_average)
        for tensors in workloads.OPTIMIZER_TENSORS
    }
)
