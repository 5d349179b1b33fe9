// An average in blocks (average_blocks.h) over the elements of a parameter, on a GPU.
#pragma once

#include <tuple>

#include "math/average_blocks.h"
#include "math/cast_one.h"
#include "math/map.h"
#include "math/gpu/raise.h"
#include "math/uniform.h"

namespace paddle_mini {

namespace block_average_gpu {

// What all elements share: worked out once, by the thread that moves the sums on.
template <class T>
struct Shared {
  BlockStep<T> step;
  double shift, part;  // of the average before the step
  double weight;       // of the newest parameters in it
  bool rolls;
};

template <class T>
struct SharedRule {
  static constexpr bool in_batches = true;
  Uniform<double> weight;
  Uniform<int32_t> roll;
  const double* sums;
  double* sums_out;
  Shared<T>* to;

  // The first of the sums goes through the map, which makes one launch of many; the others go directly.
  PM_HD double operator()(double) const {
    double w = weight();
    BlockMean<T> before(sums);
    Shared<T> all{block_step<T>(sums, w), before.shift, before.part, w, roll() != 0 && w != 0};
    double first = all.rolls ? sums[0] : all.step.sums[0];
    for (int i = 1; i < kAverageSums; ++i) sums_out[i] = all.rolls ? sums[i] : all.step.sums[i];
    *to = all;
    return first;
  }
};

template <class T>
struct Element {
  Shared<T> all;
  bool checks;
  Fault* fault;
  unsigned long long at_step;

  // The new average, block and previous average. In the place of a value that
  // is not finite the average is taken, which the step then does not change.
  template <class P>
  PM_DEVICE std::tuple<T, T, T> operator()(T average, T block, T previous, P param) const {
    const BlockStep<T>& step = all.step;
    if (step.move == Move::None) return {average, block, previous};
    T p = cast_one<T>(param);
    double a = static_cast<double>(average);
    double mean = a + (all.shift * a + static_cast<double>(block)) * all.part;
    if (checks && !(p - p == T(0))) {
      raise(fault, at_step, 0, 0);
      p = static_cast<T>(mean);
    }
    if (all.rolls) {
      double moved = mean + all.weight * (static_cast<double>(p) - mean);
      return {average, previous, step.move == Move::Begin ? p : static_cast<T>(moved)};
    }
    if (step.move == Move::Begin) return {p, T(0), previous};
    if (step.move == Move::Add) return {average, AddToBlock<T>{step.weight}(block, p), previous};
    auto [to, rest] = EndBlock<T>(step)(average, block, p);
    return {to, rest, previous};
  }
  template <class P>
  PM_DEVICE std::tuple<T, T> operator()(T average, T block, P param) const {
    auto [to, rest, previous] = (*this)(average, block, T(0), param);
    return {to, rest};
  }
};

template <class T>
struct ElementRule {
  static constexpr bool in_batches = true;
  const Shared<T>* all;
  bool checks;
  Fault* fault;
  unsigned long long at_step;
  PM_HD Element<T> ready() const { return {*all, checks, fault, at_step}; }
};

}  // namespace block_average_gpu

// The kernel of parameter_average where the program gives Block.
template <class T>
class GpuBlockAverage {
 public:
  explicit GpuBlockAverage(KernelInit& init)
      : average_(init, "Average"), block_(init, "Block"), previous_(init, "Previous", optional_port),
        sums_(init, "Sums"), weight_(init, "Weight"), roll_(init, "Roll", optional_port),
        average_out_(init, "AverageOut"), block_out_(init, "BlockOut"),
        previous_out_(init, "PreviousOut", optional_port), sums_out_(init, "SumsOut"),
        checks_(init.attr<bool>("check_finite")),
        shared_(init, sizeof(block_average_gpu::Shared<T>) / sizeof(double) + 1) {}

  template <class P>
  void run(Device& device, const P* p) {
    using namespace block_average_gpu;
    Shared<T>* shared = reinterpret_cast<Shared<T>*>(shared_.data());
    SharedRule<T> all{weight_, uniform_or(roll_, int32_t{0}), sums_.data(), sums_out_.data(), shared};
    map(device, 1, all, sums_out_.data(), sums_.data());
    ElementRule<T> rule{shared, checks_, device.fault, device.step};
    std::tuple outputs(average_out_.data(), block_out_.data());
    int64_t n = average_.numel();
    if (previous_) {
      map(device, n, rule, std::tuple_cat(outputs, std::tuple(previous_out_.data())), average_.data(), block_.data(),
          previous_.data(), p);
    } else {
      map(device, n, rule, outputs, average_.data(), block_.data(), p);
    }
  }

 private:
  In<T> average_, block_, previous_;
  In<double> sums_;
  NumberIn weight_;
  In<int32_t> roll_;
  Out<T> average_out_, block_out_, previous_out_;
  Out<double> sums_out_;
  bool checks_;
  Scratch<double> shared_;
};

template <class T>
using BlockAverage = GpuBlockAverage<T>;

}  // namespace paddle_mini
