"""PaddlePaddle 2.6.2 in a process of its own: runs programs, reads and writes files, serves models.

One line of JSON per request, {"job": name, "folder": where its files are, ...}; the reply is a line of JSON too.
Arrays are passed in .npz files, programs as bytes.
"""

import json
import os
import pathlib
import signal
import sys
import traceback

import census_programs
import numpy as np
import paddle.inference

import paddle

paddle.enable_static()
exe = paddle.static.Executor(paddle.CPUPlace())


def program_in(folder, name="main.pb"):
    return paddle.static.Program.parse_from_string((folder / name).read_bytes())


def array(name):
    return np.array(paddle.static.global_scope().find_var(name).get_tensor())


def persistables(program):
    kinds = (paddle.base.core.VarDesc.VarType.FEED_MINIBATCH, paddle.base.core.VarDesc.VarType.FETCH_LIST)
    return [var.name for var in program.list_vars() if var.persistable and var.type not in kinds]


def set_all(folder, name="init.npz"):
    with np.load(folder / name) as values:
        for key in values.files:
            paddle.static.global_scope().var(key).get_tensor().set(values[key], paddle.CPUPlace())


def fed(feeds, key):
    """An array, or a tensor with sequences if feeds.npz has their offsets."""
    lod = []
    while f"{key}@LOD{len(lod)}" in feeds.files:
        lod.append(feeds[f"{key}@LOD{len(lod)}"].tolist())
    if not lod:
        return feeds[key]
    tensor = paddle.base.core.LoDTensor()
    tensor.set(feeds[key], paddle.CPUPlace())
    tensor.set_lod(lod)
    return tensor


def train(folder, fetch, steps):
    """Runs main.pb from init.npz, fed with feeds.npz; writes the fetched values and the final ones."""
    program, results = program_in(folder), {}
    set_all(folder)
    with np.load(folder / "feeds.npz") as feeds:
        for step in range(steps):
            feed = {
                key.split("/", 1)[1]: fed(feeds, key) for key in feeds.files if key.startswith(f"{step}/") and "@LOD" not in key
            }
            for name, value in zip(fetch, exe.run(program, feed=feed, fetch_list=fetch, return_numpy=False)):
                results[f"{step}/{name}"] = np.array(value)
    results.update({f"final/{name}": array(name) for name in persistables(program)})
    np.savez(folder / "results.npz", **results)


def averages(folder, kind, steps):
    """A network with PaddlePaddle's own averages: writes main.pb, apply.pb and restore.pb, the initial values, and all
    values after the last step, while averages are applied, and afterwards."""
    main, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    main.random_seed = startup.random_seed = 7
    with paddle.static.program_guard(main, startup), paddle.utils.unique_name.guard(), paddle.static.scope_guard(scope):
        x, y = paddle.static.data("x", [-1, 6]), paddle.static.data("y", [-1, 1])
        loss = paddle.mean(paddle.square(paddle.static.nn.fc(paddle.static.nn.fc(x, 5, activation="tanh"), 1) - y))
        paddle.optimizer.SGD(0.1).minimize(loss)
        if kind == "window":
            average = paddle.incubate.ModelAverage(0.4, min_average_window=3, max_average_window=9)
        else:
            average = paddle.static.ExponentialMovingAverage(0.9)
            average.update()
        exe.run(startup)
        values = {f"begin/{name}": array(name) for name in persistables(main)}
        random = np.random.RandomState(1)
        for step in range(steps):
            feed = {"x": random.randn(8, 6).astype("float32"), "y": random.randn(8, 1).astype("float32")}
            exe.run(main, feed=feed)
            values.update({f"feed{step}/{name}": value for name, value in feed.items()})
        values.update({f"trained/{name}": array(name) for name in persistables(main)})
        with average.apply(exe):
            values.update({f"applied/{name.name}": array(name.name) for name in main.all_parameters()})
        values.update({f"restored/{name.name}": array(name.name) for name in main.all_parameters()})
    for name, program in {"main": main, "apply": average.apply_program, "restore": average.restore_program}.items():
        (folder / f"{name}.pb").write_bytes(program.desc.serialize_to_string())
    np.savez(folder / "values.npz", **values)


