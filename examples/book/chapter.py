# Shared code of the chapters: arguments, passes over the samples, use of a saved model.
import argparse
import pathlib
import tempfile

import paddle_mini as pm


def arguments(argv, doc, epochs, batch, nets=()):
    """--data, --epochs, --batch, --seed, --out and, for several networks, --net."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--data", help="the original files; without it, made data stands for them")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch", type=int, default=batch)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, help="where to save the model; without it, for this run only")
    if nets:
        parser.add_argument("--net", choices=nets, default=nets[0])
    return parser.parse_args(argv)


def fit(samples, feed_list, loss, optimizer, args, **measures):
    """Minimizes the loss over the training samples, and prints after each epoch the means over the test samples.

    measures: further variables by name. Returns the executor, and {name: last mean}, including the loss.
    """
    pm.seed(args.seed)
    executor, feeder = pm.Executor(pm.CPUPlace()), pm.data.DataFeeder(feed_list)

    def batches(epoch):
        order = pm.data.shuffle(samples.train, len(samples.train), seed=args.seed + epoch)
        return map(feeder.feed, pm.data.batch(order, args.batch, drop_last=True))

    test = pm.data.Loader(samples.test).batch(args.batch, feeder=feeder)
    last = pm.fit(loss, batches, optimizer, args.epochs, test, measures, exe=executor).last
    return executor, {name: last[f"val_{name}"] for name in ("loss", *measures)}


def saved_and_used(args, feed_vars, fetch_vars, executor, rows):
    """Saves the computation of fetch_vars from feed_vars, loads it into a separate scope, and runs it on rows: values
    of feed_vars. Returns the values of fetch_vars."""
    with tempfile.TemporaryDirectory() as folder:
        prefix = args.out or pathlib.Path(folder, "model")
        prefix.parent.mkdir(parents=True, exist_ok=True)
        pm.io.save_inference_model(prefix, feed_vars, fetch_vars, executor)
        scope = pm.Scope()
        program, names, fetches = pm.io.load_inference_model(prefix, executor, scope=scope)
        feed = pm.data.DataFeeder(names, program).feed(rows)
        return executor.run(program, feed, fetches, scope=scope)
