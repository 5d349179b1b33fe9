// average_rows: brings the averages of some rows of a table up to date, before an optimizer changes these rows
#include "math/average_state.h"
#include "math/cpu/average_rows.h"
#include "math/finite.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// The cost of a step depends on the rows that its gradient names, not on the size of the table. A row is constant
// between two changes, so all the averaging that it missed is one step (average_state.h). The idea comes from the
// catch-up of PaddlePaddle's first version and, for uniform averages, from Xu 2011, section 5.
template <class T>
struct AverageRowsKernel : Kernel {
  In<T> param, grad, average, block, previous;
  In<int64_t> counters;
  In<double> state, stamps;
  Out<T> average_out, block_out, previous_out;
  Out<double> stamps_out;
  Scratch<double> decay;  // the weight that each row's average keeps
  int64_t width;
  bool checks;

  explicit AverageRowsKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Rows"), average(init, "Average"), block(init, "Block", optional_port),
        previous(init, "Previous", optional_port), counters(init, "Counters"), state(init, "State"),
        stamps(init, "RowStamps"), average_out(init, "AverageOut"), block_out(init, "BlockOut", optional_port),
        previous_out(init, "PreviousOut", optional_port), stamps_out(init, "RowStampsOut"),
        decay(init, grad.shape()[0]), width(param.shape().numel(1, param.shape().rank())),
        checks(init.attr<bool>("check_finite")) {}

  void run(KernelContext& context) override {
    const std::vector<int64_t>& rows = grad.variable().rows;
    require<OpError>(!param.is_rows() || param.variable().rows == rows, "Param and Rows name different rows");
    if (checks) require_finite(rows);
    copy(average, average_out);
    copy(stamps, stamps_out);
    if (block) copy(block, block_out);
    if (previous) copy(previous, previous_out);
    RowClock clock(counters.data(), state.data(), static_cast<bool>(previous));
    if (previous) run_window(context, clock, rows);
    else run_rows(context, clock, rows);
  }

  // Rows lie far apart in memory. So this reads all stamps first and prefetches all rows, which overlaps the memory
  // accesses, and computes the weights from their logarithms with vector instructions.
  void run_rows(KernelContext& context, const RowClock& clock, const std::vector<int64_t>& rows) {
    int64_t count = static_cast<int64_t>(rows.size());
    double now = clock.now();
    for (int64_t i = 0; i < count; ++i) {
      int64_t row = rows[static_cast<size_t>(i)];
      double& stamp = stamps_out[row];
      __builtin_prefetch(average_out.data() + row * width, 1, 2);
      if (block) __builtin_prefetch(block_out.data() + row * width, 1, 2);
      decay[i] = now - stamp;
      stamp = now;  // the second occurrence of a row keeps all of its average
    }
    map(context, count, [](auto log) { return exp(log); }, decay.data(), static_cast<const double*>(decay.data()));
    for (int64_t i = 0; i < count; ++i) {
      int64_t row = rows[static_cast<size_t>(i)];
      catch_up(context, decay[i], param_row(i, row), row * width);
    }
  }

  void run_window(KernelContext& context, const RowClock& clock, const std::vector<int64_t>& rows) {
    for (size_t i = 0; i < rows.size(); ++i) {
      int64_t row = rows[i], at = row * width;
      double& stamp = stamps_out[row];
      if (stamp == clock.now()) continue;
      const T* p = param_row(static_cast<int64_t>(i), row);
      if (clock.rolled(stamp)) end_generation(context, clock.decay_of_previous(stamp), p, at);
      catch_up(context, clock.decay(stamp), p, at);
      stamp = clock.now();
    }
  }

  // Param contains all rows of the table, or only those that Rows names, in their order.
  const T* param_row(int64_t i, int64_t row) const { return param.data() + (param.is_rows() ? i : row) * width; }

  // Brings a row's average up to date. With Block, the average is the sum of two numbers.
  void catch_up(KernelContext& context, double part, const T* p, int64_t at) {
    T* average = average_out.data() + at;
    if (block) catch_up_row(context, width, part, p, average, block_out.data() + at);
    else average_row(context, width, part, p, static_cast<const T*>(average), average);
  }

  // The value of the average at the end of its generation becomes the previous average.
  void end_generation(KernelContext& context, double part, const T* p, int64_t at) {
    const T* average = average_out.data() + at;
    if (block) ended_row(width, part, p, average, block_out.data() + at, previous_out.data() + at);
    else average_row(context, width, part, p, average, previous_out.data() + at);
  }

