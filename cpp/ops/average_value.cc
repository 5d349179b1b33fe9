// average_value: the values that replace parameters while averages are applied: the mean of both generations, with all
// rows up to date
#include "math/average_state.h"
#include "math/average_step.h"
#include "math/block_value.h"
#include "math/convert_element.h"
#include "math/for_each_index.h"
#include "math/map.h"

namespace paddle_mini {
namespace {

void infer_average_value(InferContext& c) {
  DType param = c.input("Param").dtype, average = c.input("Average").dtype;
  bool half = param == DType::Float16 || param == DType::BFloat16;
  require<ShapeError>(param == average || (average == DType::Float32 && half), "Param is ", name_of(param),
                      ", Average is ", name_of(average));
  require_same_shape(c, "Param", "Average");
  if (c.has_input("Previous")) {
    require_same_dtype(c, "Average", "Previous");
    require_same_shape(c, "Param", "Previous");
  }
  require_vector(c, "Counters", DType::Int64, kAverageCounters);
  bool blocks = c.has_input("Block");
  if (blocks) {
    require_same_dtype(c, "Average", "Block");
    require_same_shape(c, "Param", "Block");
  }
  require<ProgramError>(c.has_input("Sums") == (blocks && !c.has_input("RowStamps")),
                        "Sums must be given if Block is given and RowStamps is not, and only then");
  if (c.has_input("Sums")) require_vector(c, "Sums", DType::Float64, kAverageSums);
  require<ProgramError>(c.has_input("State") == c.has_input("RowStamps"), "State and RowStamps must be given together");
  if (c.has_input("RowStamps")) {
    require<ShapeError>(c.shape("Param").rank() > 0 && !half, "Param must be a table of float32 or float64");
    require_vector(c, "State", DType::Float64, kAverageState);
    require_vector(c, "RowStamps", DType::Float64, c.shape("Param")[0]);
  }
  c.set_output("Out", c.input("Param"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(average_value)

namespace paddle_mini {

void define_average_value(OpTable& ops) {
  ops.add(OpSchema("average_value")
              .doc("Out = the value of a parameter while averages are applied: Average; with Previous, the mean over "
                   "both generations of the window, (n Average + m Previous) / (n + m); before the first update, Param "
                   "itself. With RowStamps, from average_rows, each row is as if it had been averaged in every step. "
                   "With Block, the sum is exact and rounded once.")
              .input("Param", "any shape")
              .input("Average", "shape of Param, from parameter_average or average_rows")
              .optional_input("Previous", "shape of Param, from parameter_average or average_rows")
              .input("Counters", "[5] int64, from average_weight")
              .optional_input("Block", "shape of Param, from parameter_average or average_rows")
              .optional_input("Sums", "[4] float64, from parameter_average")
              .optional_input("State", "[7] float64, from average_weight")
              .optional_input("RowStamps", "[rows] float64, from average_rows")
              .output("Out", "shape and element type of Param")
              .infer(infer_average_value)
              .no_gradient("an average of parameters has no gradient")
              .in_place("Param", "Out")
              .dtype_from_input("Average")
              .on_gpu()
              .kernels<AverageValueKernel, float, double>());
}

}  // namespace paddle_mini
