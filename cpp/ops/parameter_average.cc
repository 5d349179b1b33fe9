// parameter_average: AverageOut = Average + Weight (Param - Average)
#include <memory>

#include "math/average_state.h"
#include "math/average_step.h"

#ifdef PM_GPU
#include "ops/parameter_average_gpu.h"
#include "math/cast_one.h"
#include "math/map.h"
#include "math/gpu/raise.h"
#include "math/uniform.h"
#else
#include "core/takes_back.h"
#include "ops/parameter_average_cpu.h"
#endif

namespace paddle_mini {
namespace {

#ifdef PM_GPU
// A step with what the tensors say; P is what Param is kept as.
template <class T>
struct AverageNow {
  T weight;
  bool rolls, checks, compensated;
  Fault* fault;
  unsigned long long step;

  // The new average, and the new residue.
  PM_DEVICE std::tuple<T, T> move(T average, T residue, T param) const {
    if (weight == T(0)) return {average, residue};
    if (checks && !(param - param == T(0))) {
      raise(fault, step, 0, 0);
      return {average, residue};
    }
    if (weight == T(1)) return {param, T(0)};
    if (compensated) return CompensatedLerp<T>{weight}(average, residue, param);
    return {Lerp<T>{weight}(average, param), residue};
  }
  template <class P>
  PM_DEVICE T operator()(T average, P param) const {
    return std::get<0>(move(average, T(0), cast_one<T>(param)));
  }
};

template <class T>
struct WithResidue {
  AverageNow<T> now;
  template <class P>
  PM_DEVICE std::tuple<T, T> operator()(T average, T residue, P param) const {
    return now.move(average, residue, cast_one<T>(param));
  }
};

// Average and Previous.
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
  static constexpr bool in_batches = true;
  Uniform<T> weight;
  Uniform<int32_t> roll;
  bool checks, compensated;
  Fault* fault;
  unsigned long long step;
  PM_HD With<T> ready() const { return {AverageNow<T>{weight(), roll() != 0, checks, compensated, fault, step}}; }
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

  void run(Device& device) override {
    if (param.dtype == DType::Float16) run_from<Float16>(device);
    else if (param.dtype == DType::BFloat16) run_from<BFloat16>(device);
    else run_from<T>(device);
  }

  template <template <class> class With>
  AverageRule<T, With> rule(const Device& device) const {
    return {weight, uniform_or(roll, int32_t{0}), checks, static_cast<bool>(residue), device.fault, device.step};
  }

  template <class P>
  void run_from(Device& device) {
    const P* p = static_cast<const P*>(param.data);
    if (blocks) return blocks->run(device, p);
    int64_t n = average.numel();
    if (residue) {
      map(device, n, rule<WithResidue>(device), std::tuple(average_out.data(), residue_out.data()), average.data(),
          residue.data(), p);
    } else if (previous) {
      map(device, n, rule<WithPrevious>(device), std::tuple(average_out.data(), previous_out.data()), average.data(),
          previous.data(), p);
    } else {
      map(device, n, rule<Alone>(device), average_out.data(), average.data(), p);
    }
  }
};
#else
template <class T>
struct ParameterAverageKernel : TiledKernel, TakesBack {
  ParamReader<T> param;
  In<T> average, previous, residue;
  NumberIn weight;
  In<int32_t> roll;
  Out<T> average_out, previous_out, residue_out;
  bool checks;
  int64_t done = 0;  // elements of the step that goes on
  double weight_now = 0;  // its weight
  std::unique_ptr<BlockAverage<T>> blocks;

  explicit ParameterAverageKernel(KernelInit& init)
      : param(init), average(init, "Average"), previous(init, "Previous", optional_port),
        residue(init, "Residue", optional_port), weight(init, "Weight"), roll(init, "Roll", optional_port),
        average_out(init, "AverageOut"), previous_out(init, "PreviousOut", optional_port),
        residue_out(init, "ResidueOut", optional_port), checks(init.attr<bool>("check_finite")) {
    if (init.input("Block")) blocks = std::make_unique<BlockAverage<T>>(init);
  }

  void run(Device& device) override { run_tile(device, 0, param.numel()); }
  void take_back(Device& device) override {
    if (blocks) blocks->take_back(device);
    else if (residue) take_residues_back();
  }

  void run_tile(Device& device, int64_t begin, int64_t end) override {
    if (blocks) return blocks->run_tile(device, begin, end);
    T w = static_cast<T>(weight[0]);
    bool rolls = roll && roll[0] != 0 && w != T(0);
    if (begin == 0) done = 0;
    weight_now = static_cast<double>(w);
    // A generation that ends is written where the previous one was; the next begins with weight 1,
    // which does not read what Average holds.
    const Out<T>& target = rolls ? previous_out : average_out;
    if (w == T(0)) {
      copy(average.data(), average_out, begin, end);
      if (residue) copy(residue.data(), residue_out, begin, end);
    } else {
      for (int64_t at = begin, count; at < end; at += count) {
        count = param.most(end - at);
        step(device, w, param.read(at, count), target.data() + at, at, count);
        done = at + count;
      }
    }
    if (rolls) copy(average.data(), average_out, begin, end);
    else if (previous_out) copy(previous.data(), previous_out, begin, end);
  }

  void step(Device& device, T w, const T* p, T* target, int64_t at, int64_t count) {
    const T* a = average.data() + at;
    if (checks && (w == T(1) || residue)) require_finite(p, at, count);
    if (w == T(1)) {
      std::copy_n(p, count, target);
      if (residue) std::fill_n(residue_out.data() + at, count, T(0));
    } else if (residue) {
      std::tuple outputs(target, residue_out.data() + at);
      map(device, count, CompensatedLerp<T>{w}, outputs, a, residue.data() + at, p);
    } else if (checks) {
      checked_step(device, w, p, a, target, at, count);
    } else {
      map(device, count, Lerp<T>{w}, target, a, p);
    }
  }

