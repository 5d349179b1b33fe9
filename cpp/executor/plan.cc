// Creates and destroys plans.
#include "executor/plan.h"

#include <algorithm>
#include <atomic>

namespace paddle_mini {
namespace {

uint64_t next_serial() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Plan::Plan(Segment segment, const Placement& placement, Scope& scope, std::shared_ptr<Arenas> arenas)
    : serial_(next_serial()), segment_(std::move(segment)), placement_(placement), scope_(scope), undo_(scope),
      binding_(segment_, placement_, scope, undo_) {
  bool on_devices =
      std::any_of(segment_.ops.begin(), segment_.ops.end(), [](const RunOp& op) { return !op.place.is_cpu(); });
  try {
    steps_ = make_steps(segment_, binding_, placement_.threads, scope.packed());
    loops_ = find_step_loops(segment_, steps_);
    batches_ = find_batch_steps(segment_, binding_, steps_);
    temporaries_ = std::make_unique<Temporaries>(segment_, binding_, steps_, std::move(arenas), scope);
    temporaries_->bind();
    undo_plan_ = plan_undo(binding_, undo_, steps_.steps, on_devices, on_devices || placement_.replicated);
    for (Variable* variable : undo_plan_.saved) undo_.prepare(variable);
    if (on_devices) {
      schedule_ = std::make_unique<ScheduleRun>(plan_schedule({segment_, placement_, binding_, *temporaries_, steps_},
                                                              undo_.prepared(), undo_plan_.stoppable),
                                                segment_, binding_, steps_.steps);
    }
  } catch (...) {
    unbind();
    throw;
  }
  binding_.accept_scope();
}

size_t Plan::own_bytes() const {
  // Includes names, attributes, ports and queues; measured by malloc.
  constexpr size_t kVariable = 800, kOp = 1500, kSchedule = size_t{1} << 20;
  size_t bytes = sizeof(Plan) + segment_.variables.size() * kVariable + segment_.ops.size() * kOp +
                 steps_.kernel_bytes + (schedule_ ? kSchedule : 0);
  for (const RunVariable& variable : segment_.variables) {  // stored twice: as inferred, and as passed to kernels
    for (const auto& level : variable.info.lod) bytes += 2 * level.size() * sizeof(level[0]);
  }
  for (const auto& entry : steps_.staging) bytes += entry.second.used;
  return bytes + undo_.prepared_bytes();
}

void Plan::unbind() {
  schedule_.reset();
  undo_.prepared().clear();  // no run has saved values in them
  undo_.rollback();
  binding_.note_row_counts();
}

}  // namespace paddle_mini
