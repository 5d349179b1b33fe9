// expand_v2: Out = X broadcast to a given shape
#include "core/widening.h"
#include "ops/family/broadcast_to.h"
#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Ints = std::vector<int32_t>;

const TensorAttrs kExpandV2Ports{{"shape", "Shape", "expand_shapes_tensor"}};

// -1 keeps X's dimension.
Shape expand_v2_wanted_shape(InferContext& c) {
  const Shape& x = c.shape("X");
  auto op = settled(c, kExpandV2Ports);
  if (!op) return number_count(c, kExpandV2Ports[0]) < 0 ? open_shape(x.rank()) : open_shape(c, kExpandV2Ports[0]);
  const Ints& shape = attr_of<Ints>(*op, "shape");
  int missing = static_cast<int>(shape.size()) - x.rank();
  require<ShapeError>(missing >= 0, "attribute 'shape' has ", shape.size(), " dimensions, X ", x.str(), " has more");
  Shape out;
  for (int i = 0; i < static_cast<int>(shape.size()); ++i) {
    bool kept = shape[static_cast<size_t>(i)] == -1;
    require<ProgramError>(shape[static_cast<size_t>(i)] >= (i < missing ? 0 : -1), "attribute 'shape' has ",
                          shape[static_cast<size_t>(i)], " at ", i);
    out.push_back(kept ? x[i - missing] : shape[static_cast<size_t>(i)]);
  }
  return out;
}

}  // namespace

void define_expand_v2(OpTable& ops) {
  ops.add(with_tensor_ports(
              OpSchema("expand_v2").input("X", "any shape").output("Out", "the attribute `shape` is its shape"),
              kExpandV2Ports)
              .doc("Out = X broadcast to a shape: axes of 1 are repeated, new axes are added in front.")
              .attr("shape", Ints{}, "shape of Out; -1 keeps X's dimension")
              .infer([](InferContext& c) {
                require_tensors(c);
                Shape out = shape_of(broadcast_maps(c.shape("X"), expand_v2_wanted_shape(c), "shape"));
                c.set_output("Out", c.input("X").dtype, out);
              })
              .gradient("expand_v2_grad", with_ports({"X", "Out@GRAD"}, kExpandV2Ports), {"X@GRAD"})
              .on_gpu()
              .kernel_for_any<BroadcastToKernel>());
  ops.add(
      also({DType::Bool},
           broadcast_to_gradient(ops, "expand_v2").kernels<BroadcastToGradKernel, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
