// One element of each line along an axis, and its position: kthvalue and mode.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/op_table.h"
#include "core/parallel.h"
#include "math/axis_lines.h"

namespace paddle_mini {

// Compares positions in a line by the elements, NaN last, and equal elements by the positions.
template <class T>
struct LineOrder {
  const T* line;
  int64_t step;
  bool operator()(int64_t a, int64_t b) const {
    T left = line[a * step], right = line[b * step];
    if (left < right || right < left) return left < right;
    bool left_none = left != left, right_none = right != right;
    return left_none != right_none ? right_none : a < b;
  }
};

// Rule(init).choose(order, positions, length) returns the position of the element, and may change the order of the
// positions 0, ..., length - 1.
template <class Rule>
struct LineChoiceKernel {
  template <class T>
  struct For : Kernel {
    In<T> x;
    Out<T> out;
    Out<int64_t> indices;
    AxisLines lines;
    Rule rule;
    LaneScratch<int64_t> positions;

    explicit For(KernelInit& init)
        : x(init, "X"), out(init, "Out"), indices(init, "Indices"), lines(x.shape(), init.attr<int32_t>("axis")),
          rule(init), positions(init, lines.length) {}

    void run(KernelContext& context) override {
      constexpr double kCost = 20;  // nanoseconds to sort one element
      const LoopSize size{lines.count(), kCost * static_cast<double>(lines.length)};
      parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
        int64_t* order = positions.data(lane);
        for (int64_t line = begin; line < end; ++line) {
          const T* first = x.data() + lines.begin_of(line);
          std::iota(order, order + lines.length, int64_t{0});
          int64_t found = rule.choose(LineOrder<T>{first, lines.inner}, order, lines.length);
          out[line] = first[found * lines.inner];
          indices[line] = found;
        }
      });
    }
  };
};

// X@GRAD = Out@GRAD at the chosen elements, 0 elsewhere
template <class T>
struct LineChoiceGradKernel : Kernel {
  In<int64_t> indices;
  In<T> out_gradient;
  Out<T> x_gradient;
  AxisLines lines;

  explicit LineChoiceGradKernel(KernelInit& init)
      : indices(init, "Indices"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        lines(x_gradient.shape(), init.attr<int32_t>("axis")) {}

  void run(KernelContext&) override {
    for (int64_t line = 0; line < lines.count(); ++line) {
      require<OpError>(indices[line] >= 0 && indices[line] < lines.length, "Indices holds ", indices[line],
                       ", but X has ", lines.length, " elements along the axis");
    }
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t line = 0; line < lines.count(); ++line) {
      x_gradient[lines.begin_of(line) + indices[line] * lines.inner] = out_gradient[line];
    }
  }
};

inline Shape chosen_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  check_axis(x, c.attr<int32_t>("axis"));
  if (x.rank() == 0) return x;
  int axis = normal_axis(c.attr<int32_t>("axis"), x.rank(), "axis");
  require<ShapeError>(x[axis] != 0, "X has shape ", x.str(), ": it has no elements along axis ", axis);
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) out.push_back(x[i]);
    else if (c.attr<bool>("keepdim")) out.push_back(1);
  }
  return out;
}

// A schema without doc, infer and kernels.
inline OpSchema line_choice(const std::string& type) {
  return OpSchema(type)
      .input("X", "any shape")
      .output("Out", "X's shape without the axis, or with 1 there")
      .output("Indices", "shape of Out: the positions along the axis, int64")
      .attr("axis", -1, "the axis; negative ones count from the end")
      .attr("keepdim", false, "whether Out keeps the axis, with one element")
      .gradient(type + "_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
      .cpu_only("each line is sorted in part; argsort runs on a GPU");
}

inline OpSchema line_choice_gradient(const OpTable& ops, const std::string& type) {
  return ops.gradient_of(type)
      .doc("X@GRAD = Out@GRAD at the positions in Indices, 0 elsewhere.")
      .shape_only("X")
      .infer([](InferContext& c) {
        Shape out = chosen_shape(c);
        for (const char* port : {"Indices", "Out@GRAD"}) {
          require<ShapeError>(shapes_agree(c.shape(port), out), port, " has shape ", c.shape(port).str(), ", Out has ",
                              out.str());
        }
        require_same_dtype(c, "X", "Out@GRAD");
        gradients_like_inputs(c);
      })
      .checks_data()
      .dtype_from_input("Out@GRAD")
      .kernels<LineChoiceGradKernel, float, double, int32_t, int64_t>();
}

}  // namespace paddle_mini
