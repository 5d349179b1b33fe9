// pool2d: the largest, or the mean, of every window of an image
#include "core/op_table.h"
#include "math/vec.h"
#include "math/window.h"

#include <limits>

namespace paddle_mini {
namespace {

// What one output sees of one axis: the inputs [begin, end), and how many there are with the padding.
struct Range {
  int64_t begin, end, padded;
};

std::vector<Range> ranges_of(const WindowAxis& axis, bool adaptive) {
  std::vector<Range> ranges;
  for (int64_t o = 0; o < axis.out; ++o) {
    if (adaptive) {  // parts as even as can be; they may overlap by one
      int64_t begin = o * axis.size / axis.out, end = ((o + 1) * axis.size + axis.out - 1) / axis.out;
      ranges.push_back({begin, end, end - begin});
      continue;
    }
    int64_t first = axis.first(o), last = std::min(first + axis.window, axis.size + axis.after);
    int64_t begin = std::min(std::max<int64_t>(first, 0), axis.size);
    ranges.push_back({begin, std::max(std::min(last, axis.size), begin), std::max<int64_t>(last - first, 1)});
  }
  return ranges;
}

// Both axes, height then width, from the attributes; an unknown size gives an unknown output.
template <class Context>
std::array<WindowAxis, 2> pooling_axes(const Context& c, const Shape& x) {
  auto numbers = [&c](const char* name) { return c.template attr<std::vector<int32_t>>(name); };
  WindowAttributes window;
  window.set_strides(numbers("strides"));
  window.set_paddings(numbers("paddings"));
  window.algorithm = c.template attr<std::string>("padding_algorithm");
  window.ceil_mode = c.template attr<bool>("ceil_mode");
  if (c.template attr<bool>("global_pooling")) {
    window = WindowAttributes();
    return window.axes(x[2], x[3], std::max<int64_t>(x[2], 1), std::max<int64_t>(x[3], 1));
  }
  std::vector<int32_t> size = numbers("ksize");
  require<ProgramError>(size.size() == 2, "attribute 'ksize' has ", size.size(), " numbers, 2 are needed");
  for (int32_t k : size) require<ProgramError>(k >= 1, "attribute 'ksize' holds ", k, ", it must be at least 1");
  if (!c.template attr<bool>("adaptive")) return window.axes(x[2], x[3], size[0], size[1]);
  std::array<WindowAxis, 2> axes;
  for (int i : {0, 1}) {
    axes[i].size = x[2 + i];
    axes[i].out = size[i];
  }
  return axes;
}

// Geometry of either kernel: images and channels are planes that are pooled one by one.
struct Pooling {
  int64_t planes, plane_size, width;
  std::vector<Range> rows, columns;
  bool exclusive;

  Pooling(const KernelInit& init, const Shape& x) : planes(x[0] * x[1]), plane_size(x[2] * x[3]), width(x[3]) {
    auto [height_axis, width_axis] = pooling_axes(init, x);
    bool adaptive = init.attr<bool>("adaptive") && !init.attr<bool>("global_pooling");
    rows = ranges_of(height_axis, adaptive);
    columns = ranges_of(width_axis, adaptive);
    exclusive = init.attr<bool>("exclusive");
  }

  // What a sum over the window is divided by to be its mean.
  int64_t count(const Range& row, const Range& column) const {
    int64_t inside = (row.end - row.begin) * (column.end - column.begin);
    return std::max<int64_t>(exclusive ? inside : row.padded * column.padded, 1);
  }
};

template <class T>
struct Pool2dKernel : Kernel {
  In<T> x;
  Out<T> out;
  Pooling pooling;
  bool max;

  explicit Pool2dKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), pooling(init, x.shape()), max(init.attr<std::string>("pooling_type") == "max") {}

  void run(Device&) override {
    const T* plane = x.data();
    T* to = out.data();
    for (int64_t p = 0; p < pooling.planes; ++p, plane += pooling.plane_size) {
      for (const Range& row : pooling.rows) {
        if (max) {
          for (const Range& column : pooling.columns) *to++ = largest(plane, row, column);
        } else {
          for (const Range& column : pooling.columns) *to++ = mean(plane, row, column);
        }
      }
    }
  }

  T largest(const T* plane, const Range& row, const Range& column) const {
    T best = std::numeric_limits<T>::lowest();
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = plane + i * pooling.width;
      for (int64_t j = column.begin; j < column.end; ++j) best = maximum(best, line[j]);
    }
    return best;
  }

  T mean(const T* plane, const Range& row, const Range& column) const {
    T sum = 0;
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = plane + i * pooling.width;
      for (int64_t j = column.begin; j < column.end; ++j) sum += line[j];
    }
    return sum / static_cast<T>(pooling.count(row, column));
  }
};

