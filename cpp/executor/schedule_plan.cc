// Assigns steps to lanes and computes the waits between them.
#include "executor/schedule_plan.h"

#include <algorithm>
#include <set>

namespace paddle_mini {
namespace {

// Saves a value of the scope for rollback, in the queue of its device.
class SaveKernel : public Kernel {
 public:
  SaveKernel(SavedValue& saved, Device* device) : saved_(saved), device_(device) {}
  void run(KernelContext&) override {
    if (!device_) return saved_.save();
    device_->within(saved_.value.data, saved_.variable->tensor.data, saved_.value.bytes());
  }

 private:
  SavedValue& saved_;
  Device* device_;
};

class ScheduleMaker {
 public:
  explicit ScheduleMaker(const ScheduleInput& input) : input_(input) {}

  SchedulePlan run(std::deque<SavedValue>& saved, size_t stoppable) {
    for (SavedValue& value : saved) add_saving(value);
    const std::vector<Step>& steps = input_.steps.steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      int lane = lane_of(steps[i].place, steps[i].lane);
      steps_.push_back({steps[i].kernel.get(), lane, {}, steps[i].poll, nullptr, is_short(steps[i])});
      ordered_.push_back({lane, accesses_of(steps[i])});
    }
    std::vector<std::vector<int>> waits = find_waits(ordered_, static_cast<int>(lanes_.size()));
    for (size_t i = 0; i < steps_.size(); ++i) steps_[i].waits = std::move(waits[i]);
    ScheduleWaits caller{result_.schedule_step(stoppable), last_refusing(), last_needed()};
    result_.schedule = std::make_unique<AsyncSchedule>(std::move(steps_), std::move(lanes_), std::move(caller));
    return std::move(result_);
  }

 private:
  void add_saving(SavedValue& value) {
    Device* device = value.variable->tensor.device;
    result_.saving.push_back(std::make_unique<SaveKernel>(value, device));
    int v = 0;
    while (input_.binding.in_scope(v) != value.variable) ++v;
    int lane = lane_of(device ? device->place() : Place{}, Lane::Compute);
    steps_.push_back({result_.saving.back().get(), lane, {}, false, &value.is_saved});
    ordered_.push_back({lane, {input_.temporaries.access(v, false)}});
  }

  // A transfer to a device that takes less time than waking a thread.
  bool is_short(const Step& step) const {
    constexpr size_t kShortBytes = 1 << 18;
    if (step.lane != Lane::ToDevice) return false;
    size_t bytes = 0;
    step.each_write([&](int v) { bytes += input_.binding.variable(v)->tensor.bytes(); });
    return bytes <= kShortBytes;
  }

  int lane_of(const Place& place, Lane lane) {
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (result_.places[i] == place && result_.lanes[i] == lane) return static_cast<int>(i);
    }
    Queue* queue = input_.placement.host_queue.get();
    ThreadQueue* thread = nullptr;
    if (!place.is_cpu()) {
      DeviceQueues& queues = input_.placement.manager.at(place);
      queue = lane == Lane::Compute  ? &queues.device->compute()
              : lane == Lane::ToHost ? &queues.to_host
                                     : &queues.to_device;
      if (lane == Lane::ToDevice && place.kind == DeviceKind::Gpu) thread = &queues.to_device;
    }
    lanes_.push_back({queue, thread, lane == Lane::Compute ? input_.binding.device_at(place) : nullptr, nullptr});
    result_.places.push_back(place);
    result_.lanes.push_back(lane);
    return static_cast<int>(lanes_.size()) - 1;
  }

  // The memory that a step reads and writes. A staged chunk accesses a range of its variable and of the staging memory.
  std::vector<MemoryAccess> accesses_of(const Step& step) const {
    std::vector<MemoryAccess> accesses;
    int staged = -1;
    if (step.is_chunk()) {
      const RunOp& transfer = step.lane == Lane::Compute ? step.op[-1] : *step.op;
      staged = transfer.outputs[0][0];
      const Place& device = input_.segment.variables[transfer.inputs[0][0]].place;
      const auto& rings = input_.steps.staging;
      int ring = input_.temporaries.memories() + static_cast<int>(std::distance(rings.begin(), rings.find(device)));
      size_t bytes = static_cast<size_t>(step.staged.end - step.staged.begin) *
                     size_of(input_.segment.variables[staged].info.dtype);
      accesses.push_back({ring, step.staged.offset, step.staged.offset + bytes, step.lane == Lane::ToHost});
    }
    auto add = [&](const Ports& ports, bool writes) {
      ports.each([&](int v) {
        if (v != staged) accesses.push_back(input_.temporaries.access(v, writes));
      });
    };
    for (const RunOp* op = step.first(); op != step.last(); ++op) {
      add(op->inputs, false);
      add(op->outputs, true);
      for (const auto& [from, to] : op->copies_after) {
        accesses.push_back(input_.temporaries.access(from, true));
        accesses.push_back(input_.temporaries.access(to, true));
      }
    }
    return accesses;
  }

  // The last step of each lane for which wanted(i) is true.
  template <class F>
  std::vector<int> last_of_lanes(F wanted) const {
    std::map<int, int> last;
    for (size_t i = 0; i < ordered_.size(); ++i)
      if (wanted(i)) last[ordered_[i].queue] = static_cast<int>(i);
    std::vector<int> steps;
    for (const auto& entry : last) steps.push_back(entry.second);
    return steps;
  }

  std::vector<int> last_refusing() const {
    return last_of_lanes([&](size_t i) {
      return !result_.is_saving(i) && input_.steps.steps[result_.plan_step(i)].may_fail_validation();
    });
  }

  std::vector<int> last_needed() const {
    std::set<int> callers(input_.segment.feeds.begin(), input_.segment.feeds.end());
    callers.insert(input_.segment.fetches.begin(), input_.segment.fetches.end());
    std::vector<MemoryAccess> theirs;
    for (int v : callers) theirs.push_back(input_.temporaries.access(v, false));
    return last_of_lanes([&](size_t i) {
      if (result_.is_saving(i)) return true;
      return std::any_of(ordered_[i].accesses.begin(), ordered_[i].accesses.end(), [&](const MemoryAccess& mine) {
        return std::any_of(theirs.begin(), theirs.end(), [&](const MemoryAccess& their) {
          return their.memory == mine.memory && their.begin < mine.end && mine.begin < their.end;
        });
      });
    });
  }

  const ScheduleInput& input_;
  SchedulePlan result_;
  std::vector<ScheduleLane> lanes_;
  std::vector<ScheduledStep> steps_;
  std::vector<OrderedStep> ordered_;
};

}  // namespace

SchedulePlan plan_schedule(const ScheduleInput& input, std::deque<SavedValue>& saved, size_t stoppable) {
  return ScheduleMaker(input).run(saved, stoppable);
}

}  // namespace paddle_mini
