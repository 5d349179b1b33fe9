// Merges rows: a radix sort of the row numbers, then one pass over the values.
#include "math/selected_rows.h"

#include "math/arithmetic.h"
#include "math/copy.h"
#include "math/cpu/each_item.h"

namespace paddle_mini {

RowMerge::RowMerge(int64_t most_rows) {
  entries_.reserve(static_cast<size_t>(most_rows));
  spare_.reserve(static_cast<size_t>(most_rows));
  rows_.reserve(static_cast<size_t>(most_rows));
  firsts_.reserve(static_cast<size_t>(most_rows) + 1);
}

// Stable sort by row, with digits of 11 bits, the lowest first; digits above the largest row number are skipped.
void RowMerge::sort() {
  constexpr int bits = 11, buckets = 1 << bits;
  int64_t largest = 0;
  for (const Entry& entry : entries_) largest = std::max(largest, entry.row);
  spare_.resize(entries_.size());
  for (int shift = 0; shift < 63 && (largest >> shift) != 0; shift += bits) {
    int64_t starts[buckets + 1] = {};
    for (const Entry& entry : entries_) ++starts[((entry.row >> shift) & (buckets - 1)) + 1];
    for (int i = 0; i < buckets; ++i) starts[i + 1] += starts[i];
    for (const Entry& entry : entries_) spare_[starts[(entry.row >> shift) & (buckets - 1)]++] = entry;
    entries_.swap(spare_);
  }
}

template <class T>
void RowMerge::run(KernelContext& context, const std::vector<RowValues<T>>& lists, int64_t width, T* out) {
  entries_.clear();
  for (size_t list = 0; list < lists.size(); ++list) {
    const std::vector<int64_t>& rows = *lists[list].rows;
    for (size_t i = 0; i < rows.size(); ++i) {
      entries_.push_back({rows[i], static_cast<int32_t>(list), static_cast<int64_t>(i)});
    }
  }
  sort();
  rows_.clear();
  firsts_.clear();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (i > 0 && entries_[i - 1].row == entries_[i].row) continue;
    rows_.push_back(entries_[i].row);
    firsts_.push_back(i);
  }
  firsts_.push_back(entries_.size());
  const double entries_of_row = static_cast<double>(entries_.size()) / std::max(1.0, static_cast<double>(rows_.size()));
  const double cost = 20 + entries_of_row * bytes_cost(3.0 * sizeof(T)) * static_cast<double>(width);
  each_item(context, {static_cast<int64_t>(rows_.size()), cost}, [&](int64_t number) {
    T* to = out + number * width;
    const size_t first = firsts_[static_cast<size_t>(number)], end = firsts_[static_cast<size_t>(number) + 1];
    for (size_t i = first; i < end; ++i) {
      const Entry& entry = entries_[i];
      const T* from = lists[static_cast<size_t>(entry.list)].values + entry.position * width;
      if (i == first) copy_n(context, from, width, to);
      else map(context, width, Plus{}, to, static_cast<const T*>(to), from);
    }
  });
}

template void RowMerge::run<float>(KernelContext&, const std::vector<RowValues<float>>&, int64_t, float*);
template void RowMerge::run<double>(KernelContext&, const std::vector<RowValues<double>>&, int64_t, double*);

}  // namespace paddle_mini
