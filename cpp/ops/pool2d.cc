// pool2d: the maximum, or the mean, of every window of an image
#include "core/op_table.h"
#include "math/channels_last.h"
#include "math/pooled_axis.h"
#include "math/vec.h"
#include "ops/family/renamed_ports.h"

#include <limits>

namespace paddle_mini {
namespace {

Shape pool2d_shape(const InferContext& c) {
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  for (int axis : {2, 3}) require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": it has no elements to pool");
  auto [height, width] = pooled_axes<2>(c, {x[2], x[3]});
  bool global = c.attr<bool>("global_pooling");
  return Shape{x[0], x[1], global ? 1 : height.out, global ? 1 : width.out};
}

struct PoolSecondPorts {
  static constexpr const char* type = "pool2d";
  static constexpr std::pair<const char*, const char*> inputs[] = {{"X", "grad_x@GRAD"}};
  static constexpr std::pair<const char*, const char*> outputs[] = {{"Out", "grad_out@GRAD"}};
};

// Means are linear. PaddlePaddle takes maxima of the gradients, which is not a derivative.
std::vector<OpDesc> pool_second_gradient(const OpDesc& first) {
  const AttrValue* type = first.attr("pooling_type");
  require<ProgramError>(!type || std::get<std::string>(*type) != "max",
                        "the gradient of pool2d_grad is not known: pooling_type is max");
  return {make_op("pool2d_double_grad", {{"grad_x@GRAD", gradient_names(first.output("X@GRAD"))}},
                  {{"grad_out@GRAD", gradient_names(first.input("Out@GRAD"))}}, first.attrs)};
}

// The infer of pool2d, which has other names of ports.
void infer_pool_second(const OpSchema& forward, InferContext& c) {
  require_tensors(c);
  OpDesc op = make_op("pool2d", {{"X", {"x"}}}, {{"Out", {"out"}}}, c.op().attrs);
  InferContext pooled(op, {{c.input("grad_x@GRAD")}});
  forward.run_infer(pooled);
  c.set_output("grad_out@GRAD", pooled.output("Out"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(pool2d)

namespace paddle_mini {

void define_pool2d(OpTable& ops) {
  ops.add(
      OpSchema("pool2d")
          .doc("Out = the maximum or the mean of each window that moves over the last two axes of X. Padding is never "
               "the maximum; a NaN always is.")
          .input("X", "[images, channels, height, width]")
          .output("Out", "[images, channels, output height, output width]")
          .required_attr("pooling_type", AttrType::String, "the maximum or the mean of a window",
                         one_of({"max", "avg"}))
          .attr("ksize", std::vector<int32_t>{1, 1},
                "size of the window: height, width; with `adaptive`, of the output")
          .attr("strides", std::vector<int32_t>{1, 1}, "stride of the window: height, width")
          .attr("paddings", std::vector<int32_t>{0, 0},
                "padding around the image: height, width; or above, below, left, right")
          .attr("padding_algorithm", "EXPLICIT",
                "EXPLICIT: `paddings`; SAME: the output has ceil(input / stride) positions; VALID: none",
                one_of({"EXPLICIT", "SAME", "VALID"}))
          .attr("global_pooling", false, "whether the window is the whole image")
          .attr("ceil_mode", false, "whether a last, incomplete window is included")
          .attr("exclusive", true, "whether a mean excludes the padding")
          .attr("adaptive", false, "whether ksize is the size of the output, from which the windows are computed")
          .attr("data_format", "NCHW", "NCHW: axis 1 has the channels; NHWC: the last axis has them",
                one_of(image_layouts()))
          .infer(for_both_layouts([](InferContext& c) { c.set_output("Out", c.input("X").dtype, pool2d_shape(c)); }))
          .gradient("pool2d_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
          .splits_batch("X")
          .on_gpu()
          .kernels<AnyLayout<Pool2dKernel>::Of, float, double>());
  ops.add(ops.gradient_of("pool2d")
              .doc("max: the first maximum of a window gets its Out@GRAD; avg: every element of the window gets an "
                   "equal share.")
              .gradient(pool_second_gradient)
              .kernels<AnyLayout<Pool2dGradKernel>::Of, float, double>());
  OpSchema second("pool2d_double_grad");
  second.doc("The gradient of pool2d_grad: pool2d of the gradient of X@GRAD.")
      .input("grad_x@GRAD", "the gradient of the gradient of X")
      .output("grad_out@GRAD", "the gradient of the gradient of Out");
  for (const AttrSchema& attr : ops.at("pool2d").attrs()) {
    if (attr.default_value) second.attr(attr.name.c_str(), *attr.default_value, attr.doc.c_str(), attr.check);
    else second.required_attr(attr.name.c_str(), attr.type, attr.doc.c_str(), attr.check);
  }
  ops.add(second.infer([forward = ops.at("pool2d")](InferContext& c) { infer_pool_second(forward, c); })
              .on_gpu()
              .kernels<RenamedPorts<AnyLayout<Pool2dKernel>::Of, PoolSecondPorts>::For, float, double>());
}

}  // namespace paddle_mini
