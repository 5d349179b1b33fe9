// spectral_norm: Out = Weight / its largest singular value, estimated by power iteration
#include <cmath>

#include "core/interruption.h"
#include "core/op_table.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

// A tensor as a matrix whose rows are the slices along axis `dim`: element (row, column) is at
// (column / inner * rows + row) * inner + column % inner.
struct SlicedMatrix {
  int64_t rows, columns, inner;

  SlicedMatrix(const Shape& shape, int64_t dim)
      : rows(shape[static_cast<int>(dim)]), columns(rows == 0 ? 0 : shape.numel() / rows),
        inner(shape.numel(static_cast<int>(dim) + 1, shape.rank())) {}
  int64_t at(int64_t row, int64_t column) const { return (column / inner * rows + row) * inner + column % inner; }
};

// The left and right singular vectors of the largest singular value, and this value, after some iterations.
template <class T>
struct PowerIteration {
  SlicedMatrix matrix;
  int iterations;
  T epsilon;

  explicit PowerIteration(const KernelInit& init)
      : matrix(init.input("Weight")->tensor.shape, init.attr<int32_t>("dim")),
        iterations(init.attr<int32_t>("power_iters")), epsilon(static_cast<T>(init.attr<float>("eps"))) {}

  // u and v hold the start.
  T run(KernelContext& context, const T* weight, std::vector<T>& u, std::vector<T>& v) const {
    for (int i = 0; i < iterations; ++i) {
      poll_interruption();  // the loops of a small matrix do not
      multiply_by_rows(context, weight, u, v);
      normalize(v);
      multiply_by_columns(context, weight, v, u);
      normalize(u);
    }
    std::vector<T> image(u.size());
    multiply_by_columns(context, weight, v, image);
    T value = 0;
    for (size_t i = 0; i < u.size(); ++i) value += u[i] * image[i];
    return value;
  }

  LoopSize loop(int64_t items, int64_t length) const { return {items, flops_cost(2 * static_cast<double>(length))}; }

  void multiply_by_rows(KernelContext& context, const T* weight, const std::vector<T>& u, std::vector<T>& v) const {
    each_item(context, loop(matrix.columns, matrix.rows), [&](int64_t column) {
      T sum = 0;
      for (int64_t row = 0; row < matrix.rows; ++row)
        sum += weight[matrix.at(row, column)] * u[static_cast<size_t>(row)];
      v[static_cast<size_t>(column)] = sum;
    });
  }
  void multiply_by_columns(KernelContext& context, const T* weight, const std::vector<T>& v, std::vector<T>& u) const {
    each_item(context, loop(matrix.rows, matrix.columns), [&](int64_t row) {
      T sum = 0;
      for (int64_t column = 0; column < matrix.columns; ++column) {
        sum += weight[matrix.at(row, column)] * v[static_cast<size_t>(column)];
      }
      u[static_cast<size_t>(row)] = sum;
    });
  }
  void normalize(std::vector<T>& vector) const {
    T squares = 0;
    for (T value : vector) squares += value * value;
    T scale = T(1) / (std::sqrt(squares) + epsilon);
    for (T& value : vector) value *= scale;
  }
};

template <class T>
std::vector<T> copied(const In<T>& from) {
  return {from.data(), from.data() + from.numel()};
}

template <class T>
struct SpectralNormKernel : Kernel {
  In<T> weight, u, v;
  Out<T> out;
  PowerIteration<T> iteration;

  explicit SpectralNormKernel(KernelInit& init)
      : weight(init, "Weight"), u(init, "U"), v(init, "V"), out(init, "Out"), iteration(init) {}

  void run(KernelContext& context) override {
    std::vector<T> left = copied(u), right = copied(v);
    T norm = iteration.run(context, weight.data(), left, right);
    for (int64_t i = 0; i < out.numel(); ++i) out[i] = weight[i] / norm;
  }
};

// The vectors count as constants.
template <class T>
struct SpectralNormGradKernel : Kernel {
  In<T> weight, u, v, out_gradient;
  Out<T> weight_gradient;
  PowerIteration<T> iteration;

