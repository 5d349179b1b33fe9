# Layers that label sequences: conditional random fields, and chunks counted.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .._core import ProgramError
from ..errors import shown
from ..guards import default_main_program
from ..param_attr import ParamAttr
from ..variable import Variable
from .emit import at_users_line, create_parameter, emit, emit_all, known_dim, layer_name, refuse, require_float, whole


def linear_chain_crf(
    input: Variable, label: Variable, param_attr: Any = None, length: Variable | None = None, name: str | None = None
) -> Variable:
    """−log of the probability of each sequence of labels, in a linear-chain conditional random field: a loss.

    input: scores of the tags at each row, sequences [T, tags]; with `length`, [sequences, longest, tags].
    label: [T, 1] or, with length, [sequences, longest]; int32 or int64. length: [sequences], int64.
    Returns [sequences, 1]. The weight [tags + 2, tags] begins with Xavier: row 0 scores the first tag, row 1 the last,
    the others [from, to]; give it a name in param_attr, for crf_decoding.
    Lafferty, McCallum and Pereira, ICML 2001. Raises OpError at a run when a label is not a tag.
    Example:
        >>> scores = pm.layers.data("scores", [-1, 7], lod_level=1)
        >>> label = pm.layers.data("label", [-1, 1], "int64", lod_level=1)
        >>> pm.layers.linear_chain_crf(scores, label, param_attr="transitions").shape
        (-1, 1)
    """
    require_float("linear_chain_crf", input)
    tags, prefix = known_dim(input, -1, "linear_chain_crf"), layer_name("linear_chain_crf", name)
    weight = create_parameter([tags + 2, tags], input.dtype, param_attr, prefix)
    made = emit_all("linear_chain_crf", {"Emission": input, "Transition": weight, "Label": label, "Length": length}, name=prefix)
    return made["LogLikelihood"]  # type: ignore[return-value]


def crf_decoding(
    input: Variable, param_attr: Any, label: Variable | None = None, length: Variable | None = None, name: str | None = None
) -> Variable:
    """The most probable tags: int64 [T, 1], or [sequences, longest] with length. With label: 1 where the tag is right,
    else 0.

    input, label, length: as in linear_chain_crf. param_attr: the name that its weight has there, or a ParamAttr with
    it. Raises ProgramError when the program has no such parameter. Returns these tags.
    Example:
        >>> scores = pm.layers.data("scores", [-1, 7], lod_level=1)
        >>> label = pm.layers.data("label", [-1, 1], "int64", lod_level=1)
        >>> loss = pm.layers.mean(pm.layers.linear_chain_crf(scores, label, param_attr="transitions"))
        >>> pm.layers.crf_decoding(scores, param_attr="transitions").dtype
        'int64'
    """
    with at_users_line():
        weight_name = ParamAttr.of(param_attr).name
    weight = default_main_program().global_block().vars.get(weight_name or "")
    if weight is None:
        refuse(
            ProgramError,
            f"crf_decoding: parameter {shown(weight_name)} does not exist: param_attr must name the weight of linear_chain_crf",
        )
    out = emit("crf_decoding", {"Emission": input, "Transition": weight, "Label": label, "Length": length}, name=name)
    out.stop_gradient = True
    return out


class ChunkCounts(NamedTuple):
    """The results of chunk_eval: three float32 [1], three int64 [1]."""

    precision: Variable
    recall: Variable
    f1_score: Variable
    inferred: Variable
    labeled: Variable
    correct: Variable


def chunk_eval(
    input: Variable,
    label: Variable,
    chunk_scheme: str,
    num_chunk_types: int,
    excluded_chunk_types: Sequence[int] | None = None,
    seq_length: Variable | None = None,
    name: str | None = None,
) -> ChunkCounts:
    """How many chunks of label are found in input: precision, recall, F1, and the numbers of chunks in input, in label
    and in both.

    input, label: tags, sequences [T, 1] or, with seq_length, [sequences, longest]; int32 or int64. chunk_scheme:
    "IOB", "IOE", "IOBES" or "plain"; tag = type · (tags of the scheme) + tag of the scheme in this order, and the
    greatest tag is outside. excluded_chunk_types: types that are not counted.
    num_chunk_types: types of chunks, without the tag for outside.
    Returns three float32 and three int64 variables, [1] each.
    Example:
        >>> tags, label = (pm.layers.data(name, [-1, 1], "int64", lod_level=1) for name in ("tags", "label"))
        >>> precision, recall, f1, *counts = pm.layers.chunk_eval(tags, label, chunk_scheme="IOB", num_chunk_types=3)
        >>> f1.shape
        (1,)
    """
    attrs = {
        "chunk_scheme": chunk_scheme,
        "num_chunk_types": whole("chunk_eval", "num_chunk_types", num_chunk_types),
        "excluded_chunk_types": list(excluded_chunk_types or []),
    }
    made = emit_all("chunk_eval", {"Inference": input, "Label": label, "SeqLength": seq_length}, attrs, name=name)
    counts = ChunkCounts(
        *(
            made[port]
            for port in (  # type: ignore[arg-type]
                "Precision",
                "Recall",
                "F1-Score",
                "NumInferChunks",
                "NumLabelChunks",
                "NumCorrectChunks",
            )
        )
    )
    for var in counts:
        var.stop_gradient = True
    return counts
