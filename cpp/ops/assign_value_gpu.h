// GPU kernels of assign_value.
#pragma once

#include "math/copy.h"

namespace paddle_mini {
namespace {

template <class T>
void AssignValueKernel<T>::run(KernelContext& context) {
  std::unique_ptr<T[]> converted(new T[values.size()]);
  std::copy(values.begin(), values.end(), converted.get());
  upload(context, converted.get(), values.size() * sizeof(T), out.data());
}

}  // namespace
}  // namespace paddle_mini
