// GPU kernels of grid_sampler and its gradients.
#pragma once

#include "ops/grid_sampler.h"
#include "math/unravel_last.h"

namespace paddle_mini {

// Computes one element of Output.
template <class T>
struct SampledElement {
  Sampling<T> s;
  const T *x, *grid;
  T* output;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, sample = unravel_last(left, s.samples), at = left / s.channels * s.samples + sample;
    const T* channel = x + left * s.plane;
    T total = 0;
    s.each_pixel(s.place(grid, at), [&](int64_t pixel, T weight, const T*) { total += channel[pixel] * weight; });
    output[i] = total;
  }
};

// The source pixel, counted over all images, of each of the 4 or 8 corners of each sample; -1 if that pixel is absent.
template <class T>
struct MixedPixel {
  Sampling<T> s;
  const T* grid;

  PM_DEVICE int64_t operator()(int64_t i) const {
    int64_t at = i / s.corners, found = -1, number = 0;
    s.each_pixel(s.place(grid, at), [&](int64_t pixel, T, const T*) {
      if (number++ == i % s.corners) found = pixel;
    });
    return found < 0 ? -1 : at / s.samples * s.plane + found;
  }
};

// Sums the gradients that one element of X receives from the samples that mix it, which are adjacent in `pairs`.
template <class T>
struct MixedShares {
  Sampling<T> s;
  segmented_scatter_gpu::Put<T, SegmentedScatter::Combine::Sum> mixed;
  const T *grid, *gradient;
  T* x_gradient;

  PM_DEVICE void operator()(int64_t i) const {
    int64_t left = i, pixel = unravel_last(left, s.plane), image = left / s.channels;
    int64_t target = image * s.plane + pixel;
    T total = 0;
    for (int64_t k = mixed.first(target); k < mixed.count && mixed.pairs[k].target == target; ++k) {
      int64_t at = mixed.pairs[k].source / s.corners, corner = mixed.pairs[k].source % s.corners, number = 0;
      T g = gradient[left * s.samples + at % s.samples];
      s.each_pixel(s.place(grid, at), [&](int64_t, T weight, const T*) {
        if (number++ == corner) total += g * weight;
      });
    }
    x_gradient[i] = total;
  }
};

template <class T>
struct PlaceShares {
  Sampling<T> s;
  const T *x, *grid, *gradient;
  T* grid_gradient;

  PM_DEVICE void operator()(int64_t sample) const {
    SampledPlace<T> place = s.place(grid, sample);
    int64_t image = sample / s.samples;
    const T* from = gradient + image * s.channels * s.samples + sample % s.samples;
    T slopes[3] = {T(0), T(0), T(0)};
    s.each_pixel(place, [&](int64_t pixel, T, const T* slope) {
      for (int64_t c = 0; c < s.channels; ++c) {
        T value = x[(image * s.channels + c) * s.plane + pixel], g = from[c * s.samples];
        for (int a = 0; a < s.axes; ++a) slopes[a] += g * value * slope[a];
      }
    });
    for (int a = 0; a < s.axes; ++a) grid_gradient[sample * s.axes + a] = slopes[a] * place.along[a].speed;
  }
};

namespace {

template <class T>
void GridSamplerKernel<T>::run(KernelContext& context) {
  SampledElement<T> element{sampling, x.data(), grid.data(), output.data()};
  for_each_index(context, output.numel(), element);
}

template <class T>
void GridSamplerGradKernel<T>::run(KernelContext& context) {
  if (x_gradient) {
    by_pixel.sort(context, MixedPixel<T>{sampling, grid.data()});
    int64_t count = by_pixel.sources();
    segmented_scatter_gpu::Put<T, SegmentedScatter::Combine::Sum> mixed{by_pixel.pairs(), count,   count,  0, 0,
                                                                        nullptr,          nullptr, nullptr};
    MixedShares<T> shares{sampling, mixed, grid.data(), gradient.data(), x_gradient.data()};
    for_each_index(context, x_gradient.numel(), shares);
  }
  if (!grid_gradient) return;
  PlaceShares<T> shares{sampling, x.data(), grid.data(), gradient.data(), grid_gradient.data()};
  for_each_index(context, sampling.images * sampling.samples, shares);
}

}  // namespace

}  // namespace paddle_mini
