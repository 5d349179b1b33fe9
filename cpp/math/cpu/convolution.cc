// Convolution: the loops that multiply filters with patches.
#include "math/convolution.h"

#include "math/copy.h"
#include "math/cpu/register_blocks.h"
#include "math/cpu/short_runs.h"

namespace paddle_mini {
namespace {

// As PatchProducts::kForwardCopy, for input_gradient (it reads, adds and stores the tap's gradient) and filter_gradient.
constexpr int64_t kInputCopy = 14, kFilterCopy = 8;

// result [rows, 2 registers] = factors' patches, then the steps of rows from that number on; factors [count, rows]
template <int rows, class T>
void multiply_slots(int64_t count, const T* factors, const int64_t* offsets, const T* left, const T* right,
                    const LastSteps<T>& steps, int64_t number, T* result) {
  constexpr int lanes = Vec<T>::size;
  Vec<T> sums[rows][2];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) sums[i][0] = sums[i][1] = Vec<T>(T(0));
  for (int64_t k = 0; k < count; ++k, factors += rows) {
    Vec<T> a = Vec<T>::load(left + offsets[k]), b = Vec<T>::load(right + offsets[k]);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      Vec<T> factor(factors[i]);
      sums[i][0] = multiply_add(factor, a, sums[i][0]);
      sums[i][1] = multiply_add(factor, b, sums[i][1]);
    }
  }
  if (steps.taken()) steps.apply(sums, number, 1, result, 0, [](const T* from, int) { return Vec<T>::load(from); });
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
    sums[i][0].store(result + i * lanes);
    sums[i][1].store(result + (rows + i) * lanes);
  }
}

std::vector<int64_t> all_taps(const ConvolutionSizes& s) {
  std::vector<int64_t> taps;
  for (int64_t tap = 0; tap < s.height.window * s.width.window; ++tap) taps.push_back(tap);
  return taps;
}

PatchAxis forward_axis(const WindowAxis& axis) {
  PatchAxis patches{axis.size, axis.stride, -axis.before, {}, axis.out, axis.out, 0, 1};
  for (int64_t tap = 0; tap < axis.window; ++tap) patches.taps.push_back(tap * axis.dilation);
  return patches;
}

// The pixels of one axis that read the same taps: input pixel y = o * stride - before + tap * dilation.
struct GradientAxis {
  PatchAxis patches;
  std::vector<int64_t> taps;
};

std::vector<GradientAxis> gradient_axes(const WindowAxis& axis) {
  std::vector<GradientAxis> axes;
  for (int64_t tap = 0; tap < axis.window; ++tap) {
    int64_t place = tap * axis.dilation - axis.before, first = (place % axis.stride + axis.stride) % axis.stride;
    if (first >= axis.size) continue;
    auto same = [first](const GradientAxis& known) { return known.patches.out_first == first; };
    auto known = std::find_if(axes.begin(), axes.end(), same);
    if (known == axes.end()) {
      int64_t count = (axis.size - first + axis.stride - 1) / axis.stride;
      axes.push_back({{axis.out, 1, 0, {}, count, axis.size, first, axis.stride}, {}});
      known = axes.end() - 1;
    }
    known->patches.taps.push_back((first - place) / axis.stride);
    known->taps.push_back(tap);
  }
  return axes;
}

// Pixels that are independent of each other form one row.
ConvolutionSizes in_one_row(ConvolutionSizes s) {
  if (!s.is_pointwise()) return s;
  s.width.size = s.width.out = s.plane();
  s.height.size = s.height.out = 1;
  return s;
}

}  // namespace

