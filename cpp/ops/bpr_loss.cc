// bpr_loss: the mean over the other classes of log(1 + exp(their score - the label's score))
#include <algorithm>
#include <cmath>

#include "core/op_table.h"

#ifdef PM_GPU
#include "math/for_each_index.h"
#include "math/ids_gpu.h"
#include "math/number.h"
#endif

namespace paddle_mini {
namespace {

[[noreturn]] void refuse_bpr_label(int64_t id, int64_t row, int64_t classes) {
  fail<OpError>("label ", id, " in row ", row, " is out of range: X has ", classes, " classes");
}

#ifdef PM_GPU
// One row of X.
template <class T>
struct BprLoss {
  IdsBelow labels;
  int64_t classes;
  const T* x;
  T* y;

  PM_DEVICE void operator()(int64_t row) const {
    int64_t label = labels[row];
    T sum = 0;
    for (int64_t j = 0; j < classes && label >= 0; ++j) {
      if (j == label) continue;
      T loss = log(T(1) + exp(x[row * classes + j] - x[row * classes + label]));
      sum += std::isinf(loss) ? T(1e20) : loss;
    }
    y[row] = sum / static_cast<T>(classes - 1);
  }
};

template <class T>
struct BprSlope {
  IdsBelow labels;
  int64_t classes;
  const T *x, *gradient;
  T* to;

  PM_DEVICE void operator()(int64_t row) const {
    int64_t label = labels[row], first = row * classes;
    if (label < 0) return;
    T sum = 0;
    for (int64_t j = 0; j < classes; ++j) {
      if (j == label) continue;
      T slope = gradient[row] / (static_cast<T>(classes - 1) * (T(1) + exp(x[first + label] - x[first + j])));
      to[first + j] = slope;
      sum += slope;
    }
    to[first + label] = -sum;
  }
};
#else
void check_bpr_labels(const IndexIn& label, int64_t rows, int64_t classes) {
  for (int64_t i = 0; i < rows; ++i) {
    if (label[i] < 0 || label[i] >= classes) refuse_bpr_label(label[i], i, classes);
  }
}
#endif

template <class T>
struct BprLossKernel : Kernel {
  In<T> x;
  IndexIn label;
  Out<T> y;
  int64_t rows, classes;

  explicit BprLossKernel(KernelInit& init)
      : x(init, "X"), label(init, "Label"), y(init, "Y"), rows(y.numel()), classes(x.shape()[x.shape().rank() - 1]) {}

  void refuse(const Fault& fault) const override { refuse_bpr_label(fault.value, fault.at, classes); }

#ifdef PM_GPU
  void run(Device& device) override {
    for_each_index(device, rows, BprLoss<T>{{device, label, classes}, classes, x.data(), y.data()});
  }
#else
  // PaddlePaddle takes a loss that is too large for exp as 10^20.
  void run(Device&) override {
    check_bpr_labels(label, rows, classes);
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x.data() + i * classes;
      T sum = 0;
      for (int64_t j = 0; j < classes; ++j) {
        if (j == label[i]) continue;
        T loss = std::log(T(1) + std::exp(row[j] - row[label[i]]));
        sum += std::isinf(loss) ? T(1e20) : loss;
      }
      y[i] = sum / static_cast<T>(classes - 1);
    }
  }
#endif
};

template <class T>
struct BprLossGradKernel : Kernel {
  In<T> x, y_gradient;
  IndexIn label;
  Out<T> x_gradient;
  int64_t rows, classes;

  explicit BprLossGradKernel(KernelInit& init)
      : x(init, "X"), y_gradient(init, "Y@GRAD"), label(init, "Label"), x_gradient(init, "X@GRAD"),
        rows(y_gradient.numel()), classes(x.shape()[x.shape().rank() - 1]) {}

  void refuse(const Fault& fault) const override { refuse_bpr_label(fault.value, fault.at, classes); }

#ifdef PM_GPU
  void run(Device& device) override {
    BprSlope<T> body{{device, label, classes}, classes, x.data(), y_gradient.data(), x_gradient.data()};
    for_each_index(device, rows, body);
  }
#else
  void run(Device&) override {
    check_bpr_labels(label, rows, classes);
    for (int64_t i = 0; i < rows; ++i) {
      const T* row = x.data() + i * classes;
      T* to = x_gradient.data() + i * classes;
      T sum = 0;
      for (int64_t j = 0; j < classes; ++j) {
        if (j == label[i]) continue;
        to[j] = y_gradient[i] / (static_cast<T>(classes - 1) * (T(1) + std::exp(row[label[i]] - row[j])));
        sum += to[j];
      }
      to[label[i]] = -sum;
    }
  }
#endif
};

// The shape of Y.
Shape bpr_loss_shape(const InferContext& c) {
  require_tensors(c);
  require_index(c, "Label");
  Shape y = c.shape("X");
  require<ShapeError>(y.rank() >= 1, "X has shape [], it must have an axis of classes");
  int64_t& last = y[y.rank() - 1];
  require<ShapeError>(last < 0 || last >= 2, "X has shape ", y.str(), ": there must be two classes at least");
  last = 1;
  require<ShapeError>(shapes_agree(c.shape("Label"), y), "Label has shape ", c.shape("Label").str(), ", with X of ",
                      c.shape("X").str(), " it must be ", y.str());
  return y;
}

}  // namespace

void define_bpr_loss(OpTable& ops) {
  ops.add(OpSpec("bpr_loss")
              .doc("Y = the mean over the classes j other than the label of log(1 + exp(X[j] - X[label])): Bayesian "
                   "personalized ranking (Hidasi et al. 2016).")
              .input("X", "[..., classes]: scores")
              .input("Label", "int64, [..., 1]: classes")
              .output("Y", "[..., 1]")
              .infer([](InferContext& c) { c.set_output("Y", c.input("X").dtype, bpr_loss_shape(c)); })
              .gradient("bpr_loss_grad", {"X", "Label", "Y@GRAD"}, {"X@GRAD"})
              .checks_data()
              .on_gpu()
              .kernels<BprLossKernel, float, double>());
  ops.add(ops.gradient_of("bpr_loss")
              .doc("X@GRAD[j] = Y@GRAD / (classes - 1) / (1 + exp(X[label] - X[j])); the label's is minus their sum.")
              .checks_data()
              .kernels<BprLossGradKernel, float, double>());
}

}  // namespace paddle_mini
