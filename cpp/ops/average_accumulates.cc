// average_accumulates: adds a parameter to the sums from which ModelAverage computes its average
#include "core/op_table.h"
#include "ops/family/optimizer.h"

namespace paddle_mini {
namespace {

// After this many parameters, sum_1 is added to sum_2: they are few enough for float32 to stay exact.
constexpr int64_t kLongestSum = 16384;

// Whether a window of `count` steps ends with this update. As in PaddlePaddle, the product is rounded to float32; it is
// also clamped to the range of int64.
PM_HD inline bool window_ends(int64_t update, int64_t count, float window, int64_t longest, int64_t shortest) {
  float part = std::min(std::max(static_cast<float>(update) * window, -9e18f), 9e18f);
  return count >= shortest && count >= std::min(longest, static_cast<int64_t>(part));
}

// When the window ends, sum_3 becomes sum_1 + sum_2 with this step's parameter. PaddlePaddle loses that parameter if
// out_sum_1 is not the variable of in_sum_1; this kernel does not.
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

  void run(KernelContext& context) override;
  // Defined only by the CPU kernels:
  void end_window(KernelContext& context);
  void add(KernelContext& context, bool spills);
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
}  // namespace paddle_mini

#include PM_KERNELS(average_accumulates)

namespace paddle_mini {

void define_average_accumulates(OpTable& ops) {
  ops.add(OpSchema("average_accumulates")
              .doc("Counts the update and adds param to sum_1; every 16384 updates, sum_1 is added to sum_2 and reset "
                   "to 0. The window ends when num_accumulates reaches both min_average_window and the smaller of "
                   "max_average_window and num_updates * average_window, rounded towards 0: then sum_3 = sum_1 + sum_2 "
                   "and old_num_accumulates = num_accumulates, and sum_1, sum_2 and num_accumulates are reset to 0. "
                   "The average is (sum_1 + sum_2 + sum_3) / (num_accumulates + old_num_accumulates).")
              .input("param", "any shape")
              .input("in_sum_1", "shape of param: sum of the newest parameters")
              .input("in_sum_2", "shape of param: sum of the earlier parameters in this window")
              .input("in_sum_3", "shape of param: sum of the parameters in the previous window")
              .input("in_num_accumulates", "one element, int64: the number of parameters in sum_1 and sum_2")
              .input("in_old_num_accumulates", "one element, int64: the number of parameters in sum_3")
              .input("in_num_updates", "one element, int64: the number of updates so far")
              .output("out_sum_1", "the variable of in_sum_1")
              .output("out_sum_2", "the variable of in_sum_2")
              .output("out_sum_3", "the variable of in_sum_3")
              .output("out_num_accumulates", "the variable of in_num_accumulates")
              .output("out_old_num_accumulates", "the variable of in_old_num_accumulates")
              .output("out_num_updates", "the variable of in_num_updates")
              .attr("average_window", 0.0f, "length of the window as a fraction of all updates", at_least(0))
              .attr("max_average_window", std::numeric_limits<int64_t>::max(), "longest window")
              .attr("min_average_window", int64_t{10000}, "shortest window")
              .infer(infer_average_accumulates)
              .no_gradient("an average of parameters has no gradient")
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
