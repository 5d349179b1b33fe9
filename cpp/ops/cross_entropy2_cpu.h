// CPU kernels of cross_entropy2.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void CrossEntropy2Kernel<T>::run(KernelContext& context) {
  check_class_labels(label, classes, ignored);
  each_item(context, {rows, kLabelCost}, [&](int64_t i) {
    bool counts = label[i] != ignored;
    T probability = counts ? x[i * classes + label[i]] : T(0);
    match[i] = probability;
    y[i] = counts ? finite_loss(-std::log(probability)) : T(0);
  });
}

template <class T>
void CrossEntropyGrad2Kernel<T>::run(KernelContext& context) {
  check_class_labels(label, classes, ignored);
  fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  each_item(context, {rows, kLabelCost}, [&](int64_t i) {
    if (label[i] != ignored) x_gradient[i * classes + label[i]] = -y_gradient[i] / match[i];
  });
}

}  // namespace
}  // namespace paddle_mini