template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes, bool gradients)
    : s_(gradients ? sizes : in_one_row(sizes)),
      forward_{Grid(forward_axis(s_.height), forward_axis(s_.width), s_.images, s_.in_channels, s_.image_size(),
                    s_.out_size()),
               s_.in_channels,
               s_.out_channels,
               s_.plane(),
               s_.pixels(),
               all_taps(s_),
               s_.taps(),
               s_.height.window * s_.width.window,
               1,
               0},
      channels_at_once_(std::clamp<int64_t>(s_.in_channels, 1, 32)),
      outs_at_once_(std::min<int64_t>(s_.out_channels, 32)),
      filter_grid_(forward_axis(s_.height), forward_axis(s_.width), gradients ? s_.images : 0, channels_at_once_,
                   s_.image_size(), s_.out_size()),
      patches_(init, 0), outs_(init, gradients ? filter_grid_.most_slots() * Vec<T>::size * outs_at_once_ : 0) {
  if (gradients) add_input_gradients();
  if (!gradients && choose_own_class(init)) return;
  choose_lanes(init, gradients);
  choose_patches(gradients);
  if (patches_forward_ || patches_by_input_ || patches_by_filter_) patch_products_.emplace(init, s_, gradients);
  factors_.emplace(init, gradients ? nullptr : "Filter", "filters by blocks of rows, taps",
                   std::vector<int64_t>{s_.groups, s_.out_channels, s_.in_channels, s_.taps()},
                   s_.groups * s_.out_channels * s_.taps());
  int64_t elements = forward_.grid.buffer_size();
  if (gradients) {
    elements = std::max(elements, filter_grid_.buffer_size());
    for (const Product& product : input_gradients_) elements = std::max(elements, product.grid.buffer_size());
  }
  patches_.resize(elements);
}

// Whether depthwise_, winograd_, channel_panels_ or pointwise_ computes the products of a forward convolution.
template <class T>
bool Convolution<T>::choose_own_class(KernelInit& init) {
  if (DepthwiseConvolution<T>::fits(s_)) {
    depthwise_.emplace(init, s_);
    return true;
  }
  if constexpr (std::is_same_v<T, float>) {
    winograd_.emplace(init, s_);
    if (winograd_->fits()) return true;
    winograd_.reset();
  }
  channel_panels_.emplace(init, s_, forward_.grid);
  if (channel_panels_->fits()) return true;
  channel_panels_.reset();
  if (PointwiseConvolution<T>::fits(s_)) pointwise_.emplace(init, s_);
  return pointwise_.has_value();
}

template <class T>
void Convolution<T>::add_input_gradients() {
  int64_t seen = 0, window = s_.height.window * s_.width.window;
  for (const GradientAxis& y : gradient_axes(s_.height)) {
    for (const GradientAxis& x : gradient_axes(s_.width)) {
      seen += y.patches.windows * x.patches.windows;
      std::vector<int64_t> taps;
      for (int64_t i : y.taps) {
        for (int64_t j : x.taps) taps.push_back(i * s_.width.window + j);
      }
      Grid grid(y.patches, x.patches, s_.images, s_.out_channels, s_.out_size(), s_.image_size());
      int64_t first = y.patches.out_first * s_.width.size + x.patches.out_first;
      input_gradients_.push_back({std::move(grid), s_.out_channels, s_.in_channels, s_.pixels(), s_.plane(),
                                  std::move(taps), window, s_.taps(), s_.width.stride, first});
    }
  }
  every_pixel_seen_ = seen == s_.plane();
}

// Lanes of images are copied twice, and their inputs come from the L2 cache, once for a few filters. That is faster than
// registers of pixels if these leave lanes idle, and for gradients, which read neighbouring rows. Of outputs of one column too
// few sums are computed together. Measured on a Xeon.
template <class T>
void Convolution<T>::choose_lanes(KernelInit& init, bool gradients) {
  constexpr double kFewIdle = 1.15;
  constexpr int64_t kRowBytes = 1 << 18;  // half of what a band has
  const int64_t window = s_.height.window * s_.width.window;
  if (!ImageLanes<T>::fits(s_) || window == 1 || s_.out_channels == 1 || s_.width.out == 1) return;
  const auto windows = static_cast<double>(s_.images * s_.pixels());
  if (static_cast<double>(forward_.grid.lanes()) > kFewIdle * windows) lanes_forward_.emplace(init, s_, false);
  if (!gradients) return;
  lanes_by_input_.emplace(init, s_, true);
  if (lanes_by_input_->row_bytes() > kRowBytes && !lanes_forward_) lanes_by_input_.reset();
  if (ImageLanesGradient<T>::fits(s_)) lanes_by_filter_.emplace(init, s_);
}