  // Of the step that run_tile began: what average and residue were, from what they are now.
  void take_residues_back() {
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

  // Block by block, which stays in the first cache: nothing of a block that is refused is averaged.
  void checked_step(Device& device, T w, const T* p, const T* a, T* target, int64_t at, int64_t count) {
    constexpr int64_t kBlock = 512;
    for (int64_t i = 0; i < count; i += kBlock) {
      int64_t n = std::min(kBlock, count - i);
      require_finite(p + i, at + i, n);
      map(device, n, Lerp<T>{w}, target + i, a + i, p + i);
    }
  }

  static void copy(const T* from, const Out<T>& to, int64_t begin, int64_t end) {
    if (from != to.data()) std::copy_n(from + begin, end - begin, to.data() + begin);
  }
};

#endif

void infer_parameter_average(InferContext& c) {
  DType param = c.input("Param").dtype, average = c.input("Average").dtype;
  bool fits = param == average || (average == DType::Float32 && (param == DType::Float16 || param == DType::BFloat16));
  require<ShapeError>(fits, "Param is ", name_of(param), ", Average is ", name_of(average));
  require_number(c, "Average");  // 16 bits would lose what a step adds
  require_same_shape(c, "Param", "Average");
  require_number(c, "Weight");
  require_scalar(c, "Weight");
  auto given = [&](const char* port) { return c.has_input(port) || c.has_output(port); };
  auto like_average = [&](const char* port, const char* out) {
    require_same_dtype(c, "Average", port);
    require_same_shape(c, "Average", port);
    c.set_output(out, c.input(port));
  };
  if (given("Previous") || given("Roll") || given("PreviousOut")) {
    require<ProgramError>(c.has_input("Previous") && c.has_input("Roll") && c.has_output("PreviousOut"),
                          "Previous, Roll and PreviousOut are given all or none");
    require<ShapeError>(c.input("Roll").dtype == DType::Int32, "Roll is ", name_of(c.input("Roll").dtype),
                        ", it must be int32");
    require_scalar(c, "Roll");
    like_average("Previous", "PreviousOut");
  }
  if (given("Residue") || given("ResidueOut")) {
    require<ProgramError>(c.has_input("Residue") && c.has_output("ResidueOut") && !given("Previous"),
                          "Residue and ResidueOut are given both or none, and not with Previous");
    like_average("Residue", "ResidueOut");
  }
  if (given("Block") || given("BlockOut") || given("Sums") || given("SumsOut")) {
    bool all = c.has_input("Block") && c.has_output("BlockOut") && c.has_input("Sums") && c.has_output("SumsOut");
    require<ProgramError>(all && !given("Residue"),
                          "Block, BlockOut, Sums and SumsOut are given all or none, and not "
                          "with Residue");
    like_average("Block", "BlockOut");
    require_vector(c, "Sums", DType::Float64, kAverageSums);
    c.set_output("SumsOut", c.input("Sums"));
  }
  c.set_output("AverageOut", c.input("Average"));
}

}  // namespace

void define_parameter_average(OpTable& ops) {
  ops.add(
      OpSpec("parameter_average")
          .doc(
              "AverageOut = Average + Weight (Param - Average), rounded after each of the three operations. Weight 1 "
              "gives Param itself, weight 0 leaves everything as it is. Where Roll is 1 the result goes to "
              "PreviousOut, and Average stays. The Weight comes from average_weight, which knows the scheme; this "
              "operator does not. With Residue what rounding adds is kept and taken off the next time. With Block and "
              "Sums nothing is lost at all: a step adds the parameter, with a weight, to Block, which goes into "
              "Average every 16 steps; the average is Average + (Sums[1] Average + Block) / Sums[0], and average_value "
              "reads it. A parameter of float16 or bfloat16 has an average of float32.")
          .input("Param", "any shape")
          .input("Average", "shape of Param")
          .input("Weight", "one element, float32 or float64, between 0 and 1; rounded to Average's dtype")
          .optional_input("Previous", "shape of Param: the average of the window's previous generation")
          .optional_input("Roll", "one element, int32: 1 where a generation ends")
          .optional_input("Residue", "shape of Param: what rounding has added so far")
          .optional_input("Block", "shape of Param: the weighted sum of the newest steps")
          .optional_input("Sums",
                          "[4] float64: the sum of all weights, minus that of the block's, the sum with which "
                          "the block ends, steps; zeros at first, and where Block is zeros")
          .output("AverageOut", "the variable of Average")
          .optional_output("PreviousOut", "the variable of Previous")
          .optional_output("ResidueOut", "the variable of Residue")
          .optional_output("BlockOut", "the variable of Block")
          .optional_output("SumsOut", "the variable of Sums")
          .attr("check_finite", false,
                "whether NaN and infinity in Param are refused; with Block the step is taken back, elsewhere "
                "parts before them are averaged")
          .infer(infer_parameter_average)
          .no_gradient("an average of parameters is not differentiated")
          .updates("Average", "AverageOut")
          .updates("Previous", "PreviousOut")
          .updates("Residue", "ResidueOut")
          .updates("Block", "BlockOut")
          .updates("Sums", "SumsOut")
          .dtype_from_input("Average")
          .on_gpu()
          .kernels<ParameterAverageKernel, float, double>());
}

}  // namespace paddle_mini
