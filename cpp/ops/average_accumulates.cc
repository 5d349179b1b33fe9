// average_accumulates: adds a parameter to the sums of which ModelAverage makes its average
#include "core/op_table.h"
#include "ops/family/optimizer.h"

namespace paddle_mini {
namespace {

// So many parameters are added to sum_1 before it goes into sum_2: few enough for float32 to stay exact.
constexpr int64_t kLongestSum = 16384;

// Whether a window of `count` steps ends with this update. The product is rounded to float32, as PaddlePaddle does it,
// and held within int64.
PM_HD inline bool window_ends(int64_t update, int64_t count, float window, int64_t longest, int64_t shortest) {
  float part = std::min(std::max(static_cast<float>(update) * window, -9e18f), 9e18f);
  return count >= shortest && count >= std::min(longest, static_cast<int64_t>(part));
}

#ifdef PM_GPU
struct WindowNow {
  const int64_t *updates, *accumulates;
  float window;
  int64_t longest, shortest;

  PM_HD bool ends() const { return window_ends(*updates + 1, *accumulates + 1, window, longest, shortest); }
  PM_HD bool spills() const { return (*updates + 1) % kLongestSum == 0; }
};

template <class T>
struct Accumulate {
  bool ends, spills;
  PM_HD std::tuple<T, T, T> operator()(T param, T sum1, T sum2, T sum3) const {
    if (ends) return {T(0), T(0), (sum1 + param) + sum2};
    if (spills) return {T(0), sum2 + (sum1 + param), sum3};
    return {sum1 + param, sum2, sum3};
  }
};
template <class T>
struct AccumulateRule {
  static constexpr bool in_batches = true;
  WindowNow now;
  PM_HD Accumulate<T> ready() const { return {now.ends(), now.spills()}; }
};

struct CountRule {
  static constexpr bool in_batches = true;
  WindowNow now;
  PM_HD std::tuple<int64_t, int64_t, int64_t> operator()(int64_t update, int64_t count, int64_t older) const {
    bool ends = now.ends();
    return {update + 1, ends ? 0 : count + 1, ends ? count + 1 : older};
  }
};
#endif

// Where the window ends, sum_1 and sum_2 with this step's parameter become sum_3. PaddlePaddle loses that
// parameter where out_sum_1 is not the variable of in_sum_1; this kernel does not.
template <class T>
struct AverageAccumulatesKernel : Kernel {
  In<T> param, sum1, sum2, sum3;
  In<int64_t> accumulates, old_accumulates, updates;
  Out<T> sum1_out, sum2_out, sum3_out;
  Out<int64_t> accumulates_out, old_accumulates_out, updates_out;
  float window;
  int64_t longest, shortest;

  explicit AverageAccumulatesKernel(KernelInit& init)
      : param(init, "param"), sum1(init, "in_sum_1"), sum2(init, "in_sum_2"), sum3(init, "in_sum_3"),
        accumulates(init, "in_num_accumulates"), old_accumulates(init, "in_old_num_accumulates"),
        updates(init, "in_num_updates"), sum1_out(init, "out_sum_1"), sum2_out(init, "out_sum_2"),
        sum3_out(init, "out_sum_3"), accumulates_out(init, "out_num_accumulates"),
        old_accumulates_out(init, "out_old_num_accumulates"), updates_out(init, "out_num_updates"),
        window(init.attr<float>("average_window")), longest(init.attr<int64_t>("max_average_window")),
        shortest(init.attr<int64_t>("min_average_window")) {}

#ifdef PM_GPU
  // Which of the three a step is shows where the counters are.
  void run(Device& device) override {
    WindowNow now{updates.data(), accumulates.data(), window, longest, shortest};
    map(device, param.numel(), AccumulateRule<T>{now}, std::tuple(sum1_out.data(), sum2_out.data(), sum3_out.data()),
        param.data(), sum1.data(), sum2.data(), sum3.data());
    map(device, 1, CountRule{now}, std::tuple(updates_out.data(), accumulates_out.data(), old_accumulates_out.data()),
        updates.data(), accumulates.data(), old_accumulates.data());
  }
#else
  void run(Device& device) override {
    int64_t update = updates[0] + 1, count = accumulates[0] + 1, older = old_accumulates[0];
    bool ends = window_ends(update, count, window, longest, shortest);
    if (ends) end_window(device);
    else add(device, update % kLongestSum == 0);
    updates_out[0] = update;
    accumulates_out[0] = ends ? 0 : count;
    old_accumulates_out[0] = ends ? count : older;
  }

