# A classifier with dropout, its data and a Trainer, which the tests of fit train.
import numpy as np

import paddle_mini as pm

ROWS, INPUTS, CLASSES, BATCH = 40, 6, 3, 8


def arrays(rows=ROWS, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, INPUTS)).astype("float32")
    return {"x": x, "label": np.argmax(x[:, :CLASSES], 1)[:, None]}


def network(dropout=0.2):
    """Loss and accuracy, in the current programs."""
    x = pm.layers.data("x", shape=[-1, INPUTS])
    label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
    hidden = pm.layers.fc(x, 8, act="tanh")
    hidden = pm.layers.dropout(hidden, dropout, dropout_implementation="upscale_in_train") if dropout else hidden
    predicted = pm.layers.fc(hidden, CLASSES, act="softmax")
    return pm.layers.mean(pm.layers.cross_entropy(predicted, label)), pm.layers.accuracy(predicted, label)


def trainer(optimizer=None, seed=3, dropout=0.2, **arguments):
    """A Trainer with programs, scope and executor of its own."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        loss, accuracy = network(dropout)
    pm.seed(seed)
    optimizer = pm.optimizer.Adam(0.05) if optimizer is None else optimizer
    metrics = {"accuracy": accuracy}
    return pm.Trainer(loss, optimizer, metrics, startup=startup, exe=pm.Executor(), scope=pm.Scope(), **arguments)


def everything(of):
    """All variables of a Trainer's scope, and the state of its random generator, as bytes."""
    return {name: of.scope.get(name).tobytes() for name in of.scope.names()}, of.exe.random_state()


def fit(of, data, epochs=2, **arguments):
    of.fit(data, epochs, **{"batch_size": BATCH, "shuffle": False, "progress": False, **arguments})
    return everything(of)
