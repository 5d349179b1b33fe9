// top_k_v2: the k largest, or smallest, elements along one axis and where they are
#include "core/op_table.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace paddle_mini {
namespace {

// X as [outer, length, inner] around the axis; rank 0 is a line of one element.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;

  Lines(const Shape& x, int32_t axis) {
    if (x.rank() == 0) return;
    int at = normal_axis(axis, x.rank(), "axis");
    outer = x.numel(0, at), length = x[at], inner = x.numel(at + 1, x.rank());
  }
};

// Whether the element at a comes before that at b: NaN counts as larger than every number, and of
// equal elements the one at the lower index comes first.
template <class T>
struct Before {
  const T* line;
  int64_t step;
  bool largest;

  bool operator()(int64_t a, int64_t b) const {
    T x = line[a * step], y = line[b * step];
    if (less(x, y)) return !largest;
    if (less(y, x)) return largest;
    return a < b;
  }
  static bool less(T x, T y) { return x < y || (y != y && x == x); }
};

template <class T>
struct TopKKernel : Kernel {
  In<T> x;
  Out<T> out;
  Out<int64_t> indices;
  Lines lines;
  int64_t k;
  bool largest;
  Scratch<int64_t> order;

  explicit TopKKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), indices(init, "Indices"), lines(x.shape(), init.attr<int32_t>("axis")),
        k(init.attr<int32_t>("k")), largest(init.attr<bool>("largest")), order(init, lines.length) {}

  void run(Device&) override {
    for (int64_t o = 0; o < lines.outer; ++o) {
      for (int64_t i = 0; i < lines.inner; ++i) {
        const T* line = x.data() + o * lines.length * lines.inner + i;
        Before<T> before{line, lines.inner, largest};
        const int64_t* best = k == 1 ? first(before) : sorted(before);
        for (int64_t j = 0; j < k; ++j) {
          int64_t at = (o * k + j) * lines.inner + i;
          out[at] = line[best[j] * lines.inner];
          indices[at] = best[j];
        }
      }
    }
  }

  const int64_t* first(const Before<T>& before) {
    int64_t best = 0;
    for (int64_t j = 1; j < lines.length; ++j) best = before(j, best) ? j : best;
    order[0] = best;
    return order.data();
  }

  const int64_t* sorted(const Before<T>& before) {
    std::iota(order.data(), order.data() + lines.length, int64_t{0});
    std::partial_sort(order.data(), order.data() + k, order.data() + lines.length, before);
    return order.data();
  }
};

template <class T>
struct TopKGradKernel : Kernel {
  In<int64_t> indices;
  In<T> out_gradient;
  Out<T> x_gradient;
  Lines lines;
  int64_t k;

  explicit TopKGradKernel(KernelInit& init)
      : indices(init, "Indices"), out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        lines(x_gradient.shape(), init.attr<int32_t>("axis")), k(init.attr<int32_t>("k")) {}

  void run(Device&) override {
    for (int64_t i = 0, n = indices.numel(); i < n; ++i) {
      require<OpError>(indices[i] >= 0 && indices[i] < lines.length, "Indices holds ", indices[i], ", but X has ",
                       lines.length, " elements along the axis");
    }
    std::fill_n(x_gradient.data(), x_gradient.numel(), T(0));
    for (int64_t o = 0; o < lines.outer; ++o) {
      for (int64_t j = 0; j < k; ++j) {
        for (int64_t i = 0; i < lines.inner; ++i) {
          int64_t from = (o * k + j) * lines.inner + i;
          x_gradient[(o * lines.length + indices[from]) * lines.inner + i] += out_gradient[from];
        }
      }
    }
  }
};

Shape top_shape(const InferContext& c) {
  Shape out = c.shape("X");
  int32_t k = c.attr<int32_t>("k"), axis = c.attr<int32_t>("axis");
  if (out.rank() == 0) {
    require<ShapeError>(axis == 0 || axis == -1, "axis is ", axis, ", but X has no dimensions");
    require<ShapeError>(k == 1, "k is ", k, ", but X has one element");
    return out;
  }
  int at = normal_axis(axis, out.rank(), "axis");
  require<ShapeError>(out[at] < 0 || k <= out[at], "k is ", k, ", but X ", out.str(), " has only ", out[at],
                      " elements along axis ", at);
  out[at] = k;
  return out;
}

void infer_top_k_grad(InferContext& c) {
  Shape out = top_shape(c);
  require<ShapeError>(c.input("Indices").dtype == DType::Int64, "Indices is ", name_of(c.input("Indices").dtype),
                      ", it must be int64");
  require_same_dtype(c, "X", "Out@GRAD");
  for (const char* port : {"Indices", "Out@GRAD"}) {
    require<ShapeError>(shapes_agree(c.shape(port), out), port, " has shape ", c.shape(port).str(),
                        ", the best of X have ", out.str());
  }
  c.set_output("X@GRAD", c.input("X"));
}

}  // namespace

void define_top_k_v2(OpTable& ops) {
  ops.add(OpSpec("top_k_v2")
              .doc("Out: the k largest elements of X along one axis, the largest first, and Indices: where they are. "
                   "With largest false, the k smallest, the smallest first. Of equal elements that at the lower index "
                   "comes first.")
              .input("X", "any shape with at least k elements along the axis")
              .output("Out", "shape of X with k elements along the axis")
              .output("Indices", "shape of Out, int64")
              .attr("k", 1, "how many", at_least(1))
              .attr("axis", -1, "the axis; negative: from the end")
              .attr("largest", true, "whether the largest, or else the smallest, are taken")
              .attr("sorted", true, "whether they must be in order; they always are")
              .infer([](InferContext& c) {
                Shape out = top_shape(c);
                c.set_output("Out", c.input("X").dtype, out);
                c.set_output("Indices", DType::Int64, out);
              })
              .gradient("top_k_v2_grad", {"X", "Indices", "Out@GRAD"}, {"X@GRAD"})
              .kernels<TopKKernel, float, double, int32_t, int64_t>());
  ops.add(OpSpec("top_k_v2_grad")
              .doc("X@GRAD is Out@GRAD at Indices and 0 elsewhere.")
              .input("X", "as in top_k_v2; its values are not read")
              .input("Indices", "of top_k_v2")
              .input("Out@GRAD", "shape of Out")
              .output("X@GRAD", "shape of X")
              .attr("k", 1, "as in top_k_v2", at_least(1))
              .attr("axis", -1, "as in top_k_v2")
              .attr("largest", true, "as in top_k_v2")
              .attr("sorted", true, "as in top_k_v2")
              .infer(infer_top_k_grad)
              .checks_data()
              .kernels<TopKGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
