// Sizes of images that change, as the attributes of *_interp_v2 say.
#include "math/interpolate.h"

#include <cmath>

namespace paddle_mini {
namespace {

// 0: `out_h` and `out_w` count.
template <class Context>
float scale_of(const Context& c, int axis) {
  const std::vector<float>& scale = c.template attr<std::vector<float>>("scale");
  require<ProgramError>(scale.empty() || scale.size() == 2, "attribute 'scale' has ", scale.size(),
                        " numbers, it must be empty or have 2: height, width");
  if (scale.empty()) return 0;
  require<ProgramError>(scale[axis] > 0 && std::isfinite(scale[axis]), "attribute 'scale' holds ", scale[axis],
                        ", it must be above 0");
  return scale[axis];
}

template <class Context>
InterpolatedAxis axis_of(const Context& c, int axis, int64_t in) {
  float scale = scale_of(c, axis);
  int64_t out = c.template attr<int32_t>(axis ? "out_w" : "out_h");
  if (scale > 0) {
    float size = static_cast<float>(in) * scale;
    require<ShapeError>(in < 0 || size < 1e9f, "attribute 'scale' makes ", size, " pixels of ", in);
    out = in < 0 ? -1 : static_cast<int64_t>(size);
  } else {
    require<ProgramError>(out > 0, "attribute '", axis ? "out_w" : "out_h", "' is ", out,
                          ", without scale it must be at least 1");
  }
  require<ShapeError>(in != 0 && out != 0, "an image can't grow from ", in, " to ", out, " pixels");
  float ratio = 0;
  if (out > 1 && in > 0) {
    bool corners = c.template attr<bool>("align_corners");
    float step = scale > 0 ? 1 / scale : static_cast<float>(in) / static_cast<float>(out);
    ratio = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : step;
  }
  return {in, out, ratio};
}

template <class Context>
int rows_axis(const Context& c) { return c.template attr<std::string>("data_layout") == "NHWC" ? 1 : 2; }

Shape out_shape(const InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  Shape out = c.shape("X");
  int at = rows_axis(c);
  out[at] = axis_of(c, 0, out[at]).out;
  out[at + 1] = axis_of(c, 1, out[at + 1]).out;
  return out;
}

void infer_gradient(InferContext& c) {
  Shape out = out_shape(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), out), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", Out has ", out.str());
  c.set_output("X@GRAD", c.input("X"));
}

OpSpec with_attributes(OpSpec spec, const std::string& method) {
  return spec.attr("data_layout", "NCHW", "whether channels are axis 1 or the last", one_of({"NCHW", "NHWC"}))
      .attr("out_h", 0, "height of Out, where there is no scale")
      .attr("out_w", 0, "width of Out, where there is no scale")
      .attr("scale", std::vector<float>{}, "height and width of Out by those of X, rounded down; empty: out_h, out_w")
      .attr("interp_method", "bilinear", "the operator's name says it", one_of({"bilinear", method}))
      .attr("align_corners", true, "whether the centers of the corner pixels lie over each other")
      .attr("align_mode", 1, "without align_corners: 0 lays centers of pixels over each other, 1 their corners",
            between(0, 1));
}

}  // namespace

InterpolatedImages::InterpolatedImages(const KernelInit& init, const char* images) {
  const Shape& x = init.input(images) ? init.input(images)->tensor.shape : init.output(images)->tensor.shape;
  int at = rows_axis(init);
  outer = x.numel(0, at);
  inner = x.numel(at + 2, 4);
  height = axis_of(init, 0, x[at]);
  width = axis_of(init, 1, x[at + 1]);
  if (same_size()) height.ratio = width.ratio = 1;  // a scale of 1.1 leaves 5 pixels where they are
  align_corners = init.attr<bool>("align_corners");
  half_pixels = init.attr<int32_t>("align_mode") == 0 && !align_corners;
}

OpSpec interpolation(const std::string& method) {
  std::string type = method + "_interp_v2";
  return with_attributes(OpSpec(type), method)
      .input("X", "[images, channels, height, width], or channels last as data_layout says")
      .output("Out", "X's shape, with another height and width")
      .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, out_shape(c)); })
      .gradient(type + "_grad", {"X", "Out@GRAD"}, {"X@GRAD"});
}

OpSpec interpolation_gradient(const std::string& method) {
  return with_attributes(OpSpec(method + "_interp_v2_grad"), method)
      .input("X", "as in the forward operator; its values are not read")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X")
      .infer(infer_gradient);
}

}  // namespace paddle_mini
