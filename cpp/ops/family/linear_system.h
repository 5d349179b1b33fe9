// Operators that solve X Out = Y for batches of matrices that are broadcast: solve, triangular_solve, cholesky_solve.
#pragma once

#include "math/cpu/matrix_functions.h"
#include "ops/family/matrices.h"

namespace paddle_mini {

// The shapes of a batch of systems. Y may hold vectors, where the operator accepts them: [n], or X's shape without its last
// axis.
struct SystemShapes {
  Shape batch, out;
  int64_t n = 0, columns = 1;
  std::vector<int64_t> x_items, y_items;  // for each system, once all sizes are known: its matrix in X, and in Y

  SystemShapes(const Shape& x, const Shape& y, bool takes_vectors);
  int64_t count() const { return static_cast<int64_t>(x_items.size()); }
  LoopSize loop() const {
    auto size = static_cast<double>(n);
    return {count(), 200 + flops_cost(2 * size * size * (size + static_cast<double>(columns)))};
  }
};

SystemShapes checked_system(const InferContext& c, bool takes_vectors);

// `System` names the ports of the matrices and of the right sides, solves one system, solve(x, shapes, y, transposed, out), false
// if it is singular, and has the gradient of x from x, the gradient of y and the solution.
template <class System>
struct SystemKernel {
  template <class T>
  struct For : Kernel {
    static constexpr const char* kMatrices = System::kMatrices;
    In<T> x, y;
    Out<T> out;
    SystemShapes shapes;
    System system;
    Scratch<T> solutions;  // because a singular matrix is refused before anything is written

    explicit For(KernelInit& init)
        : x(init, System::kMatrices), y(init, System::kSides), out(init, "Out"),
          shapes(x.shape(), y.shape(), System::kTakesVectors), system(init), solutions(init, out.numel()) {}

    void run(KernelContext& context) override {
      solve_each(context, *this, y.data(), shapes.y_items, false, solutions.data());
      std::copy_n(solutions.data(), out.numel(), out.data());
    }
  };
};

// Solves each system with its own right side, into `to`, or throws the error of the first singular matrix.
template <class K, class T>
void solve_each(KernelContext& context, const K& kernel, const T* right, const std::vector<int64_t>& items,
                bool transposed, T* to) {
  const SystemShapes& shapes = kernel.shapes;
  int64_t n = shapes.n, size = n * shapes.columns;
  std::vector<char> solved(static_cast<size_t>(shapes.count()));
  each_item(context, shapes.loop(), [&](int64_t i) {
    auto at = static_cast<size_t>(i);
    const T* matrix = kernel.x.data() + shapes.x_items[at] * n * n;
    const T* right_side = right + (items.empty() ? i : items[at]) * size;
    solved[at] = kernel.system.solve(matrix, shapes, right_side, transposed, to + i * size);
  });
  for (size_t i = 0; i < solved.size(); ++i) {
    require<OpError>(solved[i], "matrix ", shapes.x_items[i], " of ", K::kMatrices,
                     " is singular, the system has no solution");
  }
}

// Adds item after item to the elements that they were broadcast from.
template <class T>
void add_items(const T* from, const std::vector<int64_t>& items, int64_t size, const Out<T>& to) {
  std::fill_n(to.data(), to.numel(), T(0));
  for (size_t i = 0; i < items.size(); ++i) {
    for (int64_t k = 0; k < size; ++k) to[items[i] * size + k] += from[static_cast<int64_t>(i) * size + k];
  }
}

template <class System>
struct SystemGradKernel {
  template <class T>
  struct For : Kernel {
    static constexpr const char* kMatrices = System::kMatrices;
    In<T> x, y, out, out_gradient;
    Out<T> x_gradient, y_gradient;
    SystemShapes shapes;
    System system;
    Scratch<T> to_y, to_x;  // the gradients of each system

    explicit For(KernelInit& init)
        : x(init, System::kMatrices), y(init, System::kSides), out(init, "Out"), out_gradient(init, "Out@GRAD"),
          x_gradient(init, (std::string(System::kMatrices) + "@GRAD").c_str(), optional_port),
          y_gradient(init, (std::string(System::kSides) + "@GRAD").c_str(), optional_port),
          shapes(x.shape(), y.shape(), System::kTakesVectors), system(init), to_y(init, out.numel()),
          to_x(init, x_gradient ? shapes.count() * shapes.n * shapes.n : 0) {}

    void run(KernelContext& context) override {
      int64_t n = shapes.n, size = n * shapes.columns;
      solve_each(context, *this, out_gradient.data(), {}, true, to_y.data());
      if (x_gradient) {
        each_item(context, shapes.loop(), [&](int64_t i) {
          system.x_gradient(x.data() + shapes.x_items[static_cast<size_t>(i)] * n * n, shapes, to_y.data() + i * size,
                            out.data() + i * size, to_x.data() + i * n * n);
        });
        add_items(to_x.data(), shapes.x_items, n * n, x_gradient);
      }
      if (y_gradient) add_items(to_y.data(), shapes.y_items, size, y_gradient);
    }
  };
};

// Schemas without doc, attributes and kernels.
OpSchema linear_system(const char* type, bool takes_vectors);
OpSchema linear_system_gradient(const OpTable& ops, const std::string& forward, bool takes_vectors);

}  // namespace paddle_mini
