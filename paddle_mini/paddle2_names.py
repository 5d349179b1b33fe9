# The tables of names of PaddlePaddle 2.x that are others here; docs/howto.md shows them.
from __future__ import annotations

from collections.abc import Mapping

_REDUCTIONS = "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
_POOLS = "pool2d pool3d max_pool2d_with_index"

# PaddlePaddle 2's name of an argument, the name here, and the functions for which both mean the same ("": all that
# have the second and not the first).
ARGUMENTS: tuple[tuple[str, str, str], ...] = (
    ("weight_attr", "param_attr", ""),
    ("activation", "act", ""),
    ("data_format", "data_layout", "affine_channel batch_norm group_norm"),
    ("sparse", "is_sparse", "embedding"),
    ("keepdim", "keep_dim", _REDUCTIONS),
    ("axis", "dim", f"{_REDUCTIONS} split"),
    ("axis", "axes", "squeeze unsqueeze"),
    ("x", "input", f"{_REDUCTIONS} argsort assign concat embedding fc gather one_hot split squeeze strided_slice topk unsqueeze"),
    ("num_classes", "depth", "one_hot"),
    ("fill_value", "value", "fill_constant full_like"),
    ("negative_slope", "alpha", "leaky_relu"),
    ("threshold", "alpha", "softshrink"),
    ("kernel_size", "filter_size", "conv2d conv2d_transpose conv3d conv3d_transpose"),
    ("out_channels", "num_filters", "conv2d conv2d_transpose conv3d conv3d_transpose"),
    ("parameters", "parameter_list", ""),
    ("weight_decay", "regularization", ""),
    ("path_prefix", "prefix", "save_inference_model load_inference_model"),
)

