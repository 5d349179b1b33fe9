"""The cases of tests/ops in PaddlePaddle: each operator in a program of its own, the same bytes run by both."""

import numpy as np
import pytest

from facts import facts_of_ops
from paddle_mini.testing.one_op import OneOp, Rows, array_of, cast, each

TOLERANCE = 2e-5  # relative to the largest element: sums are in another order there

# The case crashes PaddlePaddle, which would lose the others of its operator.
ENDS = {
    "batch_norm_grad_grad": ["no scale", "only scale and bias"],
    "einsum": ["capitals", "dots, no arrow", "inner", "no arrow", "no arrow, by alphabet", "trace"],
    "instance_norm_double_grad": ["no scale", "only x", "only scale and bias"],
    "pad": ["a number"],
    "rnn": ["empty and too long sequences"],
    "repeat_interleave": ["columns"],
    "roi_align": ["aligned"],
    "sequence_pad": ["only padding"],
    "sequence_unpad": ["no rows", "no sequences"],
}
# Indices out of range that it follows (put_along_axis, take_along_axis); memory that it does not write
# (coalesce_tensor, empty, update_loss_scaling on variables of its own), or that is not its own (fill_diagonal_tensor);
# attributes that it accepts only with others that our tests do not set; draws for which it ignores the seed (randint, randperm,
# uniform_random_batch_size_like).
LEFT_OUT = {
    "coalesce_tensor",
    "empty",
    "fill_diagonal_tensor",
    "merged_adam",
    "put_along_axis",
    "randint",
    "randperm",
    "set_value",
    "strided_slice",
    "take_along_axis",
    "uniform_random_batch_size_like",
    "update_loss_scaling",
}

# Differences, and their reasons.
DIFFERENT = {
    "affine_grid": dict.fromkeys(["one row", "volumes"], "PaddlePaddle divides by 0 along an axis of one pixel"),
    "argsort": {"int32": "order of equal elements", "int64": "order of equal elements"},
    "check_numerics": {"NaN is counted": "PaddlePaddle's maximum and minimum ignore NaN"},
    "clip": {"integers without bounds": "PaddlePaddle's bounds overflow"},
    "einsum": {"kept": "PaddlePaddle keeps operands in InnerCache only where its algorithm changes them"},
    "elementwise_heaviside": dict.fromkeys(
        ["number on the left", "trailing ones by axis"], "PaddlePaddle exchanges X and Y where X has fewer dimensions"
    ),
    "erfinv": {"special values": "numbers outside [-1, 1], tiny ones, and NaN"},
    "expand_as_v2": {"one element": "PaddlePaddle does not expand a scalar"},
    "fill_constant": {"digits as int64": "PaddlePaddle reads the digits as float64"},
    "fill_diagonal": {"cube": "without wrap PaddlePaddle fills the diagonal of the first matrix only"},
    "flatten2": {"one element": "PaddlePaddle makes one dimension of a scalar, not two"},
    "gather": {"last axis": "PaddlePaddle does not count a negative axis from the end"},
    "hard_swish": {"attributes": "PaddlePaddle ignores them"},
    "i0": {"special values": "infinities"},
    "i1": {"special values": "infinities"},
    "logsigmoid": {"special values": "infinities"},
    "nearest_interp_v2": dict.fromkeys(
        ["corners", "smaller", "scale", "channels last", "int32", "int64"], "without interp_method PaddlePaddle takes bilinear"
    ),
    "polygamma": {
        **dict.fromkeys(["order 0", "special values, order 0"], "PaddlePaddle's layer takes digamma in place of order 0"),
        **dict.fromkeys(["special values, order 1", "special values, order 2", "special values, order 3"], "infinity"),
    },
    "pool2d": {"largest, adaptive": "PaddlePaddle's largest of parts is max_pool2d_with_index; here it takes plain windows"},
    "pool3d": {"largest, adaptive": "as pool2d"},
    "pow": {"3.0": "NaN and infinities"},
    "reduce_amax": {"reduce_all": "PaddlePaddle ignores the attribute"},
    "reduce_amin": {"reduce_all": "PaddlePaddle ignores the attribute"},
    "reduce_mean": {"as float64": "PaddlePaddle takes the mean in the type of X"},
    "relu": {"special values": "NaN"},
    "relu6": {"attributes": "PaddlePaddle ignores them"},
    "shard_index": {"as many as can be": "PaddlePaddle's sum overflows"},
    "sigmoid_cross_entropy_with_logits": {
        "all ignored": "a mean of nothing",
        "weighted": "PaddlePaddle's pos_weight is wrong for negative logits",
        "weighted, normalized": "PaddlePaddle's pos_weight is wrong for negative logits",
    },
    "slogdeterminant": {"too large for a number": "PaddlePaddle takes the logarithm of the determinant, which overflows"},
    "softmax": {"long rows": "infinities"},
    "softshrink": {"special values": "NaN"},
    "sqrt": {"special values": "NaN and infinities"},
    "swish": {"attributes": "PaddlePaddle ignores them"},
    "thresholded_relu": {"special values": "NaN"},
    "top_k_v2": {"integers with ties": "order of equal elements", "int32": "order of equal elements"},
    "tril_indices": {"no rows, 9": "PaddlePaddle's offset adds rows"},
    "trace": {"axes the other way round": "PaddlePaddle sorts the axes, but not the offset"},
    "unique_consecutive": {"not a number": "PaddlePaddle counts a NaN at the front twice"},
}

