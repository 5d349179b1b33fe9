// Merging of sparse gradients: repeated rows are replaced by one row, their sum; rows come out sorted.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/parallel.h"
#include "math/map.h"

namespace paddle_mini {

// One list of rows with their values: rows[i] has values[i * width] and the following elements.
template <class T>
struct RowValues {
  const std::vector<int64_t>* rows;
  const T* values;
};

// Keeps its memory between calls, so a call with no more rows than an earlier one allocates nothing.
class RowMerge {
 public:
  RowMerge() = default;
  explicit RowMerge(int64_t most_rows);

  // Sums the values of each row in the order of the lists and within them, so the result is deterministic. The sum for
  // rows()[i] begins at out[i * width]. `out` needs room for all given rows and must not overlap the lists' values.
  template <class T>
  void run(KernelContext& context, const std::vector<RowValues<T>>& lists, int64_t width, T* out);

  const std::vector<int64_t>& rows() const { return rows_; }  // sorted, without duplicates

  // Calls step(row, its index in rows()) for the merged rows of a table of `height` rows, and idle(first row, number of
  // rows) for those between them, on several threads. cost: of one row.
  template <class Step, class Idle>
  void each_row(KernelContext& context, int64_t height, double cost, Step step, Idle idle) const {
    parallel_for(context, {height, cost}, [&](int64_t begin, int64_t end) {
      auto i = std::lower_bound(rows_.begin(), rows_.end(), begin) - rows_.begin();
      for (int64_t next = begin; next < end; ++i) {
        int64_t row = i < static_cast<int64_t>(rows_.size()) ? std::min(rows_[static_cast<size_t>(i)], end) : end;
        if (row > next) idle(next, row - next);
        if (row < end) step(row, static_cast<int64_t>(i));
        next = row + 1;
      }
    });
  }

 private:
  void sort();

  struct Entry {
    int64_t row;
    int32_t list;
    int64_t position;
  };
  std::vector<Entry> entries_, spare_;
  std::vector<int64_t> rows_;
  std::vector<size_t> firsts_;  // the first entry of each of rows_, then the number of entries
};

// row[c] = f(row[c], values[c]) for the rows of a list, which may repeat, with the next `width` values each. On several
// threads: no two have the same element of the table, and each element is met in the order of the list.
template <class T, class F>
void update_rows(KernelContext& context, T* table, int64_t height, int64_t width, const std::vector<int64_t>& rows,
                 const T* values, F f) {
  constexpr int64_t kColumns = 64, kBlock = 256, kFew = 4;
  constexpr double kCostOfRow = 8;  // the time to find it
  const int64_t count = static_cast<int64_t>(rows.size());
  const double cost = kCostOfRow + bytes_cost(3.0 * sizeof(T)) * static_cast<double>(width),
               time = cost * static_cast<double>(count);
  auto row_of = [&](int64_t i) { return table + rows[static_cast<size_t>(i)] * width; };
  auto update = [&](int64_t i, int64_t column, int64_t n) {
    T* row = row_of(i) + column;
    const T* by = values + i * width + column;
    // A part of a register is stored with a mask, which delays loads of what it covers, here and multiples of 4 KB away.
    if constexpr (!kOnGpu && !is_half<T>) {  // no kernel on a GPU is given rows
      if (n < kFew) {
        auto bound = bind_scalars(f);
        for (int64_t c = 0; c < n; ++c) row[c] = bound(row[c], by[c]);
        return;
      }
    }
    map(context, n, f, row, static_cast<const T*>(row), by);
  };
  if (width >= 2 * kColumns) {
    return parallel_for(context, {width, time / static_cast<double>(width), kColumns}, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < count; ++i) update(i, begin, end - begin);
    });
  }
  // By the rows of the table. Each range reads the whole list, so there are only as many as threads. It first picks its rows
  // of a block, and prefetches them: without branches, as no CPU predicts whether a row is in the range.
  const int64_t unit = (height + context.threads - 1) / context.threads;
  const LoopSize size{height, time / static_cast<double>(std::max<int64_t>(height, 1)), std::max<int64_t>(unit, 1)};
  parallel_for(context, size, [&](int64_t begin, int64_t end) {
    int64_t picked[kBlock];
    for (int64_t first = 0; first < count; first += kBlock) {
      int64_t n = 0;
      for (int64_t i = first; i < std::min(first + kBlock, count); ++i) {
        const int64_t row = rows[static_cast<size_t>(i)];
        picked[n] = i;
        n += row >= begin && row < end;
      }
      for (int64_t i = 0; i < n; ++i) __builtin_prefetch(row_of(picked[i]), 1);
      for (int64_t i = 0; i < n; ++i) update(picked[i], 0, width);
    }
  });
}

extern template void RowMerge::run<float>(KernelContext&, const std::vector<RowValues<float>>&, int64_t, float*);
extern template void RowMerge::run<double>(KernelContext&, const std::vector<RowValues<double>>&, int64_t, double*);

}  // namespace paddle_mini
