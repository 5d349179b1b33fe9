# Beam search with a cell: word after word, each from a step over the one before, until all sentences end.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._core import ProgramError
from ..errors import shown
from ..variable import Variable
from . import ops
from .arrays import array_write, tensor_array_to_tensor
from .cells import RNNCell
from .emit import emit, known_dim, refuse, require_variable, whole
from .fill import fill_constant, fill_constant_batch_size_like
from .loops import while_loop
from .metric import topk
from .rearrange import expand, reshape, transpose, unsqueeze
from .reduce import reduce_all
from .select import gather
from .structure import map_structure, require_states
from .tensor import assign, cast

IMPOSSIBLE = -1e9  # log-probability of words that can't be chosen


class BeamSearchDecoder:
    """Keeps the beam_size best beginnings of each sentence.

    cell: an RNNCell, or what is called like one. start_token, end_token: word numbers.
    embedding_fn: word numbers [m] to inputs of the cell [m, width]. output_fn: outputs of the cell to scores
    of each word [m, vocabulary], before softmax; None: the outputs themselves.
    Example:
        >>> embed = lambda ids: pm.layers.embedding(ids, [100, 8], param_attr="words")
        >>> score = lambda hidden: pm.layers.fc(hidden, 100, param_attr="scores", bias_attr=False)
        >>> decoder = pm.layers.BeamSearchDecoder(pm.layers.GRUCell(8), 0, 1, beam_size=4, embedding_fn=embed, output_fn=score)
        >>> words, log_probabilities = pm.layers.dynamic_decode(decoder, pm.layers.data("state", [-1, 8]), max_step_num=20)
        >>> words.dtype
        'int64'
    """

    def __init__(
        self,
        cell: RNNCell,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[[Variable], Variable],
        output_fn: Callable[[Variable], Variable] | None = None,
    ):
        self.cell = cell
        self.start_token, self.end_token = (
            whole("BeamSearchDecoder", "start_token", start_token, 0),
            whole("BeamSearchDecoder", "end_token", end_token, 0),
        )
        self.beam_size = whole("BeamSearchDecoder", "beam_size", beam_size)
        self.embedding_fn, self.output_fn = embedding_fn, output_fn

    @staticmethod
    def tile_beam_merge_with_batch(x: Variable, beam_size: int) -> Variable:
        """[n, ...] as [n beam_size, ...]: each row beam_size times, for what a cell reads besides its states."""
        require_variable("tile_beam_merge_with_batch", x)
        rest = list(x.shape[1:])
        return reshape(expand(unsqueeze(x, [1]), [1, beam_size] + [1] * len(rest)), [-1, *rest])

    def begin(self, states: Any) -> tuple[Variable, Variable, Variable, Any]:
        """Words, logarithms of probabilities and ends [n, beam]; states of n beam rows. Only the first of the
        beams counts at the first step: all are the same beginning."""
        first = map_structure(lambda state: state, states)
        reference = first[0] if isinstance(first, (list, tuple)) else first
        words = fill_constant_batch_size_like(reference, [-1, self.beam_size], "int64", self.start_token)
        zeros = fill_constant_batch_size_like(reference, [-1, self.beam_size], "float32", 0.0)
        only_first = assign([[0.0] + [IMPOSSIBLE] * (self.beam_size - 1)])
        ended = cast(fill_constant_batch_size_like(reference, [-1, self.beam_size], "int32", 0), "bool")
        tiled = map_structure(lambda state: self.tile_beam_merge_with_batch(state, self.beam_size), states)
        return words, ops.elementwise_add(zeros, only_first), ended, tiled

    def step(self, words: Variable, chances: Variable, ended: Variable, states: Any) -> tuple[Any, ...]:
        """(words, parents, chances, ended, states) of the best continuations."""
        outputs, states = self.cell(self.embedding_fn(reshape(words, [-1])), states)
        scores = outputs if self.output_fn is None else self.output_fn(outputs)
        vocabulary = known_dim(scores, -1, "BeamSearchDecoder")
        chance = reshape(ops.log_softmax(scores), [-1, self.beam_size, vocabulary])
        # A finished sentence continues with the end word only, at no cost.
        end = [IMPOSSIBLE] * vocabulary
        end[self.end_token] = 0.0
        has_ended = unsqueeze(cast(ended, "float32"), [2])
        chance = chance * (1.0 - has_ended) + has_ended * assign([[end]])
        total = reshape(ops.elementwise_add(chance, unsqueeze(chances, [2])), [-1, self.beam_size * vocabulary])
        best, places = topk(total, self.beam_size)
        size = fill_constant([1], "int64", vocabulary)
        parents = emit("elementwise_floordiv", {"X": places, "Y": size})
        following = emit("elementwise_mod", {"X": places, "Y": size})
        rows = self._rows(parents)
        states = map_structure(lambda state: gather(state, rows), states)
        kept = reshape(gather(reshape(cast(ended, "int32"), [-1]), rows), [-1, self.beam_size])
        at_end = ops.equal(following, fill_constant([1], "int64", self.end_token))
        return following, parents, best, ops.logical_or(cast(kept, "bool"), at_end), states

    def _rows(self, parents: Variable) -> Variable:
        """Where the parents [n, beam] are among n beam rows."""
        ones = fill_constant_batch_size_like(parents, [-1, self.beam_size], "int64", 1)
        sentence = emit("cumsum", {"X": ones}, {"axis": 0, "exclusive": False}) + (-1)
        return reshape(sentence * self.beam_size + parents, [-1])