# Operators without any comparison, and the reasons.
NOT_COMPARED = {
    **dict.fromkeys(
        [
            "all_finite",
            "attention",
            "bias_corrected_average",
            "conv2d_in_lanes",
            "fold_normalization",
            "images_from_lanes",
            "images_to_lanes",
            "parameter_average",
            "parameter_ring",
            "ring_mean",
            "select_rows",
        ],
        "ours alone",
    ),
    **dict.fromkeys(["cos_sim", "isfinite", "proximal_adagrad", "rnn_memory_helper"], "PaddlePaddle 2.6.2 has it no more"),
    "as_strided": "PaddlePaddle has its kernels outside of programs only",
    **dict.fromkeys(
        ["accuracy", "fused_softmax_mask_upper_triangle", "pad2d"], "PaddlePaddle 2.6.2 has no kernel for it on CPUs"
    ),
    **dict.fromkeys(
        ["average_accumulates", "batch_norm", "merged_momentum", "pow2_decay_with_linear_warmup", "rmsprop"],
        "PaddlePaddle wants inputs and outputs to be the same variables; tests of training compare these",
    ),
    **dict.fromkeys(["eig", "eigvals"], "the order of values, and the factors of vectors, are not defined"),
    "exponential": "a draw without a seed",
    "c_allreduce_sum": "PaddlePaddle wants an initialized group of processes",
    "gather_nd": "its cases are tests of its own",
    "merge_selected_rows": "its inputs are selected rows",
    "mul_grad": "its case is empty",
    "unstack": "PaddlePaddle needs attribute num, which follows from the shape",
    "warpctc": "PaddlePaddle refuses lengths of another integer type than the labels",
}


def cases_of(op_type):
    """(name, the operator in a program, with its inputs)."""
    for facts in facts_of_ops()[op_type]:
        for name, (inputs, attrs) in facts.cases.items():
            items = [item for value in inputs.values() for item in (value if isinstance(value, list) else [value])]
            if any(isinstance(item, Rows) for item in items):
                continue  # a scope of PaddlePaddle does not accept selected rows from Python
            if any(array_of(item).size == 0 for item in items):
                continue  # without elements PaddlePaddle often leaves results unwritten, or crashes
            inputs = each(inputs, lambda item: cast(item, "float32"))
            expected, counts = facts.expected(inputs, attrs)
            yield name, OneOp(op_type, inputs, attrs, counts, aliased=False), list(expected)


@pytest.mark.parametrize("op_type", sorted(set(facts_of_ops()) - LEFT_OUT))
def test_operator(paddle, tmp_path, as_arrays, op_type):
    """Results that PaddlePaddle rejects, or leaves without value, are not compared; every operator has some comparison."""
    fetched, ours = {}, {}
    for number, (name, one, ports) in enumerate(cases_of(op_type)):
        if name in ENDS.get(op_type, ()):
            continue
        names = [name for port in ports for name in one.outputs[port]]
        (tmp_path / f"{number}.pb").write_bytes(one.program.to_bytes())
        np.savez(
            tmp_path / f"{number}.npz",
            **{key: array for given, value in one.values.items() for key, array in as_arrays(given, value)},
        )
        fetched[str(number)], ours[str(number)] = names, (name, one.fetch(names))
    paddle.ask("operators", tmp_path, cases=fetched)
    wrong, refusals, compared = [], [], 0
    for number, (name, values) in ours.items():
        if (tmp_path / f"{number}.error").exists():
            refusals.append(f"{name}: {(tmp_path / f'{number}.error').read_text()}")
        elif name not in DIFFERENT.get(op_type, ()):
            with np.load(tmp_path / f"{number}.out.npz") as theirs:
                pairs = [
                    (port, array_of(value), theirs[port])
                    for port, value in zip(fetched[number], values)
                    if has_value(theirs[port])
                ]
            compared += len(pairs)
            wrong += [
                f"{name}: {port} is {value!r}, PaddlePaddle gives {other!r}"
                for port, value, other in pairs
                if not alike(value, other)
            ]
    assert not wrong, "\n".join(wrong)
    assert bool(compared) != (op_type in NOT_COMPARED), f"{compared} values were compared; PaddlePaddle refuses:\n" + "\n".join(
        refusals
    )


def has_value(theirs):
    return theirs.dtype != np.float64 or theirs.shape != (0,)


def alike(ours, theirs):
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return False
    if ours.dtype.kind not in "fc":
        return np.array_equal(ours, theirs)
    largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=0)
    return np.allclose(ours, theirs, rtol=TOLERANCE, atol=max(TOLERANCE * largest, 1e-6), equal_nan=True)
