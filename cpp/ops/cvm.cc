// cvm: the first two columns of X are counts of shows and clicks; it replaces them by logarithms or removes them
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

constexpr int64_t kCounts = 2;  // shows, clicks

template <class T>
struct CvmKernel : Kernel {
  In<T> x;
  Out<T> y;
  bool use_cvm;
  int64_t rows, width;

  explicit CvmKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), use_cvm(init.attr<bool>("use_cvm")), rows(x.shape()[0]), width(x.shape()[1]) {}

  void run(KernelContext& context) override;
};

template <class T>
struct CvmGradKernel : Kernel {
  In<T> counts, y_gradient;
  Out<T> x_gradient;
  bool use_cvm;

  explicit CvmGradKernel(KernelInit& init)
      : counts(init, "CVM"), y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD"),
        use_cvm(init.attr<bool>("use_cvm")) {}

  void run(KernelContext& context) override;
};

Shape checked_shape(const InferContext& c) {
  require_tensors(c);
  require_same_dtype(c, "X", "CVM");
  require_rank(c, "X", 2);
  require_rank(c, "CVM", 2);
  const Shape &x = c.shape("X"), &counts = c.shape("CVM");
  require<ShapeError>(x[1] < 0 || x[1] >= kCounts, "X has shape ", x.str(), ": it must have two columns of counts");
  require<ShapeError>(dims_agree(counts[0], x[0]) && dims_agree(counts[1], kCounts), "CVM has shape ", counts.str(),
                      ", X has ", x[0], " rows: it must be [rows, 2]");
  return {x[0], x[1] < 0 || c.attr<bool>("use_cvm") ? x[1] : x[1] - kCounts};
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(cvm)

namespace paddle_mini {

void define_cvm(OpTable& ops) {
  ops.add(OpSchema("cvm")
              .doc("With use_cvm, Y = X with log(shows + 1) and log(clicks + 1) - log(shows + 1) in its first two "
                   "columns, else X without them.")
              .input("X", "[rows, 2 + width]: shows and clicks, then an embedding")
              .input("CVM", "[rows, 2]: the values of these columns in the gradient")
              .output("Y", "[rows, 2 + width], or [rows, width]")
              .attr("use_cvm", true, "whether Y keeps the two columns")
              .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, checked_shape(c)); })
              .gradient("cvm_grad", {"X", "CVM", "Y@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<CvmKernel, float, double>());
  ops.add(ops.gradient_of("cvm")
              .doc("X@GRAD = CVM in its first two columns, because the gradient transfers the counts to the storage of "
                   "the embedding; Y@GRAD in the others.")
              .input("X", "as in cvm; its values are not read")
              .kernels<CvmGradKernel, float, double>());
}

}  // namespace paddle_mini
