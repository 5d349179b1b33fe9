// SequenceBatches: sequences of different lengths as one batch per time step. Sequences are sorted by decreasing
// length, so those that continue at a step are the first rows of the previous step.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/kept_array.h"
#include "core/kernel.h"
#include "math/cpu/recurrent.h"

namespace paddle_mini {

struct SequenceBatches {
  KeptArray<int64_t> order;   // index of the sequence at each position of a batch
  KeptArray<int64_t> rows;    // for each row of the batches, the row of the original tensor
  KeptArray<int64_t> starts;  // the rows of step i are [starts[i], starts[i + 1])

  SequenceBatches(const Lod& lod, bool reverse) : starts{0} {
    require<ShapeError>(!lod.empty() && !lod.back().empty(), "Input has no sequences (lod)");
    const std::vector<int64_t>& ends = lod.back();
    auto length = [&ends](int64_t i) { return ends[i + 1] - ends[i]; };
    order.resize(ends.size() - 1);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return length(a) > length(b); });
    for (int64_t t = 0; !order.empty() && t < length(order[0]); ++t) {
      for (int64_t i : order) {
        if (t < length(i)) rows.push_back(reverse ? ends[i + 1] - 1 - t : ends[i] + t);
      }
      starts.push_back(static_cast<int64_t>(rows.size()));
    }
  }

  int64_t steps() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t count() const { return static_cast<int64_t>(order.size()); }  // number of sequences
  int64_t size(int64_t step) const { return starts[step + 1] - starts[step]; }

  // PaddlePaddle's encoding of this in the lod of a tensor with the rows in the order of the batches.
  Lod lod() const { return {{starts.begin(), starts.end()}, {rows.begin(), rows.end()}, {order.begin(), order.end()}}; }

  // Calls f(step, begin, count) for the sequences from position `begin` of the batches on that have this step, from the
  // first step to the last, or backward. Ranges of sequences run through their steps by themselves. cost: of one row.
  template <class F>
  void each_step(KernelContext& context, bool backward, double cost, F f) const {
    const double rows_of_one = static_cast<double>(rows.size()) / static_cast<double>(std::max<int64_t>(count(), 1));
    each_sequence_range(context, count(), cost * rows_of_one, [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < steps(); ++i) {
        int64_t step = backward ? steps() - 1 - i : i, sequences = std::min(size(step), end) - begin;
        if (sequences > 0) f(step, begin, sequences);
      }
    });
  }

  // Reorders rows from sequences to batches, and back.
  template <class T>
  void gather(KernelContext& context, const T* from, int64_t width, T* to) const {
    copy_rows(context, rows.size(), width,
              [&](size_t i) { std::copy_n(from + rows[i] * width, width, to + i * width); });
  }
  template <class T>
  void scatter(KernelContext& context, const T* from, int64_t width, T* to) const {
    copy_rows(context, rows.size(), width,
              [&](size_t i) { std::copy_n(from + i * width, width, to + rows[i] * width); });
  }
  // Reorders one row per sequence into the order of the batches, and back; null input gives zeros.
  template <class T>
  void gather_first(KernelContext& context, const T* from, int64_t width, T* to) const {
    copy_rows(context, order.size(), width, [&](size_t i) {
      if (from) std::copy_n(from + order[i] * width, width, to + i * width);
      else std::fill_n(to + i * width, width, T(0));
    });
  }
  template <class T>
  void scatter_first(KernelContext& context, const T* from, int64_t width, T* to) const {
    copy_rows(context, order.size(), width,
              [&](size_t i) { std::copy_n(from + i * width, width, to + order[i] * width); });
  }

 private:
  template <class F>
  static void copy_rows(KernelContext& context, size_t count, int64_t width, F copy) {
    each_item(context, {static_cast<int64_t>(count), bytes_cost(16.0 * static_cast<double>(width))},
              [&](int64_t i) { copy(static_cast<size_t>(i)); });
  }
};

// Describes outputs in the order of the batches; their lod is empty while the sequences are not known.
inline void describe_batches(const Lod& sequences, bool reverse, VarInfo& info) {
  info.lod = sequences.empty() ? Lod{} : SequenceBatches(sequences, reverse).lod();
  info.lod_level = 3;
}

// An output that only the gradient reads; scratch memory if the program lacks it, as when saved for inference.
template <class T>
Out<T> kept_or_scratch(KernelInit& init, const char* port, int64_t count) {
  if (init.output(port)) return Out<T>(init, port);
  return Scratch<T>(init, count);
}

// Throws unless a port has one first state for each sequence.
inline void require_first(const InferContext& c, const char* port, const char* sequences, int64_t width) {
  if (!c.has_input(port)) return;
  require_same_dtype(c, sequences, port);
  const Lod& lod = c.input(sequences).lod;
  int64_t count = lod.empty() || lod.back().empty() ? -1 : static_cast<int64_t>(lod.back().size()) - 1;
  require<ShapeError>(shapes_agree(c.shape(port), Shape{count, width}), port, " has shape ", c.shape(port).str(),
                      ", it must have ", Shape{count, width}.str(), ": a row for each sequence");
}

}  // namespace paddle_mini