# Arguments of PaddlePaddle 2, PyTorch and Keras without one of the same meaning, by function ("": any), with advice.
DIFFERENT_ARGUMENTS: Mapping[tuple[str, str], str] = {
    ("dropout", "p"): "it is dropout_prob; PaddlePaddle 2 scales in training: dropout_implementation='upscale_in_train'",
    ("dropout", "mode"): "it is dropout_implementation='upscale_in_train' or 'downgrade_in_infer'",
    ("dropout", "training"): "it is is_test, the opposite; clone(for_test=True) sets it",
    ("batch_norm", "training"): "it is is_test, the opposite; clone(for_test=True) sets it",
    ("cross_entropy", "use_softmax"): "cross_entropy takes probabilities; softmax_with_cross_entropy takes logits",
    ("cross_entropy", "reduction"): "it returns the loss of each row: layers.mean, or reduce_sum, of it",
    ("expand", "shape"): "expand repeats by expand_times; broadcast_to takes a shape",
    ("layer_norm", "normalized_shape"): "it is begin_norm_axis, the first axis that is normalized",
    ("embedding", "num_embeddings"): "it is size=[num_embeddings, embedding_dim]",
    ("embedding", "embedding_dim"): "it is size=[num_embeddings, embedding_dim]",
    **{(pool, "kernel_size"): "it is pool_size, with pool_stride=1 unless given" for pool in _POOLS.split()},
    **{(pool, "stride"): "it is pool_stride" for pool in _POOLS.split()},
    **{(pool, "padding"): "it is pool_padding" for pool in _POOLS.split()},
    ("SGD", "momentum"): "it is another optimizer: optimizer.Momentum(learning_rate, momentum)",
    ("SGD", "nesterov"): "it is another optimizer: optimizer.Momentum(learning_rate, momentum, use_nesterov=True)",
    ("run", "feeds"): "it is feed",
    ("run", "fetches"): "it is fetch_list",
    ("run", "use_prune"): "run the part of the program that fetches need: Program.prune(feeds, fetches)",
    ("run", "use_program_cache"): "plans are always kept",
    ("run", "feed_var_name"): "feed has the names of variables as its keys",
    ("run", "fetch_var_name"): "fetch_list has variables or their names",
    ("fit", "validation_data"): "it is validation",
    ("fit", "validation_split"): "it is validation, rows that you leave out of the data: validation=(x[800:], y[800:])",
    ("fit", "verbose"): "it is progress, True or False",
    ("fit", "x"): "it is data: fit(loss, (x, y), optimizer)",
    ("fit", "y"): "it is a part of data: fit(loss, (x, y), optimizer)",
    ("fit", "class_weight"): "multiply the loss of each row by a weight before its mean",
    ("fit", "sample_weight"): "multiply the loss of each row by a weight before its mean",
    ("fit", "workers"): "a Loader has them: data.Loader(samples).batch(32).prefetch(4, workers=2)",
    ("fit", "initial_epoch"): "with checkpoints= training continues at its epoch",
    ("EarlyStopping", "restore_best_weights"): "it is restore_best",
    ("BestCheckpoint", "save_best_only"): "BestCheckpoint saves the best epoch only",
    ("BestCheckpoint", "filepath"): "it is folder",
    ("BestCheckpoint", "save_weights_only"): "a checkpoint has all that training needs; io.save_state writes parameters",
    ("ReduceOnPlateau", "monitor"): "fit steps it with val_loss, or with loss where there is no validation",
    ("ReduceOnPlateau", "min_delta"): "it is threshold, with threshold_mode='abs'",
    ("ReduceOnPlateau", "optimizer"): "the optimizer takes the schedule as its learning_rate",
    ("Loader", "batch_size"): "call a method: Loader(data).batch(32)",
    ("Loader", "shuffle"): "call a method: Loader(data).shuffle(seed=1)",
    ("Loader", "num_workers"): "call a method: Loader(data).batch(32).prefetch(4, workers=2)",
    ("Loader", "drop_last"): "it is an argument of batch: Loader(data).batch(32, drop_last=True)",
    ("Loader", "collate_fn"): "batch stacks values, or pads them with pad=; .map(function) after it changes batches",
    ("save_inference_model", "dirname"): "it is prefix; model_filename='__model__' writes a folder of PaddlePaddle 1.x",
    ("save_inference_model", "feeded_var_names"): "it is feed_vars, a list of variables or names",
    ("save_inference_model", "target_vars"): "it is fetch_vars",
    ("save_inference_model", "main_program"): "it is program",
    ("load_inference_model", "dirname"): "it is prefix, which may be a folder of PaddlePaddle 1.x",
    ("decorate", "master_grad"): "at level O2 gradients of parameters are float32 always",
    ("decorate", "master_weight"): "at level O2 each parameter has a master",
    ("decorate", "use_pure_fp16"): "it is level='O2'",
    ("AutoMixedPrecisionLists", "dtype"): "decorate takes it",
    ("", "lr"): "optimizers take learning_rate",
    ("", "betas"): "the Adam family takes beta1 and beta2",
    ("", "clipnorm"): "optimizers take grad_clip=clip.GradientClipByNorm(norm)",
    ("", "global_clipnorm"): "optimizers take grad_clip=clip.GradientClipByGlobalNorm(norm)",
    ("", "clipvalue"): "optimizers take grad_clip=clip.GradientClipByValue(value)",
    (
        "",
        "multi_precision",
    ): "optimizers change parameters in their own element type; amp.decorate(optimizer, level='O2') has masters",
    ("", "use_multi_tensor"): "a step is one operator for each parameter, with the same numbers",
    ("", "rescale_grad"): "multiply the loss by it",
    ("", "verbose"): "nothing is printed; a schedule's rate is schedule()",
    ("", "use_cudnn"): "kernels are chosen by the place",
}

_SAME_LAYERS = (  # names and arguments agree
    "batch_norm bilinear_tensor_product case cond conv2d conv2d_transpose conv3d conv3d_transpose crf_decoding embedding fc "
    "group_norm instance_norm layer_norm prelu row_conv sequence_concat sequence_conv sequence_enumerate sequence_expand "
    "sequence_expand_as sequence_first_step sequence_last_step sequence_pad sequence_pool sequence_reshape sequence_reverse "
    "sequence_scatter sequence_slice sequence_softmax sequence_unpad switch_case while_loop StaticRNN"
)
_SAME_FUNCTIONS = (
    "celu elu gelu hinge_loss label_smooth log_loss log_softmax maxout mish one_hot pixel_shuffle pixel_unshuffle relu relu6 "
    "selu sigmoid silu softmax softplus softsign softshrink square_error_cost swish tanh temporal_shift"
)
_OF_STATIC = (
    "Executor ParamAttr Program Variable append_backward default_main_program default_startup_program device_guard "
    "global_scope gradients program_guard Scope scope_guard"
)

