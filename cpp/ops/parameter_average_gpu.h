// The kernels of parameter_average on a GPU, with an average in blocks (average_blocks.h) and without.
#pragma once

#include <tuple>

#include "math/map.h"
#include "math/scalar_arg.h"

namespace paddle_mini {

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
    ElementRule<T> rule{shared, average_.data(), checks_, context.fault, context.step};
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
