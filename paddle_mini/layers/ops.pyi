# Made by `make stub`.
from collections.abc import Sequence
from ..variable import Variable

__all__ = ['abs', 'acos', 'acosh', 'addmm', 'affine_grid', 'angle', 'as_complex', 'as_real', 'asin', 'asinh', 'atan', 'atan2', 'atanh', 'bce_loss', 'bernoulli', 'bincount', 'bitwise_and', 'bitwise_not', 'bitwise_or', 'bitwise_xor', 'bmm', 'box_clip', 'box_coder', 'bpr_loss', 'brelu', 'ceil', 'celu', 'channel_shuffle', 'cholesky', 'cholesky_solve', 'clip', 'clip_by_norm', 'complex', 'conj', 'continuous_value_model', 'cos', 'cosh', 'cross', 'cumprod', 'determinant', 'diag', 'diag_embed', 'diagonal', 'digamma', 'dirichlet', 'dist', 'dot', 'eigvalsh', 'elementwise_add', 'elementwise_div', 'elementwise_floordiv', 'elementwise_fmax', 'elementwise_fmin', 'elementwise_max', 'elementwise_min', 'elementwise_mod', 'elementwise_mul', 'elementwise_pow', 'elementwise_sub', 'elu', 'equal', 'equal_all', 'erf', 'erfinv', 'exp', 'expm1', 'exponential', 'fill_diagonal', 'fill_diagonal_tensor', 'floor', 'frame', 'gather_nd', 'gather_tree', 'gelu', 'get_tensor_from_selected_rows', 'greater_equal', 'greater_than', 'grid_sampler', 'gumbel_softmax', 'hard_shrink', 'hard_sigmoid', 'hard_swish', 'heaviside', 'hinge_loss', 'histogram', 'i0', 'i0e', 'i1', 'i1e', 'index_put', 'index_sample', 'imag', 'inverse', 'iou_similarity', 'is_empty', 'isclose', 'isfinite', 'isinf', 'isnan', 'kldiv_loss', 'kron', 'l1_norm', 'leaky_relu', 'lerp', 'less_equal', 'less_than', 'lgamma', 'log', 'log10', 'log1p', 'log2', 'log_softmax', 'logical_and', 'logical_not', 'logical_or', 'logical_xor', 'logit', 'logsigmoid', 'lookup_table', 'matrix_power', 'matrix_rank', 'mean', 'merge_selected_rows', 'mish', 'mul', 'multinomial', 'mv', 'nextafter', 'nms', 'not_equal', 'overlap_add', 'pixel_shuffle', 'pixel_unshuffle', 'poisson', 'polygamma', 'psroi_pool', 'randint', 'randperm', 'rank_loss', 'real', 'reciprocal', 'relu', 'relu6', 'roi_align', 'roi_pool', 'round', 'rrelu', 'rsqrt', 'scale', 'scatter', 'scatter_nd_add', 'searchsorted', 'selu', 'sequence_concat', 'sequence_enumerate', 'sequence_erase', 'sequence_expand', 'sequence_expand_as', 'sequence_reshape', 'sequence_reverse', 'sequence_scatter', 'sequence_slice', 'sequence_softmax', 'sequence_unpad', 'shape', 'shard_index', 'shuffle_channel', 'sigmoid', 'sigmoid_cross_entropy_with_logits', 'sign', 'silu', 'sin', 'sinh', 'size', 'slogdeterminant', 'softmax', 'softmax_mask_fuse', 'softmax_mask_fuse_upper_triangle', 'soft_relu', 'softplus', 'softsign', 'solve', 'sqrt', 'square', 'squared_l2_norm', 'stanh', 'swish', 'tan', 'tanh', 'tanh_shrink', 'teacher_student_sigmoid_loss', 'temporal_shift', 'thresholded_relu', 'trace', 'triangular_solve', 'tril_indices', 'triu_indices', 'trunc', 'uniform_random_batch_size_like']

def abs(x: Variable, *, name: str | None=None) -> Variable:
    """Out = |x|, element by element; of complex numbers, which gives real ones: the square root of the sum of the squares of the parts.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.abs(x).shape
        (-1, 8)
    """

def acos(x: Variable, *, name: str | None=None) -> Variable:
    """Out = arccos(x), in radians; NaN outside [-1, 1].

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.acos(x).shape
        (-1, 8)
    """

def acosh(x: Variable, *, name: str | None=None) -> Variable:
    """Out = arcosh(x), the inverse of the hyperbolic cosine; NaN below 1.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.acosh(x).shape
        (-1, 8)
    """

def addmm(input: Variable, x: Variable, y: Variable, *, beta: float=1.0, alpha: float=1.0, name: str | None=None) -> Variable:
    """Out = beta input + alpha x y.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: [rows, columns], or a shape that can be broadcast to it
        x: [rows, k]
        y: [k, columns]
        beta: factor of input; if it is 0, input is not read
        alpha: factor of the product
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [rows, columns].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.addmm(matrix, matrix, matrix).shape
        (4, 4)
    """

def affine_grid(theta: Variable, *, out_shape: Sequence[int]=[], align_corners: bool=True, name: str | None=None) -> Variable:
    """Output[n, y, x] = theta[n] (x, y, 1): where each pixel of a result lies in an image, both from -1 to 1; of volumes, (x, y, z, 1). An axis of one pixel has the coordinate 0; in PaddlePaddle's it is NaN with align_corners. Jaderberg et al. 2015, Spatial Transformer Networks.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        theta: [images, 2, 3], or [images, 3, 4] for volumes
        out_shape: [images, channels, height, width], or with a depth
        align_corners: whether -1 and 1 are the centers of the outermost pixels, not their edges
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Output: [images, height, width, 2], or [images, depth, height, width, 3].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> maps = pm.layers.data("maps", [2, 2, 3])
        >>> pm.layers.affine_grid(maps, out_shape=[2, 3, 4, 5]).shape
        (2, 4, 5, 2)
    """

