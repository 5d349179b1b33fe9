// cvm: the first two columns of X are counts of shows and clicks, which become logarithms, or go
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

#ifdef PM_GPU
#include "math/for_each_index.h"
#include "math/number.h"
#endif

namespace paddle_mini {
namespace {

constexpr int64_t kCounts = 2;  // shows, clicks

#ifdef PM_GPU
template <class T>
struct Cvm {
  bool keeps;
  int64_t width;  // of X
  const T* x;
  T* y;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t dropped = keeps ? 0 : kCounts, row = i / (width - dropped), column = i % (width - dropped) + dropped;
    const T* from = x + row * width;
    T shows = log(from[0] + T(1));
    y[i] = column == 0 ? shows : column == 1 ? log(from[1] + T(1)) - shows : from[column];
  }
};

template <class T>
struct CvmSlope {
  bool kept;
  int64_t width;  // of X
  const T *counts, *gradient;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    int64_t dropped = kept ? 0 : kCounts, row = i / width, column = i % width;
    to[i] = column < kCounts ? counts[row * kCounts + column] : gradient[row * (width - dropped) + column - dropped];
  }
};
#endif

template <class T>
struct CvmKernel : Kernel {
  In<T> x;
  Out<T> y;
  bool keeps;
  int64_t rows, width;

  explicit CvmKernel(KernelInit& init)
      : x(init, "X"), y(init, "Y"), keeps(init.attr<bool>("use_cvm")), rows(x.shape()[0]), width(x.shape()[1]) {}

#ifdef PM_GPU
  void run(Device& device) override { for_each_index(device, y.numel(), Cvm<T>{keeps, width, x.data(), y.data()}); }
#else
  void run(Device&) override {
    T* to = y.data();
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x.data() + i * width;
      if (keeps) {
        T shows = std::log(row[0] + T(1));
        *to++ = shows;
        *to++ = std::log(row[1] + T(1)) - shows;
      }
      to = std::copy(row + kCounts, row + width, to);
    }
  }
#endif
};

template <class T>
struct CvmGradKernel : Kernel {
  In<T> counts, y_gradient;
  Out<T> x_gradient;
  bool kept;

  explicit CvmGradKernel(KernelInit& init)
      : counts(init, "CVM"), y_gradient(init, "Y@GRAD"), x_gradient(init, "X@GRAD"), kept(init.attr<bool>("use_cvm")) {}

#ifdef PM_GPU
  void run(Device& device) override {
    CvmSlope<T> body{kept, x_gradient.shape()[1], counts.data(), y_gradient.data(), x_gradient.data()};
    for_each_index(device, x_gradient.numel(), body);
  }
#else
  void run(Device&) override {
    int64_t rows = x_gradient.shape()[0], width = x_gradient.shape()[1];
    const T* from = y_gradient.data();
    for (int64_t i = 0; i < rows; ++i) {
      if (kept) from += kCounts;
      T* to = std::copy_n(counts.data() + i * kCounts, kCounts, x_gradient.data() + i * width);
      std::copy_n(from, width - kCounts, to);
      from += width - kCounts;
    }
  }
#endif
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

void define_cvm(OpTable& ops) {
  ops.add(OpSpec("cvm")
              .doc("With use_cvm, Y = X with log(shows + 1) and log(clicks + 1) - log(shows + 1) in its first two "
                   "columns, else X without them.")
              .input("X", "[rows, 2 + width]: shows and clicks, then an embedding")
              .input("CVM", "[rows, 2]: what the gradient has for them")
              .output("Y", "[rows, 2 + width], or [rows, width]")
              .attr("use_cvm", true, "whether Y keeps the two columns")
              .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, checked_shape(c)); })
              .gradient("cvm_grad", {"X", "CVM", "Y@GRAD"}, {"X@GRAD"})
              .on_gpu()
              .kernels<CvmKernel, float, double>());
  ops.add(ops.gradient_of("cvm")
              .doc("X@GRAD = CVM in its first two columns: the counts travel with the gradient to where the embedding "
                   "is kept; Y@GRAD in the others.")
              .input("X", "as in cvm; its values are not read")
              .kernels<CvmGradKernel, float, double>());
}

}  // namespace paddle_mini
