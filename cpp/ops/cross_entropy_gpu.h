// GPU kernels of cross_entropy.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct HardLoss {
  LabelsBelow labels;
  const T* x;
  T* y;
  PM_DEVICE void operator()(int64_t row) const {
    int64_t label = labels[row];
    y[row] = label < 0 ? T(0) : -finite_cross_entropy_log(x[row * labels.classes + label]);
  }
};

template <class T>
struct HardSlope {
  const T *x, *y_gradient;
  PM_DEVICE T operator()(int64_t row, int64_t i) const { return -y_gradient[row] / x[i]; }
};

template <class T>
struct SoftTerm {
  const T *x, *label;
  PM_DEVICE T operator()(const int64_t (&at)[1]) const { return label[at[0]] * finite_cross_entropy_log(x[at[0]]); }
};
template <class T>
struct PutSoftLoss {
  T* y;
  PM_DEVICE void operator()(int64_t row, double sum) const { y[row] = -static_cast<T>(sum); }
};

template <class T>
struct SoftSlope {
  int64_t classes;
  const T *x, *label, *y_gradient;
  T* to;
  PM_DEVICE void operator()(int64_t i) const {
    to[i] = -(y_gradient[line_place(i, classes, 1).line] * label[i] / x[i]);
  }
};

template <class T>
void HardKernel<T>::run(KernelContext& context) {
  LabelsBelow labels(context, label, classes, ignored);
  for_each_index(context, label.numel(), HardLoss<T>{labels, x.data(), y.data()});
}

template <class T>
void SoftKernel<T>::run(KernelContext& context) {
  StridedIndex<1> remaining, folded;
  remaining.add(rows, {classes});
  folded.add(classes, {1});
  fold(context, remaining, folded, 0.0, SoftTerm<T>{x.data(), label.data()}, Plus{}, PutSoftLoss<T>{y.data()});
}

template <class T>
void HardGradKernel<T>::run(KernelContext& context) {
  LabelsBelow labels(context, label, classes, ignored);
  put_at_label(context, labels, label.numel(), HardSlope<T>{x.data(), y_gradient.data()}, x_gradient.data());
}

template <class T>
void SoftGradKernel<T>::run(KernelContext& context) {
  SoftSlope<T> body{classes, x.data(), label.data(), y_gradient.data(), x_gradient.data()};
  for_each_index(context, x.numel(), body);
}

}  // namespace
}  // namespace paddle_mini
