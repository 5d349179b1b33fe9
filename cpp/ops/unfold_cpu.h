// The kernels of unfold on a CPU.
#pragma once

#include "math/copy.h"

#include "math/cpu/each_item.h"

namespace paddle_mini {
namespace {

template <class T>
void Patches<T>::gather(KernelContext& context, const T* image, T* columns) const {
  each_item(context, {images, bytes_cost(2.0 * sizeof(T)) * static_cast<double>(columns_size)},
            [&](int64_t n) { patches.gather(image + n * image_size, columns + n * columns_size); });
}

template <class T>
void Patches<T>::add_up(KernelContext& context, const T* columns, T* image) const {
  fill_n(context, image, images * image_size, T(0));
  each_item(context, {images, bytes_cost(3.0 * sizeof(T)) * static_cast<double>(columns_size)},
            [&](int64_t n) { patches.add_back(columns + n * columns_size, image + n * image_size); });
}

}  // namespace
}  // namespace paddle_mini
