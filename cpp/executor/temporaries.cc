// Computes lifetimes, offsets and addresses of temporaries.
#include "executor/temporaries.h"

#include <algorithm>
#include <numeric>

#include "executor/memory_report.h"
#include "executor/op_context.h"

namespace paddle_mini {
namespace {

// The last operator that runs at the same time, for each operator: in the same batch, or on parts of an output.
std::vector<int> ends_of_groups(const Segment& segment, const std::vector<Step>& steps) {
  std::vector<int> ends(segment.ops.size());
  std::iota(ends.begin(), ends.end(), 0);
  for (const Step& step : steps) {
    if (!step.is_batch && !step.has_epilogue) continue;
    size_t begin = static_cast<size_t>(step.first() - segment.ops.data());
    for (size_t i = 0; i < step.count; ++i) ends[begin + i] = static_cast<int>(begin + step.count) - 1;
  }
  return ends;
}

// Computes aliasing, with lifetimes extended for asynchronous steps.
AliasPlan find_aliases(const Segment& segment, const std::vector<Step>& steps, const std::vector<int>& ends) {
  AliasPlan aliases = plan_aliases(segment);
  auto lifetime_of = [&](int v) -> Lifetime& { return aliases.lifetimes[aliases.share[v]]; };
  // Memory of values that cross queues is not reused within a run: reuse would make the queues wait for each other.
  for (const Step& step : steps) {
    if (step.lane == Lane::Compute) continue;
    for (int v : {step.op->inputs[0][0], step.op->outputs[0][0]}) {
      lifetime_of(v).first = 0;
      lifetime_of(v).last = static_cast<int>(segment.ops.size());
    }
    if (step.is_chunk()) aliases.lifetimes[step.op->outputs[0][0]].bytes = 0;  // it is never stored as a whole
  }
  for (size_t i = 0; i < ends.size(); ++i) {  // operators of a group need their memory until all of it has run
    if (ends[i] == static_cast<int>(i)) continue;
    for (const Ports* ports : {&segment.ops[i].inputs, &segment.ops[i].outputs})
      ports->each([&](int v) { lifetime_of(v).last = std::max(lifetime_of(v).last, ends[i]); });
  }
  return aliases;
}

}  // namespace

Temporaries::Temporaries(const Segment& segment, Binding& binding, const StepList& steps,
                         std::shared_ptr<Arenas> arenas, const Scope& scope)
    : segment_(segment), binding_(binding), scope_(scope), arenas_(std::move(arenas)),
      offsets_(segment.variables.size(), 0) {
  std::vector<int> ends = ends_of_groups(segment, steps.steps);
  AliasPlan aliases = find_aliases(segment, steps.steps, ends);
  for (auto& [place, allocations] : find_allocations(aliases, steps, ends)) {
    std::vector<Lifetime> lifetimes;
    for (const Allocation& allocation : allocations) lifetimes.push_back(allocation.lifetime);
    MemoryPlan memory = plan_memory(lifetimes);
    ArenaUse& use = uses_[place];
    use.arena = &arenas_->at(place, binding.device_at(place));
    use.bytes = memory.arena_bytes;
    use.allocations = allocations;
    for (size_t i = 0; i < allocations.size(); ++i) {
      use.allocations[i].offset = memory.offsets[i];
      if (allocations[i].variable >= 0) offsets_[allocations[i].variable] = memory.offsets[i];
    }
    for (Allocation& one : use.allocations) {
      if (one.variable >= 0) one.offset = offsets_[one.variable] = offsets_[aliases.share[one.variable]];
    }
  }
}

std::map<Place, std::vector<Temporaries::Allocation>> Temporaries::find_allocations(
    const AliasPlan& aliases, const StepList& steps, const std::vector<int>& ends) {
  std::map<Place, std::vector<Allocation>> allocations;
  for (size_t i = 0; i < segment_.variables.size(); ++i) {
    int v = static_cast<int>(i);
    if (segment_.variables[v].origin != Origin::Temporary || segment_.is_live_out(v)) continue;
    allocations[segment_.variables[v].place].push_back({&binding_.location(v), v, aliases.lifetimes[v], 0});
  }
  for (size_t i = 0; i < steps.scratches.size(); ++i) {
    const Place& place = segment_.ops[i].place;
    for (Variable* scratch : steps.scratches[i]) {
      scratch_locations_.push_back({binding_.device_at(place), scratch, nullptr});
      allocations[place].push_back(
          {&scratch_locations_.back(), -1, {static_cast<int>(i), ends[i], scratch->tensor.bytes()}, 0});
    }
  }
  return allocations;
}

bool Temporaries::bind() {
  bool moved = false;
  for (auto& [place, use] : uses_) {
    try {
      use.arena->reserve(use.bytes);
    } catch (const DeviceError& error) { fail_for_memory(use, error.what()); }
    use.arena->fill(use.bytes);
    if (use.bound == use.arena->data()) continue;
    use.bound = use.arena->data();
    for (const Allocation& one : use.allocations) one.location->bind(use.bound + one.offset);
    moved = true;
  }
  return moved;
}

void Temporaries::fail_for_memory(const ArenaUse& use, const std::string& message) const {
  auto is_there = [&](const Allocation& one, int step) {
    return one.lifetime.first <= step && step <= one.lifetime.last;
  };
  size_t most = 0;
  int fullest = 0;
  for (int step = 0; step < static_cast<int>(segment_.ops.size()); ++step) {
    size_t bytes = 0;
    for (const Allocation& one : use.allocations) bytes += is_there(one, step) ? one.lifetime.bytes : 0;
    if (bytes > most) fullest = step;
    most = std::max(most, bytes);
  }
  std::vector<LargeAllocation> allocations;
  for (const Allocation& one : use.allocations) {
    if (!is_there(one, fullest) || one.lifetime.bytes == 0) continue;
    allocations.push_back({one.variable < 0 ? "scratch memory" : segment_.variables[one.variable].name,
                           one.lifetime.bytes});
  }
  if (segment_.ops.empty()) fail<DeviceError>(message);
  const RunOp& op = segment_.ops[fullest];
  with_op_context({op.desc(), op.index, segment_.block}, [&] {
    fail<DeviceError>(with_memory_report(message, std::move(allocations), scope_, use.arena->device()));
  });
  fail<DeviceError>(message);
}

MemoryAccess Temporaries::access(int v, bool writes) const {
  const RunVariable& run = segment_.variables[v];
  size_t bytes = std::max<size_t>(bytes_of(run.info), 1);
  if (run.origin != Origin::Temporary || segment_.is_live_out(v)) return {v, 0, bytes, writes};
  int arena = static_cast<int>(segment_.variables.size() + std::distance(uses_.begin(), uses_.find(run.place)));
  return {arena, offsets_[v], offsets_[v] + bytes, writes};
}

std::string Temporaries::str() const {
  std::string line;
  for (const auto& [place, use] : uses_) {
    line +=
        text(line.empty() ? "" : ", ", "arena of ", use.bytes, " bytes", place.is_cpu() ? "" : " on " + name_of(place));
  }
  return line.empty() ? "no arena" : line;
}

}  // namespace paddle_mini
