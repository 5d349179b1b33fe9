// The kernels of parameter_average on a CPU, with an average in blocks (average_blocks.h) and without.
#pragma once

#include "core/undoable.h"

#include <atomic>
#include <memory>

#include "math/average_blocks.h"
#include "math/finite.h"
#include "math/cpu/parameter_reader.h"

namespace paddle_mini {

// Implements parameter_average where the program gives Block. A step is atomic: if elements are not finite, it averages
// all others and throws the error at the end; undo() restores the average before it.
template <class T>
class BlockAverage {
 public:
  explicit BlockAverage(KernelInit& init)
      : param_(init), average_(init, "Average"), block_(init, "Block"), previous_(init, "Previous", optional_port),
        sums_(init, "Sums"), weight_(init, "Weight"), roll_(init, "Roll", optional_port),
        average_out_(init, "AverageOut"), block_out_(init, "BlockOut"),
        previous_out_(init, "PreviousOut", optional_port), sums_out_(init, "SumsOut"),
        checks_(init.attr<bool>("check_finite")) {}

  void run_tile(KernelContext& context, int64_t begin, int64_t end) {
    if (begin == 0) begin_step();
    int64_t most = checks_ ? kChecked : end - begin;
    for (int64_t at = begin, count; at < end; at += count) {
      count = std::min(param_.most(end - at), most);
      if (step_.move == Move::None) {
        keep(at, count);
        continue;
      }
      const T* p = param_.read(at, count);
      if (checks_ && !all_finite(count, p)) step_over_gaps(context, p, at, count);
      else take(context, p, at, count);
    }
    note_at_least(done_, end);
    if (end == param_.numel()) end_step();
  }
  bool has_independent_tiles() const { return !param_.converts(); }  // conversions share scratch memory

  // Restores the average before the step that run_tile began, computed from the average after it.
  void undo(KernelContext&) {
    int64_t done = done_;
    done_ = 0;
    if (done == 0 || step_.move == Move::None) return;
    std::copy_n(was_, kAverageSums, sums_out_.data());
    BlockMean<T> now(step_.sums);
    double back = weight_now_ / (1 - weight_now_);
    for (int64_t at = 0, count; at < done; at += count) {
      count = param_.most(done - at);
      const T* p = param_.read(at, count);
      for (int64_t i = 0; i < count; ++i) undo_element(now, back, at + i, p[i]);
    }
  }

 private:
  static constexpr int64_t kChecked = 512;  // elements per check, so that checked values are still in the L1 cache

  void begin_step() {
    weight_now_ = weight_[0];
    rolls_ = roll_ && roll_[0] != 0 && weight_now_ != 0;
    std::copy_n(sums_.data(), kAverageSums, was_);
    step_ = block_step<T>(was_, weight_now_);
    refused_ = kNone;
    done_ = 0;
  }

  void end_step() {
    // If the step ends a generation, the sums are unchanged: the next generation starts with new sums.
    std::copy_n(rolls_ ? was_ : step_.sums, kAverageSums, sums_out_.data());
    if (refused_ == kNone) return;
    int64_t element = -refused_;
    fail<OpError>("element ", element, " of Param is ", *param_.read(element, 1), ": it does not enter the average");
  }

  void take(KernelContext& context, const T* p, int64_t at, int64_t count) {
    const T *a = average_.data() + at, *b = block_.data() + at;
    T *to = average_out_.data() + at, *block = block_out_.data() + at;
    if (rolls_) return roll(p, at, count);
    if (previous_out_) copy(previous_.data() + at, count, previous_out_.data() + at);
    if (step_.move == Move::Begin) {
      std::copy_n(p, count, to);
      std::fill_n(block, count, T(0));
    } else if (step_.move == Move::EndBlock) {
      map(context, count, EndBlock<T>(step_), std::tuple(to, block), a, b, p);
    } else {
      copy(a, count, to);
      map(context, count, AddToBlock<T>{step_.weight}, block, b, p);
    }
  }

  // Writes the average of the finished generation to Previous. Block keeps the old Previous until the next one begins.
  void roll(const T* p, int64_t at, int64_t count) {
    BlockMean<T> mean(was_);
    for (int64_t i = at; i < at + count; ++i, ++p) {
      double before = mean(average_[i], block_[i]), newest = static_cast<double>(*p);
      T previous = previous_[i];
      previous_out_[i] = weight_now_ >= 1 ? *p : static_cast<T>(before + weight_now_ * (newest - before));
      average_out_[i] = average_[i];
      block_out_[i] = previous;
    }
  }

  // Replaces each element that is not finite by its average, which the step then leaves unchanged.
  void step_over_gaps(KernelContext& context, const T* p, int64_t at, int64_t count) {
    BlockMean<T> mean(was_);
    for (int64_t i = 0; i < count; ++i) {
      T value = p[i];
      if (!std::isfinite(value)) {
        note_at_least(refused_, -(at + i));
        value = static_cast<T>(mean(average_[at + i], block_[at + i]));
      }
      take(context, &value, at + i, 1);
    }
  }

  void undo_element(const BlockMean<T>& now, double back, int64_t at, T p) {
    T &a = average_out_[at], &b = block_out_[at];
    double mean = static_cast<double>(rolls_ ? previous_out_[at] : T(0));
    if (rolls_) previous_out_[at] = b;
    else mean = now(a, b);
    if (weight_now_ >= 1) return;  // there was no average before
    double newest = std::isfinite(p) ? static_cast<double>(p) : mean;
    double before = mean + (mean - newest) * back;
    a = static_cast<T>(before);
    b = static_cast<T>((before - static_cast<double>(a)) * was_[kSum] - was_[kShift] * static_cast<double>(a));
  }

