// DirectConvolution: the loops that multiply filters with patches.
#include "math/cpu/direct_convolution.h"

#include "math/cpu/register_blocks.h"
#include "math/cpu/short_runs.h"

namespace paddle_mini {
namespace {

// Sums of so many filters and registers of pixels stay in registers. Wide blocks load less (gemm_block::kRegisters).
template <class T>
constexpr int kRows = many_registers<T> ? 9 : 6;
template <class T>
constexpr int kSlots = many_registers<T> ? 3 : 2;

// result [registers, rows] = factors' patches, whose registers begin at `first`; then the steps of rows from that number on.
// factors [count, rows]
template <int rows, int registers, class T>
void multiply_slots(int64_t count, const T* factors, const int64_t* offsets, const T* const (&first)[kSlots<T>],
                    const LastSteps<T>& steps, int64_t number, T* result) {
  constexpr int lanes = Vec<T>::size;
  const T* from[registers];
  Vec<T> sums[rows][registers];
#pragma GCC unroll 3
  for (int r = 0; r < registers; ++r) {
    from[r] = first[r];
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) sums[i][r] = Vec<T>(T(0));
  }
  for (int64_t k = 0; k < count; ++k, factors += rows) {
    Vec<T> pixels[registers];
#pragma GCC unroll 3
    for (int r = 0; r < registers; ++r) pixels[r] = Vec<T>::load(from[r] + offsets[k]);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const Vec<T> factor(factors[i]);
#pragma GCC unroll 3
      for (int r = 0; r < registers; ++r) sums[i][r] = multiply_add(factor, pixels[r], sums[i][r]);
    }
  }
  if (steps.taken()) steps.apply(sums, number, 1, result, 0, [](const T* from, int) { return Vec<T>::load(from); });
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 3
    for (int r = 0; r < registers; ++r) sums[i][r].store(result + (r * rows + i) * lanes);
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
                                        std::vector<DirectProduct<T>> products, int64_t blocks, const char* port)
    : groups_(s.groups), filter_size_(s.out_channels * s.taps()), blocks_(blocks), products_(std::move(products)),
      factors_(init, port, "filters by blocks of rows, taps", {s.groups, s.out_channels, s.in_channels, s.taps()},
               groups_ * filter_size_),
      patches_(init, 0) {
  int64_t elements = 0;
  for (const DirectProduct<T>& product : products_) {
    elements = std::max(elements, product.grid.buffer_size());
    init.add_kept_bytes(sizeof(product) + product.grid.kept_bytes());
  }
  patches_.resize(elements);
}

// The products' factors one after the other: those of all groups, in blocks of rows, those of a tap adjacent.
template <class T>
void DirectConvolution<T>::pack_factors(KernelContext& context, const T* filter, T* to) const {
  for (const DirectProduct<T>& product : products_) {
    const int64_t count = product.taps_of_row();
    const double cost = bytes_cost(16.0 * sizeof(T)) * static_cast<double>(count) * kRows<T>;
    each_block(context, groups_, product.rows, kRows<T>, cost, [&](int64_t group, int64_t first, int rows) {
      const T* start = filter + group * filter_size_ + first * product.row_step;
      T* at = to + (group * product.rows + first) * count;
      for (int64_t c = 0; c < product.channels; ++c) {
        for (int64_t tap : product.taps) {
          const T* from = start + c * product.channel_step + tap;
          for (int i = 0; i < rows; ++i) *at++ = from[i * product.row_step];
        }
      }
    });
    to += groups_ * product.rows * count;
  }
}

// Some regions of a group.
template <class T>
void DirectConvolution<T>::multiply(StoredParts<T>& stored, const LastSteps<T>& steps, const DirectProduct<T>& product,
                                    const Part& part, const T* image, const T* factors, T* patches, T* out) const {
  image += part.group * product.channels * product.in_plane;
  out += part.group * product.rows * product.out_plane;
  factors += part.group * product.rows * product.taps_of_row();
  for (int64_t r = part.first_region; r < part.end_region; ++r) {
    const typename Grid::Region region = product.grid.region(r);
    product.grid.pack(image, region, product.channels, patches);
    multiply_region(stored, steps, part, product, region, factors, patches, out);
  }
}