def dynamic_decode(decoder: BeamSearchDecoder, inits: Any, max_step_num: int) -> tuple[Variable, Variable]:
    """Decodes until every sentence has ended, at most max_step_num words.

    inits: the cell's states at the beginning, [n, width] each. Returns (word numbers int64 [n, steps, beam],
    the best beam first; logarithms of their probabilities [n, beam]).
    decoder: a BeamSearchDecoder.
    Example:
        >>> embed = lambda ids: pm.layers.embedding(ids, [100, 8], param_attr="words")
        >>> score = lambda hidden: pm.layers.fc(hidden, 100, param_attr="scores", bias_attr=False)
        >>> decoder = pm.layers.BeamSearchDecoder(pm.layers.GRUCell(8), 0, 1, 4, embed, score)
        >>> words, log_probabilities = pm.layers.dynamic_decode(decoder, pm.layers.ones([2, 8]), max_step_num=20)
        >>> exe = pm.Executor()
        >>> exe.run(pm.default_startup_program())
        []
        >>> exe.run(fetch_list=[log_probabilities])[0].shape
        (2, 4)
    """
    if not isinstance(decoder, BeamSearchDecoder):
        refuse(ProgramError, f"dynamic_decode: {shown(decoder)} is not a BeamSearchDecoder")
    require_states("dynamic_decode", "inits", inits)
    max_steps = fill_constant([1], "int64", whole("dynamic_decode", "max_step_num", max_step_num))
    words, chances, ended, states = decoder.begin(inits)
    time = fill_constant([1], "int64", 0)
    all_words, all_parents = (array_write(words, time) for _ in range(2))  # place 0 is written over by the first step

    def goes_on(time: Variable, words: Variable, chances: Variable, ended: Variable, states: Any, *arrays: Any) -> Variable:
        return ops.logical_and(time < max_steps, ops.logical_not(reshape(reduce_all(ended), [1])))

    def body(
        time: Variable,
        words: Variable,
        chances: Variable,
        ended: Variable,
        states: Any,
        all_words: Variable,
        all_parents: Variable,
    ) -> Any:
        words, parents, chances, ended, states = decoder.step(words, chances, ended, states)
        return [
            time + 1,
            words,
            chances,
            ended,
            states,
            array_write(words, time, all_words),
            array_write(parents, time, all_parents),
        ]

    _, _, chances, _, _, all_words, all_parents = while_loop(
        goes_on, body, [time, words, chances, ended, states, all_words, all_parents], is_test=True
    )
    steps, parents = (tensor_array_to_tensor(array, 0, use_stack=True)[0] for array in (all_words, all_parents))
    return transpose(ops.gather_tree(steps, parents), [1, 0, 2]), chances
