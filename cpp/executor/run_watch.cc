// Passes on what a run does to its observers.
#include "executor/run_watch.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>

#include "executor/op_context.h"
#include "executor/passes.h"

namespace paddle_mini {
namespace {

struct Observers {
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::shared_ptr<Profile> profile;
  std::shared_ptr<FiniteCheck> check;
};

Observers& observers() {
  static Observers all;
  return all;
}

template <class T>
void set(std::shared_ptr<T>& place, std::shared_ptr<T> value, const char* name) {
  Observers& all = observers();
  std::lock_guard<std::mutex> lock(all.mutex);
  require<ProgramError>(!value || !place, name, " is on already, in this thread or another one: end it first");
  place = std::move(value);
  all.any = all.profile || all.check;
}

double microseconds(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

// Operators between plans: other shapes are another site.
Profile::Key key_of(const RunWatch::BlockOp& op) {
  std::string shapes;
  for (const auto* side : {&op.inputs, &op.outputs})
    for (const auto& slot : *side)
      for (const VarInfo& info : slot) shapes += info.str();
  return {reinterpret_cast<uintptr_t>(op.op.get()), uint64_t{1} << 63, std::hash<std::string>()(shapes)};
}

}  // namespace

void set_profile(std::shared_ptr<Profile> profile) { set(observers().profile, std::move(profile), "profile()"); }

void set_finite_check(std::shared_ptr<FiniteCheck> check) {
  set(observers().check, std::move(check), "check_finite()");
}

std::unique_ptr<RunWatch> RunWatch::of_run(const std::shared_ptr<const VerifiedProgram>& program,
                                           const std::shared_ptr<Scope>& scope) {
  static const bool summed = logs("run"), each = logs("runs");
  Observers& all = observers();
  if (!summed && !each && !all.any.load(std::memory_order_relaxed)) return nullptr;
  std::unique_ptr<RunWatch> watch(new RunWatch);
  {
    std::lock_guard<std::mutex> lock(all.mutex);
    watch->profile_ = all.profile;
    watch->check_ = all.check;
  }
  if (summed) watch->total_ = &times_of_process();
  if (each) watch->of_this_ = std::make_unique<OpTimes>();
  if (watch->profile_) watch->profiled_run_ = watch->profile_->next_run();
  if (watch->check_) watch->checked_run_ = watch->check_->begin_run(program, scope);
  return watch;
}

RunWatch::~RunWatch() {
  if (profile_) profile_->add_run({begin_, Clock::now(), 0, profiled_run_});
  if (of_this_) std::cerr << of_this_->text();
}

void RunWatch::note(const std::string& types, double time) {
  if (total_) total_->add(types, time);
  if (of_this_) of_this_->add(types, time);
  std::lock_guard<std::mutex> lock(mutex_);
  inside_ += time;
}

double RunWatch::inside() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return inside_;
}

void RunWatch::after(const PlanStep& step, Clock::time_point begin) {
  Clock::time_point end = Clock::now();
  note(step.step.types(), microseconds(begin, end));
  if (profile_) {
    profile_->add({step.plan, step.number, step.part}, {begin, end, 0, profiled_run_},
                  [&] { return site_of(step.step, step.segment); });
  }
  if (!check_ || step.step.lane != Lane::Compute) return;
  for (const RunOp* op = step.step.first(); op != step.step.last(); ++op) check_outputs(*op, step);
}

void RunWatch::saved(const Place& place, Clock::time_point begin) {
  Clock::time_point end = Clock::now();
  note("save", microseconds(begin, end));
  if (!profile_) return;
  profile_->add({0, std::hash<std::string>()(name_of(place)), 0}, {begin, end, 0, profiled_run_}, [&] {
    ProfileSite site;
    site.place = place;
    return site;
  });
}

void RunWatch::check_outputs(const RunOp& op, const PlanStep& step) const {
  auto inputs = step.segment.infos(op.inputs);
  try {
    with_op_context({op.desc(), op.index, step.segment.block, &inputs}, [&] {
      for (size_t s = 0; s < op.outputs.size(); ++s) {
        for (size_t i = 0; i < op.outputs[s].size(); ++i) {
          if (op.outputs[s][i] < 0) continue;
          require_finite(op.desc().outputs[s], i, step.binding.location(op.outputs[s][i]));
        }
      }
    });
  } catch (const OpError& error) { throw NonFiniteOutput(error.what()); }
}

void RunWatch::require_finite(const Slot& slot, size_t i, const Location& location) const {
  Tensor tensor = location.variable->tensor;
  if (!is_floating(tensor.dtype) || !tensor.data) return;
  std::vector<char> copy;
  if (location.device) {
    copy.resize(tensor.bytes());
    location.device->to_host(copy.data(), location.address, copy.size());
    tensor.data = copy.data();
  }
  require_finite(slot, i, tensor);
}

void RunWatch::require_finite(const Slot& slot, size_t i, const Tensor& tensor) const {
  if (check_) check_->require_finite(tensor, slot.name, slot.arguments[i], checked_run_);
}

void RunWatch::after(const BlockOp& op, Clock::time_point begin, double inside_before) {
  Clock::time_point end = Clock::now();
  double inside_it = inside() - inside_before;
  note(op.op->desc.type, std::max(0.0, microseconds(begin, end) - inside_it));
  if (!profile_) return;
  profile_->add(key_of(op), {begin, end, inside_it, profiled_run_}, [&] {
    ProfileSite site;
    site.ops.push_back({op.op, op.block, op.index, op.inputs, op.outputs});
    return site;
  });
}

}  // namespace paddle_mini
