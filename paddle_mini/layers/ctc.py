# Layers for labels whose place in the input is not known: CTC loss and decoding, edit distance.
from __future__ import annotations

from collections.abc import Sequence

from .._core import ProgramError
from ..variable import Variable
from . import ops
from .emit import emit_all, layer_name, refuse, require_variable
from .metric import topk
from .rearrange import squeeze


def warpctc(
    input: Variable,
    label: Variable,
    blank: int = 0,
    norm_by_times: bool = False,
    input_length: Variable | None = None,
    label_length: Variable | None = None,
    name: str | None = None,
) -> Variable:
    """−log of the probability that the steps of input spell label, with blanks and repetitions taken away.

    input: logits, sequences [T, classes]; with lengths, [longest, sequences, classes]. label: sequences [L, 1], or
    with lengths [sequences, longest]; int32 or int64, never `blank`. input_length, label_length: [sequences], int64;
    they must be given together. norm_by_times: the gradient is divided by the number of steps. Returns [sequences, 1].
    Graves et al., "Connectionist Temporal Classification", ICML 2006.
    Example:
        >>> logits = pm.layers.data("logits", [-1, 30], lod_level=1)
        >>> label = pm.layers.data("label", [-1, 1], "int64", lod_level=1)
        >>> pm.layers.warpctc(logits, label).shape
        (-1, 1)
    """
    _both_or_none("warpctc", input_length, label_length)
    inputs = {"Logits": input, "Label": label, "LogitsLength": input_length, "LabelLength": label_length}
    made = emit_all("warpctc", inputs, {"blank": blank, "norm_by_times": norm_by_times}, name=name)
    return made["Loss"]  # type: ignore[return-value]


def ctc_greedy_decoder(
    input: Variable, blank: int, input_length: Variable | None = None, padding_value: int = 0, name: str | None = None
) -> Variable | tuple[Variable, Variable]:
    """Greedy decoding: the best class of each step, without repetitions and then without blanks.

    input: scores, sequences [T, classes]; with input_length, [sequences, longest, classes].
    Returns sequences [L, 1], int64; with input_length, ([sequences, longest] filled up with padding_value,
    lengths [sequences, 1]).
    blank: the class of the blank.
    Example:
        >>> scores = pm.layers.data("scores", [-1, 30], lod_level=1)
        >>> pm.layers.ctc_greedy_decoder(scores, blank=0).dtype
        'int64'
    """
    require_variable("ctc_greedy_decoder", input)
    prefix = layer_name("ctc_greedy_decoder", name)
    _, best = topk(input, 1, name=prefix)
    if input_length is None:
        out = emit_all("ctc_align", {"Input": best}, {"blank": blank, "merge_repeated": True}, name=prefix)["Output"]
        out.stop_gradient = True  # type: ignore[union-attr]
        return out  # type: ignore[return-value]
    made = emit_all(
        "ctc_align",
        {"Input": squeeze(best, [2], name=prefix), "InputLength": input_length},
        {"blank": blank, "merge_repeated": True, "padding_value": padding_value},
        name=prefix,
        outputs={"OutputLength": 1},
    )
    for var in made.values():
        var.stop_gradient = True  # type: ignore[union-attr]
    return made["Output"], made["OutputLength"]  # type: ignore[return-value]


def edit_distance(
    input: Variable,
    label: Variable,
    normalized: bool = True,
    ignored_tokens: Sequence[int] | None = None,
    input_length: Variable | None = None,
    label_length: Variable | None = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """(how many tokens must be put in, taken out or replaced to make label of input: float32 [sequences, 1]; the
    number of sequences: int64 [1]).

    input, label: sequences [T, 1], or with lengths [sequences, longest]; int32 or int64. normalized: divided by
    the length of label. ignored_tokens: are taken out of both first; not with lengths.
    Levenshtein 1966. Raises OpError at a run when a label to divide by is empty.
    input_length, label_length: [sequences], int64. Returns these two variables.
    Example:
        >>> found, label = (pm.layers.data(name, [-1, 1], "int64", lod_level=1) for name in ("found", "label"))
        >>> distance, count = pm.layers.edit_distance(found, label, normalized=False)
        >>> distance.shape
        (-1, 1)
    """
    _both_or_none("edit_distance", input_length, label_length)
    prefix = layer_name("edit_distance", name)
    if ignored_tokens:
        if input_length is not None:
            refuse(ProgramError, "edit_distance: ignored_tokens are for sequences with a lod, not with lengths")
        input, label = (ops.sequence_erase(x, list(ignored_tokens), name=prefix) for x in (input, label))
    inputs = {"Hyps": input, "Refs": label, "HypsLength": input_length, "RefsLength": label_length}
    made = emit_all("edit_distance", inputs, {"normalized": normalized}, name=prefix)
    for var in made.values():
        var.stop_gradient = True  # type: ignore[union-attr]
    return made["Out"], made["SequenceNum"]  # type: ignore[return-value]


def _both_or_none(layer: str, input_length: Variable | None, label_length: Variable | None) -> None:
    if (input_length is None) != (label_length is None):
        refuse(ProgramError, f"{layer}: give both input_length and label_length, or none")
