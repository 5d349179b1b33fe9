// diag_v2: Out = a matrix with X on a diagonal, or the diagonal of the matrix X
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "math/fill.h"
#include "math/for_each_index.h"

namespace paddle_mini {
namespace {

// A diagonal of a matrix: `count` elements, the first at `begin`, `step` apart.
struct Diagonal {
  int64_t begin = 0, step, count;

  Diagonal(int64_t rows, int64_t columns, int64_t offset) : step(columns + 1) {
    int64_t right = std::max<int64_t>(offset, 0), down = std::max<int64_t>(-offset, 0);
    count = std::max<int64_t>(0, std::min(rows - down, columns - right));
    if (count > 0) begin = down * columns + right;
  }
};

// The shape of the matrix for an input: its own, or that of the matrix which has it on a diagonal.
Shape matrix_of(const Shape& x, int64_t offset) {
  if (x.rank() == 2) return x;
  int64_t size = x.rank() ? x[0] : 1;
  if (size >= 0) size += std::abs(offset);
  return {size, size};
}

Diagonal diagonal_of(const Shape& x, int64_t offset) {
  const Shape matrix = matrix_of(x, offset);
  return {matrix[0], matrix[1], offset};
}

// Copies with strides: to[i * to_step] = from[i * from_step]
template <class T>
struct StepCopy {
  const T* from;
  T* to;
  int64_t from_step, to_step;
  PM_HD void operator()(int64_t i) const { to[i * to_step] = from[i * from_step]; }
};

template <class T>
void copy_from_diagonal(KernelContext& context, const Diagonal& d, const T* matrix, T* to) {
  for_each_index(context, d.count, StepCopy<T>{matrix + d.begin, to, d.step, 1});
}

template <class T>
void copy_to_diagonal(KernelContext& context, const Diagonal& d, const T* from, T* matrix) {
  for_each_index(context, d.count, StepCopy<T>{from, matrix + d.begin, 1, d.step});
}

template <class T>
struct DiagKernel : Kernel {
  In<T> x;
  Out<T> out;
  Diagonal diagonal;
  T padding;

  explicit DiagKernel(KernelInit& init)
      : x(init, "X"), out(init, "Out"), diagonal(diagonal_of(x.shape(), init.attr<int32_t>("offset"))),
        padding(number_as<T>(init.attr<float>("padding_value"))) {}

  void run(KernelContext& context) override {
    if (x.shape().rank() == 2) return copy_from_diagonal(context, diagonal, x.data(), out.data());
    fill_n(context, out.data(), out.numel(), padding);
    copy_to_diagonal(context, diagonal, x.data(), out.data());
  }
};

template <class T>
struct DiagGradKernel : Kernel {
  In<T> out_gradient;
  Out<T> x_gradient;
  Diagonal diagonal;

  explicit DiagGradKernel(KernelInit& init)
      : out_gradient(init, "Out@GRAD"), x_gradient(init, "X@GRAD"),
        diagonal(diagonal_of(x_gradient.shape(), init.attr<int32_t>("offset"))) {}

  void run(KernelContext& context) override {
    if (x_gradient.shape().rank() != 2) {
      return copy_from_diagonal(context, diagonal, out_gradient.data(), x_gradient.data());
    }
    fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
    copy_to_diagonal(context, diagonal, out_gradient.data(), x_gradient.data());
  }
};

Shape diag_shape(const InferContext& c) {
  require_tensors(c);
  const Shape& x = c.shape("X");
  int64_t offset = c.attr<int32_t>("offset");
  require<ShapeError>(x.rank() <= 2, "X has shape ", x.str(), ", it must have at most two dimensions");
  if (x.rank() == 2) return x.known() ? Shape{diagonal_of(x, offset).count} : Shape{-1};
  return matrix_of(x, offset);
}

}  // namespace

void define_diag_v2(OpTable& ops) {
  ops.add(OpSchema("diag_v2")
              .doc("If X has one dimension, Out = a square matrix with X on a diagonal and padding_value elsewhere. If "
                   "X is a matrix, Out = the elements on its diagonal.")
              .input("X", "[n] or [rows, columns]; [] counts as [1]")
              .output("Out", "[n + |offset|, n + |offset|], or the length of the diagonal")
              .attr("offset", 0, "index of the diagonal: 0 for the main one, above 0 to the right of it")
              .attr("padding_value", 0.0f, "the value of Out off the diagonal")
              .infer([](InferContext& c) { c.set_output("Out", c.input("X").dtype, diag_shape(c)); })
              .gradient("diag_v2_grad", {"X", "Out@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<DiagKernel, float, double, int32_t, int64_t>());
  ops.add(linear_gradient_of(ops, "diag_v2", {{"padding_value", 0.0f}})
              .doc("X@GRAD = Out@GRAD on the diagonal, and 0 elsewhere if X is a matrix.")
              .shape_only("X")
              .attr("padding_value", 0.0f, "not read")
              .kernels<DiagGradKernel, float, double, int32_t, int64_t>());
}

}  // namespace paddle_mini
