// each_sequence: loops over the sequences of a tensor on several threads.
#pragma once

#include "math/cpu/each_item.h"
#include "math/sequences.h"

namespace paddle_mini {

// Calls f(number of the sequence, first row, end of its rows) for each sequence. cost: of one row.
template <class F>
void each_sequence(KernelContext& context, const Offsets& offsets, double cost, F f) {
  const int64_t count = static_cast<int64_t>(offsets.size()) - 1;
  const double mean_rows = static_cast<double>(offsets.back()) / static_cast<double>(std::max<int64_t>(count, 1));
  each_long_item(context, {count, cost * mean_rows},
                 [&](int64_t i) { f(i, offsets[static_cast<size_t>(i)], offsets[static_cast<size_t>(i) + 1]); });
}

}  // namespace paddle_mini
