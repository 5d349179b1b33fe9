// Implements Average. The order of operations is the same as in the operators, so both give the same bits.
#include "optimizer/average.h"

namespace paddle_mini {

template <class T>
Average<T>::Average(const WeightRule& rule, int64_t size, int number)
    : rule_(rule), newer_(size, T(0), number), block_(size, T(0), number + 1),
      older_(window() ? size : 0, T(0), number + 2) {}

template <class T>
void Average<T>::count(double rate) {
  int64_t counters[kAverageCounters];
  double state[kAverageState];
  std::copy(counters_, counters_ + kAverageCounters, counters);
  std::copy(state_, state_ + kAverageState, state);
  WeightStep{rule_, counters, state, true, true, rate, counters_, state_, &weight_, &roll_}(0);
  if (stamps_.size()) return;
  std::copy(sums_, sums_ + kAverageSums, before_);
  step_ = block_step<T>(sums_, weight_);
  // At the end of a generation the sums are kept: the next generation starts new ones.
  if (!roll_) std::copy(step_.sums, step_.sums + kAverageSums, sums_);
}

template <class T>
void Average<T>::add(const Loops<T>& loops, int64_t at, int64_t n, const T* p) {
  T *newer = newer_.data() + at, *block = block_.data() + at;
  if (step_.move == Move::None) return;
  if (roll_) return end_generation(at, n, p);
  if (step_.move == Move::Begin) {
    std::copy_n(p, n, newer);
    std::fill_n(block, n, T(0));
  } else if (step_.move == Move::EndBlock) {
    loops.end_block(n, step_, p, newer, block);
  } else {
    loops.add_to_block(n, step_.weight, p, block);
  }
}

// Like the operator, replaces the previous generation by the one that ends.
template <class T>
void Average<T>::end_generation(int64_t at, int64_t n, const T* p) {
  BlockMean<T> mean(before_);
  for (int64_t i = at; i < at + n; ++i, ++p) {
    double before = mean(newer_[i], block_[i]);
    T previous = older_[i];
    older_[i] = weight_ >= 1 ? *p : static_cast<T>(before + weight_ * (static_cast<double>(*p) - before));
    block_[i] = previous;
  }
}

template <class T>
void Average<T>::begin_rows(Array<double> stamps) {
  BlockMean<T> mean(sums_);
  for (int64_t i = 0; i < newer_.size(); ++i) {
    double value = mean(newer_[i], block_[i]);
    newer_[i] = static_cast<T>(value);
    block_[i] = static_cast<T>(value - static_cast<double>(newer_[i]));
  }
  stamps_ = std::move(stamps);
  std::fill_n(stamps_.data(), stamps_.size(), clock().now());
}

template <class T>
void Average<T>::add_rows(const LoopTables& tables, const Loops<T>& loops, const std::vector<int64_t>& rows,
                          int64_t width, const T* p) {
  RowClock now = clock();
  if (!window()) {
    decays_.clear();
    for (int64_t row : rows) decays_.push_back(now.now() - stamps_[row]);
    tables.exp(static_cast<int64_t>(decays_.size()), decays_.data());
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    int64_t row = rows[i], at = row * width;
    T *newer = newer_.data() + at, *block = block_.data() + at;
    double& stamp = stamps_[row];
    if (!window()) {
      loops.catch_up_row(width, decays_[i], p + at, newer, block);
    } else if (stamp != now.now()) {
      if (now.rolled(stamp)) {
        loops.ended_row(width, now.decay_of_previous(stamp), p + at, newer, block, older_.data() + at);
      }
      loops.catch_up_row(width, now.decay(stamp), p + at, newer, block);
    }
    stamp = now.now();
  }
}

template <class T>
void Average<T>::value(int64_t first, int64_t count, const T* p, T* out) const {
  if (!stamps_.size()) return write(BlockValue<T>(counters_, sums_, window()), first, count, p, out - first);
  int64_t width = newer_.size() / stamps_.size();
  require<ProgramError>(first % width == 0 && count % width == 0, "an average is kept for each row of ", width,
                        " elements");
  for (int64_t row = first / width; row < (first + count) / width; ++row) {
    write(BlockValue<T>(counters_, clock(), stamps_[row], window()), row * width, width, p, out - first);
  }
}

template <class T>
void Average<T>::write(const BlockValue<T>& value, int64_t at, int64_t n, const T* p, T* out) const {
  const T* before = window() ? older_.data() : newer_.data();
  for (int64_t i = at; i < at + n; ++i) out[i] = value(p[i], newer_[i], block_[i], before[i]);
}

template <class T>
template <class Reader>
void Average<T>::read(Reader& from, bool has_blocks) {
  from.expect(int32_t{rule_.scheme}, "an average of scheme");
  for (int64_t& counter : counters_) counter = from.template read<int64_t>();
  for (double& number : state_) number = from.template read<double>();
  for (double& sum : sums_) sum = has_blocks ? from.template read<double>() : 0.0;
  from.read_all(newer_);
  if (has_blocks) from.read_all(block_);
  from.read_all(older_);
  from.read_all(stamps_);
}

template class Average<float>;
template class Average<double>;
template void Average<float>::read(StateReader&, bool);
template void Average<double>::read(StateReader&, bool);
template void Average<float>::read(ChangesReader&, bool);
template void Average<double>::read(ChangesReader&, bool);

}  // namespace paddle_mini
