// DirectConvolution: the loops that multiply filters with patches.
#include "math/cpu/direct_convolution.h"

#include "math/cpu/register_blocks.h"
#include "math/cpu/short_runs.h"

namespace paddle_mini {
namespace {

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

// Writes a register of results where the slot's windows belong.
template <class T>
void store(const DirectProduct<T>& product, const typename PatchGrid<T>::Slots& slots, size_t slot, const T* values,
           T* out) {
  const auto& where = slots.slots[slot];
  for (int r = 0; r < where.runs; ++r) {
    const auto& run = slots.runs[where.run + r];
    const T* from = values + run.at;
    T* to = out + run.to;
    if (product.pixel_step == 1) copy_run(to, from, run.count);
    else
      for (int i = 0; i < run.count; ++i) to[i * product.pixel_step] = from[i];
  }
}

}  // namespace

template <class T>
DirectConvolution<T>::DirectConvolution(KernelInit& init, const ConvolutionSizes& s,
                                        std::vector<DirectProduct<T>> products, bool keeps_filters)
    : groups_(s.groups), filter_size_(s.out_channels * s.taps()), products_(std::move(products)),
      factors_(init, keeps_filters ? "Filter" : nullptr, "filters by blocks of rows, taps",
               {s.groups, s.out_channels, s.in_channels, s.taps()}, groups_ * filter_size_),
      patches_(init, 0) {
  int64_t elements = 0;
  for (const DirectProduct<T>& product : products_) elements = std::max(elements, product.grid.buffer_size());
  patches_.resize(elements);
}

// Factors of all groups, in blocks of rows, those of a tap adjacent.
template <class T>
void DirectConvolution<T>::pack_factors(KernelContext& context, const DirectProduct<T>& product, const T* filter,
                                        T* to) const {
  const int64_t count = product.channels * static_cast<int64_t>(product.taps.size());
  const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(count) * kMostRows<T>;
  each_block(context, groups_, product.rows, kMostRows<T>, cost, [&](int64_t group, int64_t first, int rows) {
    const T* start = filter + group * filter_size_ + first * product.row_step;
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
void DirectConvolution<T>::multiply(KernelContext& context, const DirectProduct<T>& product, const T* image,
                                    const T* filter, T* out) {
  const int64_t count = static_cast<int64_t>(product.grid.offsets().size()), regions = product.grid.regions();
  const int64_t coarse = groups_ * regions, blocks = (product.rows + kMostRows<T> - 1) / kMostRows<T>;
  const int64_t slices = slices_per_item(coarse, 2 * context.threads, blocks);
  const int64_t factors = product.rows * count;
  const T* packed = factors_.get(context, [&](T* to) { pack_factors(context, product, filter, to); });
  const double flops = 2.0 * static_cast<double>(groups_ * product.grid.lanes()) * static_cast<double>(factors);
  const LoopSize size{coarse * slices, flops_cost(flops / static_cast<double>(std::max<int64_t>(coarse * slices, 1))),
                      1, patches_.lanes()};
  const LastSteps<T> steps(context, product.out_plane, groups_ * product.rows, false);
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
void DirectConvolution<T>::multiply_region(StoredParts<T>& stored, const LastSteps<T>& steps, int64_t group,
                                           const DirectProduct<T>& product, const typename Grid::Region& region,
                                           const T* factors, const T* patches, int64_t slice, int64_t slices,
                                           T* out) const {
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
void DirectConvolution<T>::run(KernelContext& context, const T* image, const T* filter, T* result) {
  for (const DirectProduct<T>& product : products_) multiply(context, product, image, filter, result);
}

template class DirectConvolution<float>;
template class DirectConvolution<double>;

}  // namespace paddle_mini
