# Layer functions: each appends operators to the program that is being built and returns variables.
# With a line for each name these would be 400 lines.
# fmt: off
from ..renamed import make_take_other_names
from ..transaction import make_atomic
from .activation import maxout, pow, prelu, softshrink
from .attention import dot_product_attention, multi_head_attention, padding_mask
from .cells import GRUCell, LSTMCell, RNNCell, rnn
from .arrays import array_length, array_read, array_write, create_array, tensor_array_to_tensor
from .control_flow import ConditionalBlock, While, case, cond, switch_case, while_loop
from .conv import adaptive_pool2d, conv2d, conv2d_transpose, max_pool2d_with_index, pool2d
from .decode import BeamSearchDecoder, dynamic_decode
from .embedding import embedding
from .image import fold, pad2d, resize_bilinear, resize_nearest, unfold
from .learning_rate import (
    cosine_decay, exponential_decay, inverse_time_decay, linear_lr_warmup, natural_exp_decay, noam_decay,
    piecewise_decay, polynomial_decay, pow2_decay_with_linear_warmup,
)
from .linear import bilinear_tensor_product, cos_sim, einsum, fc, matmul
from .loss import (
    cross_entropy, hsigmoid, huber_loss, label_smooth, log_loss, nll_loss, softmax_with_cross_entropy,
    square_error_cost,
)
from .metric import accuracy, auc, topk
from .norm import affine_channel, batch_norm, group_norm, instance_norm, l2_normalize, layer_norm, lrn
from .ops import (
    abs, acos, acosh, addmm, asin, asinh, atan, atanh, bce_loss, bitwise_and, bitwise_not, bitwise_or,
    bitwise_xor, bmm, bpr_loss, brelu, ceil, celu, channel_shuffle, clip, clip_by_norm, continuous_value_model, cos,
    cosh, cross, cumprod, diag, dist, dot, elementwise_add, elementwise_div, elementwise_floordiv,
    elementwise_fmax, elementwise_fmin, elementwise_max, elementwise_min, elementwise_mod, elementwise_mul,
    elementwise_pow, elementwise_sub, elu, equal, equal_all, erf, exp, expm1, floor, gather_nd, gather_tree, gelu,
    get_tensor_from_selected_rows, greater_equal, greater_than, grid_sampler, hard_shrink, hard_sigmoid, hard_swish,
    hinge_loss, index_sample, is_empty, isfinite, isinf, isnan, kldiv_loss, kron, l1_norm, leaky_relu, less_equal,
    less_than, log, log10, log1p, log2, log_softmax, logical_and, logical_not, logical_or, logical_xor, logsigmoid,
    lookup_table, mean, merge_selected_rows, mish, mul, mv, not_equal, pixel_shuffle, pixel_unshuffle,
    rank_loss, reciprocal, relu, relu6, round, rsqrt, scale, scatter, scatter_nd_add, searchsorted, selu,
    sequence_concat, sequence_enumerate, sequence_erase, sequence_expand, sequence_expand_as, sequence_reshape,
    sequence_reverse, sequence_scatter, sequence_slice, sequence_softmax, sequence_unpad, shape,
    shard_index, sigmoid, sigmoid_cross_entropy_with_logits, sign, silu, sin, sinh, size, softmax, softplus, softsign,
    sqrt, square, squared_l2_norm, stanh, swish, tan, tanh, tanh_shrink, teacher_student_sigmoid_loss, temporal_shift,
    thresholded_relu, trace, trunc,
)
from .random import dropout, gaussian_random, truncated_gaussian_random, uniform_random
from .cut import crop, crop_tensor, slice, split, strided_slice, unbind, unstack
from .rearrange import (
    broadcast_to, expand, expand_as, flatten, flip, meshgrid, pad, reshape, reverse, roll, squeeze, stack, tile, transpose,
    unsqueeze,
)
from .recurrence import StaticRNN
from .reduce import (
    argmax, argmin, cumsum, logcumsumexp, logsumexp, norm, reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min,
    reduce_prod, reduce_sum,
)
from .select import (
    allclose, argsort, gather, index_add, index_select, multiplex, one_hot, put_along_axis, take_along_axis, tril, triu,
    where,
)
from .tensor import (
    arange, assign, cast, concat, create_global_var, create_parameter, data, eye, fill_constant,
    fill_constant_batch_size_like, full_like, increment, ones, ones_like, sums, zeros, zeros_like,
)
from .transformer import (
    add_learned_positions, add_sinusoid_positions, feed_forward, transformer_decoder_layer, transformer_encoder_layer,
)
from .volume import conv3d, pool3d
from .sequence import (
    lod_append, lod_reset, row_conv, sequence_conv, sequence_first_step, sequence_last_step, sequence_mask,
    sequence_pad, sequence_pool,
)
from .lstm_gru import dynamic_gru, dynamic_lstm, gru_unit, lstm, stacked_rnn
from .crf import chunk_eval, crf_decoding, linear_chain_crf
from .ctc import ctc_greedy_decoder, edit_distance, warpctc
from .beam import beam_search, beam_search_decode

