// Runs the chain of segments of a block and the operators between them.
#include "executor/blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "core/outside_values.h"
#include "executor/op_context.h"
#include "executor/widen.h"
#include "program/files.h"
#include "program/tensor_file.h"

namespace paddle_mini {
namespace {

// The executor's interface for a running control operator.
class Control : public ControlRun {
 public:
  Control(const VerifiedOp& op, Frame& frame, Blocks& blocks, RunState& state)
      : ControlRun(op.desc, frame), blocks_(blocks), state_(state) {}

  void run_block(int block, Frame& inside) override {
    // A stored frame's outer frames exist only while their blocks run.
    require<ProgramError>(inside.outer() == &frame,
                          "the step scopes are of another block: its steps can't be run from here");
    int64_t most = state_.contexts.max_loop_steps();
    require<OpError>(most == 0 || steps_ < most, "the loop has run block ", block, " ", steps_,
                     " times, max_loop_steps allows no more");
    ++steps_;
    blocks_.run(block, 0, inside, state_);
  }
  bool has_gradient(int block) const override { return blocks_.program().blocks[block].has_gradient; }
  std::vector<std::string> changed_in_place(int block) const override {
    return blocks_.program().blocks[block].changed_in_place;
  }
  bool is_persistable(const std::string& name) const override { return blocks_.is_persistable(frame.block(), name); }
  std::optional<DType> dtype_to_fill_like(const std::string& name) const override {
    return blocks_.dtype_to_fill_like(frame.block(), name);
  }
  Variable* find(Frame& from, const std::string& name) override { return blocks_.find(from, name); }
  void set(Frame& from, const std::string& name, Variable value) override {
    blocks_.set(from, name, std::move(value), state_);
  }
  KernelContext& context() override { return state_.contexts.at(Place{}); }

  void write_tensors(const std::string& path, const std::vector<const Variable*>& tensors) override {
    require_files();
    std::string bytes;
    for (const Variable* variable : tensors) append_tensor(on_host(variable->tensor), bytes);
    write_file(path, bytes);
  }

  std::vector<Tensor> read_tensors(const std::string& path) override {
    require_files();
    return from_file(path, [](std::string_view bytes) {
      std::vector<Tensor> tensors;
      for (size_t position = 0; position < bytes.size();) {
        tensors.push_back(read_tensor(bytes, position));
        check_lod(tensors.back().lod, tensors.back().shape, "");
      }
      return tensors;
    });
  }

 private:
  void require_files() const {
    require<OpError>(state_.contexts.at(Place{}).may_touch_files,
                     "this operator touches a file that the program names; an executor does "
                     "that only where it was made with files=True (pm_run --files)");
  }

