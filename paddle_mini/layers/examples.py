# The examples in the docstrings of the layer functions that are made from schemas.
from __future__ import annotations

import re

# Arguments of pm.layers.data after the name.
_DATA = {
    "x": "[-1, 8]",
    "y": "[-1, 8]",
    "a": "[-1, 3, 4]",
    "b": "[-1, 4, 5]",
    "matrix": "[4, 4]",
    "corners": "[6, 4]",
    "vector": "[4]",
    "image": "[-1, 4, 6, 6]",
    "rois": "[-1, 4], lod_level=1",
    "info": "[-1, 3]",
    "maps": "[2, 2, 3]",
    "grid": "[-1, 3, 3, 2]",
    "column": "[-1, 1]",
    "other": "[-1, 1]",
    "true_or_false": '[-1, 8], "bool"',
    "more": '[-1, 8], "bool"',
    "number": '[-1, 8], "int64"',
    "divisor": '[-1, 8], "int64"',
    "label": '[-1, 1], "int64"',
    "index": '[-1, 2], "int64"',
    "rows": '[2], "int64"',
    "updates": "[2, 4]",
    "words": "[-1, 8], lod_level=1",
    "score": "[-1, 1], lod_level=1",
    "ids": '[-1, 1], "int64", lod_level=1',
    "offset": '[-1, 1], "int64"',
    "length": '[-1, 1], "int64"',
    "lengths": '[-1], "int64"',
    "steps": '[5, 2, 3], "int64"',
    "clicks": "[-1, 2]",
    "deltas": "[-1]",
    "waves": '[-1, 8], "complex64"',
    "pairs": "[-1, 8, 2]",
}
_CALLS = {
    "addmm": ("addmm(matrix, matrix, matrix)", "(4, 4)"),
    "affine_grid": ("affine_grid(maps, out_shape=[2, 3, 4, 5])", "(2, 4, 5, 2)"),
    "as_complex": ("as_complex(pairs)", "(-1, 8)"),
    "as_real": ("as_real(waves)", "(-1, 8, 2)"),
    "atan2": ("atan2(x, y)", "(-1, 8)"),
    "bce_loss": ("bce_loss(column, other)", "(-1, 1)"),
    "bincount": ("bincount(lengths)", "(-1,)"),
    "bmm": ("bmm(a, b)", "(-1, 3, 5)"),
    "box_clip": ("box_clip(rois, info)", "(-1, 4)"),
    "box_coder": ("box_coder(corners, corners)", "(6, 6, 4)"),
    "bpr_loss": ("bpr_loss(x, label)", "(-1, 1)"),
    "channel_shuffle": ("channel_shuffle(image, groups=2)", "(-1, 4, 6, 6)"),
    "cholesky": ("cholesky(matrix)", "(4, 4)"),
    "cholesky_solve": ("cholesky_solve(matrix, matrix)", "(4, 4)"),
    "clip": ("clip(x, min=-1.0, max=1.0)", "(-1, 8)"),
    "clip_by_norm": ("clip_by_norm(vector, max_norm=1.0)", "(4,)"),
    "complex": ("complex(x, y)", "(-1, 8)"),
    "conj": ("conj(waves)", "(-1, 8)"),
    "cross": ("cross(a, a, axis=1)", "(-1, 3, 4)"),
    "cumprod": ("cumprod(x, dim=1)", "(-1, 8)"),
    "cvm": ("continuous_value_model(x, clicks)", "(-1, 8)"),
    "determinant": ("determinant(matrix)", "()"),
    "diag_embed": ("diag_embed(vector)", "(4, 4)"),
    "diag_v2": ("diag(vector)", "(4, 4)"),
    "diagonal": ("diagonal(matrix)", "(4,)"),
    "dist": ("dist(x, y)", "()"),
    "dot": ("dot(x, y)", "(-1,)"),
    "eigvalsh": ("eigvalsh(matrix)", "(4,)"),
    "elementwise_floordiv": ("elementwise_floordiv(number, divisor)", "(-1, 8)"),
    "elementwise_heaviside": ("heaviside(x, y)", "(-1, 8)"),
    "elementwise_mod": ("elementwise_mod(number, divisor)", "(-1, 8)"),
    "equal_all": ("equal_all(x, y)", "()"),
    "fill_diagonal": ("fill_diagonal(matrix, value=1.0)", "(4, 4)"),
    "fill_diagonal_tensor": ("fill_diagonal_tensor(matrix, vector)", "(4, 4)"),
    "frame": ("frame(x, frame_length=4, hop_length=2)", "(-1, 4, 3)"),
    "gather_nd": ("gather_nd(matrix, index)", "(-1,)"),
    "gather_tree": ("gather_tree(steps, steps)", "(5, 2, 3)"),
    "grid_sampler": ("grid_sampler(image, grid)", "(-1, 4, 3, 3)"),
    "hinge_loss": ("hinge_loss(column, other)", "(-1, 1)"),
    "histogram": ("histogram(x, bins=10)", "(10,)"),
    "imag": ("imag(waves)", "(-1, 8)"),
    "index_put": ("index_put(matrix, [rows], updates)", "(4, 4)"),
    "index_sample": ("index_sample(x, index)", "(-1, 2)"),
    "inverse": ("inverse(matrix)", "(4, 4)"),
    "iou_similarity": ("iou_similarity(corners, corners)", "(6, 6)"),
    "is_empty": ("is_empty(x)", "()"),
    "isclose": ("isclose(x, y)", "(-1, 8)"),
    "isfinite_v2": ("isfinite(x)", "(-1, 8)"),
    "isinf_v2": ("isinf(x)", "(-1, 8)"),
    "isnan_v2": ("isnan(x)", "(-1, 8)"),
    "kldiv_loss": ("kldiv_loss(x, y)", "()"),
    "kron": ("kron(matrix, matrix)", "(16, 16)"),
    "l1_norm": ("l1_norm(x)", "()"),
    "lerp": ("lerp(x, y, column)", "(-1, 8)"),
    "logical_not": ("logical_not(true_or_false)", "(-1, 8)"),
    "lookup_table": ("lookup_table(matrix, label)", "(-1, 4)"),
    "matrix_power": ("matrix_power(matrix, 2)", "(4, 4)"),
    "matrix_rank": ("matrix_rank(matrix)", "()"),
    "mean": ("mean(x)", "()"),
    "mul": ("mul(updates, matrix)", "(2, 4)"),
    "multinomial": ("multinomial(x, num_samples=2)", "(-1, 2)"),
    "mv": ("mv(matrix, vector)", "(4,)"),
    "nms": ("nms(corners)", "(-1,)"),
    "nextafter": ("nextafter(x, y)", "(-1, 8)"),
    "overlap_add": ("overlap_add(a, hop_length=2)", "(-1, 9)"),
    "pixel_shuffle": ("pixel_shuffle(image, upscale_factor=2)", "(-1, 1, 12, 12)"),
    "pixel_unshuffle": ("pixel_unshuffle(image, downscale_factor=2)", "(-1, 16, 3, 3)"),
    "polygamma": ("polygamma(x, 1)", "(-1, 8)"),
    "psroi_pool": ("psroi_pool(image, rois, pooled_height=2, pooled_width=2)", "(-1, 1, 2, 2)"),
    "randint": ("randint(0, 10, shape=[2, 3])", "(2, 3)"),
    "randperm": ("randperm(5)", "(5,)"),
    "rank_loss": ("rank_loss(column, column, other)", "(-1, 1)"),
    "real": ("real(waves)", "(-1, 8)"),
    "roi_align": ("roi_align(image, rois, pooled_height=2, pooled_width=3)", "(-1, 4, 2, 3)"),
    "roi_pool": ("roi_pool(image, rois, pooled_height=2, pooled_width=3)", "(-1, 4, 2, 3)"),
    "scale": ("scale(x, scale=2.0, bias=1.0)", "(-1, 8)"),
    "scatter": ("scatter(matrix, rows, updates)", "(4, 4)"),
    "scatter_nd_add": ("scatter_nd_add(vector, label, deltas)", "(4,)"),
    "searchsorted": ("searchsorted(vector, x)", "(-1, 8)"),
    "sequence_concat": ("sequence_concat([words, words])", "(-1, 8)"),
    "sequence_enumerate": ("sequence_enumerate(ids, win_size=2)", "(-1, 2)"),
    "sequence_erase": ("sequence_erase(ids, tokens=[0])", "(-1, 1)"),
    "sequence_expand": ("sequence_expand(x, words)", "(-1, 8)"),
    "sequence_expand_as": ("sequence_expand_as(x, words)", "(-1, 8)"),
    "sequence_reshape": ("sequence_reshape(words, new_dim=4)", "(-1, 4)"),
    "sequence_reverse": ("sequence_reverse(words)", "(-1, 8)"),
    "sequence_scatter": ("sequence_scatter(matrix, ids, score)", "(4, 4)"),
    "sequence_slice": ("sequence_slice(words, offset, length)", "(-1, 8)"),
    "sequence_softmax": ("sequence_softmax(score)", "(-1, 1)"),
    "sequence_unpad": ("sequence_unpad(a, lengths)", "(-1, 4)"),
    "shape": ("shape(x)", "(2,)"),
    "shard_index": ("shard_index(label, 20, 2, 0)", "(-1, 1)"),
    "shuffle_channel": ("shuffle_channel(image, group=2)", "(-1, 4, 6, 6)"),
    "size": ("size(x)", "()"),
    "slogdeterminant": ("slogdeterminant(matrix)", "(2,)"),
    "solve": ("solve(matrix, vector)", "(4,)"),
    "squared_l2_norm": ("squared_l2_norm(x)", "(1,)"),
    "teacher_student_sigmoid_loss": ("teacher_student_sigmoid_loss(column, other)", "(-1, 1)"),
    "temporal_shift": ("temporal_shift(image, seg_num=2)", "(-1, 4, 6, 6)"),
    "trace": ("trace(matrix)", "()"),
    "triangular_solve": ("triangular_solve(matrix, matrix)", "(4, 4)"),
    "tril_indices": ("tril_indices(row=3, col=3)", "(2, 6)"),
    "triu_indices": ("triu_indices(row=3, col=3)", "(2, 6)"),
    "uniform_random_batch_size_like": ("uniform_random_batch_size_like(x, shape=[-1, 3])", "(-1, 3)"),
}
_ROWS = ("get_tensor_from_selected_rows", "merge_selected_rows")
_WORD = re.compile(r"\w+\b(?!=)")