MODULES = ("static", "static.amp", "static.nn", "nn", "nn.functional", "nn.initializer")

# A path below paddle in PaddlePaddle 2, and the path below paddle_mini of what means the same.
OBJECTS: Mapping[str, str] = {
    **{f"static.{name}": name for name in _OF_STATIC.split()},
    **{f"static.{name}": f"layers.{name}" for name in "accuracy auc create_global_var create_parameter data".split()},
    **{f"static.amp.{name}": f"amp.{name}" for name in ("AutoMixedPrecisionLists", "decorate")},
    "static.amp.CustomOpLists": "amp.AutoMixedPrecisionLists",
    **{f"static.{name}": f"io.{name}" for name in "load_inference_model save save_inference_model".split()},
    **{f"static.nn.{name}": f"layers.{name}" for name in _SAME_LAYERS.split()},
    **{f"nn.functional.{name}": f"layers.{name}" for name in _SAME_FUNCTIONS.split()},
    "nn.functional.hardswish": "layers.hard_swish",
    "nn.functional.tanhshrink": "layers.tanh_shrink",
    "nn.functional.log_sigmoid": "layers.logsigmoid",
    "nn.ClipGradByGlobalNorm": "clip.GradientClipByGlobalNorm",
    "nn.ClipGradByNorm": "clip.GradientClipByNorm",
    "nn.ClipGradByValue": "clip.GradientClipByValue",
    "nn.initializer.Assign": "initializer.NumpyArrayInitializer",
    "nn.initializer.Constant": "initializer.Constant",
    "ParamAttr": "ParamAttr",
    "optimizer.lr": "lr",
}

