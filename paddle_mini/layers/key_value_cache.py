# KeyValueCache: what attention keeps of the words before, for programs that write a text word by word.
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core import ProgramError, ShapeError, printable
from ..errors import shown
from ..guards import default_main_program
from ..variable import Variable
from . import ops
from .attention import HIDDEN
from .emit import emit, refuse, require_variable, whole
from .fill import fill_constant_batch_size_like
from .rearrange import broadcast_to, reshape
from .reduce import cumsum
from .tensor import assign, cast, create_global_var, data


class KeyValueCache:
    """Keys and values of a text's words, which attention keeps between runs: each run computes its new words only.

    length: words of the longest text. batch: the number of texts, which are written at the same pace. position: int64 [1], how
    many words a text has before the run's; None: data with the name "position".
    Give it to the attentions and to the positions of one network, which read the run's words in order: [batch, words, features].
    They see the words before and those of the run up to themselves. A multi_head_attention keeps two variables, NAME.keys and
    NAME.values [batch, num_heads, length, width / num_heads], which the startup program fills with zeros. A run at position 0
    begins a new text, and a run at an earlier position than the last goes back there: later words are not seen.
    Predictors that share a scope share its texts. Raises OpError at a run with words after `length`, before anything changes.
    Example:
        >>> cache = pm.layers.KeyValueCache(length=32)
        >>> ids = pm.layers.data("ids", [1, -1], "int64")
        >>> x = pm.layers.add_learned_positions(pm.layers.embedding(ids, [100, 16]), max_length=32, cache=cache)
        >>> scores = pm.layers.fc(pm.layers.multi_head_attention(x, num_heads=4, cache=cache), 100, num_flatten_dims=2)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> text = [5, 17, 3]
        >>> while len(text) < 8:
        ...     new = text if len(text) == 3 else text[-1:]
        ...     feed = {"ids": np.array([new]), "position": np.array([len(text) - len(new)])}
        ...     text.append(int(exe.run(feed=feed, fetch_list=[scores])[0][0, -1].argmax()))
    """

    def __init__(self, length: int, batch: int = 1, position: Variable | None = None):
        self.length, self.batch = whole("KeyValueCache", "length", length), whole("KeyValueCache", "batch", batch)
        self.position = data("position", [1], "int64") if position is None else position
        require_variable("KeyValueCache", self.position)
        if self.position.dtype != "int64" or self.position.shape != (1,):
            refuse(ShapeError, f"KeyValueCache: position is {shown(self.position)}, it must be int64 [1]")
        self._made: dict[tuple[object, ...], Variable] = {}

    def positions(self, x: Variable, name: str) -> Variable:
        """int64 [words]: those of the run's words, x [batch, words, features], in their texts."""
        return self._once(
            ("positions", x.shape[1]), lambda: ops.elementwise_add(word_positions(x, name), self.position, name=name)
        )

    def mask(self, x: Variable, name: str) -> Variable:
        """[1, 1, words, length], added to scores: hides from each of the run's words those after it."""
        return self._once(("mask", x.shape[1], x.dtype), lambda: self._mask(x, name))

    def extended(self, kept: str, new: Variable, x: Variable, name: str) -> Variable:
        """The variable `kept`, [batch, heads, length, width], with `new` [batch, heads, words, width] at the run's positions."""
        if x.shape[0] not in (-1, self.batch):
            refuse(
                ShapeError, f"'{printable(x.name)}' {list(x.shape)} has {x.shape[0]} texts, the KeyValueCache is for {self.batch}"
            )
        _, heads, words, width = new.shape
        index = self._once(("index", words, heads, width), lambda: self._index(x, heads, width, name))
        cache = create_global_var([self.batch, heads, self.length, width], 0.0, new.dtype, name=kept)
        inputs = {"Input": cache, "Index": index, "Value": new}
        return emit("put_along_axis", inputs, {"Axis": 2, "Reduce": "assign"}, name, {"Result": cache})

    def _once(self, key: tuple[object, ...], make: Callable[[], Variable]) -> Variable:
        """The variable of this key, which the attentions of a network share."""
        block = self.position.block
        if default_main_program().current_block() is not block:
            refuse(ProgramError, f"the KeyValueCache is for the block of '{printable(self.position.name)}'")
        made = self._made.get(key)
        if made is None or block.vars.get(made.name) is not made:  # none is left of a layer that failed
            made = self._made[key] = make()
        return made

    def _mask(self, x: Variable, name: str) -> Variable:
        places = reshape(self.positions(x, name), [1, 1, -1, 1], name=name)
        keys = assign(np.arange(self.length).reshape(1, 1, 1, -1), name=name)
        mask = ops.scale(cast(ops.greater_than(keys, places, name=name), x.dtype, name=name), scale=HIDDEN, name=name)
        mask.stop_gradient = True
        return mask

    def _index(self, x: Variable, heads: int, width: int, name: str) -> Variable:
        places = reshape(self.positions(x, name), [1, 1, -1, 1], name=name)
        return broadcast_to(places, [self.batch, heads, x.shape[1], width], name=name)


def word_positions(x: Variable, name: str) -> Variable:
    """int64 [words]: 0, 1, ... for x [batch, words, features]."""
    each = fill_constant_batch_size_like(x, [1], "int64", 1, input_dim_idx=1, name=name)
    # Not exclusive=True: PaddlePaddle 2.6.2 computes that wrongly where its result lies over its input.
    return ops.scale(cumsum(each, axis=0, name=name), bias=-1.0, name=name)