  void keep(int64_t at, int64_t count) {
    copy(average_.data() + at, count, average_out_.data() + at);
    copy(block_.data() + at, count, block_out_.data() + at);
    if (previous_out_) copy(previous_.data() + at, count, previous_out_.data() + at);
  }

  static void copy(const T* from, int64_t count, T* to) {
    if (from != to) std::copy_n(from, count, to);
  }

  static void note_at_least(std::atomic<int64_t>& most, int64_t value) {
    for (int64_t seen = most; seen < value && !most.compare_exchange_weak(seen, value);) continue;
  }

  ParamReader<T> param_;
  In<T> average_, block_, previous_;
  In<double> sums_;
  NumberIn weight_;
  In<int32_t> roll_;
  Out<T> average_out_, block_out_, previous_out_;
  Out<double> sums_out_;
  bool checks_;
  // State of the current step:
  BlockStep<T> step_;
  double weight_now_ = 0, was_[kAverageSums] = {};
  bool rolls_ = false;
  static constexpr int64_t kNone = INT64_MIN;
  std::atomic<int64_t> refused_{kNone};  // minus the first element that is not finite
  std::atomic<int64_t> done_{0};         // elements of this step
};

namespace {

template <class T>
struct ParameterAverageKernel : TiledKernel, Undoable {
  ParamReader<T> param;
  In<T> average, previous, residue;
  NumberIn weight;
  In<int32_t> roll;
  Out<T> average_out, previous_out, residue_out;
  bool checks;
  int64_t done = 0;  // elements averaged by the current step
  double weight_now = 0;  // the current step's weight
  std::unique_ptr<BlockAverage<T>> blocks;

  explicit ParameterAverageKernel(KernelInit& init)
      : param(init), average(init, "Average"), previous(init, "Previous", optional_port),
        residue(init, "Residue", optional_port), weight(init, "Weight"), roll(init, "Roll", optional_port),
        average_out(init, "AverageOut"), previous_out(init, "PreviousOut", optional_port),
        residue_out(init, "ResidueOut", optional_port), checks(init.attr<bool>("check_finite")) {
    if (init.input("Block")) blocks = std::make_unique<BlockAverage<T>>(init);
  }

  void run(KernelContext& context) override { run_tile(context, 0, param.numel()); }
  bool has_independent_tiles() const override { return blocks && blocks->has_independent_tiles(); }
  void undo(KernelContext& context) override {
    if (blocks) blocks->undo(context);
    else if (residue) undo_residues();
  }

  void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
    if (blocks) return blocks->run_tile(context, begin, end);
    T w = static_cast<T>(weight[0]);
    bool rolls = roll && roll[0] != 0 && w != T(0);
    if (begin == 0) done = 0;
    weight_now = static_cast<double>(w);
    // If the step ends a generation, its average is written to Previous; the next generation begins with weight 1,
    // which does not read Average.
    const Out<T>& target = rolls ? previous_out : average_out;
    if (w == T(0)) {
      copy(average.data(), average_out, begin, end);
      if (residue) copy(residue.data(), residue_out, begin, end);
    } else {
      for (int64_t at = begin, count; at < end; at += count) {
        count = param.most(end - at);
        step(context, w, param.read(at, count), target.data() + at, at, count);
        done = at + count;
      }
    }
    if (rolls) copy(average.data(), average_out, begin, end);
    else if (previous_out) copy(previous.data(), previous_out, begin, end);
  }

  void step(KernelContext& context, T w, const T* p, T* target, int64_t at, int64_t count) {
    const T* a = average.data() + at;
    if (checks && (w == T(1) || residue)) require_finite(p, at, count);
    if (w == T(1)) {
      std::copy_n(p, count, target);
      if (residue) std::fill_n(residue_out.data() + at, count, T(0));
    } else if (residue) {
      std::tuple outputs(target, residue_out.data() + at);
      map(context, count, CompensatedLerp<T>{w}, outputs, a, residue.data() + at, p);
    } else if (checks) {
      checked_step(context, w, p, a, target, at, count);
    } else {
      map(context, count, Lerp<T>{w}, target, a, p);
    }
  }

  // Restores average and residue before the step that run_tile began, computed from their present values.
  void undo_residues() {
    for (int64_t at = 0, count; at < done && weight_now < 1; at += count) {
      count = param.most(done - at);
      const T* p = param.read(at, count);
      for (int64_t i = at; i < at + count; ++i, ++p) {
        std::tie(average_out[i], residue_out[i]) =
            before_compensated_step(weight_now, average_out[i], residue_out[i], *p);
      }
    }
    done = 0;
  }

  // Checks and averages in blocks that fit the L1 cache: no element of a refused block is averaged.
  void checked_step(KernelContext& context, T w, const T* p, const T* a, T* target, int64_t at, int64_t count) {
    constexpr int64_t kBlock = 512;
    for (int64_t i = 0; i < count; i += kBlock) {
      int64_t n = std::min(kBlock, count - i);
      require_finite(p + i, at + i, n);
      map(context, n, Lerp<T>{w}, target + i, a + i, p + i);
    }
  }

  static void copy(const T* from, const Out<T>& to, int64_t begin, int64_t end) {
    if (from != to.data()) std::copy_n(from + begin, end - begin, to.data() + begin);
  }
};

}  // namespace

}  // namespace paddle_mini
