// GPU kernels of cross_entropy2.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
struct MatchLoss {
  LabelsBelow labels;
  const T* x;
  T *match, *y;

  PM_DEVICE void operator()(int64_t row) const {
    int64_t label = labels[row];
    T probability = label < 0 ? T(0) : x[row * labels.classes + label];
    match[row] = probability;
    y[row] = label < 0 ? T(0) : finite_loss(-log(probability));
  }
};

template <class T>
struct MatchSlope {
  const T *match, *y_gradient;
  PM_DEVICE T operator()(int64_t row, int64_t) const { return -y_gradient[row] / match[row]; }
};

template <class T>
void CrossEntropy2Kernel<T>::run(KernelContext& context) {
  LabelsBelow labels(context, label, classes, ignored);
  for_each_index(context, rows, MatchLoss<T>{labels, x.data(), match.data(), y.data()});
}

template <class T>
void CrossEntropyGrad2Kernel<T>::run(KernelContext& context) {
  LabelsBelow labels(context, label, classes, ignored);
  put_at_label(context, labels, rows, MatchSlope<T>{match.data(), y_gradient.data()}, x_gradient.data());
}

}  // namespace
}  // namespace paddle_mini
