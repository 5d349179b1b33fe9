// parameter_average: AverageOut = Average + Weight (Param - Average)
#include <memory>

#include "math/average_blocks.h"
#include "math/average_state.h"
#include "math/average_step.h"

namespace paddle_mini {
namespace {

void infer_parameter_average(InferContext& c) {
  DType param = c.input("Param").dtype, average = c.input("Average").dtype;
  bool fits = param == average || (average == DType::Float32 && (param == DType::Float16 || param == DType::BFloat16));
  require<ShapeError>(fits, "Param is ", name_of(param), ", Average is ", name_of(average));
  require_number(c, "Average");  // 16-bit floats would lose the contribution of a step
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
                          "Previous, Roll and PreviousOut must be given together");
    require<ShapeError>(c.input("Roll").dtype == DType::Int32, "Roll is ", name_of(c.input("Roll").dtype),
                        ", it must be int32");
    require_scalar(c, "Roll");
    like_average("Previous", "PreviousOut");
  }
  if (given("Residue") || given("ResidueOut")) {
    require<ProgramError>(c.has_input("Residue") && c.has_output("ResidueOut") && !given("Previous"),
                          "Residue and ResidueOut must be given together, and not with Previous");
    like_average("Residue", "ResidueOut");
  }
  if (given("Block") || given("BlockOut") || given("Sums") || given("SumsOut")) {
    bool all = c.has_input("Block") && c.has_output("BlockOut") && c.has_input("Sums") && c.has_output("SumsOut");
    require<ProgramError>(all && !given("Residue"),
                          "Block, BlockOut, Sums and SumsOut must be given together, and not with Residue");
    like_average("Block", "BlockOut");
    require_vector(c, "Sums", DType::Float64, kAverageSums);
    c.set_output("SumsOut", c.input("Sums"));
  }
  c.set_output("AverageOut", c.input("Average"));
}

}  // namespace
}  // namespace paddle_mini

#include PM_KERNELS(parameter_average)

namespace paddle_mini {

void define_parameter_average(OpTable& ops) {
  ops.add(OpSchema("parameter_average")
              .doc("AverageOut = Average + Weight (Param - Average), rounded after each of the three operations. "
                   "Weight 1 gives Param itself; weight 0 changes nothing. If Roll is 1, the result is written to "
                   "PreviousOut, and Average stays unchanged. average_weight computes Weight from the scheme. With "
                   "Residue, the rounding error of a step is stored and subtracted in the next one. With Block and "
                   "Sums there is no loss: a step adds the weighted parameter to Block, and every 16 steps Block is "
                   "added to Average; the average is Average + (Sums[1] Average + Block) / Sums[0], which "
                   "average_value computes. A parameter of float16 or bfloat16 has an average of float32.")
              .input("Param", "any shape")
              .input("Average", "shape of Param")
              .input("Weight", "one element, float32 or float64, between 0 and 1; rounded to Average's dtype")
              .optional_input("Previous", "shape of Param: the average of the window's previous generation")
              .optional_input("Roll", "one element, int32: 1 if a generation ends")
              .optional_input("Residue", "shape of Param: the accumulated rounding error")
              .optional_input("Block", "shape of Param: the weighted sum of the newest steps")
              .optional_input("Sums",
                              "[4] float64: the sum of all weights, minus the sum of the block's weights, the sum with "
                              "which the block ends, steps; zeros at first, and if Block is zeros")
              .output("AverageOut", "the same variable as Average")
              .optional_output("PreviousOut", "the same variable as Previous")
              .optional_output("ResidueOut", "the same variable as Residue")
              .optional_output("BlockOut", "the same variable as Block")
              .optional_output("SumsOut", "the same variable as Sums")
              .attr("check_finite", false,
                    "whether NaN or infinity in Param is an error; with Block the step is rolled back, otherwise the "
                    "elements before the invalid one have been averaged")
              .infer(infer_parameter_average)
              .no_gradient("an average of parameters has no gradient")
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