// Only the blocks of rows that belong to the part's slice.
template <class T>
void DirectConvolution<T>::multiply_region(StoredParts<T>& stored, const LastSteps<T>& steps, const Part& part,
                                           const DirectProduct<T>& product, const typename Grid::Region& region,
                                           const T* factors, const T* patches, T* out) const {
  constexpr int lanes = Vec<T>::size;
  const std::vector<int64_t>& offsets = product.grid.offsets();
  const int64_t count = static_cast<int64_t>(offsets.size());
  const auto& slots = *region.slots;
  each_block(product.rows, kRows<T>, [&](int64_t first, int block) {
    if (first * part.slices / product.rows != part.slice) return;
    with_constant<kRows<T>>(block, [&](auto constant) {
      constexpr int rows = decltype(constant)::value;
      alignas(64) T result[kSlots<T> * rows * lanes];
      const auto all = static_cast<int64_t>(slots.slots.size());
      for (int64_t slot = 0; slot < all; slot += kSlots<T>) {
        const auto here = static_cast<int>(std::min<int64_t>(all - slot, kSlots<T>));
        const T* from[kSlots<T>];
        for (int r = 0; r < here; ++r) {
          from[r] = patches + slots.slots[slot + r].in;
          if (product.pixel_step != 1) continue;
          for (int i = 0; i < rows; ++i) {  // outputs arrive in the cache while they are computed
            T* to = out + product.first + region.to + (first + i) * product.out_plane;
            __builtin_prefetch(to + slots.runs[slots.slots[slot + r].run].to, 1);
          }
        }
        with_constant<kSlots<T>>(here, [&](auto registers) {
          multiply_slots<rows, decltype(registers)::value>(count, factors + first * count, offsets.data(), from, steps,
                                                           part.group * product.rows + first, result);
        });
        for (int r = 0; r < here; ++r) {
          const bool is_full = slot + r < static_cast<int64_t>(slots.full) && product.pixel_step == 1;
          for (int i = 0; i < rows; ++i) {
            T* to = out + product.first + region.to + (first + i) * product.out_plane;
            const T* sums = result + (r * rows + i) * lanes;
            if (is_full) Vec<T>::load(sums).store(to + slots.runs[slots.slots[slot + r].run].to);
            else store(product, slots, static_cast<size_t>(slot + r), sums, to);
          }
        }
      }
    });
    product.grid.add_results(stored, region, block, product.out_plane, out + first * product.out_plane);
  });
}

// Products [first, end) split into groups and blocks of images, whose regions are split too if it is one product; by rows if
// these are too few for all threads, as each part packs its patches.
template <class T>
void DirectConvolution<T>::multiply_together(KernelContext& context, const DirectProduct<T>* first,
                                             const DirectProduct<T>* end, const T* image, const T* packed, T* result) {
  const bool is_one = end - first == 1;
  const int64_t regions = is_one ? first->grid.regions() : 1, coarse = groups_ * blocks_ * regions;
  const int64_t slices = slices_per_item(coarse, context.threads, (first->rows + kRows<T> - 1) / kRows<T>);
  double products = 0;
  for (const DirectProduct<T>* p = first; p < end; ++p)
    products += static_cast<double>(p->grid.lanes() * p->rows * p->taps_of_row());
  const double parts = static_cast<double>(std::max<int64_t>(regions * slices, 1));
  const LoopSize size{coarse * slices, flops_cost(2.0 * products / parts), 1, patches_.lanes()};
  const LastSteps<T> steps(context, first->out_plane, groups_ * first->rows, false);
  parallel_for(context, size, [&](int64_t begin, int64_t end_item, int lane) {
    StoredParts<T> stored(context, steps.taken());
    for (int64_t i = begin; i < end_item; ++i) {
      const int64_t region = i / slices % regions, block = i / slices / regions / groups_;
      const T *from = image + block * first->in_block(groups_), *factors = packed;
      T* to = result + block * first->out_block(groups_);
      for (const DirectProduct<T>* product = first; product < end; ++product) {
        const Part part{i / slices / regions % groups_, is_one ? region : 0,
                        is_one ? region + 1 : product->grid.regions(), i % slices, slices};
        multiply(stored, steps, *product, part, from, factors, patches_.data(lane), to);
        factors += groups_ * product->rows * product->taps_of_row();
      }
    }
  });
}

// Blocks that are too few for all threads are computed by one product after the other, whose regions are split.
template <class T>
void DirectConvolution<T>::run(KernelContext& context, const T* image, const T* filter, T* result) {
  if (products_.empty()) return;
  const T* packed = factors_.get(context, [&](T* to) { pack_factors(context, filter, to); });
  const DirectProduct<T>*first = products_.data(), *end = first + products_.size();
  if (blocks_ > 1 && groups_ * blocks_ >= context.threads)
    return multiply_together(context, first, end, image, packed, result);
  for (; first < end; packed += groups_ * first->rows * first->taps_of_row(), ++first) {
    multiply_together(context, first, first + 1, image, packed, result);
  }
}

template class DirectConvolution<float>;
template class DirectConvolution<double>;

}  // namespace paddle_mini
