// while: runs a block while a condition holds; while_grad: the gradients of its steps, in reverse
#include <algorithm>
#include <set>

#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

// The gradients of a step read outer variables as they were when the step began. Variables that the block changes in
// place, such as a counter, are excluded: the gradient block counts back.
std::vector<std::pair<std::string, Variable>> values_before_step(ControlRun& run, int block) {
  std::vector<std::string> counters = run.changed_in_place(block);
  std::vector<std::pair<std::string, Variable>> values;
  for (const std::string& name : run.op.input("X")) {
    if (run.is_persistable(name) || std::find(counters.begin(), counters.end(), name) != counters.end()) continue;
    const Variable* held = run.find(run.frame, name);
    if (held && holds_tensor(held->kind)) values.emplace_back(name, *held);
  }
  return values;
}

void run_while(ControlRun& run) {
  int block = run.block_attr("sub_block");
  bool keep = !run.attr<bool>("is_test") && run.has_gradient(block);
  Variable scopes;
  scopes.kind = VarKind::StepScopes;
  while (run.truth("Condition")) {
    auto inside = std::make_shared<Frame>(block, &run.frame);
    auto before = keep ? values_before_step(run, block) : std::vector<std::pair<std::string, Variable>>{};
    run.run_block(block, *inside);
    for (auto& [name, value] : before) (*inside)[name] = std::move(value);
    if (keep) scopes.frames.push_back(inside);
  }
  run.set_output("StepScopes", 0, std::move(scopes));
}

// One run of while_grad. Let g be the gradient of an input. If the input is a loop variable, g enters each step as the
// gradient of the value that the step wrote, and leaves it as the gradient of the value that the step read. If the
// steps only read the input, their gradients are added.
class WhileGrad {
 public:
  explicit WhileGrad(ControlRun& run) : run_(run), inputs_(run.op.input("X")), wanted_(run.op.output("X@GRAD")) {}

  void operator()() {
    begin();
    auto& frames = run_.input("StepScopes").frames;
    while (!frames.empty()) {
      Frame& step = *frames.back();
      for (const auto& [name, gradient] : entering_) step[name] = gradient;
      run_.run_block(run_.block_attr("sub_block"), step);
      for (size_t i = 0; i < wanted_.size(); ++i) leave(step, i);
      frames.pop_back();
    }
    for (size_t i = 0; i < wanted_.size(); ++i) {
      if (wanted_[i] != kEmptyName) run_.set_output("X@GRAD", i, gradient_of(i));
    }
  }

 private:
  void begin() {
    const auto& outside = run_.op.input("Out@GRAD");
    const auto& inside = run_.attr<std::vector<std::string>>("original_output_grad");
    require<ProgramError>(outside.size() == inside.size(), "Out@GRAD has ", outside.size(),
                          " variables, original_output_grad ", inside.size());
    require<ProgramError>(wanted_.size() <= inputs_.size(), "X@GRAD has ", wanted_.size(), " variables, X ",
                          inputs_.size());
    for (size_t i = 0; i < outside.size(); ++i) {
      const Variable* gradient = outside[i] == kEmptyName ? nullptr : run_.find(run_.frame, outside[i]);
      if (gradient && gradient->has_value()) entering_[inside[i]] = *gradient;
      else enter_zeros(inside[i]);
      loop_variables_.insert(inside[i]);
    }
  }

  // Nothing after the loop reads this loop variable, so no gradient comes from there; the steps still read the gradient
  // of the value that they wrote.
  void enter_zeros(const std::string& name) {
    const Variable* value = run_.find(run_.frame, name.substr(0, name.find(kGradSuffix)));
    if (value && holds_tensor(value->kind) && value->has_value() && is_floating(value->tensor.dtype)) {
      entering_[name] = zeros_like(*value);
    }
  }

  void leave(Frame& step, size_t i) {
    if (wanted_[i] == kEmptyName) return;
    const std::string name = inputs_[i] + kGradSuffix;
    Variable* gradient = step.own(name);
    if (!gradient || !gradient->has_value()) return;
    if (loop_variables_.count(name)) {
      entering_[name] = std::move(*gradient);
    } else if (sums_.count(i)) {
      accumulate(sums_[i], *gradient);
    } else {
      sums_[i] = copy_of(*gradient);
      for (Tensor& element : sums_[i].array) element = copy_of(element);
    }
  }

  Variable gradient_of(size_t i) {
    auto looped = entering_.find(inputs_[i] + kGradSuffix);
    if (looped != entering_.end()) return looped->second;
    return sums_.count(i) ? std::move(sums_[i]) : zeros_like(run_.input("X", i));
  }

  ControlRun& run_;
  const std::vector<std::string>& inputs_;
  const std::vector<std::string>& wanted_;
  std::map<std::string, Variable> entering_;  // keyed by the names inside the block
  std::set<std::string> loop_variables_;
  std::map<size_t, Variable> sums_;
};

void run_while_grad(ControlRun& run) {
  WhileGrad gradients(run);
  gradients();
}

}  // namespace

void define_while(OpTable& ops) {
  ops.add(OpSchema("while")
              .doc("Runs sub_block while Condition is true. The block reads and changes outer variables by name; it "
                   "must set Condition.")
              .optional_input_list("X", "the variables that the block reads")
              .input("Condition", "one bool")
              .output_list("Out", "the variables that the block writes, including Condition")
              .optional_output("StepScopes", "the values of each step that the gradient reads")
              .required_attr("sub_block", AttrType::Block, "the block")
              .attr("is_test", false, "whether to keep no values for a gradient")
              .gradient("while_grad", {"X", "Out", "Out@GRAD", "StepScopes"}, {"X@GRAD"})
              .control(&run_while));
  ops.add(OpSchema("while_grad")
              .doc("Gradient of while: runs a gradient block for each step, in reverse order.")
              .input_list("X", "as in while")
              .optional_input_list("Out", "as in while")
              .input_list("Out@GRAD", "gradients of the variables that the block writes")
              .input("StepScopes", "from while")
              .optional_output_list("X@GRAD", "gradients of X")
              .required_attr("sub_block", AttrType::Block, "the gradient block")
              .attr("is_test", false, "unused")
              .attr("original_output_grad", std::vector<std::string>{}, "the names of Out@GRAD in the block")
              .control(&run_while_grad));
}

}  // namespace paddle_mini
