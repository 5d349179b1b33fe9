// tril_triu: Out = X with 0 above or below a diagonal of its matrices
#include "core/op_table.h"

#ifdef PM_GPU
#include "math/for_each_index.h"
#include "math/take_last.h"
#endif

#include <algorithm>

namespace paddle_mini {
namespace {

#ifdef PM_GPU
template <class T>
struct Triangle {
  const T* in;
  T* out;
  int64_t rows, columns, diagonal;
  bool lower;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, column = take_last(left, columns), beyond = column - take_last(left, rows) - diagonal;
    out[i] = (lower ? beyond <= 0 : beyond >= 0) ? in[i] : T(0);
  }
};
#endif

template <bool backward>
struct TrilTriuKernel {
  template <class T>
  struct For : Kernel {
    In<T> in;
    Out<T> out;
    int64_t matrices, rows, columns, diagonal;
    bool lower;

    explicit For(KernelInit& init)
        : in(init, backward ? "Out@GRAD" : "X"), out(init, backward ? "X@GRAD" : "Out"),
          diagonal(init.attr<int32_t>("diagonal")), lower(init.attr<bool>("lower")) {
      const Shape& shape = in.shape();
      int rank = shape.rank();
      matrices = shape.numel(0, rank - 2), rows = shape[rank - 2], columns = shape[rank - 1];
    }

#ifdef PM_GPU
    void run(Device& device) override {
      for_each_index(device, in.numel(), Triangle<T>{in.data(), out.data(), rows, columns, diagonal, lower});
    }
#else
    void run(Device&) override {
      const T* from = in.data();
      T* to = out.data();
      for (int64_t m = 0; m < matrices; ++m) {
        for (int64_t i = 0; i < rows; ++i, from += columns, to += columns) {
          // The first column that is kept, and the one after the last.
          int64_t split = std::clamp<int64_t>(i + diagonal + (lower ? 1 : 0), 0, columns);
          int64_t begin = lower ? 0 : split, end = lower ? split : columns;
          std::fill(to, to + begin, T(0));
          if (to != from) std::copy(from + begin, from + end, to + begin);
          std::fill(to + end, to + columns, T(0));
        }
      }
    }
#endif
  };
};

void infer_like(InferContext& c, const char* from, const char* to) {
  require_tensors(c);
  require<ShapeError>(c.shape(from).rank() >= 2, from, " has shape ", c.shape(from).str(),
                      ", at least two dimensions are needed");
  c.set_output(to, c.input(from));
}

}  // namespace

void define_tril_triu(OpTable& ops) {
  ops.add(OpSpec("tril_triu")
              .doc("Out = X with 0 above the diagonal of each matrix, the last two axes (lower), or below it.")
              .input("X", "at least two dimensions")
              .output("Out", "shape of X")
              .attr("diagonal", 0, "which diagonal: 0 the main one, above 0 to the right of it")
              .attr("lower", false, "whether what is at and below the diagonal stays, or else at and above")
              .infer([](InferContext& c) { infer_like(c, "X", "Out"); })
              .gradient("tril_triu_grad", {"Out@GRAD"}, {"X@GRAD"})
              .in_place("X", "Out")
              .on_gpu()
              .kernels<TrilTriuKernel<false>::For, float, double, int32_t, int64_t, bool>());
  ops.add(ops.gradient_of("tril_triu")
              .doc("X@GRAD = Out@GRAD with 0 where X was left out.")
              .infer([](InferContext& c) { infer_like(c, "Out@GRAD", "X@GRAD"); })
              .in_place("Out@GRAD", "X@GRAD")
              .kernels<TrilTriuKernel<true>::For, float, double, int32_t, int64_t, bool>());
}

}  // namespace paddle_mini
