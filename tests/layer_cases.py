"""Every layer function in small programs: with its defaults, and with each negative axis that it takes."""

import numpy as np

import paddle_mini as pm
from layer_programs import array, beam_decode, beam_step, conditional_block, count, crf, decoded, loop_while, static_rnn, weight

L = pm.layers


class Inputs:
    """Creates the data layers of a program, and stores a value for each."""

    def __init__(self):
        self.values = {}
        self.random = np.random.RandomState(0)

    def __call__(self, *shape, low=0.1, high=0.9, dtype="float32", lod=None):
        """Different numbers between low and high, in any order."""
        numbers = np.linspace(low, high, int(np.prod(shape)))
        return self.given(self.random.permutation(numbers).reshape(shape).astype(dtype), lod)

    def ints(self, *shape, low=0, high=3, dtype="int64", lod=None):
        return self.given(self.random.randint(low, high, shape).astype(dtype), lod)

    def bools(self, *shape):
        return self.given(self.random.rand(*shape) > 0.5)

    def given(self, value, lod=None):
        value = np.asarray(value)
        name = f"x{len(self.values)}"
        var = L.data(name, [-1, *value.shape[1:]] if lod else value.shape, str(value.dtype), lod_level=len(lod or ()))
        var.stop_gradient = value.dtype.kind != "f"
        self.values[name] = pm.LoDTensor(value, lod) if lod else value
        return var


def wave(d, *shape):
    """Complex numbers."""
    return L.complex(d(*shape), d(*shape))


# One line per case.
# fmt: off
def along(rank, build, label="axis"):
    """A case for each negative axis."""
    return {f"{label} {axis}": (lambda d, axis=axis: build(d, axis)) for axis in range(-rank, 0)}


def one(build):
    return {"defaults": build}


UNARY = ("abs acos angle asin asinh atan atanh brelu ceil celu cos cosh digamma elu erf erfinv exp expm1 floor gelu hard_shrink hard_sigmoid hard_swish "
         "is_empty isfinite isinf isnan l1_norm leaky_relu log log10 log1p log2 logsigmoid mean mish reciprocal relu relu6 round "
         "rsqrt scale selu shape sigmoid sign silu sin sinh size soft_relu softplus softsign sqrt square squared_l2_norm stanh swish tan tanh "
         "tanh_shrink thresholded_relu trunc pow softshrink assign zeros_like ones_like "
         "tril triu lgamma logit i0 i0e i1 i1e").split()
BINARY = ("elementwise_add elementwise_div elementwise_fmax elementwise_fmin elementwise_max elementwise_min elementwise_mul "
          "elementwise_pow elementwise_sub equal equal_all greater_equal greater_than less_equal less_than not_equal allclose bce_loss "
          "atan2 dist dot heaviside nextafter kldiv_loss square_error_cost expand_as cos_sim").split()


POSITIVE = np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]], "float32")  # symmetric, positive definite
CORNERS = np.array([[1, 2, 4, 7], [0, 0, 3, 3]], "float32")
PLACES = np.array([[[[1, 3, 5], [12, 15, 22]], [[6, 8, 11], [13, 20, 16]]]], "int32")
REGIONS = np.array([[0.5, 0.25, 4.25, 3.5], [1.25, 0.75, 5.5, 4.25], [-1.5, 2.25, 2.5, 6.5]], "float32")
COUNTS = np.array([1, 2], "int32")
TRUE_BOXES = np.array([[[0.25, 0.3, 0.2, 0.3], [0.7, 0.8, 0.4, 0.3]]], "float32")
ROWS = [[0, 2, 5]]