  void end_window(Device& device) {
    auto step = [](auto p, auto s1, auto s2) {
      using V = decltype(p);
      return std::tuple(V(T(0)), V(T(0)), (s1 + p) + s2);
    };
    map(device, param.numel(), step, std::tuple(sum1_out.data(), sum2_out.data(), sum3_out.data()), param.data(),
        sum1.data(), sum2.data());
  }

  void add(Device& device, bool spills) {
    copy_all(device, sum3, sum3_out);
    if (spills) {
      auto step = [](auto p, auto s1, auto s2) { return std::tuple(decltype(p)(T(0)), s2 + (s1 + p)); };
      map(device, param.numel(), step, std::tuple(sum1_out.data(), sum2_out.data()), param.data(), sum1.data(),
          sum2.data());
    } else {
      copy_all(device, sum2, sum2_out);
      map(device, param.numel(), [](auto p, auto s1) { return s1 + p; }, sum1_out.data(), param.data(), sum1.data());
    }
  }
#endif
};

void infer_average_accumulates(InferContext& c) {
  for (const char* port : {"in_sum_1", "in_sum_2", "in_sum_3"}) {
    require_same_dtype(c, "param", port);
    require_same_shape(c, "param", port);
    c.set_output(text("out", port + 2).c_str(), c.input(port));
  }
  for (const char* port : {"in_num_accumulates", "in_old_num_accumulates", "in_num_updates"}) {
    require_scalar(c, port);
    require<ShapeError>(c.input(port).dtype == DType::Int64, port, " is ", name_of(c.input(port).dtype),
                        ", it must be int64");
    c.set_output(text("out", port + 2).c_str(), c.input(port));
  }
  int64_t shortest = c.attr<int64_t>("min_average_window"), longest = c.attr<int64_t>("max_average_window");
  require<ProgramError>(shortest <= longest, "attribute 'min_average_window' is ", shortest,
                        ", it must not be larger than max_average_window, ", longest);
}

}  // namespace

void define_average_accumulates(OpTable& ops) {
  ops.add(OpSpec("average_accumulates")
              .doc("Counts the update and adds param to sum_1; every 16384 updates sum_1 goes into sum_2. Where "
                   "num_accumulates reaches min_average_window and the smaller of max_average_window and "
                   "num_updates * average_window, rounded towards 0, the window ends: sum_3 = sum_1 + sum_2, which "
                   "begin anew, and old_num_accumulates = num_accumulates, which does too. The average is (sum_1 + "
                   "sum_2 + sum_3) / (num_accumulates + old_num_accumulates).")
              .input("param", "any shape")
              .input("in_sum_1", "shape of param: sum of the newest parameters")
              .input("in_sum_2", "shape of param: sum of those before, in this window")
              .input("in_sum_3", "shape of param: sum of those of the window before")
              .input("in_num_accumulates", "one element, int64: parameters in sum_1 and sum_2")
              .input("in_old_num_accumulates", "one element, int64: parameters in sum_3")
              .input("in_num_updates", "one element, int64: parameters so far")
              .output("out_sum_1", "the variable of in_sum_1")
              .output("out_sum_2", "the variable of in_sum_2")
              .output("out_sum_3", "the variable of in_sum_3")
              .output("out_num_accumulates", "the variable of in_num_accumulates")
              .output("out_old_num_accumulates", "the variable of in_old_num_accumulates")
              .output("out_num_updates", "the variable of in_num_updates")
              .attr("average_window", 0.0f, "length of the window, a part of all updates", at_least(0))
              .attr("max_average_window", std::numeric_limits<int64_t>::max(), "longest window")
              .attr("min_average_window", int64_t{10000}, "shortest window")
              .infer(infer_average_accumulates)
              .no_gradient("an average of parameters is not differentiated")
              .updates("in_sum_1", "out_sum_1")
              .updates("in_sum_2", "out_sum_2")
              .updates("in_sum_3", "out_sum_3")
              .updates("in_num_accumulates", "out_num_accumulates")
              .updates("in_old_num_accumulates", "out_old_num_accumulates")
              .updates("in_num_updates", "out_num_updates")
              .on_gpu()
              .kernels<AverageAccumulatesKernel, float, double>());
}

}  // namespace paddle_mini
