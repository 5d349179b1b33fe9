// average_rows: brings the averages of some rows of a table up to date, before an optimizer changes these rows
#include "math/average_state.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

// What a step costs follows the rows that its gradient names, not the table. Between two changes a row is constant, so
// all the averaging it missed is one step (average_state.h); the seed of this is the catch-up of PaddlePaddle's first
// version and, for uniform averages, Xu 2011, section 5.
template <class T>
struct AverageRowsKernel : Kernel {
  In<T> param, grad, average, previous;
  In<int64_t> counters;
  In<double> state, stamps;
  Out<T> average_out, previous_out;
  Out<double> stamps_out;
  int64_t width;
  bool checks;

  explicit AverageRowsKernel(KernelInit& init)
      : param(init, "Param"), grad(init, "Rows"), average(init, "Average"), previous(init, "Previous", optional_port),
        counters(init, "Counters"), state(init, "State"), stamps(init, "RowStamps"), average_out(init, "AverageOut"),
        previous_out(init, "PreviousOut", optional_port), stamps_out(init, "RowStampsOut"),
        width(param.shape().numel(1, param.shape().rank())), checks(init.attr<bool>("check_finite")) {}

  void run(Device& device) override {
    copy(average, average_out);
    copy(stamps, stamps_out);
    if (previous) copy(previous, previous_out);
    RowClock clock(counters.data(), state.data(), static_cast<bool>(previous));
    constexpr size_t kAhead = 8;  // rows lie far apart: they are asked for before their turn
    const std::vector<int64_t>& rows = grad.variable().rows;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + kAhead < rows.size()) fetch(rows[i + kAhead]);
      double stamp = stamps_out[rows[i]];
      if (stamp == clock.now()) continue;  // a row that occurs twice, too
      catch_up(device, clock, stamp, rows[i]);
      stamps_out[rows[i]] = clock.now();
    }
  }

  void fetch(int64_t row) const {
    __builtin_prefetch(stamps_out.data() + row, 1);
    __builtin_prefetch(average_out.data() + row * width, 1);
    __builtin_prefetch(param.data() + row * width);
  }

  void catch_up(Device& device, const RowClock& clock, double stamp, int64_t row) {
    const T* p = param.data() + row * width;
    T* newer = average_out.data() + row * width;
    bool finite = all_finite(width, p);
    if (!finite && checks) refuse(p, row);
    if (previous_out && clock.rolled(stamp)) {
      double kept = finite ? clock.kept_of_previous(stamp) : 1;
      average_row(device, width, kept, p, static_cast<const T*>(newer), previous_out.data() + row * width);
    }
    average_row(device, width, finite ? clock.kept(stamp) : 1, p, static_cast<const T*>(newer), newer);
  }

  [[noreturn]] static void refuse(const T* p, int64_t row) {
    while (std::isfinite(*p)) ++p;
    fail<OpError>("row ", row, " of Param holds ", *p, ": it does not enter the average");
  }

  template <class U>
  static void copy(const In<U>& from, const Out<U>& to) {
    if (from.data() != to.data()) std::copy_n(from.data(), from.numel(), to.data());
  }
};

void infer_average_rows(InferContext& c) {
  require<ShapeError>(c.input("Rows").kind == VarKind::SelectedRows, "Rows is ", name_of(c.input("Rows").kind),
                      ", selected rows are needed");
  for (const char* port : {"Rows", "Average"}) {
    require_same_dtype(c, "Param", port);
    require_same_shape(c, "Param", port);
  }
  require<ShapeError>(c.shape("Param").rank() > 0, "Param is no table: it has shape []");
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  require_vector(c, "State", DType::Float64, kAverageState);
  require_vector(c, "RowStamps", DType::Float64, c.shape("Param")[0]);
  require<ProgramError>(c.has_input("Previous") == c.has_output("PreviousOut"),
                        "Previous and PreviousOut are given both or none");
  if (c.has_input("Previous")) {
    require_same_dtype(c, "Param", "Previous");
    require_same_shape(c, "Param", "Previous");
    c.set_output("PreviousOut", c.input("Previous"));
  }
  c.set_output("AverageOut", c.input("Average"));
  c.set_output("RowStampsOut", c.input("RowStamps"));
}

}  // namespace

void define_average_rows(OpTable& ops) {
  ops.add(OpSpec("average_rows")
              .doc("For a table whose optimizer changes only the rows that a sparse gradient names: gives these rows, "
                   "before they change, the averages that parameter_average would have given them in all steps since "
                   "RowStamps, during which they were constant, and stamps them. What the other rows miss "
                   "average_value adds. With Previous the average is a window.")
              .input("Param", "[rows, ...], before this step's change")
              .input("Rows", "selected rows: the gradient")
              .input("Average", "shape of Param")
              .optional_input("Previous", "shape of Param: the average of the window's previous generation")
              .input("Counters", "[5] int64, of average_weight, before this step")
              .input("State", "[7] float64, of average_weight, before this step")
              .input("RowStamps", "[rows] float64: how far the average had come when the row was last up to date")
              .output("AverageOut", "the variable of Average")
              .optional_output("PreviousOut", "the variable of Previous")
              .output("RowStampsOut", "the variable of RowStamps")
              .attr("check_finite", false, "whether a row that holds NaN or infinity is refused")
              .takes_rows("Rows")
              .infer(infer_average_rows)
              .no_gradient("an average of parameters is not differentiated")
              .updates("Average", "AverageOut")
              .updates("Previous", "PreviousOut")
              .updates("RowStamps", "RowStampsOut")
              .kernels<AverageRowsKernel, float, double>());
}

}  // namespace paddle_mini
