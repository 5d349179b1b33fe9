// recurrent: runs a block for each step of sequences of equal length; recurrent_grad: its gradients, in reverse order
#include <cstring>

#include "core/op_table.h"
#include "math/cpu/accumulate.h"

namespace paddle_mini {
namespace {

using Names = std::vector<std::string>;

// Refuses a sequence whose first dimension is not `count`.
void check_steps(const Variable& sequence, const char* port, const std::string& name, int64_t count) {
  bool fits = sequence.kind == VarKind::Tensor && sequence.tensor.shape.rank() > 0 && sequence.tensor.shape[0] == count;
  require<ShapeError>(fits, port, " '", name, "' is ", name_of(sequence.kind), " ", sequence.info().str(),
                      ", expected a tensor of ", count, " steps");
}

// A view of step t of a sequence [T, ...], which shares its memory.
Variable step_of(const Variable& sequence, int64_t t) {
  const Tensor& whole = sequence.tensor;
  Variable step;
  step.tensor.dtype = whole.dtype;
  step.tensor.shape = Shape(std::vector<int64_t>(whole.shape.begin() + 1, whole.shape.end()));
  char* data = static_cast<char*>(whole.data) + static_cast<size_t>(t) * step.tensor.bytes();
  step.tensor.memory = std::shared_ptr<void>(whole.memory, data);
  step.tensor.data = data;
  return step;
}

// Stacks steps into one tensor [T, ...]; the first step that is put determines its shape.
class Joined {
 public:
  void put(const Variable& step, int64_t t, int64_t count) {
    require<ShapeError>(step.kind == VarKind::Tensor, "step ", t, " gives ", name_of(step.kind), ", expected a tensor");
    const Tensor& from = step.tensor;
    if (!whole_.tensor.data) {
      std::vector<int64_t> dims(from.shape.begin(), from.shape.end());
      dims.insert(dims.begin(), count);
      whole_.tensor = new_tensor(from.dtype, Shape(dims));
      std::memset(whole_.tensor.data, 0, whole_.tensor.bytes());
    }
    size_t bytes = whole_.tensor.bytes() / static_cast<size_t>(count);
    require<ShapeError>(from.bytes() == bytes && from.dtype == whole_.tensor.dtype, "step ", t, " gives ",
                        from.shape.str(), " ", name_of(from.dtype), ", other steps ", whole_.tensor.shape.str(),
                        " together");
    std::memcpy(static_cast<char*>(whole_.tensor.data) + static_cast<size_t>(t) * bytes, from.data, bytes);
  }
  bool has_value() const { return whole_.has_value(); }
  Variable take() { return std::move(whole_); }

 private:
  Variable whole_;
};

// Base of the forward and the gradient pass: the sequences and the number of steps.
class Recurrence {
 public:
  explicit Recurrence(ControlRun& run)
      : run_(run), inputs_(run.op.input("inputs")), initial_(run.op.input("initial_states")),
        outputs_(run.op.output("outputs")), ex_states_(run.attr<Names>("ex_states")),
        states_(run.attr<Names>("states")), block_(run.block_attr("sub_block")) {
    require<ProgramError>(!inputs_.empty(), "inputs is missing: its length is the number of steps");
    require<ProgramError>(initial_.size() == ex_states_.size() && states_.size() == ex_states_.size(),
                          "initial_states has ", initial_.size(), " variables, ex_states ", ex_states_.size(),
                          ", states ", states_.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      sequences_.push_back(run.share_input("inputs", i));
      const Tensor& tensor = sequences_.back().tensor;
      require<ShapeError>(sequences_.back().kind == VarKind::Tensor && tensor.shape.rank() > 0, "inputs '", inputs_[i],
                          "' has no dimension for steps");
      if (i == 0) count_ = tensor.shape[0];
      require<ShapeError>(tensor.shape[0] == count_, "inputs '", inputs_[i], "' has ", tensor.shape[0], " steps, '",
                          inputs_[0], "' has ", count_);
    }
    require<ShapeError>(count_ > 0, "inputs '", inputs_[0], "' has no steps");
  }

 protected:
  int64_t place(int64_t step) const { return run_.attr<bool>("reverse") ? count_ - 1 - step : step; }
  static const Variable& made(Frame& step, const std::string& name) {
    Variable* value = step.own(name);
    require<OpError>(value && value->has_value(), "the block computes no value for '", name, "'");
    return *value;
  }

  ControlRun& run_;
  const Names &inputs_, &initial_, &outputs_;
  const Names &ex_states_, &states_;
  int block_;
  int64_t count_ = 0;
  std::vector<Variable> sequences_;
};

class Forward : Recurrence {
 public:
  using Recurrence::Recurrence;

  void operator()() {
    Variable scopes;
    scopes.kind = VarKind::StepScopes;
    bool keep = run_.attr<bool>("is_train") && run_.has_gradient(block_);
    std::vector<Variable> states;
    for (size_t i = 0; i < initial_.size(); ++i) states.push_back(run_.share_input("initial_states", i));
    std::vector<Joined> joined(outputs_.size());
    for (int64_t t = 0; t < count_; ++t) {
      auto step = std::make_shared<Frame>(block_, &run_.frame);
      for (size_t i = 0; i < inputs_.size(); ++i) (*step)[inputs_[i]] = step_of(sequences_[i], place(t));
      for (size_t i = 0; i < states.size(); ++i) (*step)[ex_states_[i]] = states[i];
      run_.run_block(block_, *step);
      for (size_t i = 0; i < states.size(); ++i) states[i] = made(*step, states_[i]);
      for (size_t i = 0; i < outputs_.size(); ++i) joined[i].put(made(*step, outputs_[i]), place(t), count_);
      if (keep) scopes.frames.push_back(step);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) run_.set_output("outputs", i, joined[i].take());
    run_.set_output("step_scopes", 0, std::move(scopes));
  }
};

class Backward : Recurrence {
 public:
  explicit Backward(ControlRun& run)
      : Recurrence(run), given_(run.op.input("outputs@GRAD")), written_(run.op.input("outputs")),
        parameters_(run.op.input("parameters")), sums_(parameters_.size()), of_inputs_(inputs_.size()),
        carried_(states_.size()) {}