  void require_finite(const std::vector<int64_t>& rows) const {
    FiniteSum<T> sum;
    for (size_t i = 0; i < rows.size(); ++i) sum.add(width, param_row(static_cast<int64_t>(i), rows[i]));
    if (sum.finite()) return;
    for (size_t i = 0; i < rows.size(); ++i) {
      const T* p = param_row(static_cast<int64_t>(i), rows[i]);
      for (int64_t j = 0; j < width; ++j) {
        if (!std::isfinite(p[j]))
          fail<OpError>("row ", rows[i], " of Param holds ", p[j], ": it does not enter the average");
      }
    }
  }

  template <class U>
  static void copy(const In<U>& from, const Out<U>& to) {
    if (from.data() != to.data()) std::copy_n(from.data(), from.numel(), to.data());
  }
};

void infer_average_rows(InferContext& c) {
  require<ShapeError>(c.input("Rows").kind == VarKind::SelectedRows, "Rows is ", name_of(c.input("Rows").kind),
                      ", it must be selected rows");
  for (const char* port : {"Rows", "Average"}) {
    require_same_dtype(c, "Param", port);
    require_same_shape(c, "Param", port);
  }
  require_number(c, "Average");
  require<ShapeError>(c.shape("Param").rank() > 0, "Param has shape [], a table needs at least one dimension");
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  require_vector(c, "State", DType::Float64, kAverageState);
  require_vector(c, "RowStamps", DType::Float64, c.shape("Param")[0]);
  require<ProgramError>(c.has_input("Previous") == c.has_output("PreviousOut"),
                        "Previous and PreviousOut must be given together");
  if (c.has_input("Previous")) {
    require_same_dtype(c, "Param", "Previous");
    require_same_shape(c, "Param", "Previous");
    c.set_output("PreviousOut", c.input("Previous"));
  }
  require<ProgramError>(c.has_input("Block") == c.has_output("BlockOut"), "Block and BlockOut must be given together");
  if (c.has_input("Block")) {
    require_same_dtype(c, "Param", "Block");
    require_same_shape(c, "Param", "Block");
    c.set_output("BlockOut", c.input("Block"));
  }
  c.set_output("AverageOut", c.input("Average"));
  c.set_output("RowStampsOut", c.input("RowStamps"));
}

}  // namespace

void define_average_rows(OpTable& ops) {
  ops.add(OpSchema("average_rows")
              .doc("For a table whose optimizer changes only the rows that a sparse gradient names. Before these rows "
                   "change, the operator updates their averages for all steps since RowStamps, during which they were "
                   "constant, as parameter_average would have done, and sets their stamps. average_value does the same "
                   "for the other rows. With Previous, the average is a window. With Block, the average is Average + "
                   "Block, without rounding errors.")
              .input("Param", "[rows, ...], before this step's change; or the output of select_rows for it and Rows")
              .input("Rows", "selected rows: the gradient")
              .input("Average", "shape of Param")
              .optional_input("Previous", "shape of Param: the average of the window's previous generation")
              .optional_input(
                  "Block",
                  "shape of Param: the low digits of the average, which Average can't represent; zeros at first")
              .input("Counters", "[5] int64, from average_weight, before this step")
              .input("State", "[7] float64, from average_weight, before this step")
              .input("RowStamps", "[rows] float64: for each row, the step up to which it has been averaged")
              .output("AverageOut", "the same variable as Average")
              .optional_output("PreviousOut", "the same variable as Previous")
              .optional_output("BlockOut", "the same variable as Block")
              .output("RowStampsOut", "the same variable as RowStamps")
              .attr("check_finite", false, "whether a row that holds NaN or infinity is an error")
              .accepts_selected_rows("Param")
              .accepts_selected_rows("Rows")
              .infer(infer_average_rows)
              .no_gradient("an average of parameters has no gradient")
              .updates("Average", "AverageOut")
              .updates("Previous", "PreviousOut")
              .updates("Block", "BlockOut")
              .updates("RowStamps", "RowStampsOut")
              .cpu_only("it reads the rows of a sparse gradient, which stay on the CPU")
              .kernels<AverageRowsKernel, float, double>());
}

}  // namespace paddle_mini
