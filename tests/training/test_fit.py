"""fit trains with the bits of a loop by hand; what it reports, evaluates, logs and prints."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm
from training_model import BATCH, ROWS, arrays, everything, network, trainer


def quiet(of, data=None, **arguments):
    return of.fit(arrays() if data is None else data, **{"batch_size": BATCH, "progress": False, **arguments})


def test_the_bits_are_those_of_a_loop_by_hand():
    fitted = trainer(pm.optimizer.ParameterAverage(pm.optimizer.Adam(pm.lr.ExponentialDecay(0.05, 0.9)), window_size=4))
    history = quiet(fitted, epochs=2, shuffle=False)
    found = everything(fitted)

    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        loss, accuracy = network()
        schedule = pm.lr.ExponentialDecay(0.05, 0.9)
        pm.optimizer.ParameterAverage(pm.optimizer.Adam(schedule), window_size=4).minimize(loss)
    pm.seed(3)
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    losses = []
    for first in list(range(0, ROWS, BATCH)) * 2:
        feed = {name: array[first : first + BATCH] for name, array in arrays().items()}
        losses.append(exe.run(main, feed, [loss, accuracy], scope)[0].item())
        schedule.step()
    assert found == ({name: scope.get(name).tobytes() for name in scope.names()}, exe.random_state())
    assert history["loss"] == pytest.approx([np.mean(losses[:5]), np.mean(losses[5:])], rel=1e-6)
    assert history["step"] == [5, 10] and history["epoch"] == [1, 2]


def test_the_order_of_arrays_is_that_of_a_loader():
    found = []
    for data, seed in ((arrays(), 7), (pm.data.Loader(arrays()).shuffle(seed=7), 0), (arrays(), 8)):
        of = trainer()
        quiet(of, data, epochs=2, seed=seed)
        found.append(everything(of))
    assert found[0] == found[1] != found[2]


def test_a_loss_in_the_default_programs_is_enough():
    loss, accuracy = network()
    history = pm.fit(
        loss, arrays(), pm.optimizer.Adam(0.05), 8, validation=arrays(16, 1), metrics={"right": accuracy}, progress=False
    )
    assert history["loss"][-1] < history["loss"][0] and history.last["val_right"] > 0.7
    assert pm.global_scope().get("fc_0.w_0").shape == (6, 8)


def test_programs_that_train_already():
    by_fit, by_hand = trainer(), trainer()
    by_hand.optimizer.minimize(by_hand.measures["loss"], by_hand.startup)
    ready = pm.Trainer(
        by_hand.measures["loss"],
        metrics={"accuracy": by_hand.measures["accuracy"]},
        startup=by_hand.startup,
        test=by_hand.main.clone(for_test=True),
        exe=by_hand.exe,
        scope=by_hand.scope,
    )
    pm.seed(3)
    histories = [quiet(one, epochs=2, validation=arrays(16, 1)).rows for one in (by_fit, ready)]
    assert histories[0] == histories[1] and everything(by_fit) == everything(ready)


def test_the_average_of_a_program_that_trains_already_is_found():
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        loss, _ = network()
        average = pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), window_size=3)
        average.minimize(loss)
    found = pm.Trainer(loss, startup=startup, scope=pm.Scope())
    assert found.average is average
    assert "averaged_val_loss" in quiet(found, validation=arrays()).columns()


def test_validation_is_the_mean_over_rows_without_dropout_and_averages_stand_beside_it():
    of = trainer(averaging=pm.averaging.Uniform())
    held_out = arrays(13, 1)
    history = quiet(of, epochs=3, validation=held_out)
    ((loss, right), *_) = [of.exe.run(of.test, held_out, list(of.measures.values()), of.scope)]
    assert history.last["val_loss"] == pytest.approx(loss.item(), rel=1e-5)
    with of.average.apply(of.exe, of.scope):
        averaged = of.exe.run(of.test, held_out, [of.measures["loss"]], of.scope)[0].item()
    assert history.last["averaged_val_loss"] == pytest.approx(averaged, rel=1e-5) and averaged != loss
    assert history.last["val_accuracy"] == pytest.approx(right.item())
    assert of.evaluate(held_out, BATCH, average=True)["loss"] == history.last["averaged_val_loss"]
    assert of.evaluate(held_out, batch_size=3)["loss"] == pytest.approx(history.last["val_loss"], rel=1e-6)


def test_averages_that_have_not_begun_are_the_parameters():
    of = trainer(pm.optimizer.ParameterAverage(pm.optimizer.SGD(0.1), window_size=3, start_step=100))
    last = quiet(of, validation=arrays()).last  # apply() would warn
    assert last["averaged_val_loss"] == last["val_loss"]


def test_several_averages():
    schemes = [pm.averaging.Uniform(), pm.averaging.Exponential(0.5)]
    of = trainer(averaging=schemes)
    last = quiet(of, validation=arrays(), callbacks=[pm.training.EvaluateAverages(schemes)]).last
    for scheme in schemes:
        assert last[f"averaged_val_loss[{scheme!r}]"] == of.evaluate(arrays(), BATCH, average=scheme)["loss"]


def test_epochs_of_further_calls_are_added():
    once, twice = trainer(), trainer()
    quiet(once, epochs=5)
    quiet(twice, epochs=2)
    assert len(quiet(twice, epochs=3)) == 5
    assert everything(once) == everything(twice) and once.history.rows == twice.history.rows


def test_loaded_parameters_stay_without_initialize():
    first = trainer()
    quiet(first)
    state = pm.io.get_state(first.main.clone(for_test=True), first.scope)
    second = trainer(pm.optimizer.SGD(0.0), seed=77, initialize=False)
    for name in ("fc_0.w_0", "fc_1.w_0"):
        second.scope.set(name, state[name])
    quiet(second)
    for name in ("fc_0.w_0", "fc_1.w_0"):
        assert np.array_equal(second.scope.get(name), state[name])
    assert not second.scope.get("fc_0.b_0").any()


def test_schedules_by_epoch_and_on_a_plateau():
    decay = pm.lr.ExponentialDecay(0.1, 0.5)
    history = quiet(trainer(pm.optimizer.SGD(decay)), epochs=3, schedule="epoch", callbacks=[pm.training.LearningRateLogger()])
    assert history["learning_rate"] == pytest.approx([0.1, 0.05, 0.025])
    plateau = pm.lr.ReduceOnPlateau(0.1, mode="max", patience=1, factor=0.1)  # a loss that falls is worse in this mode
    rates = quiet(trainer(pm.optimizer.SGD(plateau)), epochs=5, callbacks=[pm.training.LearningRateLogger()])["learning_rate"]
    assert rates[0] == pytest.approx(0.1) and rates[-1] == pytest.approx(0.01)


def test_a_schedule_takes_one_step_for_each_batch():
    by_batch, by_epoch = pm.lr.ExponentialDecay(0.1, 0.5), pm.lr.ExponentialDecay(0.1, 0.5)
    quiet(trainer(pm.optimizer.SGD(by_batch)), epochs=2)
    quiet(trainer(pm.optimizer.SGD(by_epoch)), epochs=2, schedule="epoch")
    assert by_batch.last_epoch - by_epoch.last_epoch == 8 and by_epoch() == pytest.approx(0.1 * 0.5**2)


def test_loggers_get_the_values_of_each_epoch():
    seen = []

    class Logger:
        def log(self, values, step):
            seen.append((step, dict(values)))

    history = quiet(trainer(), epochs=2, validation=arrays(), loggers=[Logger()])
    assert [step for step, _ in seen] == [5, 10]
    assert [values for _, values in seen] == [{k: v for k, v in row.items() if k != "step"} for row in history.rows]


def test_hooks_in_their_order():
    calls = []

    class Record(pm.training.Callback):
        def __getattribute__(self, name):
            if name.startswith("on_"):
                calls.append(name)
            return super().__getattribute__(name)

    quiet(trainer(), epochs=2, callbacks=[Record()])
    epoch = ["on_epoch_begin", *["on_step_end"] * 5, "on_epoch_end"]
    assert calls == ["on_fit_begin", *epoch, *epoch, "on_fit_end"]


def test_a_callback_stops_within_an_epoch():
    class Stop(pm.training.Callback):
        def on_step_end(self, trainer, values):
            if trainer.step == 7:
                trainer.stop("enough")

    of = trainer()
    history = quiet(of, epochs=5, callbacks=[Stop()])
    assert history["step"] == [5, 7] and history.stopped == "enough" and str(history).endswith("stopped: enough")
    assert quiet(of, epochs=1)["step"] == [5, 7, 12] and history.stopped is None


def test_fast_dev_run_is_one_batch_of_each(tmp_path):
    def endless():
        while True:
            yield {name: array[:BATCH] for name, array in arrays().items()}

    class Logger:
        def log(self, values, step):
            raise RuntimeError("called")

    of = trainer()
    history = quiet(
        of, endless, epochs=9, validation=endless, fast_dev_run=True, checkpoints=tmp_path / "run", loggers=[Logger()]
    )
    assert history["step"] == [1] and "val_loss" in history.columns() and not (tmp_path / "run").exists()


def test_overfit_batches_are_the_same_first_ones_in_each_epoch():
    seen = []

    def note(batch):
        seen.append(batch["x"].tobytes())
        return batch

    quiet(trainer(), pm.data.Loader(arrays()).batch(BATCH).map(note), epochs=3, overfit_batches=2)
    assert quiet(trainer(dropout=0), epochs=60, overfit_batches=1).last["loss"] < 0.05
    assert list(dict.fromkeys(seen)) == [arrays()["x"][i : i + BATCH].tobytes() for i in (0, BATCH)]


def test_check_finite_names_the_first_operator():
    data = arrays()
    data["x"][-1, 0] = np.nan
    of = trainer(dropout=0)
    with pytest.raises(pm.OpError, match="mul: Out 'fc_0.tmp_0'"):
        quiet(of, data, shuffle=False, check_finite=True)
    assert of.step == ROWS // BATCH - 1
    assert np.isnan(quiet(trainer(dropout=0), data).last["loss"])


def test_lines_in_a_log_file(capsys):
    trainer().fit(arrays(), 2, validation=arrays(), batch_size=BATCH)
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert len(lines) == 2 and err == ""
    assert lines[0].startswith("epoch 1/2: loss ") and ", val_accuracy " in lines[0]


def test_a_bar_at_a_terminal(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    trainer().fit(arrays(), 1, batch_size=BATCH)
    out, err = capsys.readouterr()
    assert "epoch 1/1:   0%" in err and err.endswith("\r") and len(out.splitlines()) == 1


def test_history_shows_itself():
    history = pm.training.History([{"epoch": 1, "step": 5, "loss": 0.5}, {"epoch": 2, "step": 10, "loss": 0.25, "val_loss": 2.0}])
    assert history.table().splitlines() == [
        "epoch  step  loss  val_loss",
        "    1     5   0.5          ",
        "    2    10  0.25         2",
    ]
    assert history.to_dict()["loss"] == [0.5, 0.25] and np.isnan(history["val_loss"][0])
    assert history._repr_html_().count("<tr>") == 3
    with pytest.raises(pm.ProgramError, match="has no 'acc'; it has epoch, step, loss, val_loss"):
        history["acc"]
    assert pm.training.History().table() == ""


def test_history_is_plotted():
    pytest.importorskip("matplotlib")
    figure = quiet(trainer(), epochs=2, validation=arrays()).plot()
    assert [axes.get_title() for axes in figure.axes] == ["loss", "accuracy"]
    assert [len(axes.lines) for axes in figure.axes] == [2, 2]


def test_steps_of_an_endless_iterator():
    batches = ({name: array[i : i + BATCH] for name, array in arrays().items()} for i in itertools.cycle(range(0, ROWS, BATCH)))
    endless, whole = trainer(), trainer()
    quiet(endless, batches, epochs=2, steps_per_epoch=5)
    quiet(whole, epochs=2, shuffle=False)
    assert everything(endless) == everything(whole)


def test_the_history_does_not_depend_on_workers():
    found = []
    for workers in (0, 2):
        of = trainer()
        data = pm.data.Loader(arrays()).shuffle(seed=1).batch(BATCH).prefetch(3, workers=workers)
        quiet(of, data, epochs=3, validation=pm.data.Loader(arrays(16, 1)).batch(BATCH).prefetch(3, workers=workers))
        found.append((everything(of), of.history.rows))
    assert found[0] == found[1]


def test_it_is_imported_when_it_is_used():
    code = "import sys, paddle_mini as pm; "
    code += "assert not [name for name in sys.modules if 'paddle_mini.training' in name or 'concurrent' in name]; "
    code += "assert 'fit' in dir(pm); from paddle_mini import *; assert fit is pm.training.fit and Trainer is pm.Trainer"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="did you mean 'fit'"):
        pm.fitt  # noqa: B018