# Paths of PaddlePaddle 2 without anything of the same meaning, with advice.
WITHOUT: Mapping[str, str] = {
    "static.InputSpec": "layers.data declares what is fed",
    "static.load": "io.load(program, prefix, scope) takes a scope where PaddlePaddle takes an executor",
    "static.CompiledProgram": "an Executor plans every program that it runs",
    "static.cpu_places": "CPUPlace() is the CPU with all its cores",
    "static.cuda_places": "CUDAPlace(0), and DataParallel for several",
    "static.load_program_state": "io.load_state(path) reads the arrays of a file by name",
    "static.set_program_state": "io.set_state(program, arrays)",
    "static.normalize_program": "program.prune(feeds, fetches)",
    "static.serialize_program": "io.save_program writes a program, and io.read_program reads it",
    "static.name_scope": "name= of a layer begins the names of its variables",
    "static.WeightNormParamAttr": "compute the weight by layers from two parameters of create_parameter",
    "static.BuildStrategy": "an Executor plans every program that it runs",
    "static.ExecutionStrategy": "an Executor plans every program that it runs",
    "static.Print": "exe.run(fetch_list=[x]) gives its value",
    "set_flags": "arguments of Executor, and environment variables: docs/security.md",
    "nn.Layer": "programs are built by functions: a function that calls layers.* is a layer",
    "nn.Linear": "layers.fc makes the parameters and their product",
    "nn.Conv2D": "layers.conv2d makes the filter and the convolution",
    "nn.Embedding": "layers.embedding makes the table and the look-up",
    "nn.BatchNorm2D": "layers.batch_norm makes the parameters and the operator",
    "nn.LayerNorm": "layers.layer_norm makes the parameters and the operator",
    "nn.Dropout": "layers.dropout(x, dropout_prob, dropout_implementation='upscale_in_train')",
    "nn.Sequential": "call one layer function with the result of the other",
    "nn.CrossEntropyLoss": "layers.softmax_with_cross_entropy takes logits; layers.mean of it is the loss",
    "nn.MSELoss": "layers.mean(layers.square_error_cost(input, label))",
    "nn.functional.cross_entropy": "layers.softmax_with_cross_entropy takes logits; layers.mean of it is the loss",
    "nn.functional.mse_loss": "layers.mean(layers.square_error_cost(input, label))",
    "nn.functional.dropout": "layers.dropout(x, dropout_prob, dropout_implementation='upscale_in_train')",
    "nn.functional.leaky_relu": "layers.leaky_relu(x, alpha=0.01): the default here is 0.02",
    "nn.functional.hardsigmoid": "layers.hard_sigmoid(x, slope=1 / 6): the default here is 0.2",
    "nn.functional.linear": "layers.matmul(x, weight) + bias; layers.fc makes the parameters",
    "nn.initializer.Normal": "initializer.Normal(loc, scale)",
    "nn.initializer.Uniform": "initializer.Uniform(low, high)",
    "nn.initializer.XavierNormal": "initializer.Xavier(uniform=False)",
    "nn.initializer.XavierUniform": "initializer.Xavier(uniform=True)",
    "nn.initializer.KaimingNormal": "initializer.MSRA(uniform=False)",
    "nn.initializer.KaimingUniform": "initializer.MSRA(uniform=True)",
    "to_tensor": "layers.assign(array) makes a variable of an array; arrays are fed as they are",
    **{path: "programs are always static here" for path in ("enable_static", "disable_static", "in_dynamic_mode")},
    "no_grad": "variable.stop_gradient = True, or clone(for_test=True)",
    **{path: "Executor(CUDAPlace(0)) runs on a device" for path in ("set_device", "get_device")},
    **{path: "layers.uniform_random(shape, min=0.0, max=1.0)" for path in ("rand", "uniform")},
    "standard_normal": "layers.gaussian_random(shape)",
    "full": "layers.fill_constant(shape, dtype, value)",
    "add_n": "layers.sums(inputs)",
    "amax": "layers.reduce_max(x, dim=...)",
    "amin": "layers.reduce_min(x, dim=...)",
    "floor_divide": "x // y, or layers.elementwise_floordiv(x, y)",
    **{path: "x % y, or layers.elementwise_mod(x, y)" for path in ("mod", "remainder", "floor_mod")},
    "fmax": "layers.elementwise_fmax(x, y)",
    "fmin": "layers.elementwise_fmin(x, y)",
    "neg": "-x",
    "numel": "layers.size(x)",
    "rank": "len(x.shape)",
    "sort": "layers.argsort(x, axis)[0]",
    "t": "layers.transpose(x, [1, 0])",
    "moveaxis": "layers.transpose(x, perm)",
    **{path: "layers and data take dtype='float64'" for path in ("set_default_dtype", "get_default_dtype")},
    "static.amp.fp16_guard": "amp.AutoMixedPrecisionLists takes types of operators, and names of variables",
    "static.amp.bf16": "amp.decorate(optimizer, dtype='bfloat16')",
    "static.amp.cast_parameters_to_fp16": "amp.cast_parameters(program, scope)",
    "static.nn.deform_conv2d": "layers.deformable_conv",
    "static.nn.nce": "layers.hsigmoid, or the softmax of all classes",
    "nn.functional.ctc_loss": "layers.warpctc",
    "nn.functional.grid_sample": "layers.grid_sampler",
    "nn.functional.hardtanh": "layers.brelu(x, t_min=-1.0, t_max=1.0)",
    "nn.functional.hsigmoid_loss": "layers.hsigmoid makes the parameters and the loss",
    "nn.functional.local_response_norm": "layers.lrn",
    "nn.functional.bilinear": "layers.bilinear_tensor_product makes the parameters and the product",
    "nn.functional.glu": "a, b = layers.split(x, 2, axis), and a * layers.sigmoid(b)",
    "nn.functional.zeropad2d": "layers.pad2d(x, paddings)",
}

# Advice on a name of these modules for which there is no other.
OF_MODULES: Mapping[str, str] = {
    "nn": "a layer is a function here, in layers, which makes its parameters",
    "nn.functional": "docs/operators.md lists the functions",
    "static.nn": "docs/operators.md lists the functions",
}
