// Convolutions of volumes on CPUs.
#pragma once

#include "math/copy.h"
#include "math/gemm.h"

namespace paddle_mini {

// For each image and group, the convolution is a matrix product of the group's filters [outs, taps] and the image's
// patches [taps, pixels]. The result is [outs, pixels], or [pixels, outs] if channels come last.
template <class T>
struct FilteredVolumes {
  VolumeLayout input;
  int64_t groups, outs, image_size, out_size;  // outs: per group
  VolumePatches patches;
  Scratch<T> columns;
  Gemm<T> product, to_input, to_filter;

  FilteredVolumes(KernelInit& init, const FilteredVolumeSizes& sizes)
      : input(sizes.input), groups(sizes.groups), outs(sizes.outs), image_size(input.channels * pixels_in()),
        patches(patches_of(sizes)), columns(init, patches.elements()) {
    int64_t taps = patches.rows(), pixels = patches.outputs(), row = input.channels_last ? groups * outs : 0;
    out_size = groups * outs * pixels;
    if (input.channels_last) product = {{true, true, pixels, outs, taps, 0, 0, row}, init.threads()};
    else product = {{false, false, outs, pixels, taps}, init.threads()};
    to_input = {{true, input.channels_last, taps, pixels, outs, 0, row}, init.threads()};
    to_filter = {{input.channels_last, true, outs, taps, pixels, row, 0, 0, T(1), T(1)}, init.threads()};
  }

  int64_t pixels_in() const { return input.sizes[0] * input.sizes[1] * input.sizes[2]; }

  VolumePatches patches_of(const FilteredVolumeSizes& sizes) const {
    VolumePatches p;
    p.axes = sizes.axes;
    p.channels = sizes.ins;
    p.channel_step = input.channels_last ? 1 : pixels_in();
    p.pixel_step = input.channels_last ? input.channels : 1;
    return p;
  }

  // Calls f(offset of the group in Input, in Filter, in Output) for each group of each image.
  template <class F>
  void each_group(F f) const {
    for (int64_t n = 0; n < input.images; ++n) {
      for (int64_t g = 0; g < groups; ++g) {
        f(n * image_size + g * patches.channels * patches.channel_step, g * outs * patches.rows(),
          n * out_size + g * outs * (input.channels_last ? 1 : patches.outputs()));
      }
    }
  }

  void run(KernelContext& context, const T* image, const T* filter, T* out) {
    each_group([&](int64_t from, int64_t weights, int64_t to) {
      patches.gather(context, 1, image + from, 0, columns.data());
      if (input.channels_last) product.run(context, columns.data(), filter + weights, out + to);
      else product.run(context, filter + weights, columns.data(), out + to);
    });
  }

  void input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* gradient) {
    fill_n(context, gradient, input.images * image_size, T(0));
    each_group([&](int64_t to, int64_t weights, int64_t from) {
      to_input.run(context, filter + weights, out_gradient + from, columns.data());
      patches.add_back(context, 1, columns.data(), gradient + to, 0);
    });
  }

  void filter_gradient(KernelContext& context, const T* image, const T* out_gradient, T* gradient) {
    fill_n(context, gradient, groups * outs * patches.rows(), T(0));
    each_group([&](int64_t from, int64_t weights, int64_t at) {
      patches.gather(context, 1, image + from, 0, columns.data());
      to_filter.run(context, out_gradient + at, columns.data(), gradient + weights);
    });
  }
};

}  // namespace paddle_mini
