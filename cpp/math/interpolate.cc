// Sizes of images that change, as the attributes of *_interp_v2 say.
#include "math/interpolate.h"

#include <cmath>

#include "math/tensor_attr.h"

namespace paddle_mini {
namespace {

using Floats = std::vector<float>;

const TensorAttr kSizes{"out_h", nullptr, "SizeTensor"}, kSize{"out_h", "OutSize"};

const Variable* value_at(const InferContext& c, const char* port) { return c.value(port); }
const Variable* value_at(const KernelInit& init, const char* port) { return init.input(port); }

// What is asked of both axes, height and width: sizes, or else factors. 0: not said.
struct Wanted {
  bool known = true;
  int64_t size[2] = {0, 0};
  float scale[2] = {0, 0};
};

void set_scale(Wanted* wanted, const Floats& scale) {
  for (int axis : {0, 1}) {
    wanted->scale[axis] = scale[static_cast<size_t>(axis)];
    require<ProgramError>(wanted->scale[axis] > 0 && std::isfinite(wanted->scale[axis]), "'scale' holds ",
                          wanted->scale[axis], ", it must be above 0");
  }
}

// A tensor of one number is about both axes.
Floats floats_of(const Tensor& tensor) {
  int64_t count = tensor.shape.numel();
  require<ShapeError>(count == 1 || count == 2, "Scale has ", count, " numbers, 1 or 2 are needed");
  const float* at = tensor.as<float>();
  return {at[0], at[count - 1]};
}

// SizeTensor alone says the sizes; else OutSize does, beside a scale that pixels are laid out by.
template <class Context>
Wanted wanted_of(const Context& c) {
  Wanted wanted;
  TensorNumbers sizes = tensor_numbers(c, kSizes);
  bool listed = sizes.given, scaled = !listed && c.input_count("Scale") > 0;
  if (!listed) sizes = tensor_numbers(c, kSize);
  const Variable* scale = scaled ? value_at(c, "Scale") : nullptr;
  wanted.known = sizes.known && (!scaled || scale);
  if (!wanted.known) return wanted;
  require<ShapeError>(!sizes.given || sizes.values.size() == 2, listed ? "SizeTensor" : "OutSize", " has ",
                      sizes.values.size(), " numbers, it must have 2: height, width");
  for (size_t axis : {0, 1}) {
    if (sizes.given) wanted.size[axis] = sizes.values[axis];
    require<ShapeError>(!sizes.given || (wanted.size[axis] > 0 && wanted.size[axis] <= INT32_MAX), "Out would have ",
                        wanted.size[axis], " pixels along an axis");
  }
  const Floats& written = c.template attr<Floats>("scale");
  require<ProgramError>(written.empty() || written.size() == 2, "attribute 'scale' has ", written.size(),
                        " numbers, it must be empty or have 2: height, width");
  if (scaled) set_scale(&wanted, floats_of(scale->tensor));
  else if (!listed && !written.empty()) set_scale(&wanted, written);
  return wanted;
}

template <class Context>
InterpolatedAxis interpolate_axis_of(const Context& c, const Wanted& wanted, int axis, int64_t in) {
  float scale = wanted.scale[axis];
  int64_t out = wanted.size[axis] > 0 ? wanted.size[axis] : c.template attr<int32_t>(axis ? "out_w" : "out_h");
  if (scale > 0 && wanted.size[axis] == 0) {
    float size = static_cast<float>(in) * scale;
    require<ShapeError>(in < 0 || size < 1e9f, "'scale' makes ", size, " pixels of ", in);
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

void check_ports(const InferContext& c) {
  if (!c.has_input("Scale")) return;
  require<ShapeError>(c.input("Scale").dtype == DType::Float32, "Scale is ", name_of(c.input("Scale").dtype),
                      ", it must be float32");
}

Shape interpolate_out_shape(InferContext& c) {
  require_tensors(c);
  require_rank(c, "X", 4);
  Shape out = c.shape("X");
  check_ports(c);
  int at = rows_axis(c);
  Wanted wanted = wanted_of(c);
  if (!wanted.known) c.await_values();
  for (int axis : {0, 1}) out[at + axis] = wanted.known ? interpolate_axis_of(c, wanted, axis, out[at + axis]).out : -1;
  return out;
}

void interpolate_infer_gradient(InferContext& c) {
  Shape out = interpolate_out_shape(c);
  require_same_dtype(c, "X", "Out@GRAD");
  require<ShapeError>(shapes_agree(c.shape("Out@GRAD"), out), "Out@GRAD has shape ", c.shape("Out@GRAD").str(),
                      ", Out has ", out.str());
  c.set_output("X@GRAD", c.input("X"));
}

OpSpec interpolate_with_attributes(OpSpec spec, const std::string& method) {
  return with_tensor_ports(std::move(spec), {kSize, kSizes})
      .optional_input("Scale", "one number, or one for each axis: used instead of `scale`")
      .attr("data_layout", "NCHW", "whether channels are axis 1 or the last", one_of({"NCHW", "NHWC"}))
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
  Wanted wanted = wanted_of(init);
  height = interpolate_axis_of(init, wanted, 0, x[at]);
  width = interpolate_axis_of(init, wanted, 1, x[at + 1]);
  if (same_size()) height.ratio = width.ratio = 1;  // a scale of 1.1 leaves 5 pixels where they are
  align_corners = init.attr<bool>("align_corners");
  half_pixels = init.attr<int32_t>("align_mode") == 0 && !align_corners;
}

OpSpec interpolation(const std::string& method) {
  std::string type = method + "_interp_v2";
  OpSpec spec(type);
  spec.input("X", "[images, channels, height, width], or channels last as data_layout says")
      .output("Out", "X's shape, with another height and width");
  return interpolate_with_attributes(spec, method)
      .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, interpolate_out_shape(c)); })
      .gradient(type + "_grad", {"X", "OutSize", "SizeTensor", "Scale", "Out@GRAD"}, {"X@GRAD"});
}

OpSpec interpolation_gradient(const std::string& method) {
  OpSpec spec(method + "_interp_v2_grad");
  spec.input("X", "as in the forward operator; its values are not read")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X");
  return interpolate_with_attributes(spec, method)
      .infer(interpolate_infer_gradient);
}

}  // namespace paddle_mini
