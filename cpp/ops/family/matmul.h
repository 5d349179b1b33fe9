// Products of matrices and batches of matrices, for all operators that compute one.
#pragma once

#include <optional>

#include "core/op_table.h"
#include "math/broadcast.h"
#include "math/cast.h"
#include "math/copy.h"
#include "math/gemm.h"

namespace paddle_mini {

// X as [batch..., m, k] and Y as [batch..., k, n], after transposing. A vector X is one row, a vector Y one column;
// transposing has no effect on them, and Out omits their axis of 1.
struct MatmulShape {
  bool transpose_x, transpose_y, x_is_vector, y_is_vector;
  int64_t m, k, n;
  Shape x_batch, y_batch, batch;

  MatmulShape(const Shape& x, const Shape& y, bool trans_x, bool trans_y)
      : x_is_vector(x.rank() == 1), y_is_vector(y.rank() == 1) {
    require<ShapeError>(x.rank() > 0 && y.rank() > 0, "X ", x.str(), " and Y ", y.str(),
                        ": matmul needs at least one dimension");
    transpose_x = trans_x && !x_is_vector;
    transpose_y = trans_y && !y_is_vector;
    int64_t x_rows = x_is_vector ? 1 : x[x.rank() - 2], x_columns = x[x.rank() - 1];
    int64_t y_rows = y_is_vector ? y[0] : y[y.rank() - 2], y_columns = y_is_vector ? 1 : y[y.rank() - 1];
    m = transpose_x ? x_columns : x_rows;
    k = transpose_x ? x_rows : x_columns;
    n = transpose_y ? y_rows : y_columns;
    int64_t y_k = transpose_y ? y_columns : y_rows;
    require<ShapeError>(dims_agree(k, y_k), "X ", x.str(), transpose_x ? " transposed" : "", " has ", k, " columns, Y ",
                        y.str(), transpose_y ? " transposed" : "", " has ", y_k,
                        " rows: inner dimensions must be equal");
    k = std::max(k, y_k);
    for (int i = 0; i < x.rank() - 2; ++i) x_batch.push_back(x[i]);
    for (int i = 0; i < y.rank() - 2; ++i) y_batch.push_back(y[i]);
    batch = broadcast_shape(x_batch, y_batch, -1);
  }

  Shape out() const {
    Shape shape = batch;
    if (!x_is_vector) shape.push_back(m);
    if (!y_is_vector) shape.push_back(n);
    return shape;
  }
};

// The products to run. If all matrices of X are multiplied with one Y, the rows of X form one tall matrix.
struct Products {
  MatmulShape shape;
  int64_t m;
  std::vector<std::pair<int64_t, int64_t>> batches;  // matrix of X, matrix of Y
  bool x_repeats, y_repeats;                         // whether one of them occurs in several products

  explicit Products(const MatmulShape& the_shape) : shape(the_shape), m(shape.m) {
    int64_t count = shape.batch.numel(), x_count = shape.x_batch.numel(), y_count = shape.y_batch.numel();
    x_repeats = x_count != count;
    y_repeats = y_count != count;
    if (y_count == 1 && !x_repeats && !shape.transpose_x) {
      m *= count;
      y_repeats = false;
      batches.emplace_back(0, 0);
      return;
    }
    for (int64_t i = 0; i < count; ++i) batches.emplace_back(matrix_of(shape.x_batch, i), matrix_of(shape.y_batch, i));
  }

  // Index of the matrix in a stack for the i-th matrix of the stack broadcast to `batch`.
  int64_t matrix_of(const Shape& stack, int64_t i) const {
    int64_t matrix = 0, step = 1;
    for (int d = stack.rank() - 1, all = shape.batch.rank() - 1; d >= 0; --d, --all) {
      if (stack[d] != 1) matrix += i % shape.batch[all] * step;
      i /= shape.batch[all];
      step *= stack[d];
    }
    return matrix;
  }

  // The constant distances between the matrices of consecutive products; false if they are not constant.
  bool even_steps(int64_t& x_step, int64_t& y_step) const {
    x_step = batches.size() > 1 ? batches[1].first - batches[0].first : 0;
    y_step = batches.size() > 1 ? batches[1].second - batches[0].second : 0;
    for (size_t i = 0; i < batches.size(); ++i) {
      auto n = static_cast<int64_t>(i);
      if (batches[i] != std::pair(n * x_step, n * y_step)) return false;
    }
    return true;
  }

  int64_t x_size() const { return m * shape.k; }
  int64_t y_size() const { return shape.k * shape.n; }
  int64_t out_size() const { return m * shape.n; }
};

// The operands of an operator: Operands::shape(init), and these members where they differ.
struct MatmulOperands {
  static constexpr const char *kY = "Y", *kYGradient = "Y@GRAD";
  static float alpha(const KernelInit&) { return 1; }
};

// Out = alpha op(X) op(Y)
template <class Operands>
struct MatmulKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, y;
    Out<T> out;
    Products products;
    Gemm<T> gemm;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, Operands::kY), out(init, "Out"), products(Operands::shape(init)) {
      const MatmulShape& s = products.shape;
      const auto alpha = static_cast<Computed<T>>(Operands::alpha(init));
      const GemmSizes<T> sizes{s.transpose_x, s.transpose_y, products.m, s.n, s.k, 0, 0, 0, alpha};
      if (y.numel() == products.y_size()) gemm = {sizes, init, Operands::kY};
      else gemm = {sizes, init.threads()};
    }

    void run(KernelContext& context) override {
      T* to = out.data();
      int64_t x_step = 0, y_step = 0;
      if (products.even_steps(x_step, y_step)) {
        return gemm.run_many(context, static_cast<int64_t>(products.batches.size()), x.data(),
                             x_step * products.x_size(), y.data(), y_step * products.y_size(), to, products.out_size());
      }
      for (auto [i, j] : products.batches) {
        gemm.run(context, x.data() + i * products.x_size(), y.data() + j * products.y_size(), to);
        to += products.out_size();
      }
    }
    bool stores_parts() const override { return Gemm<T>::kStoresParts; }
  };
};

