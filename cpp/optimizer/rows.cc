// Implements updates of some rows of a table. The other rows catch up when they are updated or read.
#include <numeric>

#include "optimizer/optimizer.h"

namespace paddle_mini {

// Elements of a row; 0 if unknown.
template <class T>
int64_t TypedOptimizer<T>::width_of(size_t rows, size_t bytes) const {
  require<ProgramError>(rows <= static_cast<size_t>(INT64_MAX), rows, " rows are more than a table has");
  if (rows == 0) {
    require<ProgramError>(bytes == 0, "there are no rows, but ", bytes, " bytes of values");
    return width_;
  }
  size_t width = bytes / sizeof(T) / rows;
  bool whole = width > 0 && bytes % sizeof(T) == 0 && bytes / sizeof(T) % rows == 0;
  require<ProgramError>(whole, bytes, " bytes are not the values of ", rows, " rows");
  int64_t found = static_cast<int64_t>(width);
  require<ProgramError>(!width_ || found == width_, "the rows have ", found, " elements, those of the table ", width_);
  require<ProgramError>(size_ % found == 0, "the parameter has ", size_, " elements: it has no rows of ", found);
  return found;
}

template <class T>
void TypedOptimizer<T>::check_rows(const int64_t* rows, size_t count, int64_t width) const {
  int64_t height = width ? size_ / width : 0;
  for (size_t i = 0; i < count; ++i) {
    bool fits = rows[i] >= 0 && rows[i] < height;
    require<ProgramError>(fits, "rows[", i, "] is ", rows[i], ", the table has ", height, " rows");
  }
}

template <class T>
void TypedOptimizer<T>::update_rows(const int64_t* rows, size_t count, const void* gradient, size_t bytes) {
  bool lazy = config_.row_policy == RowPolicy::Lazy;
  require<ProgramError>(!lazy || !config_.kind->takes_norms, config_.kind->message,
                        " needs the norm of the whole gradient: rows are updated with row_policy LikeZeros");
  require<ProgramError>(!lazy || averages_.empty() || !decay_.works(),
                        "averages of rows that decay while they are not named are not exact: use row_policy LikeZeros");
  int64_t width = width_of(count, bytes);
  check_rows(rows, count, width);
  const T* g = static_cast<const T*>(gradient);
  int64_t numbers = static_cast<int64_t>(bytes / sizeof(T));
  if (!admit(numbers, g)) return;
  StepNumbers<T> step = next_numbers();
  if (lazy && decay_.works()) decay_.require_rate(own_rate(updates_ + 1));
  const T* given = g;
  g = merge_rows(rows, count, width, g);
  if (g != given && !admit(static_cast<int64_t>(named_.size()) * width, g)) return;  // sums may be infinite
  factor_ = factor_of_norm(static_cast<int64_t>(named_.size()) * width, g);
  if (lazy) {
    for (Average<T>& average : averages_) average.reserve(named_.size());
    if (width <= kNarrow && !gathered_.size()) gathered_ = Array<T>(kBlock * (kMostArrays + 1), T(0));
    if (!by_rows_) {
      keep_all();  // the averages of all rows change
    } else if (!named_.empty()) {
      keep_rows(named_.data(), named_.size());
    }
    begin_rows(width);
    update_lazily(g, step);
  } else {
    begin_zeros(width);
    update_like_zeros(g);
  }
}

// Merges duplicate rows: returns the gradient of the rows in named_, which are then sorted ascending.
template <class T>
const T* TypedOptimizer<T>::merge_rows(const int64_t* rows, size_t count, int64_t width, const T* gradient) {
  named_.assign(rows, rows + count);
  bool rise = std::adjacent_find(named_.begin(), named_.end(), std::greater_equal<int64_t>()) == named_.end();
  if (rise) return gradient;
  int64_t numbers = static_cast<int64_t>(count) * width;
  if (merged_.size() < numbers) merged_ = Array<T>(numbers, T(0));
  KernelContext context;
  merge_.run(context, {{&named_, gradient}}, width, merged_.data());
  named_ = merge_.rows();
  return merged_.data();
}

// Calls run(first element, elements, gradient) for each range of consecutive rows.
template <class T>
template <class F>
void TypedOptimizer<T>::for_each_run(const T* gradient, F run) const {
  for (size_t first = 0, next; first < named_.size(); first = next) {
    for (next = first + 1; next < named_.size() && named_[next] == named_[next - 1] + 1;) ++next;
    int64_t count = static_cast<int64_t>(next - first) * width_;
    run(named_[first] * width_, count, gradient + static_cast<int64_t>(first) * width_);
  }
}

template <class T>
void TypedOptimizer<T>::begin_rows(int64_t width) {
  if (by_rows_ || width == 0) return;
  int64_t height = size_ / width;
  std::vector<Array<double>> stamps;  // allocate everything first
  for (size_t i = 0; i < averages_.size(); ++i) stamps.emplace_back(height, 0.0);
  if (decay_.works()) decay_.begin(height);
  for (size_t i = 0; i < averages_.size(); ++i) averages_[i].begin_rows(std::move(stamps[i]));
  by_rows_ = true;
  width_ = width;
}

template <class T>
void TypedOptimizer<T>::update_lazily(const T* gradient, StepNumbers<T>& numbers) {
  if (!by_rows_) return update_no_rows();
  if (decay_.works()) {
    for (int64_t row : named_) decay_.catch_up(loops_, row, width_, param_.data() + row * width_);
  }
  for (Average<T>& average : averages_) average.add_rows(tables_, loops_, named_, width_, param_.data());
  ++updates_;
  bool is_plain = config_.decay == 0 && !kind_loops().finish && !measures() && !prepares();
  if (is_plain && width_ <= kNarrow) {
    step_gathered(gradient, numbers);
  } else {
    for_each_run(gradient, [&](int64_t at, int64_t count, const T* g) { run(at, count, g, numbers, false); });
  }
  advance_powers();
  finish(true);
  if (!decay_.works()) return;
  for (int64_t row : named_) decay_.stamp(row);
}

// One step for many narrow rows, in copies that are contiguous: a step for each row would wait for its memory, and use
// vectors for few elements.
template <class T>
void TypedOptimizer<T>::step_gathered(const T* gradient, StepNumbers<T>& numbers) {
  size_t most = static_cast<size_t>(kBlock / width_);
  T *p = gathered_.data(), *state[kMostArrays];
  for (int i = 0; i < arrays_; ++i) state[i] = p + kBlock * (i + 1);
  auto each = [&](size_t first, size_t count, auto move) {
    for (size_t i = 0; i < count; ++i) {
      int64_t from = named_[first + i] * width_, to = static_cast<int64_t>(i) * width_;
      move(param_.data() + from, p + to);
      for (int k = 0; k < arrays_; ++k) move(state_[k].data() + from, state[k] + to);
    }
  };
  for (size_t first = 0; first < named_.size(); first += most) {
    size_t count = std::min(most, named_.size() - first);
    each(first, count, [&](const T* held, T* copy) { std::copy_n(held, width_, copy); });
    const T* g = gradient + static_cast<int64_t>(first) * width_;
    kind_loops().step({static_cast<int64_t>(count) * width_, p, state, g}, numbers);
    each(first, count, [&](T* held, const T* copy) { std::copy_n(copy, width_, held); });
  }
}

// No row was ever updated, so the row width is unknown: all elements decay.
template <class T>
void TypedOptimizer<T>::update_no_rows() {
  begin_dense();
  auto [kept, taken] = decay_.once(own_rate(updates_));
  if (decay_.works()) loops_.fade(size_, static_cast<T>(kept), static_cast<T>(taken), param_.data());
  add_to_averages(0, size_);
  advance_powers();
}

template <class T>
void TypedOptimizer<T>::begin_zeros(int64_t width) {
  reserve_whole();
  if (!zeros_.size()) zeros_ = Array<T>(size_, T(0));
  width_ = width;
}

template <class T>
void TypedOptimizer<T>::update_like_zeros(const T* gradient) {
  for_each_run(gradient, [&](int64_t at, int64_t count, const T* g) { std::copy_n(g, count, zeros_.data() + at); });
  auto clear = [&] {
    for_each_run(gradient, [&](int64_t at, int64_t count, const T*) { std::fill_n(zeros_.data() + at, count, T(0)); });
  };
  try {
    update_dense(zeros_.data(), factor_);
  } catch (...) {
    clear();
    throw;
  }
  clear();
}

template <class T>
void TypedOptimizer<T>::catch_up_all() {
  if (!averages_.empty()) {
    named_.resize(static_cast<size_t>(row_count()));
    std::iota(named_.begin(), named_.end(), 0);
    for (Average<T>& average : averages_) average.reserve(named_.size());
    for (Average<T>& average : averages_) average.add_rows(tables_, loops_, named_, width_, param_.data());
  }
  if (!decay_.works()) return;
  for (int64_t row = 0; row < row_count(); ++row) decay_.catch_up(loops_, row, width_, param_.data() + row * width_);
}

template <class T>
void TypedOptimizer<T>::get_rows(const int64_t* rows, size_t count, void* values, size_t bytes) {
  int64_t width = width_of(count, bytes);
  check_rows(rows, count, width);
  if (count && by_rows_ && decay_.works()) keep_rows(rows, count);
  T* to = static_cast<T*>(values);
  for (size_t i = 0; i < count; ++i, to += width) {
    T* p = param_.data() + rows[i] * width;
    if (by_rows_ && decay_.works()) decay_.catch_up(loops_, rows[i], width, p);
    std::copy_n(p, width, to);
  }
}

template class TypedOptimizer<float>;
template class TypedOptimizer<double>;

}  // namespace paddle_mini
