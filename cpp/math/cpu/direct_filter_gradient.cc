// DirectFilterGradient: the loops that multiply the gradients of outputs with patches.
#include "math/cpu/direct_filter_gradient.h"

#include "math/cpu/register_blocks.h"
#include "math/cpu/short_runs.h"

namespace paddle_mini {
namespace {

template <class T>
constexpr int kMostOuts = many_registers<T> ? 6 : 4;  // kMostOuts * kMostTaps sums stay in registers
template <class T>
constexpr int kMostTaps = many_registers<T> ? 4 : 3;

constexpr size_t kSlotsAtOnce = 96;  // so that data that is read repeatedly stays in the L1 cache

// sums[o][t] += outs[o] times the input of tap t, for the slots [begin, end). The mask clears lanes that are not
// windows: 0 times infinity would not be 0.
template <bool masked, int outs, int taps, class Slots, class T>
inline void add_products(const Slots& slots, size_t begin, size_t end, const T* panel, int64_t out_step,
                         const T* patches, const int64_t* offsets, Vec<T> (&sums)[outs][taps]) {
  constexpr int lanes = Vec<T>::size;
  const T* tap[taps];
  for (int t = 0; t < taps; ++t) tap[t] = patches + offsets[t];
  for (size_t slot = begin; slot < end; ++slot) {
    int64_t in = slots.slots[slot].in;
    Vec<T> seen[taps];
#pragma GCC unroll 4
    for (int t = 0; t < taps; ++t) {
      seen[t] = Vec<T>::load(tap[t] + in);
      if (masked) {
        Vec<T> mask = Vec<T>::load(slots.masks.data() + slot * lanes);
        seen[t] = select(mask > Vec<T>(T(0)), seen[t], Vec<T>(T(0)));
      }
    }
#pragma GCC unroll 6
    for (int o = 0; o < outs; ++o) {
      Vec<T> out = Vec<T>::load(panel + o * out_step + slot * lanes);
#pragma GCC unroll 4
      for (int t = 0; t < taps; ++t) sums[o][t] = multiply_add(out, seen[t], sums[o][t]);
    }
  }
}

}  // namespace

template <class T>
PatchGrid<T> DirectFilterGradient<T>::grid_of(const ConvolutionSizes& s) {
  return {PatchAxis::forward(s.height),
          PatchAxis::forward(s.width),
          s.images,
          channels_at_once(s),
          s.image_size(),
          s.out_size()};
}

template <class T>
DirectFilterGradient<T>::DirectFilterGradient(KernelInit& init, const ConvolutionSizes& sizes, Grid grid)
    : s_(sizes), channels_at_once_(channels_at_once(s_)), outs_at_once_(std::min<int64_t>(s_.out_channels, 32)),
      grid_(std::move(grid)), patches_(init, grid_.buffer_size()),
      outs_(init, grid_.most_slots() * Vec<T>::size * outs_at_once_) {
  init.add_kept_bytes(grid_.kept_bytes());
}

// panel [channels, slots, lanes], zeros in lanes without a window
template <class T>
void DirectFilterGradient<T>::pack_outputs(const T* out, const typename Grid::Region& region, int64_t channels,
                                           T* panel) const {
  constexpr int lanes = Vec<T>::size;
  const auto& slots = *region.slots;
  for (int64_t c = 0; c < channels; ++c) {
    const T* from = out + region.to + c * s_.pixels();
    for (size_t slot = 0; slot < slots.slots.size(); ++slot, panel += lanes) {
      if (slot < slots.full) {
        Vec<T>::load(from + slots.runs[slots.slots[slot].run].to).store(panel);
        continue;
      }
      std::fill_n(panel, lanes, T(0));
      for (int r = 0; r < slots.slots[slot].runs; ++r) {
        const auto& run = slots.runs[slots.slots[slot].run + r];
        copy_run(panel + run.at, from + run.to, run.count);
      }
    }
  }
}

// filter_gradient [outs, taps of all channels] += the products of the panel and the patches, for some channels
template <class T>
void DirectFilterGradient<T>::add_region(const typename Grid::Region& region, int64_t outs, int64_t taps,
                                         const T* patches, const T* panels, T* filter_gradient) const {
  const auto& slots = *region.slots;
  const int64_t out_step = static_cast<int64_t>(slots.slots.size()) * Vec<T>::size, row = s_.taps();
  for (size_t begin = 0; begin < slots.slots.size(); begin += kSlotsAtOnce) {
    size_t end = std::min(begin + kSlotsAtOnce, slots.slots.size());
    size_t middle = std::clamp(slots.full, begin, end);
    each_block(outs, kMostOuts<T>, [&](int64_t first_out, int out_count) {
      const T* panel = panels + first_out * out_step;
      each_block(taps, kMostTaps<T>, [&](int64_t first_tap, int tap_count) {
        with_constant<kMostOuts<T>>(out_count, [&](auto out_constant) {
          with_constant<kMostTaps<T>>(tap_count, [&](auto tap_constant) {
            constexpr int o_count = decltype(out_constant)::value, t_count = decltype(tap_constant)::value;
            Vec<T> sums[o_count][t_count];
            for (auto& sum : sums) std::fill_n(sum, t_count, Vec<T>(T(0)));
            const int64_t* offsets = grid_.offsets().data() + first_tap;
            add_products<false>(slots, begin, middle, panel, out_step, patches, offsets, sums);
            add_products<true>(slots, middle, end, panel, out_step, patches, offsets, sums);
            for (int o = 0; o < o_count; ++o) {
              T* to = filter_gradient + (first_out + o) * row + first_tap;
              for (int t = 0; t < t_count; ++t) to[t] += sum_of_lanes(sums[o][t]);
            }
          });
        });
      });
    });
  }
}

// The filters [first_out, end_out) of a group and some of its channels. Adds the regions in order.
template <class T>
void DirectFilterGradient<T>::add_part(int64_t group, int64_t c, int64_t first_out, int64_t end_out, int lane,
                                       const T* image, const T* out_gradient, T* filter_gradient) {
  const int64_t window = s_.height.window * s_.width.window, channels = std::min(channels_at_once_, s_.in_channels - c);
  const int64_t first = group * s_.out_channels;
  T *to = filter_gradient + first * s_.taps() + c * window, *patches = patches_.data(lane), *panel = outs_.data(lane);
  for (int64_t o = first_out; o < end_out; ++o) std::fill_n(to + o * s_.taps(), channels * window, T(0));
  for (int64_t i = 0; i < grid_.regions(); ++i) {
    typename Grid::Region region = grid_.region(i);
    grid_.pack(image + (group * s_.in_channels + c) * s_.plane(), region, channels, patches);
    for (int64_t o = first_out; o < end_out; o += outs_at_once_) {
      int64_t outs = std::min(outs_at_once_, end_out - o);
      pack_outputs(out_gradient + (first + o) * s_.pixels(), region, outs, panel);
      add_region(region, outs, channels * window, patches, panel, to + o * s_.taps());
    }
  }
}

// Split by groups and channels; by filters too if these are too few for all threads, as patches are then packed for each.
template <class T>
void DirectFilterGradient<T>::run(KernelContext& context, const T* image, const T* out_gradient, T* filter_gradient) {
  const int64_t outs = s_.out_channels, steps = (s_.in_channels + channels_at_once_ - 1) / channels_at_once_;
  const int64_t coarse = s_.groups * steps, wanted = context.threads + coarse - 1;  // at least one for each thread
  const int64_t slices = slices_per_item(coarse, wanted, outs / kMostOuts<T>), items = coarse * slices;
  const double flops = 2.0 * static_cast<double>(s_.groups * grid_.lanes()) * static_cast<double>(outs * s_.taps());
  parallel_for(context, {items, flops_cost(flops / static_cast<double>(items)), 1, patches_.lanes()},
               [&](int64_t begin, int64_t end, int lane) {
                 for (int64_t i = begin; i < end; ++i) {
                   int64_t slice = i % slices, step = i / slices % steps;
                   add_part(i / slices / steps, step * channels_at_once_, outs * slice / slices,
                            outs * (slice + 1) / slices, lane, image, out_gradient, filter_gradient);
                 }
               });
}

template class DirectFilterGradient<float>;
template class DirectFilterGradient<double>;

}  // namespace paddle_mini
