// pool3d: the maximum, or the mean, of every window of a volume
#include "core/op_table.h"
#include "math/pooled_axis.h"

namespace paddle_mini {
namespace {

Shape pool3d_shape(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 5);
  VolumeLayout x(c.shape("X"), c.attr<std::string>("data_format"));
  for (int64_t size : x.sizes) {
    require<ShapeError>(size != 0, "X has shape ", c.shape("X").str(), ": it has no elements to pool");
  }
  if (c.attr<bool>("global_pooling")) return x.with(x.channels, {1, 1, 1});
  auto [depth, height, width] = pooled_axes(c, x.sizes);
  return x.with(x.channels, {depth.out, height.out, width.out});
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(pool3d)

namespace paddle_mini {

void define_pool3d(OpTable& ops) {
  ops.add(OpSchema("pool3d")
              .doc("Out = the maximum or the mean of each window that moves over the volumes of X. Padding is never "
                   "the maximum; a NaN always is.")
              .input("X", "[images, channels, depth, height, width], or channels last")
              .output("Out", "X's shape, with the depth, height and width of the output")
              .required_attr("pooling_type", AttrType::String, "the maximum or the mean of a window",
                             one_of({"max", "avg"}))
              .attr("ksize", std::vector<int32_t>{1, 1, 1},
                    "size of the window: depth, height, width; with `adaptive`, of the output")
              .attr("strides", std::vector<int32_t>{1, 1, 1}, "stride of the window: depth, height, width")
              .attr("paddings", std::vector<int32_t>{0, 0, 0},
                    "padding around the volume: depth, height, width; or before and after each of them")
              .attr("padding_algorithm", "EXPLICIT",
                    "EXPLICIT: `paddings`; SAME: the output has ceil(input / stride) positions; VALID: none",
                    one_of({"EXPLICIT", "SAME", "VALID"}))
              .attr("global_pooling", false, "whether the window is the whole volume")
              .attr("ceil_mode", false, "whether a last, incomplete window is included")
              .attr("exclusive", true, "whether a mean excludes the padding")
              .attr("adaptive", false, "whether ksize is the size of the output, from which the windows are computed")
              .attr("data_format", "NCDHW", "whether axis 1 or the last axis has the channels",
                    one_of({"NCDHW", "NDHWC", "AnyLayout"}))
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, pool3d_shape(c)); })
              .gradient("pool3d_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<Pool3dKernel, float, double>());
  ops.add(ops.gradient_of("pool3d")
              .doc("max: the first maximum of a window gets its Out@GRAD; avg: every element of the window gets an "
                   "equal share.")
              .kernels<Pool3dGradKernel, float, double>());
}

}  // namespace paddle_mini
