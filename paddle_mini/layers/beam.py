# Beam search: layers that select the prefixes of each step, and reconstruct the sentences at the end.
from __future__ import annotations

from ..guards import default_main_program
from ..variable import Variable
from .emit import block, emit, emit_all, layer_name, require_variable, whole

Chosen = tuple[Variable, Variable] | tuple[Variable, Variable, Variable]


def beam_search(
    pre_ids: Variable,
    pre_scores: Variable,
    ids: Variable | None,
    scores: Variable,
    beam_size: int,
    end_id: int,
    level: int = 0,
    is_accumulated: bool = True,
    name: str | None = None,
    return_parent_idx: bool = False,
) -> Chosen:
    """The beam_size best continuations of the prefixes of each source: (words int64 [m, 1], their scores [m, 1]), and
    the prefix of each, int32 [m], with return_parent_idx.

    pre_ids, pre_scores: [n, 1], the last word of each prefix and its score; a prefix that ended with end_id stays as it
    is. ids, scores: [n, k], candidates for the next word; ids None: the column numbers. Level `level` of the sequences
    of scores groups the prefixes by source. is_accumulated: scores include those of the prefix; else they are
    probabilities. The results have two levels: the prefixes of each source, and the continuations of each prefix.
    Returns these two variables, or three.
    Example:
        >>> ids = pm.layers.data("ids", [-1, 1], "int64", lod_level=2)
        >>> before = pm.layers.data("before", [-1, 1], lod_level=2)  # the score of each prefix
        >>> words = pm.layers.softmax(pm.layers.fc(pm.layers.embedding(ids, [100, 8]), 100))
        >>> best, candidates = pm.layers.topk(words, 4)
        >>> scores = pm.layers.lod_reset(pm.layers.log(best) + before, before)
        >>> chosen, chosen_scores = pm.layers.beam_search(ids, before, candidates, scores, beam_size=4, end_id=1)
        >>> chosen.dtype
        'int64'
    """
    attrs = {
        "level": level,
        "beam_size": whole("beam_search", "beam_size", beam_size),
        "end_id": end_id,
        "is_accumulated": is_accumulated,
    }
    made = emit_all(
        "beam_search",
        {"pre_ids": pre_ids, "pre_scores": pre_scores, "ids": ids, "scores": scores},
        attrs,
        name=name,
        outputs={"parent_idx": 1},
    )
    for port in ("selected_ids", "parent_idx"):
        made[port].stop_gradient = True  # type: ignore[union-attr]
    chosen = made["selected_ids"], made["selected_scores"]
    return (*chosen, made["parent_idx"]) if return_parent_idx else chosen  # type: ignore[return-value]


def beam_search_decode(
    ids: Variable, scores: Variable, beam_size: int, end_id: int, name: str | None = None
) -> tuple[Variable, Variable]:
    """The sentences that steps of beam_search chose: (words int64 [n], the score at each word [n]), both with two
    levels of sequences: the sentences of each source, the words of each sentence.

    ids, scores: tensor arrays: what beam_search gave at each step.
    beam_size, end_id: as of beam_search. Returns these two variables.
    Example:
        >>> word = pm.layers.data("word", [-1, 1], "int64", lod_level=2)  # the choice of beam_search
        >>> score = pm.layers.data("score", [-1, 1], lod_level=2)
        >>> step = pm.layers.zeros([1], "int64")
        >>> ids, scores = pm.layers.array_write(word, step), pm.layers.array_write(score, step)
        >>> sentences, word_scores = pm.layers.beam_search_decode(ids, scores, beam_size=4, end_id=1)
        >>> sentences.dtype
        'int64'
    """
    for array in (ids, scores):
        require_variable("beam_search_decode", array)
    prefix = layer_name("beam_search_decode", name)
    sentences, chances = (
        block().create_var(
            default_main_program().new_name(f"{prefix}.tmp"), dtype=array.dtype, shape=[-1], lod_level=2, stop_gradient=True
        )
        for array in (ids, scores)
    )
    emit(
        "beam_search_decode",
        {"Ids": ids, "Scores": scores},
        {"beam_size": whole("beam_search_decode", "beam_size", beam_size), "end_id": end_id},
        outputs={"SentenceIds": sentences, "SentenceScores": chances},
    )
    return sentences, chances
