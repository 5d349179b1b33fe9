// The kernels of parameter_average on a GPU, with an average in blocks (average_blocks.h) and without.
#pragma once

#include <tuple>

#include "math/average_blocks.h"
#include "math/convert_element.h"
#include "math/map.h"
#include "math/gpu/report_fault.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

namespace block_average_gpu {

// Values common to all elements, computed once by the thread that updates the sums.
template <class T>
struct Shared {
  BlockStep<T> step;
  double shift, part;  // factors of the average before the step
  double weight;       // weight of the newest parameters in the average
  bool rolls;
};

template <class T>
struct SharedRule {
  static constexpr bool batchable = true;
  ScalarArg<double> weight;
  ScalarArg<int32_t> roll;
  const double* sums;
  double* sums_out;
  Shared<T>* to;

  // The map writes the first sum, so launches of several parameters can be batched; others are written directly.
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

  // Returns the new average, block and previous average. A value that is not finite is replaced by the average, which
  // the step then leaves unchanged.
  template <class P>
  PM_DEVICE std::tuple<T, T, T> operator()(T average, T block, T previous, P param) const {
    const BlockStep<T>& step = all.step;
    if (step.move == Move::None) return {average, block, previous};
    T p = convert_element<T>(param);
    double a = static_cast<double>(average);
    double mean = a + (all.shift * a + static_cast<double>(block)) * all.part;
    if (checks && !(p - p == T(0))) {
      report_fault(fault, at_step, 0, 0);
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
  static constexpr bool batchable = true;
  const Shared<T>* all;
  bool checks;
  Fault* fault;
  unsigned long long at_step;
  PM_HD Element<T> bind_scalars() const { return {*all, checks, fault, at_step}; }
};

}  // namespace block_average_gpu

// Implements parameter_average where the program gives Block.
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
  void run(KernelContext& context, const P* p) {
    using namespace block_average_gpu;
    Shared<T>* shared = reinterpret_cast<Shared<T>*>(shared_.data());
    SharedRule<T> all{weight_, scalar_or(roll_, int32_t{0}), sums_.data(), sums_out_.data(), shared};
    map(context, 1, all, sums_out_.data(), sums_.data());
    ElementRule<T> rule{shared, checks_, context.fault, context.step};
    std::tuple outputs(average_out_.data(), block_out_.data());
    int64_t n = average_.numel();
    if (previous_) {
      map(context, n, rule, std::tuple_cat(outputs, std::tuple(previous_out_.data())), average_.data(), block_.data(),
          previous_.data(), p);
    } else {
      map(context, n, rule, outputs, average_.data(), block_.data(), p);
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

namespace {

// One step with the scalars read from the tensors.
template <class T>
struct AverageNow {
  T weight;
  bool rolls, checks, compensated;
  Fault* fault;
  unsigned long long step;

  // Returns the new average and the new residue.
  PM_DEVICE std::tuple<T, T> move(T average, T residue, T param) const {
    if (weight == T(0)) return {average, residue};
    if (checks && !(param - param == T(0))) {
      report_fault(fault, step, 0, 0);
      return {average, residue};
    }
    if (weight == T(1)) return {param, T(0)};
    if (compensated) return CompensatedLerp<T>{weight}(average, residue, param);
    return {Lerp<T>{weight}(average, param), residue};
  }
  template <class P>
  PM_DEVICE T operator()(T average, P param) const {
    return std::get<0>(move(average, T(0), convert_element<T>(param)));
  }
};

template <class T>
struct WithResidue {
  AverageNow<T> now;
  template <class P>
  PM_DEVICE std::tuple<T, T> operator()(T average, T residue, P param) const {
    return now.move(average, residue, convert_element<T>(param));
  }
};

// Returns the new Average and Previous.
template <class T>
struct WithPrevious {
  AverageNow<T> now;
  template <class P>
  PM_DEVICE std::tuple<T, T> operator()(T average, T previous, P param) const {
    T moved = now(average, param);
    if (now.rolls && now.weight != T(0)) return {average, moved};
    return {moved, previous};
  }
};

template <class T, template <class> class With>
struct AverageRule {
  static constexpr bool batchable = true;
  ScalarArg<T> weight;
  ScalarArg<int32_t> roll;
  bool checks, compensated;
  Fault* fault;
  unsigned long long step;
  PM_HD With<T> bind_scalars() const {
    return {AverageNow<T>{weight(), roll() != 0, checks, compensated, fault, step}};
  }
};
template <class T>
using Alone = AverageNow<T>;

template <class T>
struct ParameterAverageKernel : Kernel {
  const Tensor& param;
  In<T> average, previous, residue;
  NumberIn weight;
  In<int32_t> roll;
  Out<T> average_out, previous_out, residue_out;
  bool checks;
  std::unique_ptr<BlockAverage<T>> blocks;

  explicit ParameterAverageKernel(KernelInit& init)
      : param(init.input("Param")->tensor), average(init, "Average"), previous(init, "Previous", optional_port),
        residue(init, "Residue", optional_port), weight(init, "Weight"), roll(init, "Roll", optional_port),
        average_out(init, "AverageOut"), previous_out(init, "PreviousOut", optional_port),
        residue_out(init, "ResidueOut", optional_port), checks(init.attr<bool>("check_finite")) {
    if (init.input("Block")) blocks = std::make_unique<BlockAverage<T>>(init);
  }

  void refuse(const Fault&) const override { fail<OpError>("Param is not finite: it does not enter the average"); }

  void run(KernelContext& context) override {
    if (param.dtype == DType::Float16) run_from<Float16>(context);
    else if (param.dtype == DType::BFloat16) run_from<BFloat16>(context);
    else run_from<T>(context);
  }

  template <template <class> class With>
  AverageRule<T, With> rule(const KernelContext& context) const {
    return {weight, scalar_or(roll, int32_t{0}), checks, static_cast<bool>(residue), context.fault, context.step};
  }

  template <class P>
  void run_from(KernelContext& context) {
    const P* p = static_cast<const P*>(param.data);
    if (blocks) return blocks->run(context, p);
    int64_t n = average.numel();
    if (residue) {
      map(context, n, rule<WithResidue>(context), std::tuple(average_out.data(), residue_out.data()), average.data(),
          residue.data(), p);
    } else if (previous) {
      map(context, n, rule<WithPrevious>(context), std::tuple(average_out.data(), previous_out.data()), average.data(),
          previous.data(), p);
    } else {
      map(context, n, rule<Alone>(context), average_out.data(), average.data(), p);
    }
  }
};

}  // namespace

}  // namespace paddle_mini