def second_gradients(folder, function):
    """Writes main.pb, which computes a function, its gradient and the gradient of x times the squares of this gradient, and the
    values of the gradients."""
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()), np.load(folder / "feeds.npz") as feeds:
        x = paddle.static.data("x", list(feeds["x"].shape))
        x.stop_gradient = False
        (first,) = paddle.static.gradients(eval(function, {"paddle": paddle, "F": paddle.nn.functional, "x": x}), x)
        (second,) = paddle.static.gradients(paddle.sum(first * first * x), x)
        names = [first.name, second.name]
        values = exe.run(main, feed={"x": feeds["x"]}, fetch_list=names)
    (folder / "main.pb").write_bytes(main.desc.serialize_to_string())
    np.savez(folder / "results.npz", **dict(zip(names, values)))


def operators(folder, cases):
    """Each case is a program, case.pb, with its variables and feeds, case.npz, and its fetches. Writes case.out.npz, or
    case.error if PaddlePaddle rejects it; after a crash the first case without either caused it."""
    for case, names in cases.items():
        signal.alarm(60)  # ends the process, because some of PaddlePaddle's loops never end
        scope = paddle.static.Scope()
        try:
            program = program_in(folder, case + ".pb")
            with np.load(folder / (case + ".npz")) as values, paddle.static.scope_guard(scope):
                keys = [key for key in values.files if "@LOD" not in key]
                feed = {key[len("feed:") :]: fed(values, key) for key in keys if key.startswith("feed:")}
                for key in keys:
                    if not key.startswith("feed:"):
                        scope.var(key).get_tensor().set(values[key], paddle.CPUPlace())
                        lod = [values[f"{key}@LOD{level}"].tolist() for level in range(9) if f"{key}@LOD{level}" in values.files]
                        scope.var(key).get_tensor().set_lod(lod)
                found = exe.run(program, feed=feed, fetch_list=names, return_numpy=False)
            arrays = {}
            for name, value in zip(names, found):
                arrays[name] = np.array(value)
                arrays.update({f"{name}@LOD{level}": np.array(offsets) for level, offsets in enumerate(value.lod())})
            np.savez(folder / (case + ".out.npz"), **arrays)
        except Exception as error:
            (folder / (case + ".error")).write_text(str(error)[-600:])
        signal.alarm(0)


def save_vars(folder, to, filename=None):
    """Writes the values of init.npz as the persistables of main.pb, in separate files or one."""
    set_all(folder)
    program = program_in(folder)
    names = set(persistables(program))
    paddle.static.save_vars(exe, to, program, predicate=lambda var: var.name in names, filename=filename)


def load_vars(folder, source, filename=None):
    program = program_in(folder)
    names = set(persistables(program))
    paddle.static.load_vars(exe, source, program, predicate=lambda var: var.name in names, filename=filename)
    np.savez(folder / "loaded.npz", **{name: array(name) for name in names})


def static_save(folder, to):
    set_all(folder)
    paddle.static.save(program_in(folder), to)


def static_load(folder, source):
    program = program_in(folder)
    paddle.static.load(program, source, exe)
    np.savez(folder / "loaded.npz", **{name: array(name) for name in persistables(program)})


def read_state(folder, source):
    np.savez(folder / "loaded.npz", **paddle.load(source, return_numpy=True))


def layers_state(folder, to):
    """The output of paddle.save for layers and for their optimizer after a step, and the values by variables' names."""
    paddle.disable_static()
    try:
        layers = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.Linear(4, 2))
        adam = paddle.optimizer.Adam(paddle.optimizer.lr.StepDecay(0.1, 5), parameters=layers.parameters())
        layers(paddle.ones([2, 3])).sum().backward()
        adam.step()
        paddle.save(layers.state_dict(), to + ".pdparams")
        paddle.save(adam.state_dict(), to + ".pdopt")
        paddle.save({"model": layers.state_dict(), "epoch": 3}, to + ".both.pdparams")
        np.savez(folder / "named.npz", **{p.name: p.numpy() for p in layers.parameters()})
        np.savez(folder / "structured.npz", **{name: p.numpy() for name, p in layers.state_dict().items()})
        tensors = {name: value for name, value in adam.state_dict().items() if isinstance(value, paddle.Tensor)}
        np.savez(folder / "optimizer.npz", **{name: value.numpy() for name, value in tensors.items()})
    finally:
        paddle.enable_static()


