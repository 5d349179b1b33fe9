// The kernels of unfold on a CPU.
#pragma once

#include "math/copy.h"

namespace paddle_mini {
namespace {

template <class T>
void Patches<T>::gather(KernelContext& context, const T* image, T* columns) const {
  patches.gather(context, images, image, image_size, columns);
}

template <class T>
void Patches<T>::add_up(KernelContext& context, const T* columns, T* image) const {
  fill_n(context, image, images * image_size, T(0));
  patches.add_back(context, images, columns, image, image_size);
}

}  // namespace
}  // namespace paddle_mini