CASES = {
    **{name: one(lambda d, f=getattr(L, name): f(d(2, 3))) for name in UNARY},
    **{name: one(lambda d, f=getattr(L, name): f(d(2, 3), d(2, 3))) for name in BINARY},
    **{name: one(lambda d, f=getattr(L, name): f(d.bools(2, 3), d.bools(2, 3))) for name in
       ("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")},
    **{name: one(lambda d, f=getattr(L, name): f(d.bools(2, 3))) for name in ("logical_not", "bitwise_not")},
    **{name: {"defaults": lambda d, f=getattr(L, name): f(d.bools(2, 3)),
              **along(2, lambda d, axis, f=getattr(L, name): f(d.bools(2, 3), axis))} for name in ("reduce_all", "reduce_any")},
    **{name: one(lambda d, f=getattr(L, name): f(d.ints(2, 3, high=9), d.ints(2, 3, low=1, high=4)))
       for name in ("elementwise_floordiv", "elementwise_mod")},
    **{name: one(lambda d, f=getattr(L, name): f(0.1, 3, 0.5)) for name in ("exponential_decay", "inverse_time_decay", "natural_exp_decay")},
    **{name: one(lambda d, f=getattr(L, name): f(d(4, 1), d(4, 1))) for name in ("log_loss", "hinge_loss")},
    **{name: one(lambda d, f=getattr(L, name): f(d.given(POSITIVE))) for name in
       ("cholesky", "determinant", "eigvalsh", "inverse", "slogdeterminant")},
    **{name: one(lambda d, f=getattr(L, name): f(d.given(POSITIVE), d(3, 2))) for name in ("solve", "triangular_solve")},
    "eigh": one(lambda d: L.eigh(d.given(POSITIVE))[0]),
    "qr": {"defaults": lambda d: list(L.qr(d(4, 3))), "wide": lambda d: list(L.qr(d(3, 4), "complete"))},
    "lu": one(lambda d: list(L.lu(d(4, 3)))),
    "lu_unpack": one(lambda d: list(L.lu_unpack(*L.lu(d(4, 3))[:2]))),
    "lstsq": {"defaults": lambda d: L.lstsq(d(4, 3), d(4, 2))[0], "singular values": lambda d: list(L.lstsq(d(4, 3), d(4, 2), 0.01, "gelsd"))},
    "multi_dot": one(lambda d: L.multi_dot([d(2, 3), d(3, 4), d(4, 5)])),
    "cholesky_solve": one(lambda d: L.cholesky_solve(d(3, 2), L.cholesky(d.given(POSITIVE)))),
    "svd": {"defaults": lambda d: L.svd(d(4, 3))[1], "full": lambda d: L.svd(d(3, 4), True)[1]},
    "matrix_rank": one(lambda d: L.matrix_rank(d.given(POSITIVE))),
    "frame": {"defaults": lambda d: L.frame(d(2, 9), frame_length=4, hop_length=2), "axis -1": lambda d: L.frame(d(2, 9), frame_length=3, hop_length=3, axis=-1), "first axis": lambda d: L.frame(d(9, 2), frame_length=4, hop_length=2, axis=0)},
    "overlap_add": {"defaults": lambda d: L.overlap_add(d(2, 4, 3), hop_length=2), "axis -1": lambda d: L.overlap_add(d(2, 4, 3), hop_length=4, axis=-1), "first axis": lambda d: L.overlap_add(d(3, 4, 2), hop_length=2, axis=0)},
    "matrix_power": one(lambda d: L.matrix_power(d.given(POSITIVE), 3)),
    "polygamma": one(lambda d: L.polygamma(d(2, 3), 1)),
    "box_coder": one(lambda d: L.box_coder(d.given(CORNERS), d.given(CORNERS + 1))),
    "iou_similarity": one(lambda d: L.iou_similarity(d.given(CORNERS), d.given(CORNERS + 1))),
    "yolo_box": one(lambda d: L.yolo_box(d(1, 14, 2, 3), d.given(np.array([[40, 60]], "int32")), [10, 13, 16, 30], 2, 0.01, 32)[0]),
    "affine_grid": {"corners": lambda d: L.affine_grid(d(2, 2, 3), out_shape=[2, 3, 4, 5]),
                    "edges": lambda d: L.affine_grid(d(2, 3, 4), out_shape=[2, 1, 3, 4, 5], align_corners=False)},
    "max_unpool2d": {"defaults": lambda d: L.max_unpool2d(d(1, 2, 2, 3), d.given(PLACES), 2),
                     "size": lambda d: L.max_unpool2d(d(1, 2, 2, 3), d.given(PLACES), 2, [2, 2], 0, [5, 7])},
    "max_unpool3d": one(lambda d: L.max_unpool3d(d(1, 2, 1, 2, 3), d.given(PLACES[:, :, None]), 2)),
    "yolov3_loss": one(lambda d: L.yolov3_loss(d(1, 14, 3, 3), d.given(TRUE_BOXES), d.ints(1, 2, high=2, dtype="int32"),
                                               [10, 13, 16, 30, 33, 23], [1, 2], 2, 0.7, 32)),
    **{name: one(lambda d, f=getattr(L, name): f(d(2, 4, 5, 6), d.given(REGIONS, [[0, 1, 3]]), pooled_height=2, pooled_width=2))
       for name in ("roi_align", "roi_pool")},
    "psroi_pool": one(lambda d: L.psroi_pool(d(2, 8, 5, 6), d.given(REGIONS, [[0, 1, 3]]), pooled_height=2, pooled_width=2, output_channels=2)),
    "box_clip": one(lambda d: L.box_clip(d.given(REGIONS, [[0, 1, 3]]), d.given(np.array([[4, 5, 1], [9, 8, 2]], "float32")))),
    "nms": one(lambda d: L.nms(d.given(REGIONS), iou_threshold=0.25)),
    "prior_box": one(lambda d: L.prior_box(d(1, 2, 3, 4), d(1, 3, 24, 40), [4.0, 10.0], [9.0, 20.0], [2.0], flip=True)),
    "density_prior_box": {"defaults": lambda d: L.density_prior_box(d(1, 2, 3, 4), d(1, 3, 24, 40), [2, 1], [4.0, 10.0], [1.0, 2.0]),
                          "flat": lambda d: L.density_prior_box(d(1, 2, 3, 4), d(1, 3, 24, 40), [2], [9.0], [1.0], clip=True, steps=[9.0, 8.0], flatten_to_2d=True)},
    "anchor_generator": one(lambda d: L.anchor_generator(d(1, 2, 3, 4), [32.0, 64.0], [0.5, 1.0])),
    "bipartite_match": one(lambda d: L.bipartite_match(d(3, 4), "per_prediction", 0.25)),
    "multiclass_nms": one(lambda d: L.multiclass_nms(d.given(np.stack([REGIONS] * 2)), d(2, 3, 3), 0.2, 10, 4)),
    "matrix_nms": one(lambda d: L.matrix_nms(d.given(np.stack([REGIONS] * 2)), d(2, 3, 3), 0.2, 0.1, 10, 4)),
    "generate_proposals": one(lambda d: L.generate_proposals(
        d(2, 2, 3, 4), d(2, 8, 3, 4), d.given(np.array([[40, 50], [50, 60]], "float32")), *L.anchor_generator(d(1, 2, 3, 4), [16.0, 32.0], [1.0]), 10, 5)),
    "distribute_fpn_proposals": one(lambda d: L.distribute_fpn_proposals(d.given(REGIONS * 60), 2, 5, 4, 224, rois_num=d.given(COUNTS))[1]),
    "collect_fpn_proposals": one(lambda d: L.collect_fpn_proposals(
        [d(3, 4), d(3, 4)], [d(3, 1), d(3, 1, low=0.15, high=0.95)], 4, [d.given(COUNTS), d.given(COUNTS)])),
    "accuracy": one(lambda d: L.accuracy(d(4, 3), d.ints(4, 1))),
    "acosh": one(lambda d: L.acosh(d(2, 3, low=1.5, high=3))),
    "adaptive_pool2d": {"defaults": lambda d: L.adaptive_pool2d(d(2, 3, 6, 6), 3), "avg": lambda d: L.adaptive_pool2d(d(2, 3, 5, 7), [2, 3], "avg")},
    "add_learned_positions": one(lambda d: L.add_learned_positions(d(2, 3, 4), 5)),
    "add_sinusoid_positions": one(lambda d: L.add_sinusoid_positions(d(2, 3, 4), 5)),
    "index_put": one(lambda d: L.index_put(d(4, 3), [d.ints(2, high=2)], d(3))),
    "isclose": one(lambda d: L.isclose(d(2, 3), d(2, 3))),
    **{name: {"defaults": lambda d, f=getattr(L, name): f(d(2, 3)), **along(2, lambda d, axis, f=getattr(L, name): f(d(2, 3), axis))}
       for name in ("cummax", "cummin", "mode")},
    "dirichlet": one(lambda d: L.shape(L.dirichlet(d(2, 3)))),
    "exponential": one(lambda d: L.shape(L.exponential(d(2, 3)))),
    "gumbel_softmax": {"defaults": lambda d: L.shape(L.gumbel_softmax(d(2, 3))), "hard": lambda d: L.shape(L.gumbel_softmax(d(2, 3), hard=True)),
                       **along(2, lambda d, axis: L.shape(L.gumbel_softmax(d(2, 3), axis=axis)))},
    "rrelu": {"test": lambda d: L.rrelu(d(2, 3, low=-1, high=1), is_test=True),
              "one slope": lambda d: L.rrelu(d(2, 3, low=-1, high=1), lower=0.25, upper=0.25)},
    "uniform_random_batch_size_like": one(lambda d: L.shape(L.uniform_random_batch_size_like(d(2, 3), shape=[-1, 4]))),
    "bernoulli": one(lambda d: L.bernoulli(d.given(np.ones((2, 3), "float32")))),
    "bincount": one(lambda d: L.bincount(d.ints(6, high=4))),
    "diag_embed": {"defaults": lambda d: L.diag_embed(d(2, 3)), "below": lambda d: L.diag_embed(d(2, 3), offset=-1, dim1=0, dim2=-1)},
    "diagonal": {"defaults": lambda d: L.diagonal(d(3, 4)), "above, axes -2 and -1": lambda d: L.diagonal(d(2, 3, 4), offset=1, axis1=-2, axis2=-1)},
    "fill_diagonal": one(lambda d: L.fill_diagonal(d(4, 4), value=2.0)),
    "fill_diagonal_tensor": one(lambda d: L.fill_diagonal_tensor(d(4, 4), d(4))),
    "histogram": one(lambda d: L.histogram(d(2, 3), bins=4)),
    "KeyValueCache": one(lambda d: L.multi_head_attention(d(1, 3, 4), num_heads=2, cache=L.KeyValueCache(6, 1, L.fill_constant([1], "int64", 2)))),
    "kthvalue": {"defaults": lambda d: L.kthvalue(d(2, 3), 2), **along(2, lambda d, axis: L.kthvalue(d(2, 3), 2, axis))},
    "lerp": one(lambda d: L.lerp(d(2, 3), d(2, 3), d(1))),
    "multinomial": one(lambda d: L.multinomial(d.given(np.eye(3, dtype="float32")))),
    "poisson": one(lambda d: L.poisson(d.given(np.zeros((2, 3), "float32")))),
    "randint": one(lambda d: L.randint(5, 6, shape=[2, 3])),
    "randperm": one(lambda d: L.randperm(1)),
    "renorm": along(2, lambda d, axis: L.renorm(d(3, 4), p=2.0, axis=axis, max_norm=0.5)),
    "repeat_interleave": {"defaults": lambda d: L.repeat_interleave(d(2, 3), repeats=2),
                          **along(2, lambda d, axis: L.repeat_interleave(d(2, 3), repeats=2, axis=axis))},
    "shuffle_channel": one(lambda d: L.shuffle_channel(d(2, 6, 2, 2), group=2)),
    **{name: one(lambda d, f=getattr(L, name): f(d(4, 3), d.given(np.array([0, 0, 2, 2]))))
       for name in ("segment_sum", "segment_mean", "segment_min", "segment_max")},
    "send_u_recv": {"defaults": lambda d: L.send_u_recv(d(4, 3), d.ints(6), d.ints(6)),
                    "max, more nodes": lambda d: L.send_u_recv(d(4, 3), d.ints(6), d.ints(6), "max", 6)},
    "send_ue_recv": {"defaults": lambda d: L.send_ue_recv(d(4, 3), d(6, 1), d.ints(6), d.ints(6)),
                     "means of quotients": lambda d: L.send_ue_recv(d(4, 3), d(6, 3), d.ints(6), d.ints(6), "div", "mean")},
    "send_uv": {op: (lambda d, op=op: L.send_uv(d(4, 3), d(4, 3), d.ints(6), d.ints(6), op)) for op in ("add", "sub", "mul", "div")},
    "unique_consecutive": {"defaults": lambda d: L.unique_consecutive(d.ints(9, high=2)),
                           **along(2, lambda d, axis: list(L.unique_consecutive(d.ints(4, 4, high=1), True, True, axis)))},
    "tril_indices": one(lambda d: L.tril_indices(row=3, col=4)),
    "triu_indices": one(lambda d: L.triu_indices(row=3, col=4)),
    "addmm": one(lambda d: L.addmm(d(2, 4), d(2, 3), d(3, 4))),
    "affine_channel": {"NCHW": lambda d: L.affine_channel(d(2, 3, 4, 4), d(3), d(3), data_layout="NCHW"),
                       "defaults": lambda d: L.affine_channel(d(2, 3, 4, 4), d(3), d(3))},
    "arange": {"defaults": lambda d: L.arange(0, 5), "step": lambda d: L.arange(1, 8, 2, "float32")},
    **{name: {"defaults": lambda d, f=getattr(L, name): f(d(2, 3)), **along(3, lambda d, axis, f=getattr(L, name): f(d(2, 3, 4), axis))}
       for name in ("argmax", "argmin")},
    "argsort": {"defaults": lambda d: L.argsort(d(2, 3)), **along(3, lambda d, axis: L.argsort(d(2, 3, 4), axis))},
    "array_length": one(lambda d: L.array_length(array(d))),
    "array_read": one(lambda d: [L.array_read(made, count(i)) for made in [array(d)] for i in (0, 1)]),
    "array_write": one(lambda d: L.array_read(L.array_write(d(2, 3), count(0)), count(0))),
    "auc": one(lambda d: L.auc(L.softmax(d(6, 2)), d.ints(6, 1, high=2))[0]),
    "batch_norm": {"defaults": lambda d: L.batch_norm(d(4, 3, 2, 2)), "channels last": lambda d: L.batch_norm(d(4, 2, 2, 3), data_layout="NHWC"),
                   "two axes": lambda d: L.batch_norm(d(6, 3))},
    "beam_search": one(beam_step), "beam_search_decode": one(beam_decode),
    "BeamSearchDecoder": one(decoded), "dynamic_decode": one(decoded),
    "bilinear_tensor_product": one(lambda d: L.bilinear_tensor_product(d(2, 3), d(2, 4), 5)),
    "bmm": one(lambda d: L.bmm(d(2, 3, 4), d(2, 4, 5))),
    "bpr_loss": one(lambda d: L.bpr_loss(d(4, 3), d.ints(4, 1))),
    "broadcast_to": {"defaults": lambda d: L.broadcast_to(d(2, 1), [2, 3]), "-1": lambda d: L.broadcast_to(d(2, 1), [4, -1, 3])},
    "case": one(lambda d: L.case([(L.reduce_sum(d(2)) > 9.0, lambda: L.ones([2])), (L.reduce_sum(d(2)) > 0.1, lambda: L.zeros([2]))])),
    "cast": {dtype: (lambda d, dtype=dtype: L.cast(d(2, 3, high=7.0), dtype)) for dtype in ("int32", "int64", "float64", "bool")},
    "channel_shuffle": one(lambda d: L.channel_shuffle(d(2, 4, 3, 3), groups=2)),
    "chunk_eval": one(lambda d: L.chunk_eval(d.ints(5, 1, high=5, lod=ROWS), d.ints(5, 1, high=5, lod=ROWS), "IOB", 2)),
    "clip": one(lambda d: L.clip(d(2, 3), 0.3, 0.6)),
    "clip_by_norm": one(lambda d: L.clip_by_norm(d(2, 3), 0.5)),
    "concat": {"defaults": lambda d: L.concat([d(2, 3), d(4, 3)]), **along(3, lambda d, axis: L.concat([d(2, 3, 4), d(2, 3, 4)], axis))},
    "cond": one(lambda d: L.cond(L.reduce_sum(d(2)) > 0.1, lambda: L.ones([2]), lambda: L.zeros([2]))),
    "ConditionalBlock": one(conditional_block),
    "continuous_value_model": one(lambda d: L.continuous_value_model(d(3, 5), d(3, 2))),
    "conv2d": {"defaults": lambda d: L.conv2d(d(2, 3, 6, 6), 4, 3), "channels last": lambda d: L.conv2d(d(2, 6, 6, 3), 4, 3, data_format="NHWC"),
               "SAME": lambda d: L.conv2d(d(2, 4, 6, 6), 4, 3, 2, "SAME", groups=2), "depthwise": lambda d: L.conv2d(d(2, 4, 6, 6), 4, 3, groups=4)},
    **{name: along(2, lambda d, axis, f=getattr(L, name): L.as_real(f(wave(d, 3, 4), axis=axis))) for name in ("fft", "ifft")},
    **{name: along(2, lambda d, axis, f=getattr(L, name): L.as_real(f(d(3, 4), 5, axis))) for name in ("rfft", "ihfft")},
    **{name: along(2, lambda d, axis, f=getattr(L, name): f(wave(d, 3, 4), axis=axis)) for name in ("irfft", "hfft")},
    **{name: {"axes -3, -1": lambda d, f=getattr(L, name): L.as_real(f(wave(d, 2, 3, 4), axes=(-3, -1)))} for name in ("fft2", "fftn", "ifft2", "ifftn")},
    **{name: {"axes -3, -1": lambda d, f=getattr(L, name): L.as_real(f(d(2, 3, 4), axes=(-3, -1)))} for name in ("rfft2", "rfftn", "ihfft2", "ihfftn")},
    **{name: {"axes -3, -1": lambda d, f=getattr(L, name): f(wave(d, 2, 3, 4), axes=(-3, -1))} for name in ("irfft2", "irfftn", "hfft2", "hfftn")},
    **{name: along(2, lambda d, axis, f=getattr(L, name): f(d(3, 4), axis), "axes") for name in ("fftshift", "ifftshift")},
    **{name: one(lambda d, f=getattr(L, name): f(wave(d, 3, 4))) for name in ("real", "imag", "as_real")},
    "conj": one(lambda d: L.as_real(L.conj(wave(d, 3, 4)))),
    "complex": one(lambda d: L.as_real(wave(d, 3, 4))),
    "as_complex": one(lambda d: L.as_real(L.as_complex(d(3, 2)))),
    "spectral_norm": one(lambda d: L.spectral_norm(d(4, 3, 2), 1, 3)),
    "deformable_conv": {"defaults": lambda d: L.deformable_conv(d(2, 4, 5, 5), d(2, 18, 3, 3), d(2, 9, 3, 3), 6, 3),
                        "without mask": lambda d: L.deformable_conv(d(2, 4, 5, 5), d(2, 36, 3, 3), None, 6, 3, groups=2, deformable_groups=2, modulated=False)},
    "conv3d_transpose": {"defaults": lambda d: L.conv3d_transpose(d(2, 3, 2, 4, 4), 4, filter_size=3),
                         "output size": lambda d: L.conv3d_transpose(d(2, 3, 2, 4, 4), 4, output_size=[5, 9, 9], stride=2)},
    "conv2d_transpose": {"defaults": lambda d: L.conv2d_transpose(d(2, 3, 4, 4), 4, filter_size=3),
                         "output size": lambda d: L.conv2d_transpose(d(2, 3, 4, 4), 4, output_size=9, filter_size=3, stride=2)},
    "conv3d": one(lambda d: L.conv3d(d(2, 3, 4, 4, 4), 4, 3)),
    "cosine_decay": one(lambda d: L.cosine_decay(0.1, 3, 5)),
    "create_array": one(lambda d: L.array_length(L.array_write(d(2), count(0), L.create_array()))),
    "create_global_var": one(lambda d: L.scale(L.create_global_var([2], 1.5))),
    "create_parameter": one(lambda d: L.scale(L.create_parameter([2, 3]))),
    "crf_decoding": one(lambda d: [L.crf_decoding(crf(d)[0], "crf")]),
    "crop": one(lambda d: L.crop(d(3, 4), [2, 2], [1, 0])),
    "crop_tensor": {"defaults": lambda d: L.crop_tensor(d(3, 4), [2, 2]), "-1": lambda d: L.crop_tensor(d(3, 4), [2, -1], [1, 1])},
    "cross": {"defaults": lambda d: L.cross(d(2, 3), d(2, 3)), **along(2, lambda d, axis: L.cross(d(3, 3), d(3, 3), axis=axis))},
    "cross_entropy": {"defaults": lambda d: L.cross_entropy(L.softmax(d(4, 3)), d.ints(4, 1)),
                      "soft": lambda d: L.cross_entropy(L.softmax(d(4, 3)), L.softmax(d(4, 3)), soft_label=True)},
    "ctc_greedy_decoder": {"defaults": lambda d: L.ctc_greedy_decoder(d(5, 4, lod=ROWS), 0),
                           "padded": lambda d: L.ctc_greedy_decoder(d(2, 5, 4), 0, d.given(np.array([[5], [3]])))},
    "cumprod": along(2, lambda d, axis: L.cumprod(d(2, 3), axis)),
    **{name: {"defaults": lambda d, f=getattr(L, name): f(d(2, 3)), **along(3, lambda d, axis, f=getattr(L, name): f(d(2, 3, 4), axis))}
       for name in ("cumsum", "logcumsumexp", "logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_sum",
                    "l2_normalize", "unbind", "unstack")},
    **{name: along(3, lambda d, axis, f=getattr(L, name): f(d(2, 3, 4), axis)) for name in ("flip", "reverse")},
    "data": one(lambda d: L.scale(d(2, 3))),
    "diag": {"defaults": lambda d: L.diag(d(3)), "matrix": lambda d: L.diag(d(3, 4), offset=-1)},
    "dot_product_attention": {"defaults": lambda d: L.dot_product_attention(d(2, 2, 3, 4), d(2, 2, 5, 4), d(2, 2, 5, 4)),
                              "causal": lambda d: L.dot_product_attention(d(2, 2, 3, 4), d(2, 2, 3, 4), d(2, 2, 3, 4), causal=True)},
    "dropout": {"test": lambda d: L.dropout(d(2, 3), is_test=True), "none": lambda d: L.dropout(d(2, 3), 0.0),
                "upscaled": lambda d: L.dropout(d(2, 3), is_test=True, dropout_implementation="upscale_in_train")},
    "dynamic_gru": one(lambda d: L.dynamic_gru(d(5, 12, lod=ROWS), 4)),
    "dynamic_lstm": {"defaults": lambda d: L.dynamic_lstm(d(5, 12, lod=ROWS), 12)[0], "cell": lambda d: L.dynamic_lstm(d(5, 12, lod=ROWS), 12)[1]},
    "edit_distance": one(lambda d: L.edit_distance(d.ints(5, 1, lod=ROWS), d.ints(6, 1, lod=[[0, 3, 6]]))),
    "einsum": {"matmul": lambda d: L.einsum("ij,jk->ik", d(2, 3), d(3, 4)), "batches": lambda d: L.einsum("...ij,...jk->...ik", d(2, 2, 3), d(2, 3, 4)),
               "parameter": lambda d: L.einsum("ij,jk->ik", d(2, 3), weight("w", 3, 4))},
    "embedding": {"defaults": lambda d: L.embedding(d.ints(2, 3), [5, 4]), "padding -1": lambda d: L.embedding(d.ints(2, 3, high=5), [5, 4], padding_idx=-1),
                  "padding 0": lambda d: L.embedding(d.ints(2, 3), [5, 4], padding_idx=0)},
    "expand": one(lambda d: L.expand(d(2, 1), [1, 3])),
    "eye": {"defaults": lambda d: L.eye(3), "columns": lambda d: L.eye(2, 3, "int64")},
    "fc": {"defaults": lambda d: L.fc(d(2, 3), 4), **along(2, lambda d, axis: L.fc(d(2, 3, 4), 5, axis), "num_flatten_dims"),
           "several": lambda d: L.fc([d(2, 3), d(2, 4)], 5, act="relu")},
    "feed_forward": one(lambda d: L.feed_forward(d(2, 3, 4), 8)),
    "fill_constant": {dtype: (lambda d, dtype=dtype: L.fill_constant([2, 3], dtype, 1)) for dtype in ("float32", "int64", "bool")},
    "fill_constant_batch_size_like": one(lambda d: L.fill_constant_batch_size_like(d(4, 2), [-1, 3], "float32", 1.5)),
    "flatten": {"defaults": lambda d: L.flatten(d(2, 3, 4)), **along(3, lambda d, axis: L.flatten(d(2, 3, 4), 0, axis), "stop_axis"),
                **along(3, lambda d, axis: L.flatten(d(2, 3, 4), axis), "start_axis")},
    "fold": one(lambda d: L.fold(d(2, 12, 9), [4, 4], 2)),
    "full_like": {"defaults": lambda d: L.full_like(d(2, 3), 1.5), "int64": lambda d: L.full_like(d(2, 3), 2, "int64")},
    "gather": {"defaults": lambda d: L.gather(d(3, 4), d.ints(5)), **along(3, lambda d, axis: L.gather(d(3, 3, 3), d.ints(2), axis))},
    "gather_nd": one(lambda d: L.gather_nd(d(3, 4), d.ints(5, 1))),
    "gather_tree": one(lambda d: L.gather_tree(d.ints(3, 2, 2), d.ints(3, 2, 2, high=2))),
    "gaussian_random": one(lambda d: L.shape(L.gaussian_random([2, 3]))),
    "truncated_gaussian_random": one(lambda d: L.shape(L.truncated_gaussian_random([2, 3]))),
    "uniform_random": one(lambda d: L.shape(L.uniform_random([2, 3]))),
    "grid_sampler": one(lambda d: L.grid_sampler(d(2, 3, 4, 4), d(2, 3, 3, 2, low=-0.9))),
    "group_norm": {"defaults": lambda d: L.group_norm(d(2, 4, 3, 3), 2), "channels last": lambda d: L.group_norm(d(2, 3, 3, 4), 2, data_layout="NHWC")},
    "gru_unit": one(lambda d: L.gru_unit(d(2, 12), d(2, 4), 12)),
    "GRUCell": one(lambda d: L.rnn(L.GRUCell(4), d(2, 3, 5))[0]),
    "LSTMCell": one(lambda d: L.rnn(L.LSTMCell(4), d(2, 3, 5))[0]),
    "rnn": {"defaults": lambda d: L.rnn(L.LSTMCell(4), d(2, 3, 5))[0],
            "lengths": lambda d: L.rnn(L.GRUCell(4), d(2, 3, 5), sequence_length=d.given(np.array([2, 3])), is_reverse=True)[0]},
    "hsigmoid": one(lambda d: L.hsigmoid(d(4, 3), d.ints(4, 1, high=6), 6)),
    "huber_loss": one(lambda d: L.huber_loss(d(4, 1), d(4, 1), 0.3)),
    "increment": one(lambda d: L.increment(d(1), in_place=False)),
    "index_add": {f"axis {axis}": (lambda d, axis=axis: L.index_add(d(3, 3, 3), d.ints(3), axis, d(3, 3, 3))) for axis in (0, -1, -2, -3)},
    "index_sample": one(lambda d: L.index_sample(d(2, 4), d.ints(2, 3))),
    "index_select": {"defaults": lambda d: L.index_select(d(3, 4), d.ints(5)), **along(3, lambda d, axis: L.index_select(d(3, 3, 3), d.ints(2), axis))},
    "instance_norm": one(lambda d: L.instance_norm(d(2, 3, 4, 4))),
    "kron": one(lambda d: L.kron(d(2, 3), d(3, 2))),
    "label_smooth": one(lambda d: L.label_smooth(d(4, 3))),
    "layer_norm": {"defaults": lambda d: L.layer_norm(d(2, 3, 4)), "begin 2": lambda d: L.layer_norm(d(2, 3, 4), begin_norm_axis=2),
                   "plain": lambda d: L.layer_norm(d(2, 3, 4), scale=False, shift=False)},
    "linear_chain_crf": one(lambda d: crf(d)[1]),
    "linear_lr_warmup": one(lambda d: L.linear_lr_warmup(0.1, 5, 0.0, 0.1)),
    "lod_append": one(lambda d: L.sequence_pool(L.lod_append(d(5, 2, lod=ROWS), [0, 1, 2, 3, 4, 5]), "sum")),
    "lod_reset": one(lambda d: L.sequence_pool(L.lod_reset(d(5, 2, lod=ROWS), target_lod=[0, 1, 5]), "sum")),
    **{name: {"defaults": lambda d, f=getattr(L, name): f(d(2, 3)), **along(3, lambda d, axis, f=getattr(L, name): f(d(2, 3, 4), axis=axis))}
       for name in ("log_softmax", "softmax")},
    "lookup_table": one(lambda d: L.lookup_table(weight("w", 5, 4), d.ints(3, 1))),
    "lrn": one(lambda d: L.lrn(d(2, 6, 3, 3))),
    "lstm": one(lambda d: L.lstm(d(3, 2, 4), d(1, 2, 5), d(1, 2, 5), 3, 5, 1)),
    "stacked_rnn": {mode: (lambda d, mode=mode: L.stacked_rnn(d(3, 2, 4), 5, 2, mode, is_bidirec=True)[0]) for mode in ("LSTM", "GRU", "RNN_TANH")},
    "matmul": {"defaults": lambda d: L.matmul(d(2, 3), d(3, 4)), "transposed": lambda d: L.matmul(d(2, 3, 4), d(2, 5, 4), transpose_y=True, alpha=2.0),
               "vectors": lambda d: L.matmul(d(3), d(3)), "vector": lambda d: L.matmul(d(2, 3), d(3))},
    "max_pool2d_with_index": one(lambda d: L.max_pool2d_with_index(d(2, 3, 4, 4), 2)),
    "maxout": {"defaults": lambda d: L.maxout(d(2, 6, 3, 3), 2), **{f"axis {axis}": (lambda d, axis=axis: L.maxout(d(2, 6, 3, 6), 2, axis=axis)) for axis in (-1, -3)}},
    "meshgrid": one(lambda d: L.meshgrid([d(2), d(3)])),
    "mul": {"defaults": lambda d: L.mul(d(2, 3), d(3, 4)), "columns": lambda d: L.mul(d(2, 3, 4), d(4, 5), x_num_col_dims=2)},
    "multi_head_attention": {"defaults": lambda d: L.multi_head_attention(d(2, 3, 4)), "heads": lambda d: L.multi_head_attention(d(2, 3, 4), num_heads=2, causal=True),
                             "memory": lambda d: L.multi_head_attention(d(2, 3, 4), d(2, 5, 4), num_heads=2)},
    "multiplex": one(lambda d: L.multiplex([d(3, 2), d(3, 2)], d.ints(3, 1, high=2, dtype="int32"))),  # PaddlePaddle has no int64
    "mv": one(lambda d: L.mv(d(2, 3), d(3))),
    "nll_loss": {"defaults": lambda d: L.nll_loss(L.log_softmax(d(4, 3)), d.ints(4)), "weights": lambda d: L.nll_loss(L.log_softmax(d(4, 3)), d.ints(4), d(3)),
                 "images": lambda d: L.nll_loss(L.log_softmax(d(2, 3, 2, 2), axis=1), d.ints(2, 2, 2), reduction="sum")},
    "noam_decay": one(lambda d: L.noam_decay(64, 10)),
    "norm": {"defaults": lambda d: L.norm(d(2, 3)), **along(3, lambda d, axis: L.norm(d(2, 3, 4), 3, axis)),
             **along(3, lambda d, axis: L.norm(d(2, 3, 4), "fro", axis), "fro axis"), "fro axes": lambda d: L.norm(d(2, 3, 4), "fro", [-2, -1])},
    "one_hot": one(lambda d: L.one_hot(d.ints(2, 3), 4)),
    "ones": one(lambda d: L.ones([2, 3])), "zeros": one(lambda d: L.zeros([2, 3])),
    "pad": one(lambda d: L.pad(d(2, 3), [0, 1, 2, 0])),
    "pad2d": {mode: (lambda d, mode=mode: L.pad2d(d(2, 3, 4, 4), [1, 2, 0, 1], mode)) for mode in ("constant", "reflect", "edge")},
    "padding_mask": one(lambda d: L.padding_mask(d.ints(2, 4))),
    "piecewise_decay": one(lambda d: L.piecewise_decay([2, 4], [0.3, 0.2, 0.1])),
    "pixel_shuffle": {"defaults": lambda d: L.pixel_shuffle(d(2, 4, 3, 3)), "2": lambda d: L.pixel_shuffle(d(2, 4, 3, 3), upscale_factor=2)},
    "pixel_unshuffle": {"defaults": lambda d: L.pixel_unshuffle(d(2, 4, 4, 4)), "2": lambda d: L.pixel_unshuffle(d(2, 4, 4, 4), downscale_factor=2)},
    "polynomial_decay": one(lambda d: L.polynomial_decay(0.1, 5)),
    "pool2d": {"defaults": lambda d: L.pool2d(d(2, 3, 4, 4), 2), "avg": lambda d: L.pool2d(d(2, 3, 5, 5), 3, "avg", 2, 1),
               "global": lambda d: L.pool2d(d(2, 3, 4, 4), global_pooling=True), "ceil": lambda d: L.pool2d(d(2, 3, 5, 5), 2, "max", 2, ceil_mode=True)},
    "pool3d": {"defaults": lambda d: L.pool3d(d(2, 3, 4, 4, 4), 2), "avg": lambda d: L.pool3d(d(2, 3, 4, 4, 4), 2, "avg", 2)},
    "pow2_decay_with_linear_warmup": one(lambda d: L.pow2_decay_with_linear_warmup(3, 9, 0.1, 0.01)),
    "prelu": {mode: (lambda d, mode=mode: L.prelu(d(2, 3, 4, 4, low=-0.9), mode)) for mode in ("all", "channel", "element")},
    "put_along_axis": {f"axis {axis}": (lambda d, axis=axis: L.put_along_axis(d(3, 3, 3), d.given(np.zeros((3, 3, 3), "int64") + np.arange(3).reshape(
        [3 if i == axis % 3 else 1 for i in range(3)])), d(3, 3, 3), axis)) for axis in (0, -1, -2, -3)},
    "take_along_axis": {f"axis {axis}": (lambda d, axis=axis: L.take_along_axis(d(3, 3, 3), d.ints(3, 3, 3), axis)) for axis in (0, 1, 2, -1, -2, -3)},
    "rank_loss": one(lambda d: L.rank_loss(d(3, 1), d(3, 1), d(3, 1))),
    "reshape": {"defaults": lambda d: L.reshape(d(2, 6), [3, 4]), "-1": lambda d: L.reshape(d(2, 3, 4), [0, -1])},
    "im2sequence": {"defaults": lambda d: L.im2sequence(d(2, 3, 4, 5)), "windows": lambda d: L.im2sequence(d(2, 3, 4, 5), [2, 3], [1, 2], [1, 0, 0, 1]),
                    "sizes": lambda d: L.im2sequence(L.cast(d.ints(2, 3, 6, 6), "float32"), 2, 1, 0, d.given(np.array([[6, 4], [3, 5]], "float32")), out_stride=2)},
    "image_resize": {"defaults": lambda d: L.image_resize(d(2, 3, 4, 4), [6, 7]),
                     "size of another": lambda d: L.image_resize(d(2, 3, 4, 4), L.slice(L.shape(d(1, 1, 7, 5)), [0], [2], [4])),
                     "scale of a run": lambda d: L.image_resize(d(2, 3, 4, 4), scale=d.given(np.array([1.5], "float32")), align_corners=False, align_mode=0),
                     "linear": lambda d: L.image_resize(d(2, 3, 4), [6], resample="LINEAR"), "nearest": lambda d: L.image_resize(d(2, 3, 4, 4), [6, 7], resample="NEAREST"),
                     "bicubic": lambda d: L.image_resize(d(2, 4, 4, 3), [6, 7], resample="BICUBIC", data_format="NHWC"),
                     "trilinear": lambda d: L.image_resize(d(1, 2, 3, 4, 4), scale=2.0, resample="TRILINEAR")},
    "image_resize_short": {"defaults": lambda d: L.image_resize_short(d(2, 3, 4, 6), 3), "tall": lambda d: L.image_resize_short(d(2, 3, 7, 4), 6, "NEAREST")},
    "softmax_mask_fuse": one(lambda d: L.softmax_mask_fuse(d(2, 3, 4, 4), d(2, 1, 4, 4))),
    "resize_bicubic": {"defaults": lambda d: L.resize_bicubic(d(2, 3, 4, 4), [6, 7]), "scale": lambda d: L.resize_bicubic(d(2, 3, 4, 4), scale=2.0, align_corners=False)},
    "resize_linear": {"defaults": lambda d: L.resize_linear(d(2, 3, 4), [6]), "scale": lambda d: L.resize_linear(d(2, 3, 4), scale=2.0, align_corners=False)},
    "resize_trilinear": {"defaults": lambda d: L.resize_trilinear(d(1, 2, 3, 4, 4), [4, 6, 7]), "scale": lambda d: L.resize_trilinear(d(1, 2, 3, 4, 4), scale=2.0, align_corners=False)},
    "resize_bilinear": {"defaults": lambda d: L.resize_bilinear(d(2, 3, 4, 4), [6, 7]), "scale": lambda d: L.resize_bilinear(d(2, 3, 4, 4), scale=2.0, align_corners=False)},
    "resize_nearest": {"defaults": lambda d: L.resize_nearest(d(2, 3, 4, 4), [6, 7]), "scale": lambda d: L.resize_nearest(d(2, 3, 4, 4), scale=2.0, align_corners=False)},
    "RNNCell": one(lambda d: L.rnn(L.GRUCell(4), d(2, 3, 5), time_major=True)[0]),
    "roll": {"defaults": lambda d: L.roll(d(2, 3), 1), **along(2, lambda d, axis: L.roll(d(2, 3), 1, axis))},
    "row_conv": one(lambda d: L.row_conv(d(5, 3, lod=ROWS), 2)),
    "scatter": {"defaults": lambda d: L.scatter(d(4, 3), d.given(np.array([2, 0])), d(2, 3)),
                "add": lambda d: L.scatter(d(4, 3), d.given(np.array([2, 2])), d(2, 3), overwrite=False)},
    "scatter_nd_add": one(lambda d: L.scatter_nd_add(d(4, 3), d.ints(5, 1), d(5, 3))),
    "searchsorted": one(lambda d: L.searchsorted(d.given(np.float32([0.2, 0.4, 0.6])), d(2, 3))),
    "sequence_concat": one(lambda d: L.sequence_concat([d(5, 3, lod=ROWS), d(4, 3, lod=[[0, 1, 4]])])),
    "sequence_conv": one(lambda d: L.sequence_conv(d(5, 3, lod=ROWS), 4)),
    "sequence_enumerate": one(lambda d: L.sequence_enumerate(d.ints(5, 1, lod=ROWS), 2)),
    "sequence_erase": one(lambda d: L.sequence_erase(d.ints(5, 1, lod=ROWS), [1])),
    "sequence_expand": one(lambda d: L.sequence_expand(d(2, 3), d(5, 3, lod=ROWS))),
    "sequence_expand_as": one(lambda d: L.sequence_expand_as(d(2, 3), d(5, 3, lod=ROWS))),
    **{name: one(lambda d, f=getattr(L, name): f(d(5, 3, lod=ROWS))) for name in ("sequence_first_step", "sequence_last_step", "sequence_reverse")},
    "sequence_mask": {"defaults": lambda d: L.sequence_mask(d.ints(3, low=1)), "maxlen": lambda d: L.sequence_mask(d.ints(3, low=1), 5, "float32")},
    "sequence_pad": one(lambda d: L.sequence_pad(d(5, 3, lod=ROWS), 0.0)),
    "sequence_pool": {kind: (lambda d, kind=kind: L.sequence_pool(d(5, 3, lod=ROWS), kind)) for kind in ("sum", "average", "sqrt", "max", "first", "last")},
    "sequence_reshape": one(lambda d: L.sequence_reshape(d(4, 6, lod=[[0, 2, 4]]), 3)),
    "sequence_scatter": one(lambda d: L.sequence_scatter(d(2, 6), d.ints(5, 1, lod=ROWS), d(5, 1, lod=ROWS))),
    "sequence_slice": one(lambda d: L.sequence_slice(d(5, 3, lod=ROWS), d.given(np.array([[0], [1]])), d.given(np.array([[1], [2]])))),
    "sequence_softmax": one(lambda d: L.sequence_softmax(d(5, 1, lod=ROWS))),
    "sequence_unpad": one(lambda d: L.sequence_unpad(d(2, 3, 4), d.given(np.array([2, 3])))),
    "shard_index": one(lambda d: L.shard_index(d.ints(4, 1, high=19), 20, 2, 0)),
    "sigmoid_cross_entropy_with_logits": one(lambda d: L.sigmoid_cross_entropy_with_logits(d(2, 3), d(2, 3))),
    "slice": {**along(3, lambda d, axis: L.slice(d(3, 3, 3), [axis], [1], [3])), "axes": lambda d: L.slice(d(3, 3, 3), [-1, 0], [-2, 1], [9, -1])},
    "softmax_with_cross_entropy": {
        "defaults": lambda d: L.softmax_with_cross_entropy(d(4, 3), d.ints(4, 1)),
        "soft": lambda d: L.softmax_with_cross_entropy(d(4, 3), L.softmax(d(4, 3)), soft_label=True),
        **{f"axis {axis}": (lambda d, axis=axis: L.softmax_with_cross_entropy(
            d(3, 3, 3), d.ints(*[1 if i == axis % 3 else 3 for i in range(3)]), axis=axis)) for axis in (-1, -2, -3)}},
    "split": {"defaults": lambda d: L.split(d(2, 6), 3), "sections": lambda d: L.split(d(2, 6), [1, 2, -1]),
              **along(3, lambda d, axis: L.split(d(4, 4, 4), 2, axis)), **along(3, lambda d, axis: L.split(d(4, 4, 4), [1, 3], axis), "sections, axis")},
    "squeeze": {"defaults": lambda d: L.squeeze(d(2, 1, 3, 1)), **{f"axis {axis}": (lambda d, axis=axis: L.squeeze(d(2, 1, 3, 1), axis)) for axis in (-1, -3)}},
    "unsqueeze": along(3, lambda d, axis: L.unsqueeze(d(2, 3), axis)),
    "stack": {"defaults": lambda d: L.stack([d(2, 3), d(2, 3)]), **along(3, lambda d, axis: L.stack([d(2, 3), d(2, 3)], axis))},
    "StaticRNN": one(static_rnn),
    "strided_slice": along(3, lambda d, axis: L.strided_slice(d(4, 4, 4), [axis], [3], [0], [-2])),
    "sums": one(lambda d: L.sums([d(2, 3), d(2, 3), d(2, 3)])),
    "switch_case": one(lambda d: L.switch_case(count(1), [lambda: L.ones([2]), lambda: L.zeros([2])])),
    "teacher_student_sigmoid_loss": one(lambda d: L.teacher_student_sigmoid_loss(d(3, 1), d(3, 1))),
    "temporal_shift": one(lambda d: L.temporal_shift(d(4, 4, 3, 3), 2)),
    "tensor_array_to_tensor": {"defaults": lambda d: L.tensor_array_to_tensor(array(d)), **along(2, lambda d, axis: L.tensor_array_to_tensor(array(d), axis)),
                               **along(3, lambda d, axis: L.tensor_array_to_tensor(array(d), axis, True), "stacked, axis")},
    "tile": one(lambda d: L.tile(d(2, 3), [2, 1])),
    "topk": {"defaults": lambda d: L.topk(d(2, 4), 2), **along(3, lambda d, axis: L.topk(d(3, 3, 3), 2, axis))},
    "trace": {"defaults": lambda d: L.trace(d(3, 4)), **{f"axis {axis}": (lambda d, axis=axis: L.trace(d(3, 4, 5), axis1=axis, axis2=axis + 1)) for axis in (-3, -2)}},
    "transformer_decoder_layer": one(lambda d: L.transformer_decoder_layer(d(2, 3, 4), d(2, 5, 4), 2, 8, dropout_rate=0.0)),
    "transformer_encoder_layer": one(lambda d: L.transformer_encoder_layer(d(2, 3, 4), 2, 8, dropout_rate=0.0)),
    "transpose": {"defaults": lambda d: L.transpose(d(2, 3, 4), [2, 0, 1]), "axis -1": lambda d: L.transpose(d(2, 3, 4), [-1, 0, 1])},
    "unfold": one(lambda d: L.unfold(d(2, 3, 4, 4), 2)),
    "warpctc": {"defaults": lambda d: L.warpctc(d(5, 4, lod=ROWS), d.ints(3, 1, low=1, high=4, dtype="int32", lod=[[0, 1, 3]])),
                "padded": lambda d: L.warpctc(d(5, 2, 4), d.ints(2, 2, low=1, high=4, dtype="int32"), 0, False,
                                              d.given(np.array([5, 4])), d.given(np.array([2, 1])))},
    "where": one(lambda d: L.where(d.bools(2, 3), d(2, 3), d(2, 3))),
    "While": one(loop_while),
    "while_loop": one(lambda d: L.while_loop(lambda i, x: L.less_than(i, count(3)), lambda i, x: [i + count(1), L.scale(x, scale=1.5)],
                                             [count(0), d(2, 3)])[1]),
}
