// Sizes of resized images, from the attributes of *_interp and *_interp_v2.
#include "ops/family/interpolate.h"

#include <algorithm>
#include <cmath>

#include "ops/family/tensor_attr.h"

namespace paddle_mini {
namespace {

using Floats = std::vector<float>;

const TensorAttr kSizes{"out_h", nullptr, "SizeTensor"}, kSize{"out_h", "OutSize"};

const Variable* value_at(const InferContext& c, const char* port) { return c.value(port); }
const Variable* value_at(const KernelInit& init, const char* port) { return init.input(port); }

// The spatial axes: depth (if X has 5 dimensions), height and width.
constexpr const char* kSizeAttrs[] = {"out_d", "out_h", "out_w"};
std::string names_of_last(int axes) {
  return axes == 3 ? "depth, height, width" : axes == 2 ? "height, width" : "width";
}

// The requested sizes, or else scale factors. 0: not specified.
struct Wanted {
  bool known = true;
  std::vector<int64_t> size;
  Floats scale;

  explicit Wanted(int axes) : size(static_cast<size_t>(axes), 0), scale(static_cast<size_t>(axes), 0) {}
};

// *_interp has one factor of all sizes, and none where it is 0 or less. *_interp_v2 has one for each axis, by which it
// divides positions too.
bool has_one_factor(const OpDesc& op) { return type_of(*op.attr("scale")) == AttrType::Float; }
bool has_one_factor(const std::string& type) { return type.substr(type.rfind('_')) != "_v2"; }

void set_scale(Wanted* wanted, const Floats& scale, bool one_factor) {
  if (one_factor && scale[0] <= 0) return;
  for (float factor : scale) {
    require<ProgramError>(factor > 0 && std::isfinite(factor), "'scale' holds ", factor, ", it must be above 0");
  }
  wanted->scale = scale;
}

// A single number applies to all axes.
Floats floats_of(const Tensor& tensor, int axes, bool one_factor) {
  int64_t count = tensor.shape.numel();
  require<ShapeError>(count == 1 || (count == axes && !one_factor), "Scale has ", count, " numbers, 1",
                      one_factor ? " is" : text(" or ", axes, " are"), " needed");
  const float* at = tensor.as<float>();
  return count == 1 ? Floats(static_cast<size_t>(axes), at[0]) : Floats(at, at + axes);
}

// The attribute.
template <class Context>
Floats written_factors(const Context& c, size_t axes) {
  if (has_one_factor(c.op())) return Floats(axes, c.template attr<float>("scale"));
  const Floats& written = c.template attr<Floats>("scale");
  require<ProgramError>(written.empty() || written.size() == axes, "attribute 'scale' has ", written.size(),
                        " numbers, it must be empty or have ", axes, ": ", names_of_last(static_cast<int>(axes)));
  return written;
}

// If SizeTensor is given, only it counts. Otherwise OutSize gives the sizes, and a scale still determines positions.
template <class Context>
Wanted wanted_of(const Context& c, int axes) {
  Wanted wanted(axes);
  TensorNumbers sizes = tensor_numbers(c, kSizes);
  bool listed = sizes.given, scaled = !listed && c.input_count("Scale") > 0;
  if (!listed) sizes = tensor_numbers(c, kSize);
  const Variable* scale = scaled ? value_at(c, "Scale") : nullptr;
  wanted.known = sizes.known && (!scaled || scale);
  if (!wanted.known) return wanted;
  size_t count = wanted.size.size();
  require<ShapeError>(!sizes.given || sizes.values.size() == count, listed ? "SizeTensor" : "OutSize", " has ",
                      sizes.values.size(), " numbers, it must have ", count, ": ", names_of_last(axes));
  for (size_t axis = 0; axis < count; ++axis) {
    if (sizes.given) wanted.size[axis] = sizes.values[axis];
    require<ShapeError>(!sizes.given || (wanted.size[axis] > 0 && wanted.size[axis] <= INT32_MAX), "Out would have ",
                        wanted.size[axis], " pixels along an axis");
  }
  bool one_factor = has_one_factor(c.op());
  const Floats written = written_factors(c, count);
  if (scaled) set_scale(&wanted, floats_of(scale->tensor, axes, one_factor), one_factor);
  else if (!listed && !written.empty()) set_scale(&wanted, written, one_factor);
  return wanted;
}

template <class Context>
InterpolatedAxis interpolate_axis_of(const Context& c, const Wanted& wanted, size_t axis, int64_t in) {
  float scale = wanted.scale[axis];
  const char* attr = kSizeAttrs[axis + 3 - wanted.size.size()];
  int64_t out = wanted.size[axis] > 0 ? wanted.size[axis] : c.template attr<int32_t>(attr);
  if (scale > 0 && wanted.size[axis] == 0) {
    float size = static_cast<float>(in) * scale;
    require<ShapeError>(in < 0 || size < 1e9f, "'scale' gives ", size, " pixels of ", in);
    out = in < 0 ? -1 : static_cast<int64_t>(size);
  } else {
    require<ProgramError>(out > 0, "attribute '", attr, "' is ", out, ", it must be at least 1 if there is no scale");
  }
  require<ShapeError>(in != 0 && out != 0, "an image can't be resized from ", in, " to ", out, " pixels");
  float ratio = 0;
  if (out > 1 && in > 0) {
    bool corners = c.template attr<bool>("align_corners");
    // Beside OutSize, a scale may be so small that positions would not fit into integers.
    float step = scale > 0 && !has_one_factor(c.op()) ? std::min(1 / scale, 1e9f)
                                                      : static_cast<float>(in) / static_cast<float>(out);
    ratio = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1) : step;
  }
  return {in, out, ratio};
}

template <class Context>
int first_axis(const Context& c) {
  return c.template attr<std::string>("data_layout").back() == 'C' ? 1 : 2;
}

void check_ports(const InferContext& c) {
  if (!c.has_input("Scale")) return;
  require<ShapeError>(c.input("Scale").dtype == DType::Float32, "Scale is ", name_of(c.input("Scale").dtype),
                      ", it must be float32");
}

Shape interpolate_out_shape(InferContext& c, int least_axes, int most_axes) {
  require_tensors(c);
  Shape out = c.shape("X");
  int axes = out.rank() - 2, at = first_axis(c);
  std::string wanted_rank = text(least_axes + 2, most_axes > least_axes ? text(" or ", most_axes + 2) : "");
  require<ShapeError>(axes >= least_axes && axes <= most_axes, "X has ", out.rank(), " dimensions, ", wanted_rank,
                      " are needed");
  check_ports(c);
  Wanted wanted = wanted_of(c, axes);
  if (!wanted.known) c.await_values();
  for (int axis = 0; axis < axes; ++axis) {
    out[at + axis] = wanted.known ? interpolate_axis_of(c, wanted, static_cast<size_t>(axis), out[at + axis]).out : -1;
  }
  return out;
}

}  // namespace