// Compares the cost of multiplying all lanes of slots with that of multiplying only windows plus copying them. Fewer
// than six rows take as long as six, because loading the other operand dominates.
template <class T>
void Convolution<T>::choose_patches(bool gradients) {
  const int64_t outs = s_.out_channels, windows = s_.images * s_.pixels();
  patches_forward_ =
      !lanes_forward_ && forward_.grid.lanes() * outs > windows * (outs + PatchProducts<T>::kForwardCopy);
  if (!gradients) return;
  patches_by_filter_ = !lanes_by_filter_ && filter_grid_.lanes() * outs > windows * (outs + kFilterCopy);
  int64_t products = 0;
  for (const Product& product : input_gradients_) {
    products += product.grid.lanes() * static_cast<int64_t>(product.taps.size());
  }
  products *= std::max<int64_t>(s_.in_channels, 6);
  patches_by_input_ = !lanes_by_input_ && products * outs > windows * s_.taps() * (outs + kInputCopy);
}

template <class T>
void Convolution<T>::store(const Product& product, const typename Grid::Slots& slots, size_t slot, const T* values,
                           T* out) const {
  const typename Grid::Slot& where = slots.slots[slot];
  for (int r = 0; r < where.runs; ++r) {
    const typename Grid::Run& run = slots.runs[where.run + r];
    const T* from = values + run.at;
    T* to = out + run.to;
    if (product.pixel_step == 1) copy_run(to, from, run.count);
    else
      for (int i = 0; i < run.count; ++i) to[i * product.pixel_step] = from[i];
  }
}

// Factors of all groups, in blocks of rows, those of a tap adjacent.
template <class T>
void Convolution<T>::pack_factors(KernelContext& context, const Product& product, const T* filter, T* to) const {
  const int64_t filter_size = s_.out_channels * s_.taps();
  const int64_t count = product.channels * static_cast<int64_t>(product.taps.size());
  const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(count) * kMostRows<T>;
  each_block(context, s_.groups, product.rows, kMostRows<T>, cost, [&](int64_t group, int64_t first, int rows) {
    const T* start = filter + group * filter_size + first * product.row_step;
    T* at = to + (group * product.rows + first) * count;
    for (int64_t c = 0; c < product.channels; ++c) {
      for (int64_t tap : product.taps) {
        const T* from = start + c * product.channel_step + tap;
        for (int i = 0; i < rows; ++i) *at++ = from[i * product.row_step];
      }
    }
  });
}

// The product of all groups, split into groups and regions; by rows too if these are too few for all threads, as each part
// packs its patches.
template <class T>
void Convolution<T>::multiply(KernelContext& context, const Product& product, const T* image, const T* filter, T* out) {
  const int64_t count = static_cast<int64_t>(product.grid.offsets().size()), regions = product.grid.regions();
  const int64_t coarse = s_.groups * regions, blocks = (product.rows + kMostRows<T> - 1) / kMostRows<T>;
  const int64_t slices = slices_per_item(coarse, 2 * context.threads, blocks);
  const int64_t factors = product.rows * count;
  const T* packed = factors_->get(context, [&](T* to) { pack_factors(context, product, filter, to); });
  const double flops = 2.0 * static_cast<double>(s_.groups * product.grid.lanes()) * static_cast<double>(factors);
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(std::max<int64_t>(coarse * slices, 1))),
                      1, patches_.lanes()};
  const LastSteps<T> steps(context, product.out_plane, s_.groups * product.rows, false);
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    StoredParts<T> stored(context, steps.taken());
    for (int64_t i = begin; i < end; ++i) {
      int64_t slice = i % slices, group = i / slices / std::max<int64_t>(regions, 1);
      typename Grid::Region region = product.grid.region(i / slices % regions);
      product.grid.pack(image + group * product.channels * product.in_plane, region, product.channels,
                        patches_.data(lane));
      multiply_region(stored, steps, group, product, region, packed + group * factors, patches_.data(lane), slice,
                      slices, out + group * product.rows * product.out_plane);
    }
  });
}

