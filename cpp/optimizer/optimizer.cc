// Implements one update: clips and regularizes the gradient, runs the optimizer's step, then updates the averages. If
// that takes several loops, it works block by block, so memory is read only once.
#include "optimizer/optimizer.h"

#include <cmath>
#include <limits>

namespace paddle_mini {

std::unique_ptr<ParameterOptimizer> ParameterOptimizer::create(OptimizerConfig config, size_t element,
                                                               const void* parameter, size_t bytes,
                                                               std::string_view state, bool has_state,
                                                               std::string_view changes) {
  auto make = [&](auto zero) -> std::unique_ptr<ParameterOptimizer> {
    using T = decltype(zero);
    int64_t size = static_cast<int64_t>(bytes / sizeof(T));
    auto made = std::make_unique<TypedOptimizer<T>>(std::move(config), parameter, size);
    if (has_state) made->read_state(state);
    if (!changes.empty()) made->read_changes(changes);
    return made;
  };
  if (element == sizeof(float)) return make(0.0f);
  return make(0.0);
}

template <class T>
TypedOptimizer<T>::TypedOptimizer(OptimizerConfig config, const void* parameter, int64_t size)
    : ParameterOptimizer(std::move(config)), tables_(loops_of_this_cpu()), loops_(loops<T>()), size_(size),
      param_(size, T(0)), arrays_(config_.kind->arrays(config_.hyper)),
      power1_(static_cast<T>(config_.hyper.first_power1)), power2_(static_cast<T>(config_.hyper.first_power2)),
      block_(kBlock, T(0)),
      decay_(static_cast<double>(config_.l1), static_cast<double>(config_.l2) + static_cast<double>(config_.decay)) {
  if (parameter && size) std::memcpy(param_.data(), parameter, bytes());
  int number = 1;  // array number (array.h); the parameter has 0
  for (int i = 0; i < arrays_; ++i) state_[i] = Array<T>(size, static_cast<T>(config_.hyper.accumulator), number++);
  for (const WeightRule& rule : config_.averages) {
    averages_.emplace_back(rule, size, number);
    number += Average<T>::kMostArrays;
  }
  if (config_.row_width) {
    bool fits = size % config_.row_width == 0;
    require<ProgramError>(fits, "row_width is ", config_.row_width, ", but the parameter has ", size, " elements");
    width_ = config_.row_width;
  }
}

// Returns false if the update must be skipped.
template <class T>
bool TypedOptimizer<T>::admit(int64_t count, const T* gradient) {
  if (config_.nan_policy == NanPolicy::Apply || loops_.finite(count, gradient)) return true;
  if (config_.nan_policy == NanPolicy::Skip) {
    ++skipped_;
    return false;
  }
  int64_t at = 0;
  while (std::isfinite(gradient[at])) ++at;
  fail<NotFinite>("element ", at, " of the gradient is ", gradient[at]);
}

template <class T>
StepNumbers<T> TypedOptimizer<T>::next_numbers() {
  double rate = rate_after(updates_ + 1);
  require<OpError>(std::isfinite(static_cast<T>(rate)), "the learning rate of update ", updates_ + 1, " is ", rate);
  StepNumbers<T> numbers;
  numbers.hyper = &config_.hyper;
  numbers.update = updates_ + 1;
  numbers.rate = static_cast<T>(rate);
  if (config_.learning_rate.factor != 1) numbers.rate *= static_cast<T>(config_.learning_rate.factor);
  numbers.power1 = power1_;
  numbers.power2 = power2_;
  return numbers;
}

template <class T>
void TypedOptimizer<T>::update(const void* gradient) {
  const T* g = static_cast<const T*>(gradient);
  if (admit(size_, g)) update_dense(g, factor_of_norm(size_, g));
}

template <class T>
void TypedOptimizer<T>::update_dense(const T* g, T factor) {
  StepNumbers<T> numbers = next_numbers();
  factor_ = factor;
  if (measures()) {
    reserve_whole();
    if (prepares()) g = prepare(0, size_, g, whole_.data());
    kind_loops().measure({size_, param_.data(), nullptr, g}, numbers);
  }
  keep_all();
  begin_dense();
  run(0, size_, g, numbers, true);
  if (kind_loops().finish) finish_steps(numbers);
  advance_powers();
  finish(true);
  for (int64_t row = 0; by_rows_ && decay_.works() && row < row_count(); ++row) decay_.stamp(row);
}

// Flushes a subnormal power to 0: 1 minus it is the same, and subnormal arithmetic is slow.
template <class T>
void TypedOptimizer<T>::advance_powers() {
  auto advance = [](T& power, float beta) {
    power *= static_cast<T>(beta);
    if (power < std::numeric_limits<T>::min()) power = T(0);
  };
  advance(power1_, config_.hyper.beta1);
  advance(power2_, config_.hyper.beta2);
}

// For a gradient that is prepared as a whole, before its norm is taken.
template <class T>
void TypedOptimizer<T>::reserve_whole() {
  if (measures() && prepares() && !whole_.size()) whole_ = Array<T>(size_, T(0));
}

// Same as the operator clip_by_norm.
template <class T>
T TypedOptimizer<T>::factor_of_norm(int64_t count, const T* gradient) const {
  if (config_.clip_norm == 0) return T(1);
  double most = static_cast<double>(config_.clip_norm), norm = std::sqrt(loops_.squares(count, T(1), gradient));
  return static_cast<T>(norm > most ? most / norm : 1);
}

// Counts the update, and the weights of the averages of a densely updated parameter.
template <class T>
void TypedOptimizer<T>::begin_dense() {
  if (by_rows_) {
    if (decay_.works()) decay_.require_rate(own_rate(updates_ + 1));
    catch_up_all();
  }
  ++updates_;
  if (by_rows_) return;
  count_averages();
}

// Uses the rate in the precision of the step.
template <class T>
void TypedOptimizer<T>::count_averages() {
  double rate = static_cast<double>(static_cast<T>(rate_after(updates_)));
  for (Average<T>& average : averages_) average.count(rate);
}

template <class T>
void TypedOptimizer<T>::finish(bool regularized) {
  if (!by_rows_) return;
  count_averages();
  if (!regularized || !decay_.works()) return;
  decay_.advance(own_rate(updates_));
}

// Updates `count` elements from `begin` on; `gradient` points to their gradient.
template <class T>
void TypedOptimizer<T>::run(int64_t begin, int64_t count, const T* gradient, StepNumbers<T>& numbers, bool averages) {
  const KindLoops<T>& loops = kind_loops();
  bool goes_on = loops.finish, prepared = measures() || !prepares();
  bool in_blocks = goes_on || !prepared || config_.decay > 0 || (averages && !averages_.empty());
  int64_t step = in_blocks ? kBlock : std::max<int64_t>(count, 1);
  for (int64_t done = 0; done < count; done += step) {
    int64_t n = std::min(step, count - done), at = begin + done;
    const T* g = prepared ? gradient + done : prepare(at, n, gradient + done, block_.data());
    T *p = param_.data() + at, *state[kMostArrays];
    for (int i = 0; i < arrays_; ++i) state[i] = state_[i].data() + at;
    if (config_.decay > 0) loops_.shrink(n, numbers.rate * static_cast<T>(config_.decay), p);
    loops.step({n, p, state, g}, numbers);
    if (averages && !goes_on) add_to_averages(at, n);
  }
}

template <class T>
void TypedOptimizer<T>::finish_steps(StepNumbers<T>& numbers) {
  for (int64_t at = 0; at < size_; at += kBlock) {
    int64_t n = std::min(kBlock, size_ - at);
    T* state[kMostArrays];
    for (int i = 0; i < arrays_; ++i) state[i] = state_[i].data() + at;
    kind_loops().finish({n, param_.data() + at, state, nullptr}, numbers);
    add_to_averages(at, n);
  }
}

template <class T>
void TypedOptimizer<T>::add_to_averages(int64_t at, int64_t n) {
  if (by_rows_) return;
  for (Average<T>& average : averages_) average.add(loops_, at, n, param_.data() + at);
}

// Clips first, then regularizes, like the layer functions.
template <class T>
const T* TypedOptimizer<T>::prepare(int64_t at, int64_t n, const T* gradient, T* out) const {
  const T *g = gradient, *p = param_.data() + at;
  if (config_.clip_value > 0) loops_.clip(n, static_cast<T>(config_.clip_value), g, out), g = out;
  if (factor_ != T(1)) loops_.scale(n, factor_, g, out), g = out;
  if (config_.l2 > 0) loops_.add_l2(n, static_cast<T>(config_.l2), p, g, out), g = out;
  if (config_.l1 > 0) loops_.add_l1(n, static_cast<T>(config_.l1), p, g, out), g = out;
  return g;
}

template <class T>
void TypedOptimizer<T>::apply_delta(const void* delta, double scale) {
  const T* d = static_cast<const T*>(delta);
  require<ProgramError>(std::isfinite(static_cast<T>(scale)), "scale is ", scale, ", it must be finite in ",
                        sizeof(T) == 4 ? "float32" : "float64");
  if (!admit(size_, d)) return;
  next_numbers();  // throws unless the rate, which averages use, is finite
  keep_all();
  begin_dense();
  for (int64_t at = 0; at < size_; at += kBlock) {
    int64_t n = std::min(kBlock, size_ - at);
    loops_.add_scaled(n, static_cast<T>(scale), d + at, param_.data() + at);
    add_to_averages(at, n);
  }
  finish(false);
}

template <class T>
const void* TypedOptimizer<T>::parameter() {
  if (by_rows_ && decay_.works()) {
    keep_all();
    catch_up_all();
  }
  return param_.data();
}

template <class T>
void TypedOptimizer<T>::average(size_t which, size_t first, size_t count, void* out) {
  require<ProgramError>(which < averages_.size(), "there is no average ", which, ": the configuration lists ",
                        averages_.size());
  size_t size = static_cast<size_t>(size_);
  require<ProgramError>(first <= size && count <= size - first, "elements ", first, " to ", first, " + ", count,
                        " are not in the ", size, " of the parameter");
  averages_[which].value(static_cast<int64_t>(first), static_cast<int64_t>(count), param_.data(), static_cast<T*>(out));
}

template class TypedOptimizer<float>;
template class TypedOptimizer<double>;

}  // namespace paddle_mini
