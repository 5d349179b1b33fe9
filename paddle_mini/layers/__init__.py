# Layer functions: each appends operators to the program that is being built and returns variables.
"""A layer function appends operators to the default main program, and the initializers of its parameters to the default startup
program.

In descriptions of shapes, -1 is a dimension that is known only at a run, such as that of the batch; [N, C, H, W] are images,
channels, rows and columns; [T, ...] are the rows of all sequences, with LoD. "float" means float32 and float64, and 16-bit floats
where docs/operators.md lists them."""

# With a line for each name these would be 200 lines.
# fmt: off
import sys
from typing import TYPE_CHECKING, Any

from ..renamed import make_take_other_names, show_public, unknown
from ..shared_docs import describe_shared
from ..transaction import make_atomic
from . import ops, shared_arguments
from .activation import maxout, pow, prelu, softshrink
from .attention import dot_product_attention, multi_head_attention, padding_mask
from .cells import GRUCell, LSTMCell, RNNCell, rnn
from .arrays import array_length, array_read, array_write, create_array, tensor_array_to_tensor
from .control_flow import ConditionalBlock, case, cond, switch_case
from .conv import adaptive_pool2d, conv2d, conv2d_transpose, max_pool2d_with_index, pool2d
from .decode import BeamSearchDecoder, dynamic_decode
from .detection import anchor_generator, density_prior_box, prior_box, yolo_box, yolov3_loss
from .suppression import bipartite_match, matrix_nms, multiclass_nms
from .embedding import embedding
from .fill import (
    arange, eye, fill_constant, fill_constant_batch_size_like, full_like, ones, ones_like, zeros, zeros_like,
)
from .image import fold, im2sequence, pad2d, unfold
from .learning_rate import (
    cosine_decay, exponential_decay, inverse_time_decay, linear_lr_warmup, natural_exp_decay, noam_decay,
    piecewise_decay, polynomial_decay, pow2_decay_with_linear_warmup,
)
from .fourier import fft, fftshift, hfft, ifft, ifftshift, ihfft, irfft, rfft
from .fourier_axes import fft2, fftn, hfft2, hfftn, ifft2, ifftn, ihfft2, ihfftn, irfft2, irfftn, rfft2, rfftn
from .graph import segment_max, segment_mean, segment_min, segment_sum, send_u_recv, send_ue_recv, send_uv
from .key_value_cache import KeyValueCache
from .linear import bilinear_tensor_product, cos_sim, einsum, fc, matmul
from .loops import While, while_loop
from .loss import (
    cross_entropy, hsigmoid, huber_loss, label_smooth, log_loss, nll_loss, softmax_with_cross_entropy,
    square_error_cost,
)
from .metric import accuracy, auc, topk
from .norm import (
    affine_channel, batch_norm, group_norm, instance_norm, l2_normalize, layer_norm, lrn, renorm, spectral_norm,
)
from .deformable import deformable_conv
from .python import py_func
from .random import dropout, gaussian_random, truncated_gaussian_random, uniform_random
from .cut import crop, crop_tensor, slice, split, strided_slice, unbind, unstack
from .rearrange import (
    broadcast_to, expand, expand_as, flatten, flip, meshgrid, pad, reshape, reverse, roll, squeeze, stack, tile, transpose,
    unsqueeze,
)
from .matrices import eigh, lstsq, lu, lu_unpack, multi_dot, qr, svd
from .recurrence import StaticRNN
from .reduce import (
    argmax, argmin, cumsum, logcumsumexp, logsumexp, norm, reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min,
    reduce_prod, reduce_sum,
)
from .order import argsort, cummax, cummin, kthvalue, mode
from .select import (
    allclose, gather, index_add, index_select, multiplex, one_hot, put_along_axis, repeat_interleave, take_along_axis,
    tril, triu, unique_consecutive, where,
)
from .tensor import assign, cast, concat, create_global_var, create_parameter, data, increment, sums
from .transformer import (
    add_learned_positions, add_sinusoid_positions, feed_forward, transformer_decoder_layer, transformer_encoder_layer,
)
from .proposals import collect_fpn_proposals, distribute_fpn_proposals, generate_proposals
from .resize import (
    image_resize, image_resize_short, resize_bicubic, resize_bilinear, resize_linear, resize_nearest, resize_trilinear,
)
from .unpool import max_unpool2d, max_unpool3d
from .volume import conv3d, conv3d_transpose, pool3d
from .sequence import (
    lod_append, lod_reset, row_conv, sequence_conv, sequence_first_step, sequence_last_step, sequence_mask,
    sequence_pad, sequence_pool,
)
from .lstm_gru import dynamic_gru, dynamic_lstm, gru_unit, lstm, stacked_rnn
from .crf import chunk_eval, crf_decoding, linear_chain_crf
from .ctc import ctc_greedy_decoder, edit_distance, warpctc
from .beam import beam_search, beam_search_decode