InterpolatedImages::InterpolatedImages(const KernelInit& init, const char* images) {
  const Shape& x = init.input(images) ? init.input(images)->tensor.shape : init.output(images)->tensor.shape;
  int at = first_axis(init), axes = x.rank() - 2;
  outer = x.numel(0, at);
  inner = x.numel(at + axes, x.rank());
  Wanted wanted = wanted_of(init, axes);
  auto axis = [&](int i) { return interpolate_axis_of(init, wanted, static_cast<size_t>(i), x[at + i]); };
  depth = axes == 3 ? axis(0) : InterpolatedAxis{1, 1, 0};
  height = axes >= 2 ? axis(axes - 2) : InterpolatedAxis{1, 1, 0};
  width = axis(axes - 1);
  if (same_size()) depth.ratio = height.ratio = width.ratio = 1;  // a scale of 1.1 does not move 5 pixels
  align_corners = init.attr<bool>("align_corners");
  half_pixels = init.attr<int32_t>("align_mode") == 0 && !align_corners;
}

const char* ratio_of(const std::string& type) {
  return has_one_factor(type) ? "ratio in / out" : "ratio 1 / scale or in / out";
}

OpSchema interpolation(const std::string& type, int least_axes, int most_axes) {
  std::string method = type.substr(0, type.find('_')), shapes;
  bool one_factor = has_one_factor(type);
  for (int axes = least_axes; axes <= most_axes; ++axes) {
    shapes += text(axes > least_axes ? " or " : "", "[images, channels, ", names_of_last(axes), "]");
  }
  OpSchema schema(type);
  schema.input("X", (shapes + ", or channels last according to data_layout").c_str())
      .output("Out", "X's shape with the new sizes of the images");
  schema = with_tensor_ports(schema, {kSize, kSizes});
  if (one_factor) {
    schema.optional_input("Scale", "one number; replaces `scale`")
        .attr("scale", 0.0f,
              "factor of the sizes; the products are rounded down; 0 or less: out_d, out_h and out_w are the sizes");
  } else {
    schema.optional_input("Scale", "one number, or one for each axis; replaces `scale`")
        .attr("scale", std::vector<float>{},
              "factors of the sizes, [depth,] height, width; the products are rounded down; empty: out_d, out_h and "
              "out_w are the sizes");
  }
  return schema
      .attr("data_layout", "NCHW",
            "whether axis 1 or the last axis has the channels; NCHW and NHWC for any number of dimensions",
            one_of({"NCHW", "NHWC", "NCDHW", "NDHWC", "NCW", "NWC"}))
      .attr("out_d", 0, "depth of Out, if X has 5 dimensions and there is no scale")
      .attr("out_h", 0, "height of Out, if there is no scale")
      .attr("out_w", 0, "width of Out, if there is no scale")
      .attr("interp_method", "bilinear", "not read: the name of the operator determines it",
            one_of({"bilinear", method}))
      .attr("align_corners", true, "whether the centers of the corner pixels of X and Out coincide")
      .attr("align_mode", 1, "without align_corners: 0 aligns the centers of pixels, 1 their corners", between(0, 1))
      .infer([=](InferContext& c) {
        c.set_output("Out", c.input("X").dtype, interpolate_out_shape(c, least_axes, most_axes));
      })
      .gradient(type + "_grad", {"X", "OutSize", "SizeTensor", "Scale", "Out@GRAD"}, {"X@GRAD"});
}

}  // namespace paddle_mini
