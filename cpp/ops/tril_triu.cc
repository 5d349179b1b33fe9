// tril_triu: Out = X with the elements above or below a diagonal of its matrices set to 0
#include "core/op_table.h"
#include "core/second_gradient.h"
#include "ops/family/of_complex.h"

#include <algorithm>

namespace paddle_mini {
namespace {

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

    void run(KernelContext& context) override;
  };
};

void infer_like(InferContext& c, const char* from, const char* to) {
  require_tensors(c);
  require<ShapeError>(c.shape(from).rank() >= 2, from, " has shape ", c.shape(from).str(),
                      ", it must have at least two dimensions");
  c.set_output(to, c.input(from));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(tril_triu)

namespace paddle_mini {

void define_tril_triu(OpTable& ops) {
  ops.add(with_complex<TrilTriuKernel<false>::For>(
      OpSchema("tril_triu")
          .doc("Out = X with 0 above (lower) or below the diagonal of each matrix, which the last two axes form.")
          .input("X", "at least two dimensions")
          .output("Out", "shape of X")
          .attr("diagonal", 0, "index of the diagonal: 0 for the main one, above 0 to the right of it")
          .attr("lower", false, "whether the elements at and below the diagonal stay; otherwise those at and above it")
          .infer([](InferContext& c) { infer_like(c, "X", "Out"); })
          .gradient("tril_triu_grad", {"Out@GRAD"}, {"X@GRAD"})
          .in_place("X", "Out")
          .on_gpu()
          .kernels<TrilTriuKernel<false>::For, float, double, int32_t, int64_t, bool>()));
  ops.add(with_complex<TrilTriuKernel<true>::For>(
      linear_gradient_of(ops, "tril_triu")
          .doc("X@GRAD = Out@GRAD, with 0 at the elements that were set to 0.")
          .infer([](InferContext& c) { infer_like(c, "Out@GRAD", "X@GRAD"); })
          .in_place("Out@GRAD", "X@GRAD")
          .kernels<TrilTriuKernel<true>::For, float, double, int32_t, int64_t, bool>()));
}

}  // namespace paddle_mini
