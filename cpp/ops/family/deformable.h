// Convolutions whose taps are moved by offsets: deformable_conv, deformable_conv_v1.
#pragma once

#include <cmath>

#include "math/cpu/each_item.h"
#include "math/gemm.h"
#include "math/window.h"
#include "ops/family/convolution.h"

namespace paddle_mini {

// The four pixels around a place of a plane, and its distances to the first of them. Pixels outside are 0; so are all for a
// place that is further away than one pixel.
template <class T>
struct PlaceInPlane {
  int64_t y = 0, x = 0, height, width;
  T down = 0, right = 0;
  bool near;

  PlaceInPlane(int64_t height, int64_t width, T at_y, T at_x) : height(height), width(width) {
    near = at_y > T(-1) && at_x > T(-1) && at_y < static_cast<T>(height) && at_x < static_cast<T>(width);
    if (!near) return;
    T floor_y = std::floor(at_y), floor_x = std::floor(at_x);
    y = static_cast<int64_t>(floor_y), x = static_cast<int64_t>(floor_x);
    down = at_y - floor_y, right = at_x - floor_x;
  }
  bool has(int64_t i, int64_t j) const { return near && y + i >= 0 && y + i < height && x + j >= 0 && x + j < width; }
  int64_t at(int64_t i, int64_t j) const { return (y + i) * width + x + j; }
  T pixel(const T* plane, int64_t i, int64_t j) const { return has(i, j) ? plane[at(i, j)] : T(0); }
  T weight(int64_t i, int64_t j) const { return (i ? down : 1 - down) * (j ? right : 1 - right); }

  T value(const T* plane) const {
    T sum = 0;
    for (int64_t i = 0; i < 2; ++i) {
      for (int64_t j = 0; j < 2; ++j) sum += weight(i, j) * pixel(plane, i, j);
    }
    return sum;
  }
  T slope_down(const T* plane) const {
    return (1 - right) * (pixel(plane, 1, 0) - pixel(plane, 0, 0)) + right * (pixel(plane, 1, 1) - pixel(plane, 0, 1));
  }
  T slope_right(const T* plane) const {
    return (1 - down) * (pixel(plane, 0, 1) - pixel(plane, 0, 0)) + down * (pixel(plane, 1, 1) - pixel(plane, 1, 0));
  }
};

template <class Context>
std::array<WindowAxis, 2> deformable_axes(const Context& c, const Shape& input, const Shape& filter) {
  WindowAttributes window(2);
  window.strides = c.template attr<std::vector<int32_t>>("strides");
  window.dilations = c.template attr<std::vector<int32_t>>("dilations");
  window.paddings = c.template attr<std::vector<int32_t>>("paddings");
  return window.axes<2>({input[2], input[3]}, {filter[2], filter[3]});
}

// Rows of moved patches, as VolumePatches has them without offsets: row channel * taps() + tap of an image has the values of
// this tap for all pixels of Output.
template <class T>
struct DeformedPatches {
  WindowAxis height, width;
  int64_t channels, parts;  // parts: groups of channels with offsets of their own

  DeformedPatches(const KernelInit& init, const Shape& input, const Shape& filter)
      : channels(input[1]), parts(init.attr<int32_t>("deformable_groups")) {
    auto axes = deformable_axes(init, input, filter);
    height = axes[0], width = axes[1];
  }

  int64_t taps() const { return height.window * width.window; }
  int64_t pixels() const { return height.out * width.out; }
  int64_t plane() const { return height.size * width.size; }
  int64_t part_of(int64_t channel) const { return channel / (channels / parts); }
  LoopSize loop(int64_t items, int64_t each) const {
    return {items, flops_cost(20 * static_cast<double>(each * pixels()))};
  }

