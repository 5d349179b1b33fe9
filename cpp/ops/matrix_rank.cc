// matrix_rank: Out = the number of singular values above a tolerance
#include <limits>

#include "math/broadcast.h"
#include "math/cpu/eigenvalues.h"
#include "math/cpu/singular_values.h"
#include "ops/family/matrices.h"

namespace paddle_mini {
namespace {

template <class T>
struct MatrixRankKernel : Kernel {
  In<T> x, tolerances;
  Out<int32_t> out;
  Matrices matrices;
  bool hermitian, relative;
  T tolerance;
  std::vector<int64_t> x_items, tolerance_items;  // for each element of Out
  int64_t k;
  Scratch<T> values;

  explicit MatrixRankKernel(KernelInit& init)
      : x(init, "X"), tolerances(init, "TolTensor", optional_port), out(init, "Out"), matrices(x.shape()),
        hermitian(init.attr<bool>("hermitian")), relative(init.attr<bool>("use_default_tol")),
        tolerance(relative ? T(0) : static_cast<T>(init.attr<float>("tol"))),
        x_items(broadcast_items(batch_of(x.shape()), out.shape())), k(std::min(matrices.rows, matrices.columns)),
        values(init, matrices.count * k) {
    if (tolerances) tolerance_items = broadcast_items(tolerances.shape(), out.shape());
  }

  void run(KernelContext& context) override {
    require_each(context, matrices, "X", "has no rank: it has elements that are not finite", [&](int64_t i) {
      const T* matrix = x.data() + i * matrices.size();
      T* to = values.data() + i * k;
      if (!hermitian)
        return singular_decomposition<T>(matrix, matrices.rows, matrices.columns, false, nullptr, to, nullptr);
      std::vector<T> vectors(static_cast<size_t>(k * k));
      bool found = symmetric_eigen(matrix, k, false, to, vectors.data());
      for (int64_t n = 0; found && n < k; ++n) to[n] = std::abs(to[n]);
      return found;
    });
    for (size_t i = 0; i < x_items.size(); ++i) {
      const T *begin = values.data() + x_items[i] * k, *end = begin + k;
      T least = tolerances ? tolerances[tolerance_items[i]] : tolerance;
      if (relative && k > 0) {
        T share = std::numeric_limits<T>::epsilon() * static_cast<T>(std::max(matrices.rows, matrices.columns));
        least = std::max(least, share * *std::max_element(begin, end));
      }
      out[static_cast<int64_t>(i)] =
          static_cast<int32_t>(std::count_if(begin, end, [=](T value) { return value > least; }));
    }
  }
};

void infer_matrix_rank(InferContext& c) {
  require_tensors(c);
  if (c.attr<bool>("hermitian")) require_square(c, "X");
  else require_matrices(c, "X");
  Shape shape = batch_of(c.shape("X"));
  if (c.has_input("TolTensor")) {
    require_same_dtype(c, "X", "TolTensor");
    shape = broadcast_shape(shape, c.shape("TolTensor"), -1);
  }
  c.set_output("Out", DType::Int32, shape);
}

}  // namespace

void define_matrix_rank(OpTable& ops) {
  ops.add(
      OpSchema("matrix_rank")
          .doc("Out = the number of singular values of each matrix of X that are greater than a tolerance; with "
               "`hermitian` of absolute eigenvalues, for which only the lower triangle is read.")
          .input("X", "[..., m, n]; square with `hermitian`")
          .optional_input("TolTensor", "tolerances in place of `tol`, broadcast with the axes before the matrices")
          .output("Out", "int32, the axes before the matrices, broadcast with TolTensor")
          .attr("tol", 0.0f, "the tolerance, unless use_default_tol is set")
          .attr("hermitian", false, "whether the matrices are symmetric")
          .attr(
              "use_default_tol", true,
              "the tolerance is at least max(m, n) times the largest value, times the distance of 1 to the next number")
          .infer(infer_matrix_rank)
          .no_gradient("the rank is an integer")
          .checks_data()
          .cpu_only("its decomposition is a sequence of small steps")
          .kernels<MatrixRankKernel, float, double>());
}

}  // namespace paddle_mini