  void operator()() {
    auto& frames = run_.input("step_scopes").frames;
    require<OpError>(static_cast<int64_t>(frames.size()) == count_, "step_scopes has ", frames.size(),
                     " steps, inputs have ", count_);
    for (int64_t t = count_ - 1; t >= 0; --t) {
      Frame& step = *frames.back();
      enter(step, t);
      run_.run_block(block_, step);
      leave(step, t);
      frames.pop_back();
    }
    write("parameters@GRAD", parameters_, [&](size_t i) { return std::move(sums_[i]); });
    write("inputs@GRAD", inputs_, [&](size_t i) { return of_inputs_[i].take(); });
    write("initial_states@GRAD", initial_, [&](size_t i) { return std::move(carried_[i]); });
  }

 private:
  void enter(Frame& step, int64_t t) {
    for (size_t i = 0; i < given_.size() && i < written_.size(); ++i) {
      const Variable* gradient = given_[i] == kEmptyName ? nullptr : run_.find(run_.frame, given_[i]);
      if (gradient) check_steps(*gradient, "outputs@GRAD", given_[i], count_);
      if (gradient) step[written_[i] + kGradSuffix] = copy_of(step_of(*gradient, place(t)));
    }
    // A state's gradient is the sum of those from the next step and, if the state is also an output, from the output.
    for (size_t i = 0; i < states_.size(); ++i) {
      Variable& gradient = step[states_[i] + kGradSuffix];
      if (!gradient.has_value()) gradient = zeros_like(made(step, states_[i]));
      if (carried_[i].has_value()) accumulate(gradient, carried_[i]);
    }
  }

  void leave(Frame& step, int64_t t) {
    for (size_t i = 0; i < parameters_.size(); ++i) {
      const Variable* gradient = of(step, parameters_[i]);
      if (!gradient) continue;
      if (sums_[i].has_value()) accumulate(sums_[i], *gradient);
      else sums_[i] = copy_of(*gradient);
    }
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (const Variable* gradient = of(step, inputs_[i])) of_inputs_[i].put(*gradient, place(t), count_);
    }
    for (size_t i = 0; i < states_.size(); ++i) {
      const Variable* gradient = of(step, ex_states_[i]);
      carried_[i] = gradient ? copy_of(*gradient) : zeros_like(made(step, ex_states_[i]));
    }
  }

  const Variable& value_of(const std::string& name) {
    const Variable* value = run_.find(run_.frame, name);
    require<OpError>(value, "'", name, "' has no value");
    return *value;
  }

  static const Variable* of(Frame& step, const std::string& name) {
    const Variable* gradient = step.own(name + kGradSuffix);
    return gradient && gradient->has_value() ? gradient : nullptr;
  }

  template <class F>
  void write(const char* port, const Names& forward, F take) {
    const Names& wanted = run_.op.output(port);
    for (size_t i = 0; i < wanted.size() && i < forward.size(); ++i) {
      if (wanted[i] == kEmptyName) continue;
      Variable gradient = take(i);
      run_.set_output(port, i, gradient.has_value() ? std::move(gradient) : zeros_like(value_of(forward[i])));
    }
  }

  const Names &given_, &written_, &parameters_;
  std::vector<Variable> sums_;
  std::vector<Joined> of_inputs_;
  std::vector<Variable> carried_;  // gradients of the states, from the next step
};

void run_recurrent(ControlRun& run) {
  Forward forward(run);
  forward();
}

void run_recurrent_grad(ControlRun& run) {
  Backward backward(run);
  backward();
}

}  // namespace

void define_recurrent(OpTable& ops) {
  ops.add(OpSchema("recurrent")
              .doc("Runs sub_block once for each step t. The block reads inputs[t] under the name of the input; "
                   "outputs[t] is the block's variable with the name of the output.")
              .input_list("inputs", "sequences [T, ...]")
              .optional_input_list("initial_states", "states before the first step")
              .optional_input_list("parameters", "other variables that the block reads")
              .output_list("outputs", "sequences [T, ...]")
              .optional_output("step_scopes", "the values of each step that the gradient reads")
              .gradient("recurrent_grad",
                        {"inputs", "initial_states", "parameters", "outputs", "step_scopes", "outputs@GRAD"},
                        {"inputs@GRAD", "initial_states@GRAD", "parameters@GRAD"})
              .control(&run_recurrent)
              .required_attr("sub_block", AttrType::Block, "the block of one step")
              .attr("ex_states", Names{}, "names in the block of the previous step's states")
              .attr("states", Names{}, "names in the block of the states after the step")
              .attr("has_states", false, "whether there are states")
              .attr("reverse", false, "whether the steps run in reverse order")
              .attr("is_train", true, "whether to keep the values that the gradient reads")
              .attr("skip_eager_deletion_vars", Names{}, "not used; PaddlePaddle requires it"));
  ops.add(ops.gradient_of("recurrent")
              .doc("Gradient of recurrent: runs a gradient block for each step, in reverse order.")
              .optional_input_list("outputs@GRAD", "gradients of outputs")
              .control(&run_recurrent_grad));
}

}  // namespace paddle_mini