template <class T>
struct Pool2dGradKernel : Kernel {
  In<T> x, out, out_gradient;
  Out<T> x_gradient;
  Pooling pooling;
  bool max;

  explicit Pool2dGradKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"), pooling(init, x.shape()),
        max(init.attr<std::string>("pooling_type") == "max") {}

  void run(Device&) override {
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    int64_t at = 0;
    for (int64_t p = 0; p < pooling.planes; ++p) {
      int64_t plane = p * pooling.plane_size;
      for (const Range& row : pooling.rows) {
        for (const Range& column : pooling.columns) {
          if (max) to_largest(plane, row, column, out[at], out_gradient[at]);
          else to_all(plane, row, column, out_gradient[at] / static_cast<T>(pooling.count(row, column)));
          ++at;
        }
      }
    }
  }

  // The first element that is the largest gets all.
  void to_largest(int64_t plane, const Range& row, const Range& column, T best, T gradient) {
    for (int64_t i = row.begin; i < row.end; ++i) {
      const T* line = x.data() + plane + i * pooling.width;
      for (int64_t j = column.begin; j < column.end; ++j) {
        if (line[j] != best && line[j] == line[j]) continue;
        x_gradient[plane + i * pooling.width + j] += gradient;
        return;
      }
    }
  }

  void to_all(int64_t plane, const Range& row, const Range& column, T share) {
    for (int64_t i = row.begin; i < row.end; ++i) {
      T* line = x_gradient.data() + plane + i * pooling.width;
      for (int64_t j = column.begin; j < column.end; ++j) line[j] += share;
    }
  }
};

Shape pooled_shape(const InferContext& c) {
  require_rank(c, "X", 4);
  const Shape& x = c.shape("X");
  for (int axis : {2, 3}) require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": there is nothing to pool");
  auto [height, width] = pooling_axes(c, x);
  bool global = c.attr<bool>("global_pooling");
  return Shape{x[0], x[1], global ? 1 : height.out, global ? 1 : width.out};
}

void infer_gradient(InferContext& c) {
  Shape out = pooled_shape(c);
  for (const char* port : {"Out", "Out@GRAD"}) {
    require_same_dtype(c, "X", port);
    require<ShapeError>(shapes_agree(c.shape(port), out), port, " has shape ", c.shape(port).str(), ", X pooled has ", out.str());
  }
  gradients_like_inputs(c);
}

OpSpec& with_attributes(OpSpec& spec) {
  return spec.required_attr("pooling_type", AttrType::String, "the largest, or the mean of a window", one_of({"max", "avg"}))
      .attr("ksize", std::vector<int32_t>{1, 1}, "size of the window: height, width; with `adaptive`, of the output")
      .attr("strides", std::vector<int32_t>{1, 1}, "steps of the window: height, width")
      .attr("paddings", std::vector<int32_t>{0, 0}, "around the image: height, width; or above, below, left, right")
      .attr("padding_algorithm", "EXPLICIT", "EXPLICIT: `paddings`; SAME: as many outputs as strides begin in the image; VALID: none",
            one_of({"EXPLICIT", "SAME", "VALID"}))
      .attr("global_pooling", false, "whether the window is the whole image")
      .attr("ceil_mode", false, "whether a last window that is cut off counts")
      .attr("exclusive", true, "whether a mean leaves the padding out")
      .attr("adaptive", false, "whether ksize is the size of the output, and the windows follow from it")
      .attr("data_format", "NCHW", "channels are axis 1", one_of({"NCHW", "AnyLayout"}));
}

}  // namespace

void define_pool2d(OpTable& ops) {
  OpSpec forward("pool2d"), backward("pool2d_grad");
  forward.doc("The largest element, or the mean, of each window that moves over the two last axes of X. Padding is never the largest; "
              "NaN is.")
      .input("X", "[images, channels, height, width]")
      .output("Out", "[images, channels, output height, output width]");
  with_attributes(forward)
      .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, pooled_shape(c)); })
      .gradient("pool2d_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"})
      .kernels<Pool2dKernel, float, double>();
  backward.doc("max: the first largest element of a window gets its Out@GRAD; avg: every element of it the same part.")
      .input("X", "as in pool2d")
      .input("Out", "of pool2d")
      .input("Out@GRAD", "shape of Out")
      .output("X@GRAD", "shape of X");
  with_attributes(backward).infer(infer_gradient).kernels<Pool2dGradKernel, float, double>();
  ops.add(forward);
  ops.add(backward);
}

}  // namespace paddle_mini