def save_inference_model(folder, to, feed, fetch):
    program = program_in(folder)
    set_all(folder)
    block = program.global_block()
    paddle.static.save_inference_model(to, [block.var(n) for n in feed], [block.var(n) for n in fetch], exe, program=program)


class Decoder(paddle.nn.Layer):
    """Words that grow in a loop, whose variable is the input; with a list in it, and a branch selected by words."""

    def __init__(self):
        super().__init__()
        self.table, self.out = paddle.nn.Embedding(16, 8), paddle.nn.Linear(8, 16)

    def forward(self, ids):
        kept, i = [], paddle.to_tensor(0)
        while i < 3:
            scores = self.out(self.table(ids).mean(axis=1))
            best = paddle.argmax(scores, axis=-1, keepdim=True)
            if best.sum() > 20:
                best = best // 2
            kept.append(scores)
            ids = paddle.concat([ids, best], axis=1)
            i = i + 1
        return ids, paddle.concat(kept, axis=0)


class Product(paddle.nn.Layer):
    """An einsum over a parameter, for which jit.load needs .pdiparams.info."""

    def __init__(self):
        super().__init__()
        self.weight = self.create_parameter([3, 4])

    def forward(self, x):
        return paddle.einsum("ij,jk->ik", x, self.weight)


def jit_save(folder, to, layer, dtype, shape):
    paddle.disable_static()
    try:
        paddle.seed(3)
        made = globals()[layer]()
        made.eval()
        paddle.jit.save(made, to, input_spec=[paddle.static.InputSpec(shape, dtype)])
    finally:
        paddle.enable_static()


def jit_load(folder, source, names):
    paddle.disable_static()
    try:
        layer = paddle.jit.load(source)
        with np.load(folder / "feeds.npz") as fed:
            values = layer(*(paddle.to_tensor(fed[name]) for name in names))
        np.savez(
            folder / "results.npz", *(value.numpy() for value in (values if isinstance(values, (list, tuple)) else [values]))
        )
        (folder / "names.json").write_text(json.dumps(sorted(layer.state_dict())))
    finally:
        paddle.enable_static()


def load_inference_model(folder, source, names):
    program, feeds, fetches = paddle.static.load_inference_model(source, exe, **names)
    with np.load(folder / "feeds.npz") as fed:
        values = exe.run(program, feed={name: fed[name] for name in feeds}, fetch_list=fetches)
    np.savez(folder / "results.npz", *values)


def predict(folder, model, params):
    """Runs paddle.inference's Predictor, with its fusions, on feeds.npz."""
    config = paddle.inference.Config(model, params) if params else paddle.inference.Config(model)
    config.disable_gpu()
    config.disable_glog_info()
    predictor = paddle.inference.create_predictor(config)
    with np.load(folder / "feeds.npz") as fed:
        for name in predictor.get_input_names():
            predictor.get_input_handle(name).copy_from_cpu(fed[name])
    predictor.run()
    np.savez(folder / "results.npz", *(predictor.get_output_handle(name).copy_to_cpu() for name in predictor.get_output_names()))


def census_names(folder, modules):
    census_programs.write_names(folder, modules)


def mixed_precision(folder, expression):
    census_programs.write_mixed(folder, expression)


def census(folder, module, expression):
    """Writes the programs and results of a call of a public function; see census_programs.run."""
    signal.alarm(120)
    census_programs.run(folder, module, expression)
    signal.alarm(0)


JOBS = (
    train,
    averages,
    second_gradients,
    operators,
    save_vars,
    load_vars,
    static_save,
    static_load,
    read_state,
    layers_state,
    save_inference_model,
    jit_save,
    jit_load,
    load_inference_model,
    predict,
    census_names,
    census,
    mixed_precision,
)


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of PaddlePaddle must not mix with replies
    jobs = {job.__name__: job for job in JOBS}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            with paddle.static.scope_guard(paddle.static.Scope()):
                jobs[request.pop("job")](pathlib.Path(request.pop("folder")), **request)
            answers.write("{}\n")
        except Exception:
            answers.write(json.dumps({"error": traceback.format_exc()}) + "\n")


main()
