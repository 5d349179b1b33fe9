// ParameterOptimizer: a parameter, the state of its optimizer, and the updates.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "math/selected_rows.h"
#include "optimizer/average.h"
#include "optimizer/config.h"
#include "optimizer/row_decay.h"
#include "optimizer/row_set.h"
#include "optimizer/snapshot.h"

namespace paddle_mini {

// The gradient is not finite and the configuration rejects that.
class NotFinite : public Error {
 public:
  using Error::Error;
};

// Everything is checked, and all memory is there, before anything changes. One thread at a time.
// It has many methods because each function of the C library is one of them.
class ParameterOptimizer {
 public:
  virtual ~ParameterOptimizer() = default;

  // `element` is the size of one number, 4 or 8. `parameter` may be nullptr if a state is given. changes: to the state, of a
  // snapshot_changes(); none if they have no bytes.
  static std::unique_ptr<ParameterOptimizer> create(OptimizerConfig config, size_t element, const void* parameter,
                                                    size_t bytes, std::string_view state, bool has_state,
                                                    std::string_view changes = {});

  virtual size_t element() const = 0;
  virtual size_t bytes() const = 0;
  virtual const void* address() const = 0;  // address of the parameter
  virtual void update(const void* gradient) = 0;
  virtual void update_rows(const int64_t* rows, size_t count, const void* gradient, size_t bytes) = 0;
  virtual void apply_delta(const void* delta, double scale) = 0;
  virtual const void* parameter() = 0;
  virtual void get_rows(const int64_t* rows, size_t count, void* values, size_t bytes) = 0;
  virtual size_t state_size() const = 0;
  virtual void write_state(void* to, size_t size) const = 0;
  virtual std::shared_ptr<Snapshot> snapshot() = 0;  // throws ProgramError while another one exists
  // The changes since the last snapshot(); nullptr if everything may have changed.
  virtual std::shared_ptr<Snapshot> snapshot_changes() = 0;
  virtual void average(size_t which, size_t first, size_t count, void* out) = 0;

  void set_learning_rate(double rate) { fixed_rate_ = rate, has_fixed_rate_ = true; }
  double learning_rate() const { return rate_after(updates_); }
  void set_pass(int64_t pass) { pass_ = pass; }
  uint64_t updates() const { return updates_; }
  uint64_t skipped() const { return skipped_; }
  const OptimizerConfig& config() const { return config_; }

 protected:
  explicit ParameterOptimizer(OptimizerConfig config) : config_(std::move(config)) {}
  // Without the parameter's factor.
  double rate_after(uint64_t updates) const {
    return has_fixed_rate_ ? fixed_rate_ : config_.learning_rate.after(updates, pass_);
  }

  const OptimizerConfig config_;
  uint64_t updates_ = 0, skipped_ = 0;
  int64_t pass_ = 0;
  double fixed_rate_ = 0;
  bool has_fixed_rate_ = false;
};

// It has many methods because updates, rows, states and averages all work on the same arrays, in the order in which a failure
// leaves them as they were.
template <class T>
class TypedOptimizer : public ParameterOptimizer {
 public:
  TypedOptimizer(OptimizerConfig config, const void* parameter, int64_t size);
  void read_state(std::string_view bytes);
  void read_changes(std::string_view bytes);  // after read_state() of the state that they are relative to

  size_t element() const override { return sizeof(T); }
  size_t bytes() const override { return static_cast<size_t>(size_) * sizeof(T); }
  const void* address() const override { return param_.data(); }
  void update(const void* gradient) override;
  void update_rows(const int64_t* rows, size_t count, const void* gradient, size_t bytes) override;
  void apply_delta(const void* delta, double scale) override;
  const void* parameter() override;
  void get_rows(const int64_t* rows, size_t count, void* values, size_t bytes) override;
  size_t state_size() const override;
  void write_state(void* to, size_t size) const override;
  std::shared_ptr<Snapshot> snapshot() override;
  std::shared_ptr<Snapshot> snapshot_changes() override;
  void average(size_t which, size_t first, size_t count, void* out) override;

 private:
  // ---- optimizer.cc: one update ----
  bool admit(int64_t count, const T* gradient);
  StepNumbers<T> next_numbers();
  void begin_dense();
  void count_averages();
  double own_rate(uint64_t updates) const {
    return rate_after(updates) * static_cast<double>(config_.learning_rate.factor);
  }
  void finish(bool dense);
  void run(int64_t begin, int64_t count, const T* gradient, StepNumbers<T>& numbers, bool averages);
  void finish_steps(StepNumbers<T>& numbers);
  void add_to_averages(int64_t at, int64_t n);
  const T* prepare(int64_t at, int64_t n, const T* gradient, T* out) const;
  bool prepares() const { return config_.clip_norm > 0 || config_.clip_value > 0 || config_.l1 > 0 || config_.l2 > 0; }
  void reserve_whole();
  bool measures() const { return config_.kind->measures(config_.hyper); }
  const KindLoops<T>& kind_loops() const { return loops_.kinds[config_.kind->index]; }
  void advance_powers();
  void update_dense(const T* gradient, T factor);
  T factor_of_norm(int64_t count, const T* gradient) const;
  int64_t row_count() const { return width_ ? size_ / width_ : 0; }

  // ---- rows.cc: updates of rows of a table ----
  int64_t width_of(size_t rows, size_t bytes) const;
  void check_rows(const int64_t* rows, size_t count, int64_t width) const;
  const T* merge_rows(const int64_t* rows, size_t count, int64_t width, const T* gradient);
  void begin_rows(int64_t width);
  void begin_zeros(int64_t width);
  void update_lazily(const T* gradient, StepNumbers<T>& numbers);
  void step_gathered(const T* gradient, StepNumbers<T>& numbers);
  void update_no_rows();
  void update_like_zeros(const T* gradient);
  template <class F>
  void for_each_run(const T* gradient, F run) const;
  void catch_up_all();

  // ---- state_of_optimizer.cc ----
  template <class Writer>
  void write(Writer& to) const;
  template <class Reader>
  void read(Reader& from);
  std::shared_ptr<Snapshot> written(std::shared_ptr<Snapshot> made);
  // Called before all arrays, or some of their rows, change: a snapshot keeps them as they are.
  void keep_all();
  void keep_rows(const int64_t* rows, size_t count);
  void keep(const int64_t* rows, size_t count);

  const LoopTables& tables_;
  const Loops<T>& loops_;
  int64_t size_;
  Array<T> param_, state_[kMostArrays];
  int arrays_ = 0;         // number of used arrays in state_
  T power1_, power2_;      // powers of beta1 and beta2 for the next update
  std::vector<Average<T>> averages_;
  T factor_ = T(1);        // factor of clip_norm for the gradient of this update
  Array<T> block_, whole_;  // prepared gradients
  Array<T> gathered_;       // narrow rows and their state, for one step of many
  static constexpr int64_t kNarrow = 64;  // elements of a row up to which copies cost less than a step for each row

  std::weak_ptr<Snapshot> snapshot_;
  std::optional<RowSet> changed_;  // since the last snapshot() of all; none: all may have changed, or there was none
  uint64_t updates_of_whole_ = 0;  // the number of updates then
  int64_t width_ = 0;  // elements of a row; 0 while unknown
  bool by_rows_ = false;  // whether rows have been updated lazily, so others may need to catch up
  RowDecay decay_;
  RowMerge merge_;
  std::vector<int64_t> named_;  // ascending row numbers of this update
  Array<T> merged_, zeros_;
};

}  // namespace paddle_mini
