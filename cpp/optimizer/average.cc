// The order of operations is that of the operators, so that both give the same bits.
#include "optimizer/average.h"

namespace paddle_mini {

template <class T>
Average<T>::Average(const WeightRule& rule, int64_t size, int number)
    : rule_(rule), newer_(size, T(0), number), older_(window() ? size : 0, T(0), number + 1) {}

template <class T>
void Average<T>::count(double rate) {
  int64_t counters[kAverageCounters];
  double state[kAverageState];
  std::copy(counters_, counters_ + kAverageCounters, counters);
  std::copy(state_, state_ + kAverageState, state);
  WeightStep{rule_, counters, state, true, true, rate, counters_, state_, &weight_, &roll_}(0);
}

template <class T>
void Average<T>::add(const Loops<T>& loops, int64_t at, int64_t n, const T* p) {
  T weight = static_cast<T>(weight_);
  if (weight == T(0)) return;
  // A generation that ends is written where the one before it was.
  T* to = (roll_ ? older_ : newer_).data() + at;
  if (weight == T(1)) std::copy_n(p, n, to);
  else loops.lerp(n, weight, newer_.data() + at, p, to);
}

template <class T>
void Average<T>::begin_rows(Array<double> stamps) {
  stamps_ = std::move(stamps);
  std::fill_n(stamps_.data(), stamps_.size(), clock().now());
}

template <class T>
void Average<T>::add_rows(const LoopTables& tables, const Loops<T>& loops, const std::vector<int64_t>& rows,
                          int64_t width, const T* p) {
  RowClock now = clock();
  if (!window()) {
    kept_.clear();
    for (int64_t row : rows) kept_.push_back(now.now() - stamps_[row]);
    tables.exp(static_cast<int64_t>(kept_.size()), kept_.data());
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    int64_t row = rows[i], at = row * width;
    T* newer = newer_.data() + at;
    double& stamp = stamps_[row];
    if (!window()) {
      loops.average_row(width, kept_[i], p + at, newer, newer);
    } else if (stamp != now.now()) {
      if (now.rolled(stamp)) loops.average_row(width, now.kept_of_previous(stamp), p + at, newer, older_.data() + at);
      loops.average_row(width, now.kept(stamp), p + at, newer, newer);
    }
    stamp = now.now();
  }
}

template <class T>
T Average<T>::share_of_older() const {
  double newer = static_cast<double>(counters_[kNewer]), older = static_cast<double>(counters_[kOlder]);
  return window() && older > 0 ? static_cast<T>(older / (newer + older)) : T(0);
}

template <class T>
void Average<T>::value(const Loops<T>& loops, int64_t size, const T* p, T* out) const {
  if (counters_[kUpdates] == 0) {
    std::copy_n(p, size, out);
  } else if (stamps_.size()) {
    value_of_rows(loops, p, out);
  } else if (T share = share_of_older(); share == T(0) || share == T(1)) {
    std::copy_n((share == T(0) ? newer_ : older_).data(), size, out);
  } else {
    loops.lerp(size, share, newer_.data(), older_.data(), out);
  }
}

template <class T>
void Average<T>::value_of_rows(const Loops<T>& loops, const T* p, T* out) const {
  RowClock now = clock();
  T share = share_of_older();
  int64_t width = newer_.size() / stamps_.size();
  std::vector<T> older(static_cast<size_t>(window() ? width : 0));
  for (int64_t row = 0; row < stamps_.size(); ++row) {
    int64_t at = row * width;
    double stamp = stamps_[row];
    const T *newer = newer_.data() + at, *before = window() ? older_.data() + at : nullptr;
    if (window() && now.rolled(stamp)) {
      loops.average_row(width, now.kept_of_previous(stamp), p + at, newer, older.data());
      before = older.data();
    }
    loops.average_row(width, now.kept(stamp), p + at, newer, out + at);
    if (share != T(0)) loops.lerp(width, share, out + at, before, out + at);
  }
}

template <class T>
void Average<T>::read(StateReader& from) {
  from.expect(static_cast<int32_t>(rule_.scheme), "an average of scheme");
  for (int64_t& counter : counters_) counter = from.template read<int64_t>();
  for (double& number : state_) number = from.template read<double>();
  from.read_all(newer_);
  from.read_all(older_);
  from.read_all(stamps_);
}

template class Average<float>;
template class Average<double>;

}  // namespace paddle_mini