def example(op_type: str) -> list[str]:
    """The lines of an example of the layer function of an operator, as a console session."""
    if op_type in _ROWS:
        return [
            '>>> ids = pm.layers.data("ids", [-1], "int64")',
            ">>> words = pm.layers.embedding(ids, [100, 8], is_sparse=True)",
            ">>> ((table, gradient),) = pm.append_backward(pm.layers.mean(words))",
            f">>> pm.layers.{op_type}(gradient).shape",
            f"({-1 if op_type.startswith('get') else 100}, 8)",
        ]
    call, shape = _CALLS.get(op_type) or (f"{op_type}({_usual(op_type)})", "(-1, 8)")
    arguments = call[call.index("(") :]
    data = [name for name in dict.fromkeys(_WORD.findall(arguments)) if name in _DATA]
    return [*(f'>>> {name} = pm.layers.data("{name}", {_DATA[name]})' for name in data), f">>> pm.layers.{call}.shape", shape]


def _usual(op_type: str) -> str:
    """The arguments of operators that work element by element."""
    if op_type.startswith("bitwise_not"):
        return "number"
    if op_type.startswith("bitwise_"):
        return "number, divisor"
    if op_type.startswith("logical_"):
        return "true_or_false, more"
    two = op_type.startswith(("elementwise_", "less_", "greater_")) or op_type in ("equal", "not_equal")
    return "x, y" if two or op_type == "sigmoid_cross_entropy_with_logits" else "x"
