# Pushes of several trainers to servers, for tests.
from server_calls import config, generator

VALUE = generator("value").standard_normal(40).astype("float32")
TABLE = generator("table").standard_normal((30, 4)).astype("float32")
ONE = {"w": (VALUE, config(), False)}
BOTH = {"w": (VALUE, config("Adam"), False), "t": (TABLE, config("Adagrad"), True)}


def gradient(*seed):
    return generator(f"gradient {seed}").standard_normal(40).astype("float32")


def counts(group, index=0):
    found = group.status(index)["pushes"]
    assert found["sent"] == found["applied"] + found["dropped"] + found["waiting"]
    return found