  explicit SpectralNormGradKernel(KernelInit& init)
      : weight(init, "Weight"), u(init, "U"), v(init, "V"), out_gradient(init, "Out@GRAD"),
        weight_gradient(init, "Weight@GRAD"), iteration(init) {}

  void run(KernelContext& context) override {
    std::vector<T> left = copied(u), right = copied(v);
    T norm = iteration.run(context, weight.data(), left, right), product = 0;
    for (int64_t i = 0; i < weight.numel(); ++i) product += out_gradient[i] * weight[i];
    product /= norm;
    const SlicedMatrix& m = iteration.matrix;
    for (int64_t column = 0; column < m.columns; ++column) {
      for (int64_t row = 0; row < m.rows; ++row) {
        int64_t at = m.at(row, column);
        T slope = left[static_cast<size_t>(row)] * right[static_cast<size_t>(column)];
        weight_gradient[at] = (out_gradient[at] - product * slope) / norm;
      }
    }
  }
};

void check_spectral_norm(const InferContext& c) {
  require_tensors(c);
  const Shape& weight = c.shape("Weight");
  int64_t dim = c.attr<int32_t>("dim");
  require<ShapeError>(weight.rank() >= 2, "Weight has shape ", weight.str(), ", it must have at least 2 dimensions");
  require<ProgramError>(dim < weight.rank(), "attribute 'dim' is ", dim, ", it must be below ", weight.rank(),
                        ", the dimensions of Weight");
  int axis = static_cast<int>(dim);
  int64_t rows = weight[axis], columns = 1;
  for (int i = 0; i < weight.rank(); ++i) {
    if (i != axis) columns = columns < 0 || weight[i] < 0 ? -1 : columns * weight[i];
  }
  for (auto [port, size] : {std::pair("U", rows), std::pair("V", columns)}) {
    require_same_dtype(c, "Weight", port);
    require<ShapeError>(shapes_agree(c.shape(port), Shape{size}), port, " has shape ", c.shape(port).str(),
                        ", with Weight ", weight.str(), " and dim ", dim, " it must be [", size, "]");
  }
}

}  // namespace

void define_spectral_norm(OpTable& ops) {
  ops.add(OpSchema("spectral_norm")
              .doc("Out = Weight / (U^T W V), where W has the slices of Weight along axis `dim` in its rows, after "
                   "power_iters "
                   "times V = W^T U and U = W V, each divided by its norm. Miyato et al., Spectral Normalization for "
                   "Generative Adversarial Networks, ICLR 2018. As in PaddlePaddle U and V stay as they were.")
              .input("Weight", "any shape of at least 2 dimensions")
              .input("U", "[size of axis dim]")
              .input("V", "[elements of a slice]")
              .output("Out", "shape of Weight")
              .attr("dim", 0, "the axis of the output channels", at_least(0))
              .attr("power_iters", 1, "iterations", at_least(0))
              .attr("eps", 1e-12f, "is added to norms")
              .infer([](InferContext& c) {
                check_spectral_norm(c);
                c.set_output("Out", c.input("Weight"));
              })
              .gradient("spectral_norm_grad", {"Weight", "U", "V", "Out@GRAD"}, {"Weight@GRAD"})
              .cpu_only("its sums are of one small matrix")
              .kernels<SpectralNormKernel, float, double>());
  ops.add(
      ops.gradient_of("spectral_norm")
          .doc("Weight@GRAD = (Out@GRAD - sum(Out@GRAD Out) U V^T) / (U^T W V), with the U and V of the iterations as "
               "constants.")
          .infer([](InferContext& c) {
            check_spectral_norm(c);
            require_same_dtype(c, "Weight", "Out@GRAD");
            require_same_shape(c, "Weight", "Out@GRAD");
            c.set_output("Weight@GRAD", c.input("Weight"));
          })
          .kernels<SpectralNormGradKernel, float, double>());
}

}  // namespace paddle_mini
