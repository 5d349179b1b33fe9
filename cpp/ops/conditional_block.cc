// conditional_block: runs a block if a condition holds; conditional_block_grad: the block's gradients, or zeros

#include <algorithm>

#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

// Without is_scalar_condition, the condition is whether every variable of Cond (of Input if there is no Cond) has
// elements.
bool holds(ControlRun& run) {
  if (run.attr<bool>("is_scalar_condition")) return run.truth("Cond");
  const char* port = run.has_input("Cond") ? "Cond" : "Input";
  for (size_t i = 0; i < run.op.input(port).size(); ++i) {
    if (run.input(port, i).tensor.shape.numel() == 0) return false;
  }
  return true;
}

// Backward operators of PaddlePaddle make zeros in the shapes of outputs, also of the block that did not run, which does not
// use them: such an output, which nothing has written, becomes a tensor without elements, as in PaddlePaddle.
void leave_empty(ControlRun& run) {
  const auto& names = run.op.output("Out");
  for (size_t i = 0; i < names.size(); ++i) {
    std::optional<DType> dtype = run.dtype_to_fill_like(names[i]);
    if (run.is_persistable(names[i]) || run.find(run.frame, names[i])) continue;
    if (dtype) run.set_output("Out", i, tensor_variable(new_tensor(*dtype, {0})));
  }
}

void run_conditional_block(ControlRun& run) {
  Variable scopes;
  scopes.kind = VarKind::StepScopes;
  int block = run.block_attr("sub_block");
  if (holds(run)) {
    auto inside = std::make_shared<Frame>(block, &run.frame);
    run.run_block(block, *inside);
    if (run.has_gradient(block)) scopes.frames.push_back(inside);
  } else if (run.has_gradient(block)) {
    leave_empty(run);
  }
  run.set_output("Scope", 0, std::move(scopes));
}

Variable* passing(ControlRun& run, const std::string& name) {
  const auto& written = run.op.input("Out");
  bool writes = std::find(written.begin(), written.end(), name) != written.end();
  return writes ? run.find(run.frame, name + kGradSuffix) : nullptr;
}

void run_conditional_block_grad(ControlRun& run) {
  auto& frames = run.input("Scope").frames;
  const auto& names = run.op.output("Input@GRAD");
  if (!frames.empty()) run.run_block(run.block_attr("sub_block"), *frames[0]);
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == kEmptyName) continue;
    require<ProgramError>(i < run.op.input("Input").size(), "Input@GRAD has ", names.size(), " variables, Input fewer");
    const std::string name = run.op.input("Input")[i] + kGradSuffix;
    // A block that did not run left its inputs unchanged, so the gradient of an input that the block would have written
    // passes through.
    Variable* gradient = frames.empty() ? passing(run, run.op.input("Input")[i]) : frames[0]->own(name);
    bool there = gradient && gradient->has_value();
    run.set_output("Input@GRAD", i, there ? *gradient : zeros_like(run.input("Input", i)));
  }
  frames.clear();
}

OpSchema conditional(const char* type) {
  return OpSchema(type)
      .doc("Runs sub_block if Cond is true. Out lists the outer variables that the block writes.")
      .optional_input_list(
          "Cond", "one bool; without is_scalar_condition, tensors: the block runs if all of them have elements")
      .optional_input_list("Input", "the variables that the block reads")
      .optional_output_list("Out", "the variables that the block writes")
      .optional_output("Scope", "the values that the gradient reads")
      .required_attr("sub_block", AttrType::Block, "the block")
      .attr("is_scalar_condition", false, "Cond is one bool")
      .control(&run_conditional_block);
}

}  // namespace

void define_conditional_block(OpTable& ops) {
  ops.add(conditional("conditional_block")
              .gradient("conditional_block_grad", {"Cond", "Input", "Out", "Out@GRAD", "Scope"}, {"Input@GRAD"}));
  ops.add(conditional("conditional_block_infer").no_gradient("for inference programs"));
  ops.add(OpSchema("conditional_block_grad")
              .doc("Gradient of conditional_block: runs the gradient block if the block ran; zeros otherwise.")
              .optional_input_list("Cond", "as in conditional_block")
              .optional_input_list("Input", "as in conditional_block")
              .optional_input_list("Out", "as in conditional_block")
              .optional_input_list("Out@GRAD", "gradients of the variables that the block writes")
              .input("Scope", "from conditional_block")
              .optional_output_list("Input@GRAD", "gradients of Input")
              .optional_output_list("Cond@GRAD", "not written")
              .required_attr("sub_block", AttrType::Block, "the gradient block")
              .attr("is_scalar_condition", false, "as in conditional_block")
              .control(&run_conditional_block_grad));
}

}  // namespace paddle_mini