__all__ = [
    "accuracy", "adaptive_pool2d", "add_learned_positions", "add_sinusoid_positions", "affine_channel",
    "allclose", "anchor_generator", "arange", "argmax", "argmin", "argsort", "array_length", "array_read",
    "array_write", "assign", "auc", "batch_norm", "beam_search", "beam_search_decode", "BeamSearchDecoder",
    "bilinear_tensor_product", "bipartite_match", "broadcast_to", "case", "cast", "chunk_eval",
    "collect_fpn_proposals", "concat", "cond", "ConditionalBlock", "conv2d", "conv2d_transpose", "conv3d",
    "conv3d_transpose", "cos_sim", "cosine_decay", "create_array", "create_global_var", "create_parameter",
    "crf_decoding", "crop", "crop_tensor", "cross_entropy", "ctc_greedy_decoder", "cummax", "cummin", "cumsum",
    "data", "deformable_conv", "density_prior_box", "distribute_fpn_proposals", "dot_product_attention",
    "dropout", "dynamic_decode", "dynamic_gru", "dynamic_lstm", "edit_distance", "eigh", "einsum", "embedding",
    "expand", "expand_as", "exponential_decay", "eye", "fc", "feed_forward", "fft", "fft2", "fftn", "fftshift",
    "fill_constant", "fill_constant_batch_size_like", "flatten", "flip", "fold", "full_like", "gather",
    "gaussian_random", "generate_proposals", "group_norm", "gru_unit", "GRUCell", "hfft", "hfft2", "hfftn",
    "hsigmoid", "huber_loss", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "ihfft2", "ihfftn", "im2sequence",
    "image_resize", "image_resize_short", "increment", "index_add", "index_select", "instance_norm",
    "inverse_time_decay", "irfft", "irfft2", "irfftn", "KeyValueCache", "kthvalue", "l2_normalize",
    "label_smooth", "layer_norm", "linear_chain_crf", "linear_lr_warmup", "lod_append", "lod_reset", "log_loss",
    "logcumsumexp", "logsumexp", "lrn", "lstm", "LSTMCell", "lstsq", "lu", "lu_unpack", "matmul", "matrix_nms",
    "max_pool2d_with_index", "max_unpool2d", "max_unpool3d", "maxout", "meshgrid", "mode", "multi_dot",
    "multi_head_attention", "multiclass_nms", "multiplex", "natural_exp_decay", "nll_loss", "noam_decay", "norm",
    "one_hot", "ones", "ones_like", "pad", "pad2d", "padding_mask", "piecewise_decay", "polynomial_decay",
    "pool2d", "pool3d", "pow", "pow2_decay_with_linear_warmup", "prelu", "prior_box", "put_along_axis",
    "py_func", "qr", "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "renorm", "repeat_interleave", "reshape", "resize_bicubic", "resize_bilinear", "resize_linear",
    "resize_nearest", "resize_trilinear", "reverse", "rfft", "rfft2", "rfftn", "rnn", "RNNCell", "roll",
    "row_conv", "segment_max", "segment_mean", "segment_min", "segment_sum", "send_u_recv", "send_ue_recv",
    "send_uv", "sequence_conv", "sequence_first_step", "sequence_last_step", "sequence_mask", "sequence_pad",
    "sequence_pool", "slice", "softmax_with_cross_entropy", "softshrink", "spectral_norm", "split",
    "square_error_cost", "squeeze", "stack", "stacked_rnn", "StaticRNN", "strided_slice", "sums", "svd",
    "switch_case", "take_along_axis", "tensor_array_to_tensor", "tile", "topk", "transformer_decoder_layer",
    "transformer_encoder_layer", "transpose", "tril", "triu", "truncated_gaussian_random", "unbind", "unfold",
    "uniform_random", "unique_consecutive", "unsqueeze", "unstack", "warpctc", "where", "While", "while_loop",
    "yolo_box", "yolov3_loss", "zeros", "zeros_like",
]

describe_shared([globals()[name] for name in __all__], shared_arguments.ARGUMENTS, shared_arguments.ERRORS)
make_take_other_names(globals(), __all__)
make_atomic(globals(), __all__)

__all__ += ops.__all__

if TYPE_CHECKING:
    from .ops import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        if name not in ops.__all__:
            raise unknown("layers", name, sys.modules[__name__])
        function = globals()[name] = getattr(ops, name)
        return function


show_public(globals())