  // Where a tap of a part reads for a pixel of Output, with the offsets of an image.
  PlaceInPlane<T> place(const T* offset, int64_t part, int64_t tap, int64_t pixel) const {
    const T* moved = offset + (part * taps() + tap) * 2 * pixels() + pixel;
    int64_t y = height.first(pixel / width.out) + tap / width.window * height.dilation;
    int64_t x = width.first(pixel % width.out) + tap % width.window * width.dilation;
    return {height.size, width.size, static_cast<T>(y) + moved[0], static_cast<T>(x) + moved[pixels()]};
  }
  T factor(const T* mask, int64_t part, int64_t tap, int64_t pixel) const {
    return mask ? mask[(part * taps() + tap) * pixels() + pixel] : T(1);
  }

  void gather(KernelContext& context, const T* image, const T* offset, const T* mask, T* columns) const {
    each_item(context, loop(channels * taps(), 1), [&](int64_t row) {
      int64_t channel = row / taps(), tap = row % taps(), part = part_of(channel);
      for (int64_t i = 0; i < pixels(); ++i) {
        T value = place(offset, part, tap, i).value(image + channel * plane());
        columns[row * pixels() + i] = value * factor(mask, part, tap, i);
      }
    });
  }

  // Adds the gradients of columns to those of the image; each channel has pixels of its own.
  void add_back(KernelContext& context, const T* columns, const T* offset, const T* mask, T* image_gradient) const {
    each_item(context, loop(channels, taps()), [&](int64_t channel) {
      int64_t part = part_of(channel);
      T* to = image_gradient + channel * plane();
      for (int64_t tap = 0; tap < taps(); ++tap) {
        for (int64_t pixel = 0; pixel < pixels(); ++pixel) {
          PlaceInPlane<T> at = place(offset, part, tap, pixel);
          T slope = columns[(channel * taps() + tap) * pixels() + pixel] * factor(mask, part, tap, pixel);
          for (int64_t i = 0; i < 2; ++i) {
            for (int64_t j = 0; j < 2; ++j) {
              if (at.has(i, j)) to[at.at(i, j)] += slope * at.weight(i, j);
            }
          }
        }
      }
    });
  }

  // The gradients of offsets and, unless it is null, of the mask: sums over the channels of a part.
  void to_offsets(KernelContext& context, const T* columns, const T* image, const T* offset, const T* mask,
                  T* offset_gradient, T* mask_gradient) const {
    int64_t each = channels / parts;
    each_item(context, loop(parts * taps(), each), [&](int64_t item) {
      int64_t part = item / taps(), tap = item % taps();
      for (int64_t pixel = 0; pixel < pixels(); ++pixel) {
        PlaceInPlane<T> at = place(offset, part, tap, pixel);
        T down = 0, right = 0, value = 0, scale = factor(mask, part, tap, pixel);
        for (int64_t channel = part * each; channel < (part + 1) * each; ++channel) {
          const T* plane_of = image + channel * plane();
          T slope = columns[(channel * taps() + tap) * pixels() + pixel];
          down += slope * scale * at.slope_down(plane_of);
          right += slope * scale * at.slope_right(plane_of);
          value += slope * at.value(plane_of);
        }
        if (offset_gradient) {
          offset_gradient[2 * item * pixels() + pixel] = down;
          offset_gradient[(2 * item + 1) * pixels() + pixel] = right;
        }
        if (mask_gradient) mask_gradient[item * pixels() + pixel] = value;
      }
    });
  }
};

// The sizes of both kernels: filters of a group times the patches of its channels.
template <class T>
struct DeformableConvolution {
  In<T> input, offset, filter, mask;
  DeformedPatches<T> patches;
  int64_t images, groups, outs, rows;  // per group: output channels and rows of patches
  Scratch<T> columns;

  explicit DeformableConvolution(KernelInit& init)
      : input(init, "Input"), offset(init, "Offset"), filter(init, "Filter"), mask(init, "Mask", optional_port),
        patches(init, input.shape(), filter.shape()), images(input.shape()[0]), groups(init.attr<int32_t>("groups")),
        outs(filter.shape()[0] / groups), rows(patches.channels / groups * patches.taps()),
        columns(init, patches.channels * patches.taps() * patches.pixels()) {}