def angle(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the angle of x in the complex plane, from -pi to pi; of a real number: pi where x < 0, else 0.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.angle(x).shape
        (-1, 8)
    """

def as_complex(x: Variable, *, name: str | None=None) -> Variable:
    """Out = pairs of real numbers as complex numbers.

    Element types: any.

    Args:
        x: float32 or float64, [..., 2]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: complex64 or complex128: x's shape without the last axis.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> pairs = pm.layers.data("pairs", [-1, 8, 2])
        >>> pm.layers.as_complex(pairs).shape
        (-1, 8)
    """

def as_real(x: Variable, *, name: str | None=None) -> Variable:
    """Out = complex numbers as pairs of real numbers: Out[..., 0] are the real parts.

    Element types: any.

    Args:
        x: complex64 or complex128, any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: float32 or float64: x's shape with a last axis of 2.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> waves = pm.layers.data("waves", [-1, 8], "complex64")
        >>> pm.layers.as_real(waves).shape
        (-1, 8, 2)
    """

def asin(x: Variable, *, name: str | None=None) -> Variable:
    """Out = arcsin(x), in radians; NaN outside [-1, 1].

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.asin(x).shape
        (-1, 8)
    """

def asinh(x: Variable, *, name: str | None=None) -> Variable:
    """Out = arsinh(x), the inverse of the hyperbolic sine, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.asinh(x).shape
        (-1, 8)
    """

def atan(x: Variable, *, name: str | None=None) -> Variable:
    """Out = arctan(x), in radians, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.atan(x).shape
        (-1, 8)
    """

def atan2(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = the angle of the point (y, x) in radians, from -pi to pi: arctan(x / y) in its quadrant. Of integers it is float64.

    Element types: float32, float64; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        y: shape of x
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.atan2(x, y).shape
        (-1, 8)
    """

def atanh(x: Variable, *, name: str | None=None) -> Variable:
    """Out = artanh(x), the inverse of the hyperbolic tangent; NaN outside [-1, 1].

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.atanh(x).shape
        (-1, 8)
    """

def bce_loss(x: Variable, label: Variable, *, name: str | None=None) -> Variable:
    """Out = -label log x - (1 - label) log(1 - x) for every element; logarithms below -100 count as -100. x outside of [0, 1] is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        label: the same shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the same shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> column = pm.layers.data("column", [-1, 1])
        >>> other = pm.layers.data("other", [-1, 1])
        >>> pm.layers.bce_loss(column, other).shape
        (-1, 1)
    """

def bernoulli(x: Variable, *, name: str | None=None) -> Variable:
    """Each element of Out is 1 with the probability in x, else 0. A probability outside of [0, 1] is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: probabilities, any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.bernoulli(x).shape
        (-1, 8)
    """

def bincount(x: Variable, *, weights: Variable | None=None, minlength: int=0, name: str | None=None) -> Variable:
    """Out[v] = how often v occurs in x, or with weights the sum of the weights of its occurrences. A negative number is an error.

    Element types: any.

    Args:
        x: [n], int32 or int64, at least 0
        weights: [n]
        minlength: the least length of Out
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [the largest number + 1, at least minlength]: int64; with weights float32 if they are float32, else float64.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> lengths = pm.layers.data("lengths", [-1], "int64")
        >>> pm.layers.bincount(lengths).shape
        (-1,)
    """

def bitwise_and(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = the bitwise AND of x and y; for bool, the logical AND. The last axes are aligned; dimensions of 1 are broadcast.

    Element types: bool, int16, int32, int64, uint8, int8.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> number = pm.layers.data("number", [-1, 8], "int64")
        >>> divisor = pm.layers.data("divisor", [-1, 8], "int64")
        >>> pm.layers.bitwise_and(number, divisor).shape
        (-1, 8)
    """

def bitwise_not(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the bitwise NOT of x; for bool, the logical NOT.

    Element types: bool, int16, int32, int64, uint8, int8.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> number = pm.layers.data("number", [-1, 8], "int64")
        >>> pm.layers.bitwise_not(number).shape
        (-1, 8)
    """

def bitwise_or(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = the bitwise OR of x and y; for bool, the logical OR. The last axes are aligned; dimensions of 1 are broadcast.

    Element types: bool, int16, int32, int64, uint8, int8.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> number = pm.layers.data("number", [-1, 8], "int64")
        >>> divisor = pm.layers.data("divisor", [-1, 8], "int64")
        >>> pm.layers.bitwise_or(number, divisor).shape
        (-1, 8)
    """

def bitwise_xor(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = the bitwise XOR of x and y; for bool, the logical XOR. The last axes are aligned; dimensions of 1 are broadcast.

    Element types: bool, int16, int32, int64, uint8, int8.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> number = pm.layers.data("number", [-1, 8], "int64")
        >>> divisor = pm.layers.data("divisor", [-1, 8], "int64")
        >>> pm.layers.bitwise_xor(number, divisor).shape
        (-1, 8)
    """

def bmm(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out[i] = x[i] y[i] for each matrix i; x and y have the same number of matrices.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [matrices, m, k]
        y: [matrices, k, n]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [matrices, m, n].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> b = pm.layers.data("b", [-1, 4, 5])
        >>> pm.layers.bmm(a, b).shape
        (-1, 3, 5)
    """

def box_clip(input: Variable, im_info: Variable, *, name: str | None=None) -> Variable:
    """Output = input, clipped to [0, width - 1] and [0, height - 1] of the image before it was scaled: its size in im_info divided by its scale, rounded.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: [boxes, ..., 4]: left, top, right, bottom, in a sequence (lod) for each image
        im_info: [images, 3]: height, width and scale of each image
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Output: as input.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> rois = pm.layers.data("rois", [-1, 4], lod_level=1)
        >>> info = pm.layers.data("info", [-1, 3])
        >>> pm.layers.box_clip(rois, info).shape
        (-1, 4)
    """

def box_coder(prior_box: Variable, target_box: Variable, *, prior_box_var: Variable | None=None, code_type: str='encode_center_size', box_normalized: bool=True, axis: int=0, variance: Sequence[float]=[], name: str | None=None) -> Variable:
    """Boxes as offsets from prior boxes, or back. With centers c and sizes s, and prior's p and variances v: encoded ((c - c_p) / s_p / v, log(|s / s_p|) / v); decoded the box of center v t s_p + c_p and size exp(v t) s_p. Boxes are left, top, right, bottom.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        prior_box: [m, 4]
        prior_box_var: [m, 4]: the variances of each prior
        target_box: encoding: [n, 4]; decoding: codes [n, m, 4], or with axis 1 [m, n, 4]
        code_type: encode_center_size or decode_center_size
        box_normalized: false: the ends of boxes are pixels inside of them, so that sizes are 1 larger
        axis: for decoding: 0: a prior for each column of target_box; 1: for each row
        variance: the variances of all priors, without prior_box_var; empty: ones
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        OutputBox: encoding: [n, m, 4]; decoding: shape of target_box.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> corners = pm.layers.data("corners", [6, 4])
        >>> pm.layers.box_coder(corners, corners).shape
        (6, 6, 4)
    """

def bpr_loss(input: Variable, label: Variable, *, name: str | None=None) -> Variable:
    """Y = the mean over the classes j other than the label of log(1 + exp(input[j] - input[label])): Bayesian personalized ranking (Hidasi et al. 2016).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: [..., classes]: scores
        label: int64, [..., 1]: classes
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Y: [..., 1].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.bpr_loss(x, label).shape
        (-1, 1)
    """

def brelu(x: Variable, *, t_min: float=0.0, t_max: float=24.0, name: str | None=None) -> Variable:
    """Out = min(max(x, t_min), t_max), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        t_min: the minimum of Out
        t_max: the maximum of Out
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.brelu(x).shape
        (-1, 8)
    """

def ceil(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the smallest integer that is at least x, element by element; NaN and infinity stay unchanged.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.ceil(x).shape
        (-1, 8)
    """

def celu(x: Variable, *, alpha: float=1.0, name: str | None=None) -> Variable:
    """Out = x where x >= 0, else alpha (exp(x / alpha) - 1), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        alpha: -alpha is the lower bound of Out; not 0
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.celu(x).shape
        (-1, 8)
    """

def channel_shuffle(x: Variable, *, groups: int=1, data_format: str='NCHW', name: str | None=None) -> Variable:
    """Channel i of group g becomes channel i groups + g (Zhang et al. 2018).

    Element types: any.

    Args:
        x: [images, channels, height, width], or channels last according to data_format
        groups: the number of groups of channels
        data_format: whether axis 1 or the last axis has the channels
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> pm.layers.channel_shuffle(image, groups=2).shape
        (-1, 4, 6, 6)
    """

def cholesky(x: Variable, *, upper: bool=False, name: str | None=None) -> Variable:
    """Out = the lower triangular L with L L^T = x, or with `upper` U with U^T U = x, of each matrix of x. Only this triangle of x is read. A matrix that is not positive definite is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n], symmetric and positive definite
        upper: whether Out is upper triangular
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.cholesky(matrix).shape
        (4, 4)
    """

def cholesky_solve(x: Variable, y: Variable, *, upper: bool=False, name: str | None=None) -> Variable:
    """Out = the solution of L L^T Out = x for each pair of matrices, with L = y, or of U^T U Out = x with U = y for `upper`. Only this triangle of y is read. A 0 in its diagonal is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, m]
        y: [..., n, n], Out of cholesky
        upper: whether y is upper triangular
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [..., n, m]; the axes before them are broadcast.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.cholesky_solve(matrix, matrix).shape
        (4, 4)
    """

def clip(x: Variable, min: float, max: float, *, name: str | None=None) -> Variable:
    """Out = min(max(x, min), max), element by element; NaN stays NaN. Duplicate rows of selected rows are merged first.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape; a tensor or selected rows
        min: lower bound
        max: upper bound
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.clip(x, min=-1.0, max=1.0).shape
        (-1, 8)
    """

def clip_by_norm(x: Variable, max_norm: float, *, name: str | None=None) -> Variable:
    """Out = x max_norm / |x| where the Euclidean norm |x| is above max_norm, else x. Duplicate rows of selected rows are merged first, so the norm is that of the dense gradient.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape; a tensor or selected rows
        max_norm: the largest norm that stays unchanged
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> vector = pm.layers.data("vector", [4])
        >>> pm.layers.clip_by_norm(vector, max_norm=1.0).shape
        (4,)
    """

def complex(real: Variable, imag: Variable, *, name: str | None=None) -> Variable:
    """Out = real + i imag, where real and imag are real and broadcast as in NumPy.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        real: float32 or float64: the real parts
        imag: of real's type, a shape that can be broadcast with real's: the imaginary parts
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: complex64 or complex128, the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.complex(x, y).shape
        (-1, 8)
    """

def conj(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the complex conjugate of each number; real numbers are their own.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> waves = pm.layers.data("waves", [-1, 8], "complex64")
        >>> pm.layers.conj(waves).shape
        (-1, 8)
    """

def continuous_value_model(input: Variable, cvm: Variable, *, use_cvm: bool=True, name: str | None=None) -> Variable:
    """With use_cvm, Y = input with log(shows + 1) and log(clicks + 1) - log(shows + 1) in its first two columns, else input without them.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: [rows, 2 + width]: shows and clicks, then an embedding
        cvm: [rows, 2]: the values of these columns in the gradient
        use_cvm: whether Y keeps the two columns
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Y: [rows, 2 + width], or [rows, width].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> clicks = pm.layers.data("clicks", [-1, 2])
        >>> pm.layers.continuous_value_model(x, clicks).shape
        (-1, 8)
    """

def cos(x: Variable, *, name: str | None=None) -> Variable:
    """Out = cos(x), x in radians, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.cos(x).shape
        (-1, 8)
    """

def cosh(x: Variable, *, name: str | None=None) -> Variable:
    """Out = cosh(x), the hyperbolic cosine, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.cosh(x).shape
        (-1, 8)
    """

def cross(x: Variable, y: Variable, *, axis: int=9, name: str | None=None) -> Variable:
    """Out = x x y: (x1 y2 - x2 y1, x2 y0 - x0 y2, x0 y1 - x1 y0) along the axis.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape with an axis of 3
        y: shape of x
        axis: the axis of the vectors; negative: from the end; 9: the first of size 3
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.cross(a, a, axis=1).shape
        (-1, 3, 4)
    """

def cumprod(x: Variable, dim: int, *, name: str | None=None) -> Variable:
    """Out[j] = the product of x[0] to x[j] along the axis. Integers wrap around.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        dim: the axis; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.cumprod(x, dim=1).shape
        (-1, 8)
    """

def determinant(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the determinant of each matrix of x.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the shape of x without its last two axes.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.determinant(matrix).shape
        ()
    """

def diag(x: Variable, *, offset: int=0, padding_value: float=0.0, name: str | None=None) -> Variable:
    """If x has one dimension, Out = a square matrix with x on a diagonal and padding_value elsewhere. If x is a matrix, Out = the elements on its diagonal.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: [n] or [rows, columns]; [] counts as [1]
        offset: index of the diagonal: 0 for the main one, above 0 to the right of it
        padding_value: the value of Out off the diagonal
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [n + |offset|, n + |offset|], or the length of the diagonal.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> vector = pm.layers.data("vector", [4])
        >>> pm.layers.diag(vector).shape
        (4, 4)
    """

def diag_embed(x: Variable, *, offset: int=0, dim1: int=-2, dim2: int=-1, name: str | None=None) -> Variable:
    """Out = matrices with 0 except for one diagonal, which is the last axis of x.

    Element types: any.

    Args:
        x: at least one dimension
        offset: the diagonal's distance to the right of the main one; negative: below it
        dim1: the rows of the matrices in Out; negative ones count from the end
        dim2: the columns of the matrices in Out; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the axes of x but the last, with the rows and columns of the matrices at dim1, dim2.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> vector = pm.layers.data("vector", [4])
        >>> pm.layers.diag_embed(vector).shape
        (4, 4)
    """

def diagonal(x: Variable, *, offset: int=0, axis1: int=0, axis2: int=1, name: str | None=None) -> Variable:
    """Out = a diagonal of each matrix that axis1 and axis2 form.

    Element types: any.

    Args:
        x: at least 2 dimensions
        offset: the diagonal's distance to the right of the main one; negative: below it
        axis1: the rows of the matrices; negative ones count from the end
        axis2: the columns of the matrices; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the axes of x other than axis1 and axis2, then the elements of the diagonal.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.diagonal(matrix).shape
        (4,)
    """

def digamma(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the derivative of log gamma(x), element by element; NaN at 0, -1, -2, ...

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.digamma(x).shape
        (-1, 8)
    """

def dirichlet(alpha: Variable, *, name: str | None=None) -> Variable:
    """Each row of Out is drawn from the Dirichlet distribution with the concentrations in the same row of alpha; its elements sum to 1.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        alpha: [..., n], above 0
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of alpha.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.dirichlet(x).shape
        (-1, 8)
    """

def dist(x: Variable, y: Variable, *, p: float=2.0, name: str | None=None) -> Variable:
    """Out = (sum of |x - y|^p)^(1/p) over all elements.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        p: the order; inf, -inf: the largest, the smallest difference; 0: the number of nonzero differences
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: one number, [].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.dist(x, y).shape
        ()
    """

def dot(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = the sum of x y along the last axis. Integers wrap around.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: [size] or [rows, size]
        y: shape of x
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [] or [rows].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.dot(x, y).shape
        (-1,)
    """

def eigvalsh(x: Variable, *, UPLO: str='L', name: str | None=None) -> Variable:
    """The eigenvalues of each symmetric matrix of x. Only one triangle of x is read.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n], symmetric, or complex and Hermitian
        UPLO: the triangle of x that is read: L, the lower one, or U
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Eigenvalues: [..., n], ascending; real.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.eigvalsh(matrix).shape
        (4,)
    """

def elementwise_add(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x + y. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_add(x, y).shape
        (-1, 8)
    """

def elementwise_div(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x / y. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. Quotients of integers are truncated towards zero; for integers, y = 0 is an error.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: bool, int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_div(x, y).shape
        (-1, 8)
    """

def elementwise_floordiv(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = floor(x / y). y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast. For integers, y = 0 is an error.

    Element types: int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> number = pm.layers.data("number", [-1, 8], "int64")
        >>> divisor = pm.layers.data("divisor", [-1, 8], "int64")
        >>> pm.layers.elementwise_floordiv(number, divisor).shape
        (-1, 8)
    """

def elementwise_fmax(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = max(x, y); where one is NaN, the other. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_fmax(x, y).shape
        (-1, 8)
    """

def elementwise_fmin(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = min(x, y); where one is NaN, the other. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_fmin(x, y).shape
        (-1, 8)
    """

def elementwise_max(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = max(x, y); NaN in either gives NaN. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_max(x, y).shape
        (-1, 8)
    """

def elementwise_min(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = min(x, y); NaN in either gives NaN. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_min(x, y).shape
        (-1, 8)
    """

def elementwise_mod(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x - y floor(x / y): the remainder, with the sign of y. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. For integers, y = 0 is an error.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> number = pm.layers.data("number", [-1, 8], "int64")
        >>> divisor = pm.layers.data("divisor", [-1, 8], "int64")
        >>> pm.layers.elementwise_mod(number, divisor).shape
        (-1, 8)
    """

def elementwise_mul(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x y, element by element. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast. x may be selected rows if y has one element: then so is Out, with the same rows.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: bool, int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_mul(x, y).shape
        (-1, 8)
    """

def elementwise_pow(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x to the power of y. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast. Products of integers wrap around; an integer to a power below 0 has its fraction cut off, and is 0 for x = 0.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_pow(x, y).shape
        (-1, 8)
    """

def elementwise_sub(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x - y. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.elementwise_sub(x, y).shape
        (-1, 8)
    """

def elu(x: Variable, *, alpha: float=1.0, name: str | None=None) -> Variable:
    """Out = x where x >= 0, else alpha (exp(x) - 1), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        alpha: -alpha is the lower bound of Out
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.elu(x).shape
        (-1, 8)
    """

def equal(x: Variable, y: Variable | float, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = whether x equals y, element by element. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. Floating point numbers less than 1e-8 apart are equal; NaN is equal to nothing.

    Element types: bool, int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's, or a number
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.equal(x, y).shape
        (-1, 8)
    """

def equal_all(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x and y have the same shape and all their elements are equal; floating-point numbers less than 1e-8 apart count as equal, NaN as different from every number.

    Element types: bool, int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: any shape, of x's element type
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: one element, bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.equal_all(x, y).shape
        ()
    """

def erf(x: Variable, *, name: str | None=None) -> Variable:
    """Out = erf(x), 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.erf(x).shape
        (-1, 8)
    """

def erfinv(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the number whose error function is x, element by element; NaN outside [-1, 1].

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.erfinv(x).shape
        (-1, 8)
    """

def exp(x: Variable, *, name: str | None=None) -> Variable:
    """Out = e^x, element by element; on overflow, infinity.

    Element types: float32, float64, complex64, complex128; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.exp(x).shape
        (-1, 8)
    """

def expm1(x: Variable, *, name: str | None=None) -> Variable:
    """Out = exp(x) - 1, element by element, also accurate for small x.

    Element types: float32, float64, complex64, complex128; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.expm1(x).shape
        (-1, 8)
    """

def exponential(x: Variable, *, rate: float=1.0, name: str | None=None) -> Variable:
    """Each element of Out is drawn from the exponential distribution with mean 1 / rate; of x only the shape and the element type are read.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape; only its shape is read
        rate: the rate
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.exponential(x).shape
        (-1, 8)
    """

def fill_diagonal(x: Variable, *, value: float=0.0, offset: int=0, wrap: bool=False, name: str | None=None) -> Variable:
    """Out = x with `value` on its diagonal, whose elements have equal indices along all axes.

    Element types: bool, int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: 2 dimensions, or more of one size
        value: the value on the diagonal, converted to the element type of x
        offset: the diagonal's distance to the right of the main one; negative: to the left
        wrap: whether a matrix with more rows than columns begins a new diagonal below its end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.fill_diagonal(matrix, value=1.0).shape
        (4, 4)
    """

def fill_diagonal_tensor(x: Variable, y: Variable, *, offset: int=0, dim1: int=0, dim2: int=1, name: str | None=None) -> Variable:
    """Out = x with y on a diagonal of each matrix that dim1 and dim2 form. As in PaddlePaddle, y gets no gradient.

    Element types: any.

    Args:
        x: at least 2 dimensions
        y: the axes of x other than dim1 and dim2, then the elements of the diagonal; of one matrix also as a row
        offset: the diagonal's distance to the right of the main one; negative: below it
        dim1: the rows of the matrices; negative ones count from the end
        dim2: the columns of the matrices; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> vector = pm.layers.data("vector", [4])
        >>> pm.layers.fill_diagonal_tensor(matrix, vector).shape
        (4, 4)
    """

def floor(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the largest integer that is at most x, element by element; NaN and infinity stay unchanged.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.floor(x).shape
        (-1, 8)
    """

def frame(x: Variable, frame_length: int, hop_length: int, *, axis: int=-1, name: str | None=None) -> Variable:
    """The windows of frame_length elements of a signal, one every hop_length elements; elements after the last whole window are left out.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: [..., length], or with axis 0 [length, ...]
        frame_length: the elements of a window
        hop_length: the distance between the first elements of windows
        axis: the axis of the signal: 0 or -1
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [..., frame_length, frames], or with axis 0 [frames, frame_length, ...].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.frame(x, frame_length=4, hop_length=2).shape
        (-1, 4, 3)
    """

def gather_nd(input: Variable, index: Variable, *, name: str | None=None) -> Variable:
    """The last axis of index, of size k, holds coordinates along input's first k axes; Out = the slices of input at these coordinates. Negative coordinates count from the end; a coordinate out of range is an error.

    Element types: any.

    Args:
        input: any shape
        index: [..., k], int32 or int64
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: index's dimensions except the last, then input's except the first k.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> index = pm.layers.data("index", [-1, 2], "int64")
        >>> pm.layers.gather_nd(matrix, index).shape
        (-1,)
    """

def gather_tree(ids: Variable, parents: Variable, *, name: str | None=None) -> Variable:
    """Out[t, b, k] = the id at step t of the sequence that ends in beam k at the last step. parents[t, b, k] is the beam at step t - 1 that precedes beam k at step t.

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        ids: [steps, batch, beams], int32 or int64
        parents: shape and element type of ids
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of ids.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> steps = pm.layers.data("steps", [5, 2, 3], "int64")
        >>> pm.layers.gather_tree(steps, steps).shape
        (5, 2, 3)
    """

def gelu(x: Variable, *, approximate: bool=False, name: str | None=None) -> Variable:
    """Out = x (1 + erf(x / sqrt(2))) / 2, element by element; or, when approximate, x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        approximate: whether tanh replaces erf
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.gelu(x).shape
        (-1, 8)
    """

def get_tensor_from_selected_rows(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the values of the selected rows, in their order, not the whole table.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: selected rows
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [rows, ...]; operators that read it see as many rows as x can have; rows without a value are zeros.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> ids = pm.layers.data("ids", [-1], "int64")
        >>> words = pm.layers.embedding(ids, [100, 8], is_sparse=True)
        >>> ((table, gradient),) = pm.append_backward(pm.layers.mean(words))
        >>> pm.layers.get_tensor_from_selected_rows(gradient).shape
        (-1, 8)
    """

def greater_equal(x: Variable, y: Variable | float, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = whether x >= y, element by element. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. False where either is NaN.

    Element types: bool, int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's, or a number
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.greater_equal(x, y).shape
        (-1, 8)
    """

def greater_than(x: Variable, y: Variable | float, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = whether x > y, element by element. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. False where either is NaN.

    Element types: bool, int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's, or a number
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.greater_than(x, y).shape
        (-1, 8)
    """

def grid_sampler(x: Variable, grid: Variable, *, mode: str='bilinear', padding_mode: str='zeros', align_corners: bool=True, name: str | None=None) -> Variable:
    """Output[n, c, i, j] = x[n, c] interpolated at the position (x, y) = grid[n, i, j] (Jaderberg et al. 2015).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [images, channels, height, width], or [images, channels, depth, height, width]
        grid: [images, output height, output width, 2]: x, y, from -1 to 1 across the image; with depth [..., 3]: x, y, z
        mode: bilinear: the weighted sum of the surrounding pixels, four or, with depth, eight; nearest: the nearest pixel
        padding_mode: pixels outside of the image: zeros, the outermost pixels, or the mirrored image
        align_corners: whether -1 and 1 are the centers of the outermost pixels; otherwise they are their edges
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Output: [images, channels, output height, output width], with depth before them.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> grid = pm.layers.data("grid", [-1, 3, 3, 2])
        >>> pm.layers.grid_sampler(image, grid).shape
        (-1, 4, 3, 3)
    """

def gumbel_softmax(x: Variable, *, temperature: float=1.0, hard: bool=False, axis: int=-1, name: str | None=None) -> Variable:
    """Out = softmax((x + G) / temperature) along the axis, where each element of G is drawn from the standard Gumbel distribution (Jang et al. 2017). With hard, Out is 1 for the largest element and 0 for all others.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: logarithms of weights, any shape
        temperature: the divisor
        hard: whether Out selects one element
        axis: the axis; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.gumbel_softmax(x).shape
        (-1, 8)
    """

def hard_shrink(x: Variable, *, threshold: float=0.5, name: str | None=None) -> Variable:
    """Out = x where |x| > threshold, else 0, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        threshold: values in [-threshold, threshold] become 0
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.hard_shrink(x).shape
        (-1, 8)
    """

def hard_sigmoid(x: Variable, *, slope: float=0.2, offset: float=0.5, name: str | None=None) -> Variable:
    """Out = min(max(slope x + offset, 0), 1), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        slope: factor of x
        offset: the value of Out for x = 0
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.hard_sigmoid(x).shape
        (-1, 8)
    """

def hard_swish(x: Variable, *, threshold: float=6.0, scale: float=6.0, offset: float=3.0, name: str | None=None) -> Variable:
    """Out = x min(max(x + offset, 0), threshold) / scale, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        threshold: upper bound of x + offset in the factor of x
        scale: divisor of the factor of x; not 0
        offset: the factor is 0 where x < -offset
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.hard_swish(x).shape
        (-1, 8)
    """

def heaviside(x: Variable, y: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = 0 where x < 0 or x is NaN, y where x = 0, 1 where x > 0. y's dimensions lie against x's from `axis` on; a dimension of 1 is broadcast.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.heaviside(x, y).shape
        (-1, 8)
    """

def hinge_loss(logits: Variable, labels: Variable, *, name: str | None=None) -> Variable:
    """Loss = max(0, 1 - logits (2 labels - 1)) for every element; labels are 0 or 1.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        logits: any shape
        labels: the same shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Loss: the same shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> column = pm.layers.data("column", [-1, 1])
        >>> other = pm.layers.data("other", [-1, 1])
        >>> pm.layers.hinge_loss(column, other).shape
        (-1, 1)
    """

def histogram(input: Variable, *, bins: int=100, min: int=0, max: int=0, name: str | None=None) -> Variable:
    """Out = the number of elements of input in each of `bins` intervals of equal width from min to max; the last one includes max. If min and max are equal, the range is that of input. Elements outside of the range, and NaN, do not count.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        input: any shape
        bins: how many intervals
        min: the lower end of the range
        max: the upper end of the range
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [bins], int64.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.histogram(x, bins=10).shape
        (10,)
    """

def i0(x: Variable, *, name: str | None=None) -> Variable:
    """out = I0(x), the modified Bessel function of order 0, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.i0(x).shape
        (-1, 8)
    """

def i0e(x: Variable, *, name: str | None=None) -> Variable:
    """out = exp(-|x|) I0(x), the scaled modified Bessel function of order 0, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.i0e(x).shape
        (-1, 8)
    """

def i1(x: Variable, *, name: str | None=None) -> Variable:
    """out = I1(x), the modified Bessel function of order 1, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.i1(x).shape
        (-1, 8)
    """

def i1e(x: Variable, *, name: str | None=None) -> Variable:
    """out = exp(-|x|) I1(x), the scaled modified Bessel function of order 1, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.i1e(x).shape
        (-1, 8)
    """

def index_put(x: Variable, indices: Sequence[Variable], value: Variable, *, accumulate: bool=False, name: str | None=None) -> Variable:
    """out = x with value written at the positions in indices: tensor i has the positions along axis i, and all of them are broadcast. A mask stands for the positions where it is true. Of several values for one element the last one remains; with accumulate all are added to x. Negative positions count from the end; a position out of range is an error.

    Element types: bool, int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: at least as many axes as indices name
        indices: int32, int64, or masks of bool, which name as many axes as they have dimensions
        value: a shape that can be broadcast to that of the positions, followed by the other axes of x
        accumulate: whether value is added
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> rows = pm.layers.data("rows", [2], "int64")
        >>> updates = pm.layers.data("updates", [2, 4])
        >>> pm.layers.index_put(matrix, [rows], updates).shape
        (4, 4)
    """

def index_sample(x: Variable, index: Variable, *, name: str | None=None) -> Variable:
    """Out[i, j] = x[i, index[i, j]]. A position out of range is an error.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: [rows, n]
        index: [rows, m], int32 or int64
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of index.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> index = pm.layers.data("index", [-1, 2], "int64")
        >>> pm.layers.index_sample(x, index).shape
        (-1, 2)
    """

def imag(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the imaginary part of each complex number.

    Element types: complex64, complex128.

    Args:
        x: complex64 or complex128, any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: float32 or float64, shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> waves = pm.layers.data("waves", [-1, 8], "complex64")
        >>> pm.layers.imag(waves).shape
        (-1, 8)
    """

def inverse(x: Variable, *, name: str | None=None) -> Variable:
    """Output = the inverse of each matrix of x. A singular matrix is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Output: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.inverse(matrix).shape
        (4, 4)
    """

def iou_similarity(x: Variable, y: Variable, *, box_normalized: bool=True, name: str | None=None) -> Variable:
    """Out[i, j] = the area of the intersection of the boxes x[i] and y[j] over that of their union, plus 1e-10.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [n, 4]: left, top, right, bottom
        y: [m, 4]
        box_normalized: false: the ends of boxes are pixels inside of them, so that sizes are 1 larger
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [n, m].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> corners = pm.layers.data("corners", [6, 4])
        >>> pm.layers.iou_similarity(corners, corners).shape
        (6, 6)
    """

def is_empty(x: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x has no elements.

    Element types: any.

    Args:
        x: any shape; only its shape is read
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: one element, bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.is_empty(x).shape
        ()
    """

def isclose(x: Variable, y: Variable, *, rtol: str='1e-5', atol: str='1e-8', equal_nan: bool=False, name: str | None=None) -> Variable:
    """Out = whether |x - y| <= atol + rtol |y|, for each element; if rtol > 0, an infinite y is close to every number, as in PaddlePaddle.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: shape and element type of x
        rtol: a number as text
        atol: a number as text
        equal_nan: whether NaN is equal to NaN
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x, bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.isclose(x, y).shape
        (-1, 8)
    """

def isfinite(x: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x is a finite number, element by element. Integers are finite.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x; bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.isfinite(x).shape
        (-1, 8)
    """

def isinf(x: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x is infinity or minus infinity, element by element. Integers are finite.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x; bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.isinf(x).shape
        (-1, 8)
    """

def isnan(x: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x is NaN, element by element. Integers are never NaN.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x; bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.isnan(x).shape
        (-1, 8)
    """

def kldiv_loss(x: Variable, target: Variable, *, reduction: str='mean', name: str | None=None) -> Variable:
    """Loss = target (log target - x) where target is above 0, else 0: the Kullback-Leibler divergence of probabilities exp(x) from target, reduced according to `reduction`.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape: logarithms of probabilities
        target: shape of x: probabilities
        reduction: none: a loss for each element; sum; mean: sum / number of elements; batchmean: sum / first dimension
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Loss: []; shape of x without reduction.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.kldiv_loss(x, y).shape
        ()
    """

def kron(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out[i m + j] = x[i] y[j] along each axis, where m is the size of y; the tensor with fewer axes gets axes of 1 in front. Integers wrap around.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        y: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the sizes of x times those of y.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.kron(matrix, matrix).shape
        (16, 16)
    """

def l1_norm(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the sum of the absolute values of all elements of x.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.l1_norm(x).shape
        ()
    """

def leaky_relu(x: Variable, *, alpha: float=0.02, name: str | None=None) -> Variable:
    """Out = x where x > 0, else alpha x, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        alpha: factor of negative elements
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.leaky_relu(x).shape
        (-1, 8)
    """

def lerp(x: Variable, y: Variable, weight: Variable, *, name: str | None=None) -> Variable:
    """Out = x + weight (y - x): x where weight is 0, y where it is 1. All three are broadcast as in NumPy.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x
        weight: a shape that can be broadcast with x and y
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> column = pm.layers.data("column", [-1, 1])
        >>> pm.layers.lerp(x, y, column).shape
        (-1, 8)
    """

def less_equal(x: Variable, y: Variable | float, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = whether x <= y, element by element. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. False where either is NaN.

    Element types: bool, int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's, or a number
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.less_equal(x, y).shape
        (-1, 8)
    """

def less_than(x: Variable, y: Variable | float, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = whether x < y, element by element. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. False where either is NaN.

    Element types: bool, int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's, or a number
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.less_than(x, y).shape
        (-1, 8)
    """

def lgamma(x: Variable, *, name: str | None=None) -> Variable:
    """Out = log |gamma(x)|, element by element; infinite at 0, -1, -2, ...

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.lgamma(x).shape
        (-1, 8)
    """

def log(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the natural logarithm of x, element by element; -inf for 0, NaN for a negative number.

    Element types: float32, float64; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.log(x).shape
        (-1, 8)
    """

def log10(x: Variable, *, name: str | None=None) -> Variable:
    """Out = log10(x), the logarithm to the base 10, element by element.

    Element types: float32, float64; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.log10(x).shape
        (-1, 8)
    """

def log1p(x: Variable, *, name: str | None=None) -> Variable:
    """Out = log(1 + x), element by element, also accurate for small x.

    Element types: float32, float64; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.log1p(x).shape
        (-1, 8)
    """

def log2(x: Variable, *, name: str | None=None) -> Variable:
    """Out = log2(x), the logarithm to the base 2, element by element.

    Element types: float32, float64; computed in a wider one: int32, int64, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.log2(x).shape
        (-1, 8)
    """

def log_softmax(x: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = x - log(sum of exp(x) along the axis): logarithms of probabilities.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        axis: the axis; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.log_softmax(x).shape
        (-1, 8)
    """

def logical_and(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x and y are both true, element by element; a number is true unless it is 0. The last axes are aligned; dimensions of 1 are broadcast.

    Element types: bool, int16, int32, int64, float32, float64, int8; computed in a wider one: uint8, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> true_or_false = pm.layers.data("true_or_false", [-1, 8], "bool")
        >>> more = pm.layers.data("more", [-1, 8], "bool")
        >>> pm.layers.logical_and(true_or_false, more).shape
        (-1, 8)
    """

def logical_not(x: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x is not true, element by element; a number is true unless it is 0.

    Element types: bool, int16, int32, int64, float32, float64, int8; computed in a wider one: uint8, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x; bool.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> true_or_false = pm.layers.data("true_or_false", [-1, 8], "bool")
        >>> pm.layers.logical_not(true_or_false).shape
        (-1, 8)
    """

def logical_or(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = whether x or y is true, or both, element by element; a number is true unless it is 0. The last axes are aligned; dimensions of 1 are broadcast.

    Element types: bool, int16, int32, int64, float32, float64, int8; computed in a wider one: uint8, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> true_or_false = pm.layers.data("true_or_false", [-1, 8], "bool")
        >>> more = pm.layers.data("more", [-1, 8], "bool")
        >>> pm.layers.logical_or(true_or_false, more).shape
        (-1, 8)
    """

def logical_xor(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = whether exactly one of x and y is true, element by element; a number is true unless it is 0. The last axes are aligned; dimensions of 1 are broadcast.

    Element types: bool, int16, int32, int64, float32, float64, int8; computed in a wider one: uint8, float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> true_or_false = pm.layers.data("true_or_false", [-1, 8], "bool")
        >>> more = pm.layers.data("more", [-1, 8], "bool")
        >>> pm.layers.logical_xor(true_or_false, more).shape
        (-1, 8)
    """

def logit(x: Variable, *, eps: float=1e-06, name: str | None=None) -> Variable:
    """Out = log(x / (1 - x)), element by element, after x has been clipped to [eps, 1 - eps]; with eps 0 it is NaN outside [0, 1].

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        eps: how far x is kept from 0 and 1
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.logit(x).shape
        (-1, 8)
    """

def logsigmoid(x: Variable, *, name: str | None=None) -> Variable:
    """Out = log(1 / (1 + exp(-x))), element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.logsigmoid(x).shape
        (-1, 8)
    """

def lookup_table(w: Variable, ids: Variable, *, padding_idx: int=-1, is_sparse: bool=False, name: str | None=None) -> Variable:
    """Out[i..., :] = w[ids[i..., 0]]; zeros where the id is padding_idx. An id out of range is an error.

    Element types: float32, float64; computed in a wider one: int8, int16, float16, bfloat16.

    Args:
        w: [height, width]: the table
        ids: [..., 1], int32 or int64
        padding_idx: the id for which Out is zeros; -1: none
        is_sparse: whether the gradient of w is selected rows
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [..., width].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.lookup_table(matrix, label).shape
        (-1, 4)
    """

def matrix_power(x: Variable, n: int, *, name: str | None=None) -> Variable:
    """Out = x^n, the product of n times each matrix of x; of its inverse for a negative n, for which a singular matrix is an error; for 0 the identity.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., m, m]
        n: the power
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.matrix_power(matrix, 2).shape
        (4, 4)
    """

def matrix_rank(x: Variable, *, tolerances: Variable | None=None, tol: float=0.0, hermitian: bool=False, use_default_tol: bool=True, name: str | None=None) -> Variable:
    """Out = the number of singular values of each matrix of x that are greater than a tolerance; with `hermitian` of absolute eigenvalues, for which only the lower triangle is read.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., m, n]; square with `hermitian`
        tolerances: tolerances in place of `tol`, broadcast with the axes before the matrices
        tol: the tolerance, unless use_default_tol is set
        hermitian: whether the matrices are symmetric
        use_default_tol: the tolerance is at least max(m, n) times the largest value, times the distance of 1 to the next number
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: int32, the axes before the matrices, broadcast with tolerances.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.matrix_rank(matrix).shape
        ()
    """

def mean(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the mean of all elements of x; NaN if there are no elements.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: one element, [].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.mean(x).shape
        ()
    """

def merge_selected_rows(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x with its rows sorted and duplicates merged: the values of equal rows are added.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: selected rows
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: selected rows of the same table.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> ids = pm.layers.data("ids", [-1], "int64")
        >>> words = pm.layers.embedding(ids, [100, 8], is_sparse=True)
        >>> ((table, gradient),) = pm.append_backward(pm.layers.mean(words))
        >>> pm.layers.merge_selected_rows(gradient).shape
        (100, 8)
    """

def mish(x: Variable, *, threshold: float=20.0, name: str | None=None) -> Variable:
    """Out = x tanh(log(1 + exp(x))), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        threshold: where x is above it, log(1 + exp(x)) is replaced by x
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.mish(x).shape
        (-1, 8)
    """

def mul(x: Variable, y: Variable, *, x_num_col_dims: int=1, y_num_col_dims: int=1, name: str | None=None) -> Variable:
    """Out = x y: the first x_num_col_dims axes of x are flattened to rows and the others to columns; likewise for y.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [rows..., columns...]
        y: [rows..., columns...] with as many rows as x has columns
        x_num_col_dims: the number of axes of x that are rows
        y_num_col_dims: the number of axes of y that are rows
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: x's rows and y's columns.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> updates = pm.layers.data("updates", [2, 4])
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.mul(updates, matrix).shape
        (2, 4)
    """

def multinomial(x: Variable, *, num_samples: int=1, replacement: bool=False, name: str | None=None) -> Variable:
    """Each row of Out has num_samples indices of elements of the same row of x, drawn with probabilities proportional to these elements. Weights that are negative or all 0 are an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [categories] or [rows, categories]: weights
        num_samples: how many indices each row gets
        replacement: whether an index may be drawn more than once
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [num_samples] or [rows, num_samples], int64.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.multinomial(x, num_samples=2).shape
        (-1, 2)
    """

def mv(x: Variable, vec: Variable, *, name: str | None=None) -> Variable:
    """Out = x vec.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [rows, columns]
        vec: [columns]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [rows].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> vector = pm.layers.data("vector", [4])
        >>> pm.layers.mv(matrix, vector).shape
        (4,)
    """

def nextafter(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """out = the number after x, in the direction of y, among those of the element type; y where they are equal, NaN where one is NaN.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: shape of x
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.nextafter(x, y).shape
        (-1, 8)
    """

def nms(boxes: Variable, *, iou_threshold: float=1.0, name: str | None=None) -> Variable:
    """Takes the boxes in their order, without those whose overlap with a box that was taken, intersection over union, is above iou_threshold. boxes of the largest scores come first, if they are sorted so.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        boxes: [boxes, 4]: left, top, right, bottom
        iou_threshold: the largest overlap with a kept box
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        KeepBoxesIdxs: int64 [kept]: the rows of boxes.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> corners = pm.layers.data("corners", [6, 4])
        >>> pm.layers.nms(corners).shape
        (-1,)
    """

def not_equal(x: Variable, y: Variable | float, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = whether x differs from y, element by element. y's dimensions are aligned with x's from `axis` on; dimensions of 1 are broadcast. Floating point numbers less than 1e-8 apart are equal; NaN is equal to nothing.

    Element types: bool, int16, int32, int64, float32, float64, uint8, int8; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        y: a shape that can be broadcast with x's, or a number
        axis: the axis of x with which y's first dimension is aligned; -1: the last axes are aligned
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the broadcast shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.not_equal(x, y).shape
        (-1, 8)
    """

def overlap_add(x: Variable, hop_length: int, *, axis: int=-1, name: str | None=None) -> Variable:
    """A signal as the sum of its windows, of which one begins every hop_length elements: the transpose of frame.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: [..., window, frames], or with axis 0 [frames, window, ...]
        hop_length: the distance between the first elements of windows
        axis: the axis of the signal: 0 or -1
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [..., (frames - 1) hop_length + window], or with axis 0 this axis first.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> pm.layers.overlap_add(a, hop_length=2).shape
        (-1, 9)
    """

def pixel_shuffle(x: Variable, *, upscale_factor: int=1, data_format: str='NCHW', name: str | None=None) -> Variable:
    """Out[n, c, y r + i, x r + j] = x[n, (c r + i) r + j, y, x] with r = upscale_factor (Shi et al. 2016).

    Element types: any.

    Args:
        x: [images, channels r r, height, width], or channels last according to data_format
        upscale_factor: factor by which height and width grow
        data_format: whether axis 1 or the last axis has the channels
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [images, channels, height r, width r], or channels last.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> pm.layers.pixel_shuffle(image, upscale_factor=2).shape
        (-1, 1, 12, 12)
    """

def pixel_unshuffle(x: Variable, *, downscale_factor: int=1, data_format: str='NCHW', name: str | None=None) -> Variable:
    """Out[n, (c r + i) r + j, y, x] = x[n, c, y r + i, x r + j] with r = downscale_factor.

    Element types: any.

    Args:
        x: [images, channels, height r, width r], or channels last according to data_format
        downscale_factor: factor by which height and width shrink
        data_format: whether axis 1 or the last axis has the channels
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [images, channels r r, height, width], or channels last.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> pm.layers.pixel_unshuffle(image, downscale_factor=2).shape
        (-1, 16, 3, 3)
    """

def poisson(x: Variable, *, name: str | None=None) -> Variable:
    """Each element of Out is drawn from the Poisson distribution with the mean in x. A negative mean is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: means, any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.poisson(x).shape
        (-1, 8)
    """

def polygamma(x: Variable, n: int, *, name: str | None=None) -> Variable:
    """out = the n-th derivative of digamma(x), element by element: (-1)^(n+1) n! times the sum of (x + k)^-(n+1) over k = 0, 1, ...

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        n: the order of the derivative; 0: digamma
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.polygamma(x, 1).shape
        (-1, 8)
    """

def psroi_pool(input: Variable, rois: Variable, *, rois_num: Variable | None=None, pooled_height: int=1, pooled_width: int=1, spatial_scale: float=1.0, output_channels: int=1, name: str | None=None) -> Variable:
    """Each region, rounded to whole pixels, is cut into bins. Out[n, c, i, j] is the mean of channel (c pooled_height + i) pooled_width + j in bin i, j of region n, and 0 for a bin outside of input. Dai et al. 2016, R-FCN.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: [images, channels, height, width]
        rois: [regions, 4]: left, top, right, bottom; without rois_num, a sequence (lod) for each image
        rois_num: int32 or int64 [images]: how many of the regions are in each image, in order
        pooled_height: rows of the result
        pooled_width: columns of the result
        spatial_scale: pixels of input for each unit of rois
        output_channels: channels of the result
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [regions, output_channels, pooled_height, pooled_width].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> rois = pm.layers.data("rois", [-1, 4], lod_level=1)
        >>> pm.layers.psroi_pool(image, rois, pooled_height=2, pooled_width=2).shape
        (-1, 1, 2, 2)
    """

def randint(low: int, high: int, *, shape: Sequence[int]=[], dtype: str | int=3, seed: int=0, name: str | None=None) -> Variable:
    """Each element of Out is an integer drawn uniformly from [low, high).

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        shape: shape of Out; empty: one element
        dtype: element type of Out, int32 or int64
        low: the least integer
        high: the integer after the greatest one
        seed: seed of a generator that restarts in each run; 0: the executor's generator continues
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the attribute `shape` is its shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> pm.layers.randint(0, 10, shape=[2, 3]).shape
        (2, 3)
    """

def randperm(n: int, *, dtype: str | int=3, name: str | None=None) -> Variable:
    """Out = the numbers 0, ..., n - 1 in random order; all orders are equally likely.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        n: how many numbers
        dtype: element type of Out
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [n].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> pm.layers.randperm(5).shape
        (5,)
    """

def rank_loss(label: Variable, left: Variable, right: Variable, *, name: str | None=None) -> Variable:
    """Out = log(1 + exp(left - right)) - label (left - right) for every pair: RankNet's loss (Burges et al. 2005).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        label: any shape: 1 where the left one ranks higher, 0 where the right one, 0.5 for a tie
        left: shape of label: scores
        right: shape of label: scores
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of label.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> column = pm.layers.data("column", [-1, 1])
        >>> other = pm.layers.data("other", [-1, 1])
        >>> pm.layers.rank_loss(column, column, other).shape
        (-1, 1)
    """

def real(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the real part of each complex number.

    Element types: complex64, complex128.

    Args:
        x: complex64 or complex128, any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: float32 or float64, shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> waves = pm.layers.data("waves", [-1, 8], "complex64")
        >>> pm.layers.real(waves).shape
        (-1, 8)
    """

def reciprocal(x: Variable, *, name: str | None=None) -> Variable:
    """Out = 1 / x, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.reciprocal(x).shape
        (-1, 8)
    """

def relu(x: Variable, *, name: str | None=None) -> Variable:
    """Out = max(x, 0), element by element; NaN stays NaN.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.relu(x).shape
        (-1, 8)
    """

def relu6(x: Variable, *, threshold: float=6.0, name: str | None=None) -> Variable:
    """Out = min(max(x, 0), threshold), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        threshold: the maximum of Out
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.relu6(x).shape
        (-1, 8)
    """

def roi_align(input: Variable, rois: Variable, *, rois_num: Variable | None=None, pooled_height: int=1, pooled_width: int=1, spatial_scale: float=1.0, sampling_ratio: int=-1, aligned: bool=False, name: str | None=None) -> Variable:
    """Each region is cut into bins, and each bin is the mean of samples between the pixels of input by linear interpolation: those up to one pixel outside of input take its edge, those farther outside are 0. A region that ends before it begins has no samples, and is 0, unless sampling_ratio states their number. He et al. 2017, Mask R-CNN.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: [images, channels, height, width]
        rois: [regions, 4]: left, top, right, bottom; without rois_num, a sequence (lod) for each image
        rois_num: int32 or int64 [images]: how many of the regions are in each image, in order
        pooled_height: rows of the result
        pooled_width: columns of the result
        spatial_scale: pixels of input for each unit of rois
        sampling_ratio: samples of a bin along each axis; not positive: one for each pixel
        aligned: true: coordinates count from the edge of the first pixel, not from its center; false: a region is at least one pixel long
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [regions, channels, pooled_height, pooled_width].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> rois = pm.layers.data("rois", [-1, 4], lod_level=1)
        >>> pm.layers.roi_align(image, rois, pooled_height=2, pooled_width=3).shape
        (-1, 4, 2, 3)
    """

def roi_pool(input: Variable, rois: Variable, *, rois_num: Variable | None=None, pooled_height: int=1, pooled_width: int=1, spatial_scale: float=1.0, name: str | None=None) -> Variable:
    """Each region, rounded to whole pixels, is cut into bins; Out is the largest pixel of each, and 0 for a bin outside of input. NaN is passed over. Girshick 2015, Fast R-CNN.

    Element types: int32, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        input: [images, channels, height, width]
        rois: [regions, 4]: left, top, right, bottom; without rois_num, a sequence (lod) for each image
        rois_num: int32 or int64 [images]: how many of the regions are in each image, in order
        pooled_height: rows of the result
        pooled_width: columns of the result
        spatial_scale: pixels of input for each unit of rois
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [regions, channels, pooled_height, pooled_width].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> rois = pm.layers.data("rois", [-1, 4], lod_level=1)
        >>> pm.layers.roi_pool(image, rois, pooled_height=2, pooled_width=3).shape
        (-1, 4, 2, 3)
    """

def round(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x rounded to the nearest integer, halves away from zero, element by element; NaN and infinity stay unchanged.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.round(x).shape
        (-1, 8)
    """

def rrelu(x: Variable, *, is_test: bool=False, lower: float=0.125, upper: float=0.3333333, name: str | None=None) -> Variable:
    """Out = x where x >= 0, else x times a slope that is drawn from [lower, upper) for each element; in a test (lower + upper) / 2 (Xu et al. 2015).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        is_test: whether the slope is the mean of lower and upper
        lower: the least slope
        upper: the upper bound of slopes
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.rrelu(x).shape
        (-1, 8)
    """

def rsqrt(x: Variable, *, name: str | None=None) -> Variable:
    """Out = 1 / sqrt(x), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.rsqrt(x).shape
        (-1, 8)
    """

def scale(x: Variable, *, scale: float=1.0, bias: float=0.0, bias_after_scale: bool=True, name: str | None=None) -> Variable:
    """Out = scale * x + bias, or scale * (x + bias) when bias_after_scale is false.

    Element types: int32, int64, float32, float64, complex64, complex128; computed in a wider one: bool, int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape; a tensor or selected rows
        scale: factor
        bias: added after, or before, scaling
        bias_after_scale: whether the bias is added after scaling
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.scale(x, scale=2.0, bias=1.0).shape
        (-1, 8)
    """

def scatter(input: Variable, index: Variable, updates: Variable, *, overwrite: bool=True, name: str | None=None) -> Variable:
    """Out = input with the rows that index names replaced by updates. With overwrite, the last of several updates of one row is written; without it their sum, which also replaces input's own row. An id out of range is an error.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        input: [rows, ...]
        index: [n], [n, 1] or one number, int32 or int64
        updates: [n, ...]: a row for each of index
        overwrite: whether the last update of a row is written; otherwise the sum of all
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of input.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> rows = pm.layers.data("rows", [2], "int64")
        >>> updates = pm.layers.data("updates", [2, 4])
        >>> pm.layers.scatter(matrix, rows, updates).shape
        (4, 4)
    """

def scatter_nd_add(ref: Variable, index: Variable, updates: Variable, *, name: str | None=None) -> Variable:
    """The last axis of index, of size k, holds coordinates along ref's first k axes; Out = ref with updates added to the slices at these coordinates; duplicates are summed. A negative coordinate, or one out of range, is an error.

    Element types: int32, int64, float32, float64, uint8; computed in a wider one: int8, int16, float16, bfloat16.

    Args:
        ref: any shape
        index: [..., k], int32 or int64
        updates: index's dimensions except the last, then ref's except the first k
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of ref.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> vector = pm.layers.data("vector", [4])
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> deltas = pm.layers.data("deltas", [-1])
        >>> pm.layers.scatter_nd_add(vector, label, deltas).shape
        (4,)
    """

def searchsorted(sorted_sequence: Variable, values: Variable, *, out_int32: bool=False, right: bool=False, name: str | None=None) -> Variable:
    """Out = for each of values, the number of elements of the sorted sequence that are less or, with `right`, not greater. NaN and infinity are sorted to the end.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        sorted_sequence: [n], or [..., n]: a sorted sequence for each row of values
        values: any shape, or [..., m]
        out_int32: whether Out is int32
        right: whether equal elements are counted too
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of values, int64 or int32.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> vector = pm.layers.data("vector", [4])
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.searchsorted(vector, x).shape
        (-1, 8)
    """

def selu(x: Variable, *, scale: float=1.050701, alpha: float=1.673263, name: str | None=None) -> Variable:
    """Out = scale x where x > 0, else scale alpha (exp(x) - 1), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        scale: factor of all elements
        alpha: -alpha is the lower bound of Out / scale
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.selu(x).shape
        (-1, 8)
    """

def sequence_concat(input: Sequence[Variable], *, name: str | None=None) -> Variable:
    """Sequence i of Out = sequence i of each input, one after the other.

    Element types: any.

    Args:
        input: tensors with equal numbers of sequences, with rows of one shape and element type
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: all rows of the Xs.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_concat([words, words]).shape
        (-1, 8)
    """

def sequence_enumerate(input: Variable, win_size: int, *, pad_value: int=0, name: str | None=None) -> Variable:
    """Row t of Out = input[t], ..., input[t + win_size - 1]; pad_value after the end of the sequence.

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        input: sequences of ids, [T, 1] or [T]
        win_size: the number of ids in a row
        pad_value: the id after the end of a sequence
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [T, win_size], the sequences of input.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> ids = pm.layers.data("ids", [-1, 1], "int64", lod_level=1)
        >>> pm.layers.sequence_enumerate(ids, win_size=2).shape
        (-1, 2)
    """

def sequence_erase(input: Variable, tokens: Sequence[int], *, name: str | None=None) -> Variable:
    """Out = the sequences of input without the ids in `tokens`. The number of rows depends on data.

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        input: sequences of ids, [T, 1] or [T], int32 or int64
        tokens: the ids to remove
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the remaining ids of each sequence; outer lod levels stay unchanged.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> ids = pm.layers.data("ids", [-1, 1], "int64", lod_level=1)
        >>> pm.layers.sequence_erase(ids, tokens=[0]).shape
        (-1, 1)
    """

def sequence_expand(x: Variable, y: Variable, *, ref_level: int=-1, name: str | None=None) -> Variable:
    """Out = sequence i, or row i, of x repeated n times, where n is the length of sequence i in a level of y's lod. If that level has no sequences, Out is x.

    Element types: any.

    Args:
        x: rows, or sequences of one level
        y: sequences; its values are not read
        ref_level: the level of y's lod with the numbers of repetitions; -1: the last
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: rows of x; sequences if x has them.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_expand(x, words).shape
        (-1, 8)
    """

def sequence_expand_as(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = row i of x repeated n times, where n is the length of sequence i of y.

    Element types: any.

    Args:
        x: a row for each sequence of y
        y: sequences of one level; its values are not read
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: rows of x in the sequences of y.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_expand_as(x, words).shape
        (-1, 8)
    """

def sequence_reshape(input: Variable, new_dim: int, *, name: str | None=None) -> Variable:
    """Out = the elements of each sequence of input in rows of new_dim elements.

    Element types: any.

    Args:
        input: sequences of rows [T, D]
        new_dim: the width of Out; must divide the number of elements of each sequence
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [T * D / new_dim, new_dim].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_reshape(words, new_dim=4).shape
        (-1, 4)
    """

def sequence_reverse(x: Variable, *, name: str | None=None) -> Variable:
    """Y = x with the rows of each sequence in reverse order.

    Element types: any.

    Args:
        x: sequences of rows of any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Y: shape and sequences of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> pm.layers.sequence_reverse(words).shape
        (-1, 8)
    """

def sequence_scatter(input: Variable, index: Variable, updates: Variable, *, name: str | None=None) -> Variable:
    """Out = input, and Out[i, index[j]] += updates[j] for each j in sequence i of index.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        input: [sequences, columns]
        index: sequences of columns, [T, 1] or [T], int32 or int64
        updates: shape of index, type of input; its own sequences are not read
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of input.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> ids = pm.layers.data("ids", [-1, 1], "int64", lod_level=1)
        >>> score = pm.layers.data("score", [-1, 1], lod_level=1)
        >>> pm.layers.sequence_scatter(matrix, ids, score).shape
        (4, 4)
    """

def sequence_slice(input: Variable, offset: Variable, length: Variable, *, name: str | None=None) -> Variable:
    """Sequence i of Out = length[i] rows of sequence i of input, starting at its row offset[i].

    Element types: any.

    Args:
        input: sequences of rows of any shape
        offset: [sequences, 1], int32 or int64
        length: [sequences, 1], int32 or int64
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: rows of input; their number depends on data.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> words = pm.layers.data("words", [-1, 8], lod_level=1)
        >>> offset = pm.layers.data("offset", [-1, 1], "int64")
        >>> length = pm.layers.data("length", [-1, 1], "int64")
        >>> pm.layers.sequence_slice(words, offset, length).shape
        (-1, 8)
    """

def sequence_softmax(input: Variable, *, name: str | None=None) -> Variable:
    """Out = exp(input) / (sum of exp(input) over the sequence), for each sequence of input's last level.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: sequences of numbers, [T, 1] or [T]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape and sequences of input.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> score = pm.layers.data("score", [-1, 1], lod_level=1)
        >>> pm.layers.sequence_softmax(score).shape
        (-1, 1)
    """

def sequence_unpad(x: Variable, length: Variable, *, name: str | None=None) -> Variable:
    """Sequence i of Out = the first length[i] rows of x[i]. The number of rows depends on data.

    Element types: any.

    Args:
        x: [sequences, length, ...]
        length: [sequences], int32 or int64
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [T, ...], or [T, 1] from [sequences, length].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> a = pm.layers.data("a", [-1, 3, 4])
        >>> lengths = pm.layers.data("lengths", [-1], "int64")
        >>> pm.layers.sequence_unpad(a, lengths).shape
        (-1, 4)
    """

def shape(input: Variable, *, name: str | None=None) -> Variable:
    """Out = the dimensions of input.

    Element types: any.

    Args:
        input: any shape; only its shape is read
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [the number of input's dimensions], int32.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.shape(x).shape
        (2,)
    """

def shard_index(input: Variable, index_num: int, nshards: int, shard_id: int, *, ignore_value: int=-1, name: str | None=None) -> Variable:
    """Each shard holds ceil(index_num / nshards) consecutive indices; Out = the position of each index of input in the shard shard_id, or ignore_value if another shard holds it.

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        input: indices from 0 to index_num - 1, [..., 1], int32 or int64
        index_num: the number of indices
        nshards: the number of shards
        shard_id: the number of this shard, from 0
        ignore_value: the value for indices of other shards
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of input.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> label = pm.layers.data("label", [-1, 1], "int64")
        >>> pm.layers.shard_index(label, 20, 2, 0).shape
        (-1, 1)
    """

def shuffle_channel(x: Variable, *, group: int=1, name: str | None=None) -> Variable:
    """Channel i of group g becomes channel i groups + g (Zhang et al. 2018).

    Element types: any.

    Args:
        x: [images, channels, height, width]
        group: the number of groups of channels
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> pm.layers.shuffle_channel(image, group=2).shape
        (-1, 4, 6, 6)
    """

def sigmoid(x: Variable, *, name: str | None=None) -> Variable:
    """Out = 1 / (1 + exp(-x)), element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.sigmoid(x).shape
        (-1, 8)
    """

def sigmoid_cross_entropy_with_logits(x: Variable, label: Variable, *, pos_weight: Variable | None=None, ignore_index: int=-100, normalize: bool=False, name: str | None=None) -> Variable:
    """Out = -label log sigmoid(x) - (1 - label) log(1 - sigmoid(x)) for every element, computed as max(x, 0) - x label + log(1 + exp(-|x|)); 0 where the integer part of the label is ignore_index. pos_weight, 1 if omitted, is a factor of log sigmoid(x).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        label: the same shape
        pos_weight: shape of x: the weight of positive labels
        ignore_index: labels with this integer part have loss 0
        normalize: whether to divide by the number of labels that are not ignored
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the same shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> y = pm.layers.data("y", [-1, 8])
        >>> pm.layers.sigmoid_cross_entropy_with_logits(x, y).shape
        (-1, 8)
    """

def sign(x: Variable, *, name: str | None=None) -> Variable:
    """Out = 1 where x > 0, -1 where x < 0, 0 where x is 0; NaN stays NaN. Its gradient is 0.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.sign(x).shape
        (-1, 8)
    """

def silu(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x / (1 + exp(-x)), element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.silu(x).shape
        (-1, 8)
    """

def sin(x: Variable, *, name: str | None=None) -> Variable:
    """Out = sin(x), x in radians, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.sin(x).shape
        (-1, 8)
    """

def sinh(x: Variable, *, name: str | None=None) -> Variable:
    """Out = sinh(x), the hyperbolic sine, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.sinh(x).shape
        (-1, 8)
    """

def size(input: Variable, *, name: str | None=None) -> Variable:
    """Out = the number of elements of input.

    Element types: any.

    Args:
        input: any shape; only its shape is read
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: one number, int64.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.size(x).shape
        ()
    """

def slogdeterminant(x: Variable, *, name: str | None=None) -> Variable:
    """Out[0] = the sign of the determinant of each matrix of x, Out[1] = the logarithm of its absolute value, which does not overflow; 0 and -inf for a singular matrix.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [2, ...]: the shape of x without its last two axes, after a 2.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.slogdeterminant(matrix).shape
        (2,)
    """

def softmax(x: Variable, *, axis: int=-1, name: str | None=None) -> Variable:
    """Out = exp(x) / (sum of exp(x) along the axis): positive numbers that sum to 1.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        axis: the axis; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.softmax(x).shape
        (-1, 8)
    """

def softmax_mask_fuse(x: Variable, mask: Variable, *, name: str | None=None) -> Variable:
    """Out = softmax of x + mask along the last axis. mask has no gradient.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [batch, heads, rows, columns]
        mask: [batch, 1, rows, columns]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> scores = pm.layers.data("scores", [-1, 2, 6, 6])
        >>> mask = pm.layers.data("mask", [-1, 1, 6, 6])
        >>> pm.layers.softmax_mask_fuse(scores, mask).shape
        (-1, 2, 6, 6)
    """

def softmax_mask_fuse_upper_triangle(x: Variable, *, name: str | None=None) -> Variable:
    """Out = softmax of the elements of each row of x up to the diagonal; 0 after it.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [batch, heads, rows, rows]
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> scores = pm.layers.data("scores", [-1, 2, 6, 6])
        >>> pm.layers.softmax_mask_fuse_upper_triangle(scores).shape
        (-1, 2, 6, 6)
    """

def soft_relu(x: Variable, *, threshold: float=40.0, name: str | None=None) -> Variable:
    """Out = log(1 + exp(min(max(x, -threshold), threshold))), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        threshold: the largest size of the exponent
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.soft_relu(x).shape
        (-1, 8)
    """

def softplus(x: Variable, *, beta: float=1.0, threshold: float=20.0, name: str | None=None) -> Variable:
    """Out = log(1 + exp(beta x)) / beta, element by element; Out = x where beta x > threshold, of real numbers.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        beta: factor of x; not 0
        threshold: where beta x is above it, Out = x
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.softplus(x).shape
        (-1, 8)
    """

def softsign(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x / (1 + |x|), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.softsign(x).shape
        (-1, 8)
    """

def solve(x: Variable, y: Variable, *, name: str | None=None) -> Variable:
    """Out = the solution of x Out = y for each pair of matrices, or of a matrix and a vector. A singular x is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n]
        y: [..., n, m]; or vectors: [n], or the shape of x without its last axis
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [..., n, m], or vectors as y; the axes before them are broadcast.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> vector = pm.layers.data("vector", [4])
        >>> pm.layers.solve(matrix, vector).shape
        (4,)
    """

def sqrt(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the square root of x, element by element; NaN for a negative number.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.sqrt(x).shape
        (-1, 8)
    """

def square(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x^2, element by element.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.square(x).shape
        (-1, 8)
    """

def squared_l2_norm(x: Variable, *, name: str | None=None) -> Variable:
    """Out = the sum of the squares of all elements of x.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [1].
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.squared_l2_norm(x).shape
        (1,)
    """

def stanh(x: Variable, *, scale_a: float=0.67, scale_b: float=1.7159, name: str | None=None) -> Variable:
    """Out = scale_b tanh(scale_a x), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        scale_a: factor of x
        scale_b: factor of Out
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.stanh(x).shape
        (-1, 8)
    """

def swish(x: Variable, *, beta: float=1.0, name: str | None=None) -> Variable:
    """Out = x / (1 + exp(-beta x)), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        beta: factor of x inside exp
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.swish(x).shape
        (-1, 8)
    """

def tan(x: Variable, *, name: str | None=None) -> Variable:
    """Out = tan(x), x in radians, element by element.

    Element types: float32, float64, complex64, complex128; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.tan(x).shape
        (-1, 8)
    """

def tanh(x: Variable, *, name: str | None=None) -> Variable:
    """Out = tanh(x), the hyperbolic tangent, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.tanh(x).shape
        (-1, 8)
    """

def tanh_shrink(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x - tanh(x), element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.tanh_shrink(x).shape
        (-1, 8)
    """

def teacher_student_sigmoid_loss(input: Variable, label: Variable, *, soft_max_up_bound: float=15.0, soft_max_lower_bound: float=-15.0, name: str | None=None) -> Variable:
    """With s = log(1 + exp(input)): label below -1: no click and no score, Y = s; below 0: a click, Y = s - input; below 1: no click, and label is the score, Y = 2 s - input label; else a click, and label - 1 is the score, Y = 2 s - input - input (label - 1).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: any shape
        label: the same shape
        soft_max_up_bound: from this value of input on, the gradient is 0
        soft_max_lower_bound: up to this value of input, the gradient is 0
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Y: the same shape.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> column = pm.layers.data("column", [-1, 1])
        >>> other = pm.layers.data("other", [-1, 1])
        >>> pm.layers.teacher_student_sigmoid_loss(column, other).shape
        (-1, 1)
    """

def temporal_shift(x: Variable, seg_num: int, *, shift_ratio: float=0.25, data_format: str='NCHW', name: str | None=None) -> Variable:
    """With c channels and r = shift_ratio, frame t of a video takes its first c r channels from frame t - 1, the next c r channels from frame t + 1, or zeros if that frame is missing, and keeps the others (Lin et al. 2019).

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [videos seg_num, channels, height, width], or channels last
        seg_num: the number of frames of a video
        shift_ratio: the fraction of the channels that comes from the previous frame, and from the next one
        data_format: whether axis 1 or the last axis has the channels
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> image = pm.layers.data("image", [-1, 4, 6, 6])
        >>> pm.layers.temporal_shift(image, seg_num=2).shape
        (-1, 4, 6, 6)
    """

def thresholded_relu(x: Variable, *, threshold: float=1.0, name: str | None=None) -> Variable:
    """Out = x where x > threshold, else 0, element by element.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: any shape
        threshold: elements not above it become 0
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.thresholded_relu(x).shape
        (-1, 8)
    """

def trace(x: Variable, *, offset: int=0, axis1: int=0, axis2: int=1, name: str | None=None) -> Variable:
    """Out = the sum of a diagonal of each matrix that axis1 and axis2 form.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: at least 2 dimensions
        offset: the diagonal's distance to the right of the main one; negative: below it
        axis1: the rows of the matrices; negative ones count from the end
        axis2: the columns of the matrices; negative ones count from the end
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: the axes of x other than axis1 and axis2.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.trace(matrix).shape
        ()
    """

def triangular_solve(x: Variable, y: Variable, *, upper: bool=True, transpose: bool=False, unitriangular: bool=False, name: str | None=None) -> Variable:
    """Out = the solution of x Out = y for each pair of matrices, with one triangle of x. A 0 in the diagonal of x is an error.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        x: [..., n, n]
        y: [..., n, m]
        upper: whether the upper triangle of x is read, or the lower one
        transpose: whether x^T Out = y is solved
        unitriangular: whether the diagonal of x is taken as ones, and not read
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: [..., n, m], or vectors as y; the axes before them are broadcast.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> matrix = pm.layers.data("matrix", [4, 4])
        >>> pm.layers.triangular_solve(matrix, matrix).shape
        (4, 4)
    """

def tril_indices(*, row: int=0, col: int=0, offset: int=0, dtype: str | int=3, name: str | None=None) -> Variable:
    """out = the positions of the elements at and below a diagonal of a matrix, row by row.

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        row: row of the matrix
        col: columns of the matrix
        offset: the diagonal's distance to the right of the main one; negative: below it
        dtype: element type of out: int32 or int64
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: [2, elements]: their row and their columns.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> pm.layers.tril_indices(row=3, col=3).shape
        (2, 6)
    """

def triu_indices(*, row: int=0, col: int=0, offset: int=0, dtype: str | int=3, name: str | None=None) -> Variable:
    """out = the positions of the elements at and above a diagonal of a matrix, row by row.

    Element types: int32, int64; computed in a wider one: int8, uint8, int16.

    Args:
        row: rows of the matrix
        col: columns of the matrix
        offset: the diagonal's distance to the right of the main one; negative: below it
        dtype: element type of out: int32 or int64
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        out: [2, elements]: their rows and their columns.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> pm.layers.triu_indices(row=3, col=3).shape
        (2, 6)
    """

def trunc(x: Variable, *, name: str | None=None) -> Variable:
    """Out = x rounded towards zero, element by element; NaN and infinity stay unchanged.

    Element types: int32, int64, float32, float64; computed in a wider one: int8, uint8, int16, float16, bfloat16.

    Args:
        x: any shape
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: shape of x.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.trunc(x).shape
        (-1, 8)
    """

def uniform_random_batch_size_like(input: Variable, shape: Sequence[int], *, input_dim_idx: int=0, output_dim_idx: int=0, dtype: str | int=5, min: float=-1.0, max: float=1.0, seed: int=0, diag_num: int=0, diag_step: int=0, diag_val: float=1.0, name: str | None=None) -> Variable:
    """Each element of Out is a sample of the uniform distribution on [min, max); one dimension of `shape` is replaced by one of input's.

    Element types: float32, float64; computed in a wider one: float16, bfloat16.

    Args:
        input: any shape except []; only its shape and its sequences are read; only its shape is read
        shape: shape of Out; the element at output_dim_idx is not read
        input_dim_idx: the dimension of input; negative ones count from the end
        output_dim_idx: the dimension of Out; negative ones count from the end
        dtype: element type of Out
        min: lower bound
        max: upper bound
        seed: seed of a generator that restarts in each run; 0: the executor's generator continues
        diag_num: the number of elements, from the first one on, that are set to diag_val
        diag_step: the distance between two of them
        diag_val: their value
        name: the beginning of the names of its variables; None: that of the layer
    Returns:
        Out: of shape `shape`; dimension output_dim_idx is that of input at input_dim_idx or, if input has sequences, the number of sequences of the last level.
    Raises:
        ShapeError: for shapes or element types that do not fit
        ProgramError: for other arguments; the program is then unchanged
    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> pm.layers.uniform_random_batch_size_like(x, shape=[-1, 3]).shape
        (-1, 3)
    """