__all__ = [
    "abs", "accuracy", "acos", "acosh", "adaptive_pool2d", "add_learned_positions", "add_sinusoid_positions", "addmm",
    "affine_channel", "allclose", "arange", "argmax", "argmin", "argsort", "array_length", "array_read",
    "array_write", "asin", "asinh", "assign", "atan", "atanh", "auc", "batch_norm", "bce_loss", "beam_search",
    "beam_search_decode", "BeamSearchDecoder", "bilinear_tensor_product", "bitwise_and", "bitwise_not", "bitwise_or",
    "bitwise_xor", "bmm", "bpr_loss", "brelu", "broadcast_to", "case", "cast", "ceil", "celu", "channel_shuffle",
    "chunk_eval", "clip", "clip_by_norm", "concat", "cond", "ConditionalBlock", "continuous_value_model", "conv2d",
    "conv2d_transpose", "conv3d", "cos", "cos_sim", "cosh", "cosine_decay", "create_array", "create_global_var",
    "create_parameter", "crf_decoding", "crop", "crop_tensor", "cross", "cross_entropy", "ctc_greedy_decoder",
    "cumprod", "cumsum", "data", "diag", "dist", "dot", "dot_product_attention", "dropout", "dynamic_decode",
    "dynamic_gru", "dynamic_lstm", "edit_distance", "einsum", "elementwise_add", "elementwise_div",
    "elementwise_floordiv", "elementwise_fmax", "elementwise_fmin", "elementwise_max", "elementwise_min",
    "elementwise_mod", "elementwise_mul", "elementwise_pow", "elementwise_sub", "elu", "embedding", "equal",
    "equal_all", "erf", "exp", "expand", "expand_as", "expm1", "exponential_decay", "eye", "fc", "feed_forward",
    "fill_constant", "fill_constant_batch_size_like", "flatten", "flip", "floor", "fold", "full_like", "gather",
    "gather_nd", "gather_tree", "gaussian_random", "gelu", "get_tensor_from_selected_rows", "greater_equal",
    "greater_than", "grid_sampler", "group_norm", "gru_unit", "GRUCell", "hard_shrink", "hard_sigmoid", "hard_swish",
    "hinge_loss", "hsigmoid", "huber_loss", "increment", "index_add", "index_sample", "index_select", "instance_norm",
    "inverse_time_decay", "is_empty", "isfinite", "isinf", "isnan", "kldiv_loss", "kron", "l1_norm", "l2_normalize",
    "label_smooth", "layer_norm", "leaky_relu", "less_equal", "less_than", "linear_chain_crf", "linear_lr_warmup",
    "lod_append", "lod_reset", "log", "log10", "log1p", "log2", "log_loss", "log_softmax", "logcumsumexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "logsigmoid", "logsumexp", "lookup_table", "lrn",
    "lstm", "LSTMCell", "matmul", "max_pool2d_with_index", "maxout", "mean", "merge_selected_rows", "meshgrid",
    "mish", "mul", "multi_head_attention", "multiplex", "mv", "natural_exp_decay", "nll_loss", "noam_decay", "norm",
    "not_equal", "one_hot", "ones", "ones_like", "pad", "pad2d", "padding_mask", "piecewise_decay", "pixel_shuffle",
    "pixel_unshuffle", "polynomial_decay", "pool2d", "pool3d", "pow", "pow2_decay_with_linear_warmup", "prelu",
    "put_along_axis", "rank_loss", "reciprocal", "reduce_all", "reduce_any", "reduce_max", "reduce_mean",
    "reduce_min", "reduce_prod", "reduce_sum", "relu", "relu6", "reshape", "resize_bilinear", "resize_nearest",
    "reverse", "rnn", "RNNCell", "roll", "round", "row_conv", "rsqrt", "scale", "scatter", "scatter_nd_add",
    "searchsorted", "selu", "sequence_concat", "sequence_conv", "sequence_enumerate", "sequence_erase",
    "sequence_expand", "sequence_expand_as", "sequence_first_step", "sequence_last_step", "sequence_mask",
    "sequence_pad", "sequence_pool", "sequence_reshape", "sequence_reverse", "sequence_scatter", "sequence_slice",
    "sequence_softmax", "sequence_unpad", "shape", "shard_index", "sigmoid", "sigmoid_cross_entropy_with_logits",
    "sign", "silu", "sin", "sinh", "size", "slice", "softmax", "softmax_with_cross_entropy", "softplus", "softshrink",
    "softsign", "split", "sqrt", "square", "square_error_cost", "squared_l2_norm", "squeeze", "stack", "stacked_rnn",
    "stanh", "StaticRNN", "strided_slice", "sums", "swish", "switch_case", "take_along_axis", "tan", "tanh",
    "tanh_shrink", "teacher_student_sigmoid_loss", "temporal_shift", "tensor_array_to_tensor", "thresholded_relu",
    "tile", "topk", "trace", "transformer_decoder_layer", "transformer_encoder_layer", "transpose", "tril", "triu",
    "trunc", "truncated_gaussian_random", "unbind", "unfold", "uniform_random", "unsqueeze", "unstack", "warpctc",
    "where", "While", "while_loop", "zeros", "zeros_like",
]

make_take_other_names(globals(), __all__)
make_atomic(globals(), __all__)
