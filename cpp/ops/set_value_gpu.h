// The kernels of set_value on a GPU.
#pragma once

#include "math/copy.h"

namespace paddle_mini {
namespace {

template <class T>
const T* SetValueKernel<T>::listed_on(KernelContext& context) const {
  upload(context, listed.get(), static_cast<size_t>(listed_count) * sizeof(T), uploaded.data());
  return uploaded.data();
}

}  // namespace
}  // namespace paddle_mini