  Blocks& blocks_;
  RunState& state_;
  int64_t steps_ = 0;
};

}  // namespace

std::shared_ptr<Plan> Blocks::run_program(std::shared_ptr<Plan> first, const std::vector<Tensor>& feeds, Frame& frame,
                                          RunState& state) {
  run_segment(*first, feeds, frame, state);
  std::shared_ptr<Plan> last = first->segment().whole ? first : run(0, first->segment().end, frame, state);
  if (state.undo) state.contexts.agree();
  return last;
}

std::shared_ptr<Plan> Blocks::run(int block, int begin, Frame& frame, RunState& state) {
  state.require_going_on();  // checked here because a loop may run a block without operators
  frame.set_block(block);
  const auto& ops = program_->blocks[block].ops;
  int i = begin, count = static_cast<int>(ops.size());
  while (i < count || block == 0) {
    state.require_going_on();
    if (i < count && ops[i].is_control) {
      run_control(block, i++, frame, state);
      continue;
    }
    if (i < count && depend_on_data_.count({block, i})) {
      run_dependent(block, i++, frame, state);
      continue;
    }
    std::shared_ptr<Plan> plan = plan_at(block, i, frame, state);
    if (plan->segment().end == i && i < count) {
      plans_.drop(plan.get());
      depend_on_data_.insert({block, i});
      continue;
    }
    run_segment(*plan, {}, frame, state);
    i = plan->segment().end;
    if (i == count) return plan;
  }
  return nullptr;
}

std::shared_ptr<Plan> Blocks::plan_at(int block, int begin, Frame& frame, RunState& state) {
  return plans_.find_or_make(
      {PlanCache::Values::Frame, block, begin, 0}, [&](const Plan& plan) { return plan.binding().fits(frame); },
      [&] { return SegmentStart{block, begin, nullptr, &frame, block == 0 ? state.fetches : nullptr}; });
}

void Blocks::run_segment(Plan& plan, const std::vector<Tensor>& feeds, Frame& frame, RunState& state) {
  plan.run(feeds, frame, state);
  plan.hand_on([&](const std::string& name, const Variable& value) { place_of(frame, name) = value; });
}

void Blocks::run_control(int block, int index, Frame& frame, RunState& state) {
  const VerifiedOp& op = program_->blocks[block].ops[index];
  with_op_context({op.desc, index, block}, [&] {
    Control run(op, frame, *this, state);
    Clock::time_point begin = state.watch ? Clock::now() : Clock::time_point();
    double inside = state.watch ? state.watch->inside() : 0;
    op.schema->control_function()(run);
    if (state.watch) state.watch->after({{program_, &op}, block, index, {}, {}}, begin, inside);
  });
}

// All input values exist now, so infer knows every shape.
void Blocks::run_dependent(int block, int index, Frame& frame, RunState& state) {
  const VerifiedOp& op = program_->blocks[block].ops[index];
  std::vector<std::vector<VarInfo>> infos;
  with_op_context({op.desc, index, block, &infos}, [&] {
    std::vector<std::vector<Variable*>> inputs, outputs;
    std::vector<std::vector<const Variable*>> values;
    for (const Slot& slot : op.desc.inputs) {
      inputs.emplace_back();
      infos.emplace_back();
      for (const std::string& name : slot.arguments) {
        Variable* held = name == kEmptyName ? nullptr : find(frame, name);
        require<OpError>(held || name == kEmptyName, "'", name,
                         "' has no value: no operator before this one makes it, and it is not fed");
        inputs.back().push_back(held);
        infos.back().push_back(held ? held->info() : VarInfo{});
      }
      values.emplace_back(inputs.back().begin(), inputs.back().end());
    }
    InferContext context(op.desc, infos, std::move(values));
    op.schema->run_infer(context);
    std::deque<Variable> made;
    for (size_t s = 0; s < op.desc.outputs.size(); ++s) {
      outputs.emplace_back();
      for (size_t i = 0; i < op.desc.outputs[s].arguments.size(); ++i) {
        const VarInfo& info = context.outputs()[s][i];
        require<ShapeError>(info.shape.known(), op.desc.outputs[s].name, " would have shape ", info.shape.str(),
                            ", which is not known");
        made.emplace_back();
        made.back().describe(info);
        made.back().tensor.memory = allocate(made.back().tensor.bytes());
        made.back().tensor.data = made.back().tensor.memory.get();
        outputs.back().push_back(op.desc.outputs[s].arguments[i] == kEmptyName ? nullptr : &made.back());
      }
    }
    std::optional<Widened> wide = widened(op, infos, context.outputs());
    std::optional<StandIns> stand_ins;
    if (wide) stand_ins.emplace(*wide, inputs, outputs, *program_->operators);
    KernelContext& kernel_context = state.contexts.at(Place{});
    if (wide) stand_ins->read(kernel_context);  // a kernel's constructor may read values
    KernelFactory make = wide ? op.schema->kernel(wide->dtype) : place_on_host(op, infos, context.outputs()).make;
    KernelInit init(wide ? wide->op.desc : op.desc, wide ? stand_ins->inputs() : std::move(inputs),
                    wide ? stand_ins->outputs() : outputs, kernel_context.threads);
    std::unique_ptr<Kernel> kernel = make(init);
    for (Variable& scratch : init.scratches()) {
      scratch.tensor.memory = allocate(scratch.tensor.bytes());
      scratch.tensor.data = scratch.tensor.memory.get();
    }
    Clock::time_point begin = state.watch ? Clock::now() : Clock::time_point();
    kernel->run(kernel_context);
    if (wide) stand_ins->write_back(kernel_context);
    if (state.watch)
      state.watch->after({{program_, &op}, block, index, infos, context.outputs()}, begin, state.watch->inside());
    for (size_t s = 0; s < outputs.size(); ++s) {
      for (size_t i = 0; i < outputs[s].size(); ++i) {
        if (outputs[s][i] && state.watch) state.watch->require_finite(op.desc.outputs[s], i, outputs[s][i]->tensor);
        if (outputs[s][i]) set(frame, op.desc.outputs[s].arguments[i], std::move(*outputs[s][i]), state);
      }
    }
  });
}

bool Blocks::is_persistable(int block, const std::string& name) const {
  const VarDesc* var = program_->find(block, name);
  return var && var->persistable && holds_tensor(static_cast<VarKind>(var->kind));
}

std::optional<DType> Blocks::dtype_to_fill_like(int block, const std::string& name) const {
  if (!program_->blocks[block].only_shapes_read.count(name)) return std::nullopt;
  const VarDesc* var = program_->find(block, name);
  if (!var || static_cast<VarKind>(var->kind) != VarKind::Tensor) return std::nullopt;
  return static_cast<DType>(var->dtype);
}

Variable* Blocks::find(Frame& frame, const std::string& name) {
  if (Variable* held = frame.find(name)) {  // a persistable variable is there if it is fed
    if (held->has_value()) return held;
    if (!is_persistable(frame.block(), name)) return nullptr;
  }
  Variable* held = scope_->find(name);
  if (!held || !held->has_value()) return nullptr;
  if (held->tensor.device) {  // a plan that needs it on the device moves it back
    held->tensor = on_host(held->tensor);
    scope_->changed();
  }
  return held;
}

void Blocks::set(Frame& frame, const std::string& name, Variable value, RunState& state) {
  if (value.kind == VarKind::StepScopes) {  // verify relies on the declared kind of variables that hold frames
    const VarDesc* var = program_->find(frame.block(), name);
    auto declared = var ? static_cast<VarKind>(var->kind) : VarKind::StepScopes;
    require<OpError>(declared == VarKind::StepScopes, "'", name, "' would be step scopes, the program declares ",
                     name_of(declared));
  }
  if (is_persistable(frame.block(), name)) {
    require<OpError>(holds_tensor(value.kind), "'", name, "' is persistable, it can't become ", name_of(value.kind));
    Variable* held = scope_->find(name);
    if (held && held->has_value() && held->info() == value.info()) {
      state.undo->save(held);
      copy_bytes(value.tensor, held->tensor);
      held->rows = value.rows;
      return;
    }
    Variable fresh = copy_of(value);
    state.undo->create(name) = std::move(fresh);
    scope_->changed();
    return;
  }
  place_of(frame, name) = std::move(value);
}

Variable& Blocks::place_of(Frame& frame, const std::string& name) {
  Frame* at = &frame;
  while (at->outer() && !at->own(name) && !program_->declares(at->block(), name)) at = at->outer();
  return (*at)[name];
}

}  // namespace paddle_mini
