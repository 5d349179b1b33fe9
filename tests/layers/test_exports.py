"""paddle_mini.layers exports every layer of its modules, and lists it in __all__."""

import inspect

from paddle_mini import layers
from paddle_mini.layers import ops


def public(module):
    return {
        name: value
        for name, value in ((name, getattr(module, name)) for name in dir(module))
        if not name.startswith("_") and (inspect.isfunction(value) or inspect.isclass(value))
    }


def test_every_layer_that_is_made_from_a_schema_is_exported():
    made = {name: value for name, value in public(ops).items() if value.__module__ == ops.__name__}
    assert len(made) > 100
    assert [name for name, value in made.items() if getattr(layers, name, None) is not value] == []


def test_what_is_imported_is_what_all_says():
    own = [name for name, value in public(layers).items() if value.__module__.startswith(layers.__name__)]
    assert sorted(own) == sorted(layers.__all__)
    assert len(set(layers.__all__)) == len(layers.__all__)
