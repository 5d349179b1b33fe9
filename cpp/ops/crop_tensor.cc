// crop_tensor, crop: Out = the block of X that begins at `offsets`
#include "math/axis_index_map.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

const TensorAttr kCropTensorShape{"shape", "Shape", "ShapeTensor"};
const TensorAttrs kOffsets{{"offsets", "Offsets", "OffsetsTensor"}}, kOldOffsets{{"offsets", "Offsets"}};

// `to` is the shape of Out. If `rest_allowed`, -1 stands for everything from the offset to the end of X.
AxisIndexMaps crop_tensor_index_maps(const OpDesc& op, const Shape& x, const std::vector<int64_t>& to,
                                     bool rest_allowed) {
  const Ints& offsets = attr_of<Ints>(op, "offsets");
  size_t rank = static_cast<size_t>(x.rank());
  require<ProgramError>(offsets.empty() || offsets.size() == rank, "attribute 'offsets' has ", offsets.size(),
                        " numbers, X has shape ", x.str());
  require<ProgramError>(to.size() == rank, "Out would have ", to.size(), " dimensions, X has shape ", x.str());
  AxisIndexMaps index_maps = unchanged_axes(x);
  for (size_t i = 0; i < rank; ++i) {
    AxisIndexMap& index_map = index_maps[i];
    index_map.start = offsets.empty() ? 0 : offsets[i];
    require<ProgramError>(index_map.start >= 0, "attribute 'offsets' holds ", index_map.start,
                          ", it must be at least 0");
    require<ShapeError>(index_map.in < 0 || index_map.start <= index_map.in, "offset ", index_map.start, " along axis ",
                        i, " exceeds the size of X, ", x.str());
    index_map.out = to[i] >= 0 || !rest_allowed || index_map.in < 0 ? to[i] : index_map.in - index_map.start;
    require<ShapeError>(index_map.in < 0 || index_map.out <= index_map.in - index_map.start, "X has shape ", x.str(),
                        ": there are no ", index_map.out, " elements from ", index_map.start, " on along axis ", i);
  }
  return index_maps;
}

std::vector<int64_t> asked_shape(const OpDesc& op, int least) {
  const Ints& shape = attr_of<Ints>(op, "shape");
  for (int32_t size : shape) { require<ProgramError>(size >= least && size != 0, "attribute 'shape' holds ", size); }
  return {shape.begin(), shape.end()};
}

Shape crop_tensor_out_shape(InferContext& c, bool old) {
  const Shape& x = c.shape("X");
  TensorAttrs ports = old ? kOldOffsets : TensorAttrs{kOffsets[0], kCropTensorShape};
  auto op = settled(c, ports);
  if (old && c.has_input("Y")) {
    const Shape& y = c.shape("Y");
    return op ? shape_of(crop_tensor_index_maps(*op, x, y.vector(), false)) : y;
  }
  if (op) return shape_of(crop_tensor_index_maps(*op, x, asked_shape(*op, old ? 1 : -1), true));
  return open_shape(x.rank());
}

struct CropKernel : AxisCopyKernel {
  explicit CropKernel(KernelInit& init)
      : AxisCopyKernel(init.input("X"), init.output("Out"),
                       crop_tensor_index_maps(settled(init, kOffsets), init.input("X")->tensor.shape,
                                              init.output("Out")->tensor.shape.vector(), false)) {}
};

template <class T>
struct CropGradKernel : AxisCopyGradKernel<T> {
  explicit CropGradKernel(KernelInit& init)
      : AxisCopyGradKernel<T>(init, "Out@GRAD", "X@GRAD",
                              crop_tensor_index_maps(settled(init, kOffsets), init.output("X@GRAD")->tensor.shape,
                                                     init.input("Out@GRAD")->tensor.shape.vector(), false)) {}
};

OpSchema cropping(const std::string& type, bool old) {
  OpSchema schema(type);
  schema.input("X", "any shape");
  if (old) schema.optional_input("Y", "its shape is that of Out and replaces `shape`");
  schema.output("Out", "the attribute `shape` is its shape");
  const TensorAttrs& offsets = old ? kOldOffsets : kOffsets;
  return with_tensor_ports(schema, old ? offsets : TensorAttrs{kCropTensorShape, kOffsets[0]})
      .attr("offsets", Ints{}, "the position in X at which Out begins, for each axis; empty: 0")
      .attr("shape", Ints{}, old ? "shape of Out" : "shape of Out; -1: all elements from the offset on")
      .infer([old](InferContext& c) {
        require_tensors(c);
        c.set_output("Out", c.input("X").dtype, crop_tensor_out_shape(c, old));
      })
      .gradient(type + "_grad", with_ports({"X", "Out@GRAD"}, offsets), {"X@GRAD"})
      .on_gpu()
      .kernel_for_any<CropKernel>();
}

OpSchema cropping_gradient(const OpTable& ops, const char* forward) {
  return ops.gradient_of(forward)
      .doc("X@GRAD = Out@GRAD at the elements that Out has, 0 elsewhere.")
      .shape_only("X")
      .infer([](InferContext& c) {
        require_tensors(c);
        require_same_dtype(c, "X", "Out@GRAD");
        auto op = settled(c, kOffsets);
        if (op) crop_tensor_index_maps(*op, c.shape("X"), c.shape("Out@GRAD").vector(), false);
        gradients_like_inputs(c);
      })
      .kernels<CropGradKernel, float, double, int32_t, int64_t>();
}

}  // namespace

// crop is the older operator: it may take the shape from a tensor, and does not support -1.
void define_crop_tensor(OpTable& ops) {
  ops.add(cropping("crop_tensor", false)
              .doc("Out[i, ...] = X[i + offsets[0], ...] for the block of X that `shape` and `offsets` describe."));
  ops.add(cropping_gradient(ops, "crop_tensor"));
  ops.add(cropping("crop", true)
              .doc("Out[i, ...] = X[i + offsets[0], ...] for the block of X that begins at `offsets` and has the shape "
                   "of Y, or `shape`."));
  ops.add(cropping_gradient(ops, "crop"));
}

}  // namespace paddle_mini
