// Attention in blocks of rows of Q: scores stay in the cache (as in Rabe & Staats, "Self-attention does not need O(n^2)
// memory", 2021).
#include "math/cpu/attention.h"

#include <limits>

#include "math/cpu/exp_rows.h"
#include "math/cpu/gemm_block.h"

namespace paddle_mini {
namespace {

using gemm_block::kRows;
using gemm_block::kWidth;

constexpr int64_t kSegment = 512;  // keys of a partial sum, so that the error does not grow with their number

template <class T>
int64_t padded(int64_t columns) {
  return (columns + kWidth<T> - 1) / kWidth<T> * kWidth<T>;
}

// Calls f(begin, count) for segments of the keys.
template <class F>
void each_segment(int64_t keys, F f) {
  for (int64_t begin = 0; begin < keys; begin += kSegment) f(begin, std::min(kSegment, keys - begin));
}

// Rows [0, rows) of C = (or += if `add`) alpha A B, for a B of packed panels of this depth; in blocks of nearly equal height.
template <class T>
void multiply(int64_t rows, int64_t depth, const T* a, int64_t lda, const T* panels, int64_t columns, T* c, int64_t ldc,
              bool add, T alpha) {
  for (int64_t j = 0; j < columns; j += kWidth<T>) {
    each_block(rows, kRows<T>, [&](int64_t first, int count) {
      gemm_block::multiply_panel<T, gemm_block::Fetch::Nothing>(
          count, depth, a + first * lda, lda, 1, panels + j * depth, c + first * ldc + j, ldc, columns - j, add, alpha);
    });
  }
}

// Adds a mask to a row and returns the maximum of the sums, as row_max does.
template <class T>
T add_and_max(T* row, const T* mask, int64_t n) {
  constexpr int64_t step = Vec<T>::size;
  auto larger = [](Vec<T> a, Vec<T> b) { return Vec<T>(Eigen::internal::pmax(a.p, b.p)); };
  Vec<T> tops[2] = {Vec<T>(-std::numeric_limits<T>::infinity()), Vec<T>(-std::numeric_limits<T>::infinity())};
  int64_t i = 0;
  for (; i + 2 * step <= n; i += 2 * step) {
#pragma GCC unroll 2
    for (int64_t part = 0; part < 2; ++part) {
      const int64_t at = i + part * step;
      const Vec<T> sum = Vec<T>::load(row + at) + Vec<T>::load(mask + at);
      sum.store(row + at);
      tops[part] = larger(tops[part], sum);
    }
  }
  T top = max_of_lanes(larger(tops[0], tops[1]));
  for (; i < n; ++i) top = std::max(top, row[i] += mask[i]);
  return top;
}

}  // namespace

template <class T>
Attention<T>::Attention(KernelInit& init, const AttentionSizes& sizes, std::vector<AttentionMask> masks)
    : s_(sizes), masks_(std::move(masks)), memory_(init, 0) {
  constexpr int64_t kScores = (int64_t{128} << 10) / sizeof(T), kMostBlocks = 8;
  const int64_t blocks = std::clamp<int64_t>(kScores / (kRows<T> * std::max<int64_t>(s_.keys, 1)), 1, kMostBlocks),
                parts = std::max<int64_t>((s_.queries + blocks * kRows<T> - 1) / (blocks * kRows<T>), 1);
  rows_at_once_ = std::max<int64_t>((s_.queries + parts - 1) / parts, 1);
  memory_.resize(s_.width * padded<T>(s_.keys) + s_.keys * padded<T>(s_.value_width) + rows_at_once_ * (s_.keys + 1));
}

template <class T>
void Attention<T>::pack_keys(const T* k, T* panels) const {
  for (int64_t j = 0; j < s_.keys; j += kWidth<T>) {
    const int64_t step = s_.k.row_step;
    gemm_block::pack_panel(s_.keys_by_column ? k + j : k + j * step, step, !s_.keys_by_column, s_.width,
                           std::min(kWidth<T>, s_.keys - j), panels + j * s_.width);
  }
}

template <class T>
void Attention<T>::pack_values(const T* v, T* panels) const {
  each_segment(s_.keys, [&](int64_t begin, int64_t count) {
    for (int64_t j = 0; j < s_.value_width; j += kWidth<T>) {
      gemm_block::pack_panel(v + begin * s_.v.row_step + j, s_.v.row_step, false, count,
                             std::min(kWidth<T>, s_.value_width - j),
                             panels + begin * padded<T>(s_.value_width) + j * count);
    }
  });
}

// Adds the masks to a row of scores, and returns its maximum.
template <class T>
T Attention<T>::masked_max(int64_t matrix, int64_t row, const std::vector<const T*>& masks, T* scores) const {
  bool has_max = false;
  T top = 0;
  for (size_t m = 0; m < masks.size(); ++m) {
    const AttentionMask& mask = masks_[m];
    const T* values = masks[m] + mask.offsets[static_cast<size_t>(matrix)] + row * mask.row_step;
    has_max = mask.column_step == 1;
    if (has_max) {
      top = add_and_max(scores, values, s_.keys);
    } else {
      auto add_one = [one = *values](auto a) { return a + decltype(a)(one); };
      map_loop::run(s_.keys, add_one, scores, static_cast<const T*>(scores));
    }
  }
  return has_max ? top : row_max(scores, s_.keys);
}

// The weights of values are exponentials; the results are divided by their sums, because there are fewer of them.
template <class T>
void Attention<T>::run_rows(int64_t matrix, int64_t first, int64_t count, const T* q, const T* key_panels,
                            const T* value_panels, const std::vector<const T*>& masks, T* scores, T* out) const {
  const int64_t keys = s_.keys, columns = s_.value_width;
  T* factors = scores + rows_at_once_ * keys;
  multiply(count, s_.width, q, s_.q.row_step, key_panels, keys, scores, keys, false, static_cast<T>(s_.scale));
  for (int64_t i = 0; i < count; ++i) {
    T* row = scores + i * keys;
    const T top = masked_max(matrix, first + i, masks, row);
    const double sum = exp_sum(keys, row, row, [top](auto v) { return v - decltype(v)(top); });
    factors[i] = static_cast<T>(s_.weight_factor / sum);
  }
  each_segment(keys, [&](int64_t begin, int64_t part) {
    multiply(count, part, scores + begin, keys, value_panels + begin * padded<T>(columns), columns, out,
             s_.out.row_step, begin > 0, T(1));
  });
  for (int64_t i = 0; i < count; ++i, out += s_.out.row_step) {
    auto scaled = [factor = factors[i]](auto v) { return v * decltype(v)(factor); };
    map_loop::run(columns, scaled, out, static_cast<const T*>(out));
  }
}

template <class T>
void Attention<T>::run(KernelContext& context, const T* q, const T* k, const T* v, const std::vector<const T*>& masks,
                       T* out) const {
  if (s_.keys == 0) {
    std::fill_n(out, s_.matrices * s_.queries * s_.value_width, T(0));
    return;
  }
  // Each slice of a matrix packs K and V for itself.
  const int64_t blocks = (s_.queries + rows_at_once_ - 1) / rows_at_once_,
                slices = slices_per_item(s_.matrices, context.threads, blocks / 4);
  const double flops = 2.0 * static_cast<double>(s_.queries * s_.keys) * static_cast<double>(s_.width + s_.value_width),
               each = flops_cost(flops) + bytes_cost(8.0 * sizeof(T)) * static_cast<double>(s_.queries * s_.keys);
  const LoopSize size{s_.matrices * slices, each / static_cast<double>(slices), 1, memory_.lanes()};
  parallel_for(context, size, [&](int64_t begin, int64_t end, int lane) {
    T *key_panels = memory_.data(lane), *value_panels = key_panels + s_.width * padded<T>(s_.keys),
      *scores = value_panels + s_.keys * padded<T>(s_.value_width);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t matrix = i / slices, slice = i % slices;
      pack_keys(k + s_.k.at(matrix, s_.heads), key_panels);
      pack_values(v + s_.v.at(matrix, s_.heads), value_panels);
      const int64_t last = std::min(blocks * (slice + 1) / slices * rows_at_once_, s_.queries);
      for (int64_t row = blocks * slice / slices * rows_at_once_; row < last; row += rows_at_once_) {
        run_rows(matrix, row, std::min(rows_at_once_, last - row), q + s_.q.at(matrix, s_.heads) + row * s_.q.row_step,
                 key_panels, value_panels, masks, scores, out + s_.out.at(matrix, s_.heads) + row * s_.out.row_step);
      }
    }
  });
}

template class Attention<float>;
template class Attention<double>;

}  // namespace paddle_mini
