// Convolution: the loops that multiply filters with patches.
#include "math/convolution.h"

#include "math/copy.h"
#include "math/cpu/register_blocks.h"
#include "math/cpu/short_runs.h"

namespace paddle_mini {
namespace {

// Calls of the followers for shorter parts cost more than they save.
constexpr int64_t kLeastPart = 1024;

// As PatchProducts::kForwardCopy, for input_gradient (it reads, adds and stores the tap's gradient) and filter_gradient.
constexpr int64_t kInputCopy = 14, kFilterCopy = 8;

// Slots that are multiplied together: few rows leave registers for more slots, whose sums do not wait for each other.
template <int rows>
constexpr int kSlots = rows == 1   ? 6
                       : rows == 2 ? 4
                                   : 2;

// result [slots, rows, a register] = factors' patches; factors [count, rows]
template <int rows, int slots, class T>
void multiply_slots(int64_t count, const T* factors, const int64_t* offsets, const T* const (&patches)[slots],
                    T* result) {
  constexpr int lanes = Vec<T>::size;
  Vec<T> sums[rows][slots];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 6
    for (int s = 0; s < slots; ++s) sums[i][s] = Vec<T>(T(0));
  }
  for (int64_t k = 0; k < count; ++k, factors += rows) {
    Vec<T> values[slots];
#pragma GCC unroll 6
    for (int s = 0; s < slots; ++s) values[s] = Vec<T>::load(patches[s] + offsets[k]);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      Vec<T> factor(factors[i]);
#pragma GCC unroll 6
      for (int s = 0; s < slots; ++s) sums[i][s] = multiply_add(factor, values[s], sums[i][s]);
    }
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 6
    for (int s = 0; s < slots; ++s) sums[i][s].store(result + (s * rows + i) * lanes);
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

}  // namespace

template <class T>
Convolution<T>::Convolution(KernelInit& init, const ConvolutionSizes& sizes, bool gradients)
    : s_(sizes), forward_{Grid(forward_axis(s_.height), forward_axis(s_.width), s_.images, s_.in_channels,
                               s_.image_size(), s_.out_size()),
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
      factors_(init, gradients ? nullptr : "Filter", "filters by blocks of rows, taps",
               {s_.groups, s_.out_channels, s_.in_channels, s_.taps()}, s_.groups * s_.out_channels * s_.taps()),
      patches_(init, 0), outs_(init, gradients ? filter_grid_.most_slots() * Vec<T>::size * outs_at_once_ : 0) {
  int64_t elements = forward_.grid.buffer_size();
  if (gradients) add_input_gradients();
  if (choose_patches(gradients)) patch_products_.emplace(init, s_, gradients);
  if (gradients) {
    elements = std::max(elements, filter_grid_.buffer_size());
    for (const Product& product : input_gradients_) elements = std::max(elements, product.grid.buffer_size());
  }
  patches_.resize(elements);
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

// Compares the cost of multiplying all lanes of slots with that of multiplying only windows plus copying them. Fewer
// than six rows take as long as six, because loading the other operand dominates.
template <class T>
bool Convolution<T>::choose_patches(bool gradients) {
  const int64_t outs = s_.out_channels, windows = s_.images * s_.pixels();
  patches_forward_ = forward_.grid.lanes() * outs > windows * (outs + PatchProducts<T>::kForwardCopy);
  if (!gradients) return patches_forward_;
  patches_by_filter_ = filter_grid_.lanes() * outs > windows * (outs + kFilterCopy);
  int64_t products = 0;
  for (const Product& product : input_gradients_) {
    products += product.grid.lanes() * static_cast<int64_t>(product.taps.size());
  }
  products *= std::max<int64_t>(s_.in_channels, 6);
  patches_by_input_ = products * outs > windows * s_.taps() * (outs + kInputCopy);
  return patches_forward_ || patches_by_filter_ || patches_by_input_;
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

// values [rows, a register]
template <class T>
void Convolution<T>::store_rows(const Product& product, const typename Grid::Slots& slots, size_t slot, int rows,
                                const T* values, T* out) const {
  constexpr int lanes = Vec<T>::size;
  if (slot >= slots.full || product.pixel_step != 1) {
    for (int i = 0; i < rows; ++i) store(product, slots, slot, values + i * lanes, out + i * product.out_plane);
    return;
  }
  T* to = out + slots.runs[slots.slots[slot].run].to;
  for (int i = 0; i < rows; ++i) Vec<T>::load(values + i * lanes).store(to + i * product.out_plane);
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
void Convolution<T>::multiply(KernelContext& context, const Product& product, const T* image, const T* filter, T* out,
                              Followers* followers) {
  const int64_t count = static_cast<int64_t>(product.grid.offsets().size()), regions = product.grid.regions();
  const int64_t coarse = s_.groups * regions, blocks = (product.rows + kMostRows<T> - 1) / kMostRows<T>;
  const int64_t slices = slices_per_item(coarse, 2 * context.threads, blocks);
  const int64_t factors = product.rows * count;
  const T* packed = factors_.get(context, [&](T* to) { pack_factors(context, product, filter, to); });
  const double flops = 2.0 * static_cast<double>(s_.groups * product.grid.lanes()) * static_cast<double>(factors);
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(std::max<int64_t>(coarse * slices, 1))),
                      1, patches_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t slice = i % slices, group = i / slices / std::max<int64_t>(regions, 1);
      typename Grid::Region region = product.grid.region(i / slices % regions);
      product.grid.pack(image + group * product.channels * product.in_plane, region, product.channels,
                        patches_.data(lane));
      multiply_region(product, region, packed + group * factors, patches_.data(lane), slice, slices,
                      out + group * product.rows * product.out_plane, [&](int64_t first, int64_t rows) {
                        if (followers) report(context, *followers, region, group * product.rows + first, rows);
                      });
    }
  });
}

// The pixels of a region in some channels are complete.
template <class T>
void Convolution<T>::report(KernelContext& context, Followers& followers, const typename Grid::Region& region,
                            int64_t first, int64_t channels) const {
  const int64_t plane = s_.pixels(), pixels = region.rows * region.columns;
  for (int64_t image = 0; image < region.images; ++image) {
    const int64_t begin = region.to + image * s_.out_size() + first * plane;
    if (pixels == plane) {
      followers.run(context, begin, begin + channels * plane);
      continue;
    }
    const bool whole_rows = region.columns == s_.width.out;
    const int64_t runs = whole_rows ? 1 : region.rows, count = pixels / runs;
    for (int64_t i = 0; i < channels * runs; ++i) {
      const int64_t at = begin + i / runs * plane + i % runs * s_.width.out;
      followers.run(context, at, at + count);
    }
  }
}

// Only the blocks of rows that belong to a slice; calls done(first row, rows) after each.
template <class T>
template <class F>
void Convolution<T>::multiply_region(const Product& product, const typename Grid::Region& region, const T* factors,
                                     const T* patches, int64_t slice, int64_t slices, T* out, F done) const {
  constexpr int lanes = Vec<T>::size;
  const std::vector<int64_t>& offsets = product.grid.offsets();
  const int64_t count = static_cast<int64_t>(offsets.size());
  const auto& slots = *region.slots;
  each_block(product.rows, kMostRows<T>, [&](int64_t first, int block) {
    if (first * slices / product.rows != slice) return;
    with_constant<kMostRows<T>>(block, [&](auto constant) {
      constexpr int rows = decltype(constant)::value;
      auto run = [&](auto together, size_t slot) {
        constexpr int most = decltype(together)::value;
        alignas(64) T result[most * rows * lanes];
        const T* starts[most];
        for (int s = 0; s < most; ++s) {
          starts[s] = patches + slots.slots[std::min(slot + static_cast<size_t>(s), slots.slots.size() - 1)].in;
        }
        multiply_slots<rows, most>(count, factors + first * count, offsets.data(), starts, result);
        for (size_t s = 0; s < most && slot + s < slots.slots.size(); ++s) {
          store_rows(product, slots, slot + s, rows, result + s * rows * lanes,
                     out + product.first + region.to + first * product.out_plane);
        }
      };
      size_t slot = 0;
      for (; slot + kSlots<rows> <= slots.slots.size(); slot += kSlots<rows>) {
        run(std::integral_constant<int, kSlots<rows>>(), slot);
      }
      for (; slot < slots.slots.size(); slot += 2) run(std::integral_constant<int, 2>(), slot);
    });
    done(first, block);
  });
}

// Elements of a usual part of the output that report() finds complete.
template <class T>
int64_t Convolution<T>::part_size() const {
  const int64_t channels = std::min<int64_t>(s_.out_channels, kMostRows<T>), plane = s_.pixels();
  if (plane == 0 || s_.images == 0) return 0;
  if (patches_forward_) return patch_products_->part_size();
  const typename Grid::Region region = forward_.grid.region(0);
  if (region.rows * region.columns == plane) return channels * plane;
  return region.columns == s_.width.out ? region.rows * region.columns : region.columns;
}

template <class T>
void Convolution<T>::run(KernelContext& context, const T* image, const T* filter, T* out, Followers* followers) {
  if (followers && (followers->unit != 1 || part_size() < kLeastPart)) followers = nullptr;
  if (patches_forward_) patch_products_->run(context, image, filter, out, followers);
  else multiply(context, forward_, image, filter, out, followers);
}

template <class T>
void Convolution<T>::input_gradient(KernelContext& context, const T* filter, const T* out_gradient, T* image_gradient) {
  if (patches_by_input_) return patch_products_->input_gradient(context, filter, out_gradient, image_gradient);
  if (!every_pixel_seen_) fill_n(context, image_gradient, s_.images * s_.image_size(), T(0));
  for (const Product& product : input_gradients_)
    multiply(context, product, out_gradient, filter, image_gradient, nullptr);
}

template class Convolution<float>;
template class Convolution<double>;

}  // namespace paddle_mini
