// CPU kernels of clip.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void Bounds<T>::check(KernelContext&) const {
  require_order(min ? min[0] : low, max ? max[0] : high);
}

}  // namespace
}  // namespace paddle_mini