// Only the blocks of rows that belong to a slice.
template <class T>
void Convolution<T>::multiply_region(StoredParts<T>& stored, const LastSteps<T>& steps, int64_t group,
                                     const Product& product, const typename Grid::Region& region, const T* factors,
                                     const T* patches, int64_t slice, int64_t slices, T* out) const {
  constexpr int lanes = Vec<T>::size;
  const std::vector<int64_t>& offsets = product.grid.offsets();
  const int64_t count = static_cast<int64_t>(offsets.size());
  const auto& slots = *region.slots;
  each_block(product.rows, kMostRows<T>, [&](int64_t first, int block) {
    if (first * slices / product.rows != slice) return;
    with_constant<kMostRows<T>>(block, [&](auto constant) {
      constexpr int rows = decltype(constant)::value;
      alignas(64) T result[2 * rows * lanes];
      for (size_t slot = 0; slot < slots.slots.size(); slot += 2) {
        size_t next = std::min(slot + 1, slots.slots.size() - 1);
        if (product.pixel_step == 1) {  // outputs arrive in the cache while they are computed
          for (int i = 0; i < rows; ++i) {
            T* to = out + product.first + region.to + (first + i) * product.out_plane;
            __builtin_prefetch(to + slots.runs[slots.slots[slot].run].to, 1);
            __builtin_prefetch(to + slots.runs[slots.slots[next].run].to, 1);
          }
        }
        multiply_slots<rows>(count, factors + first * count, offsets.data(), patches + slots.slots[slot].in,
                             patches + slots.slots[next].in, steps, group * product.rows + first, result);
        for (int i = 0; i < rows; ++i) {
          T* to = out + product.first + region.to + (first + i) * product.out_plane;
          if (next < slots.full && product.pixel_step == 1) {
            Vec<T>::load(result + i * lanes).store(to + slots.runs[slots.slots[slot].run].to);
            Vec<T>::load(result + (rows + i) * lanes).store(to + slots.runs[slots.slots[next].run].to);
            continue;
          }
          store(product, slots, slot, result + i * lanes, to);
          if (next > slot) store(product, slots, next, result + (rows + i) * lanes, to);
        }
      }
    });
    product.grid.add_results(stored, region, block, product.out_plane, out + first * product.out_plane);
  });
}

template <class T>
void Convolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    if (winograd_) return winograd_->run(context, image, filter, out);
  }
  if (pointwise_) pointwise_->run(context, image, filter, out);
  else if (depthwise_) depthwise_->run(context, image, filter, out);
  else if (channel_panels_) channel_panels_->run(context, image, filter, out);
  else if (lanes_forward_) lanes_forward_->run(context, image, filter, out);
  else if (patches_forward_) patch_products_->run(context, image, filter, out);
  else multiply(context, forward_, image, filter, out);
}

template <class T>
void Convolution<T>::input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient) {
  if (lanes_by_input_) return lanes_by_input_->run(context, out_gradient, filter, image_gradient);
  if (patches_by_input_) return patch_products_->input_gradient(context, filter, out_gradient, image_gradient);
  if (!every_pixel_seen_) fill_n(context, image_gradient, s_.images * s_.image_size(), T(0));
  for (const Product& product : input_gradients_) multiply(context, product, out_gradient, filter, image_gradient);
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace paddle_mini
