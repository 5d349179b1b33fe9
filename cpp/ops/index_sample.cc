// index_sample: Out = the elements of each row of X at the indices in that row of Index
#include "core/second_gradient.h"
#include "ops/family/along_axis.h"
#include "ops/family/of_complex.h"

namespace paddle_mini {
namespace {

constexpr AlongRule kIndexSampleRule{"X",        "X@GRAD", "Out",
                                     "Out@GRAD", false,    [](const OpDesc&) -> int64_t { return 1; }};

void require_same_rows(const InferContext& c) {
  require_rank(c, "Index", 2);
  require<ShapeError>(dims_agree(c.shape("X")[0], c.shape("Index")[0]), "Index has shape ", c.shape("Index").str(),
                      ", which differs from ", c.shape("X").str(), " not only along axis 1");
}

}  // namespace

void define_index_sample(OpTable& ops) {
  ops.add(with_complex<TakeKernel<kIndexSampleRule>::For>(
      OpSchema("index_sample")
          .doc("Out[i, j] = X[i, Index[i, j]]. A position out of range is an error.")
          .input("X", "[rows, n]")
          .input("Index", "[rows, m], int32 or int64")
          .output("Out", "shape of Index")
          .infer([](InferContext& c) {
            require_rank(c, "X", 2);
            require_same_rows(c);
            infer_take<kIndexSampleRule>(c);
          })
          .gradient("index_sample_grad", {"X", "Index", "Out@GRAD"}, {"X@GRAD"})
          .checks_data("Index")
          .on_gpu()
          .kernels<TakeKernel<kIndexSampleRule>::For, float, double, int32_t, int64_t>()));
  ops.add(with_complex<TakeGradKernel<kIndexSampleRule>::For>(
      linear_gradient_of(ops, "index_sample")
          .doc("X@GRAD of an element = the sum of Out@GRAD over the positions in Index that name it.")
          .shape_only("X")
          .infer([](InferContext& c) {
            require_rank(c, "X", 2);
            require_same_rows(c);
            infer_take_grad<kIndexSampleRule>(c);
          })
          .checks_data("Index")
          .kernels<TakeGradKernel<kIndexSampleRule>::For, float, double, int32_t, int64_t>()));
}

}  // namespace paddle_mini
