// The kernels of unfold on a CPU.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void Patches<T>::gather(KernelContext&, const T* image, T* columns) const {
  for (int64_t n = 0; n < images; ++n) patches.gather(image + n * image_size, columns + n * columns_size);
}

template <class T>
void Patches<T>::add_up(KernelContext&, const T* columns, T* image) const {
  std::fill_n(image, images * image_size, T(0));
  for (int64_t n = 0; n < images; ++n) patches.add_back(columns + n * columns_size, image + n * image_size);
}

}  // namespace
}  // namespace paddle_mini