// A gradient of matrices: the products are its matrices, or are added to them if matrices occur in several products.
template <class T>
struct MatmulGradient {
  Out<T> gradient;
  bool adds = false;
  Gemm<T> product;

  MatmulGradient(KernelInit& init, const char* port) : gradient(init, port, optional_port) {}
  void set(KernelInit& init, GemmSizes<T> sizes, bool repeats) {
    adds = repeats;
    sizes.beta = repeats ? 1 : 0;
    product = {sizes, init.threads()};
  }
  void begin(KernelContext& context) {
    if (gradient && adds) fill_n(context, gradient.data(), gradient.numel(), T(0));
  }
  // `count` products, whose operands and results are these steps apart; one at a time if they are added.
  void run(KernelContext& context, int64_t count, const T* a, int64_t step_a, const T* b, int64_t step_b, int64_t at,
           int64_t step) {
    if (gradient) product.run_many(context, count, a, step_a, b, step_b, gradient.data() + at, step);
  }
  void end(KernelContext&) {}
};

// Products of bfloat16 are added in float32.
template <>
struct MatmulGradient<BFloat16> {
  Out<BFloat16> gradient;
  bool adds = false;
  Gemm<BFloat16> product;
  BFloat16Gemm<float> sum;
  std::optional<Scratch<float>> sums;

  MatmulGradient(KernelInit& init, const char* port) : gradient(init, port, optional_port) {}
  void set(KernelInit& init, GemmSizes<BFloat16> sizes, bool repeats) {
    adds = repeats;
    product = {sizes, init.threads()};
    if (!repeats || !gradient) return;
    sizes.beta = 1;
    sum = {sizes, init.threads()};
    sums.emplace(init, gradient.numel());
  }
  void begin(KernelContext& context) {
    if (sums) fill_n(context, sums->data(), gradient.numel(), 0.0f);
  }
  void run(KernelContext& context, int64_t count, const BFloat16* a, int64_t step_a, const BFloat16* b, int64_t step_b,
           int64_t at, int64_t step) {
    if (sums) sum.run(context, a, b, sums->data() + at);
    else if (gradient) product.run_many(context, count, a, step_a, b, step_b, gradient.data() + at, step);
  }
  void end(KernelContext& context) {
    if (sums) cast_function(DType::Float32, DType::BFloat16)(context, gradient.numel(), sums->data(), gradient.data());
  }
};

// With A = op(X), B = op(Y): A@GRAD = alpha Out@GRAD B', B@GRAD = alpha A' Out@GRAD, transposed where A, B are.
template <class Operands>
struct MatmulGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> x, y, out_gradient;
    MatmulGradient<T> to_x, to_y;
    Products products;

    explicit For(KernelInit& init)
        : x(init, "X"), y(init, Operands::kY), out_gradient(init, "Out@GRAD"), to_x(init, "X@GRAD"),
          to_y(init, Operands::kYGradient), products(Operands::shape(init)) {
      const auto alpha = static_cast<Computed<T>>(Operands::alpha(init));
      bool transpose_x = products.shape.transpose_x, transpose_y = products.shape.transpose_y;
      int64_t m = products.m, k = products.shape.k, n = products.shape.n;
      to_x.set(init,
               {transpose_x && transpose_y, transpose_x || !transpose_y, transpose_x ? k : m, transpose_x ? m : k, n, 0,
                0, 0, alpha},
               products.x_repeats);
      to_y.set(init,
               {transpose_y || !transpose_x, transpose_x && transpose_y, transpose_y ? n : k, transpose_y ? k : n, m, 0,
                0, 0, alpha},
               products.y_repeats);
    }

    void run(KernelContext& context) override {
      run(context, to_x, products.shape.transpose_x, y, products.y_size(), products.x_size(), true);
      run(context, to_y, !products.shape.transpose_y, x, products.x_size(), products.y_size(), false);
    }

    // The products of Out@GRAD with the other operand, which is the left factor if `other_first`.
    void run(KernelContext& context, MatmulGradient<T>& to, bool other_first, const In<T>& other, int64_t other_size,
             int64_t to_size, bool is_x) {
      to.begin(context);
      int64_t x_step = 0, y_step = 0, all = static_cast<int64_t>(products.batches.size());
      int64_t count = products.even_steps(x_step, y_step) && !to.adds ? all : 1;
      const int64_t step = (is_x ? x_step : y_step) * to_size, other_step = (is_x ? y_step : x_step) * other_size;
      for (int64_t p = 0; p < all; p += count) {
        auto [i, j] = products.batches[static_cast<size_t>(p)];
        const T *g = out_gradient.data() + p * products.out_size(), *o = other.data() + (is_x ? j : i) * other_size;
        const int64_t at = (is_x ? i : j) * to_size, g_step = products.out_size();
        if (other_first) to.run(context, count, o, other_step, g, g_step, at, step);
        else to.run(context, count, g, g_step, o, other_step, at, step);
      }
      to.end(context);
    }
  };
};

}  // namespace paddle_mini
