// ImageLanesOrder: copies images to and from [images / lanes, elements of an image, lanes].
#pragma once

#include "core/parallel.h"
#include "math/cpu/image_lanes_rows.h"

namespace paddle_mini {

struct ImageLanesOrder {
  int64_t images, size, lanes;  // images are divisible by lanes; size: elements of an image

  template <class T>
  void to_lanes(KernelContext& context, const T* from, T* to) const {
    each_part<T>(context, [&](int64_t image, int64_t first, int64_t count) {
      const T* part = from + image * size + first;
      T* lane = to + image * size + first * lanes;
      if (lanes == Vec<T>::size) return image_lanes::pack_run(part, size, lanes, count, lane);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t n = 0; n < lanes; ++n) *lane++ = part[n * size + i];
    });
  }
  template <class T>
  void from_lanes(KernelContext& context, const T* from, T* to) const {
    each_part<T>(context, [&](int64_t image, int64_t first, int64_t count) {
      const T* lane = from + image * size + first * lanes;
      T* part = to + image * size + first;
      if (lanes == Vec<T>::size) return image_lanes::unpack_run(lane, count, size, lanes, part);
      for (int64_t i = 0; i < count; ++i)
        for (int64_t n = 0; n < lanes; ++n) part[n * size + i] = *lane++;
    });
  }

 private:
  // Calls f(first image, first element, elements) for parts of `lanes` images each.
  template <class T, class F>
  void each_part(KernelContext& context, F f) const {
    constexpr int64_t kElements = 1024;
    const int64_t parts = (size + kElements - 1) / kElements;
    const LoopSize loop{images / lanes * parts, bytes_cost(4.0 * sizeof(T)) * static_cast<double>(lanes * kElements)};
    parallel_for(context, loop, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * kElements;
        f(i / parts * lanes, first, std::min(kElements, size - first));
      }
    });
  }
};

}  // namespace paddle_mini
