// CPU kernels of grid_sampler.
#pragma once

#include "math/copy.h"

namespace paddle_mini {
namespace {

template <class T>
void GridSamplerKernel<T>::run(KernelContext& context) {
  fill_n(context, output.data(), output.numel(), T(0));
  sampling.each(context, grid.data(), false, [&](int64_t, const SampledPlace<T>& place, int64_t from, int64_t to) {
    sampling.each_pixel(place, [&](int64_t pixel, T weight, const T*) {
      for (int64_t c = 0; c < sampling.channels; ++c) {
        output[to + c * sampling.samples] += x[from + c * sampling.plane + pixel] * weight;
      }
    });
  });
}

template <class T>
void GridSamplerGradKernel<T>::run(KernelContext& context) {
  if (x_gradient) fill_n(context, x_gradient.data(), x_gradient.numel(), T(0));
  sampling.each(context, grid.data(), static_cast<bool>(x_gradient),
                [&](int64_t sample, const SampledPlace<T>& place, int64_t in, int64_t out) {
                  T slopes[3] = {T(0), T(0), T(0)};
                  sampling.each_pixel(place, [&](int64_t pixel, T weight, const T* slope) {
                    for (int64_t c = 0; c < sampling.channels; ++c) {
                      int64_t element = in + c * sampling.plane + pixel;
                      T g = gradient[out + c * sampling.samples];
                      if (x_gradient) x_gradient[element] += g * weight;
                      for (int a = 0; a < sampling.axes; ++a) slopes[a] += g * x[element] * slope[a];
                    }
                  });
                  if (!grid_gradient) return;
                  for (int a = 0; a < sampling.axes; ++a)
                    grid_gradient[sample * sampling.axes + a] = slopes[a] * place.along[a].speed;
                });
}

}  // namespace
}  // namespace paddle_mini