  const T* image(int64_t n) const { return input.data() + n * patches.channels * patches.plane(); }
  const T* offsets(int64_t n) const { return offset.data() + n * offset_size(); }
  const T* masks(int64_t n) const { return mask ? mask.data() + n * offset_size() / 2 : nullptr; }
  int64_t offset_size() const { return 2 * patches.parts * patches.taps() * patches.pixels(); }
  int64_t out_step() const { return outs * patches.pixels(); }
  int64_t column_step() const { return rows * patches.pixels(); }
};

template <class T>
struct DeformableKernel : Kernel {
  DeformableConvolution<T> c;
  Out<T> output;
  Gemm<T> product;

  explicit DeformableKernel(KernelInit& init)
      : c(init), output(init, "Output"), product({false, false, c.outs, c.patches.pixels(), c.rows}, init.threads()) {}

  void run(KernelContext& context) override {
    for (int64_t n = 0; n < c.images; ++n) {
      c.patches.gather(context, c.image(n), c.offsets(n), c.masks(n), c.columns.data());
      product.run_many(context, c.groups, c.filter.data(), c.outs * c.rows, c.columns.data(), c.column_step(),
                       output.data() + n * c.groups * c.out_step(), c.out_step());
    }
  }
};

template <class T>
struct DeformableGradKernel : Kernel {
  DeformableConvolution<T> c;
  In<T> gradient;
  Out<T> input_gradient, offset_gradient, filter_gradient, mask_gradient;
  Gemm<T> to_filter, to_columns;

  explicit DeformableGradKernel(KernelInit& init)
      : c(init), gradient(init, "Output@GRAD"), input_gradient(init, "Input@GRAD", optional_port),
        offset_gradient(init, "Offset@GRAD", optional_port), filter_gradient(init, "Filter@GRAD", optional_port),
        mask_gradient(init, "Mask@GRAD", optional_port),
        to_filter({false, true, c.outs, c.rows, c.patches.pixels(), 0, 0, 0, T(1), T(1)}, init.threads()),
        to_columns({true, false, c.rows, c.patches.pixels(), c.outs}, init.threads()) {}

  void run(KernelContext& context) override {
    if (filter_gradient) std::fill_n(filter_gradient.data(), filter_gradient.numel(), T(0));
    if (input_gradient) std::fill_n(input_gradient.data(), input_gradient.numel(), T(0));
    for (int64_t n = 0; n < c.images; ++n) {
      const T* slope = gradient.data() + n * c.groups * c.out_step();
      if (filter_gradient) {
        c.patches.gather(context, c.image(n), c.offsets(n), c.masks(n), c.columns.data());
        to_filter.run_many(context, c.groups, slope, c.out_step(), c.columns.data(), c.column_step(),
                           filter_gradient.data(), c.outs * c.rows);
      }
      if (!input_gradient && !offset_gradient && !mask_gradient) continue;
      to_columns.run_many(context, c.groups, c.filter.data(), c.outs * c.rows, slope, c.out_step(), c.columns.data(),
                          c.column_step());
      if (input_gradient) {
        T* to = input_gradient.data() + n * c.patches.channels * c.patches.plane();
        c.patches.add_back(context, c.columns.data(), c.offsets(n), c.masks(n), to);
      }
      if (!offset_gradient && !mask_gradient) continue;
      c.patches.to_offsets(context, c.columns.data(), c.image(n), c.offsets(n), c.masks(n),
                           offset_gradient ? offset_gradient.data() + n * c.offset_size() : nullptr,
                           mask_gradient ? mask_gradient.data() + n * c.offset_size() / 2 : nullptr);
    }
  }
};

// Adds the operator and its gradient.
void add_deformable_conv(OpTable& ops, const char* type, const char* doc, bool modulated);
// Checks the inputs; the shape of Output.
Shape deformable_output_shape(const InferContext& c);

}  // namespace paddle_mini
