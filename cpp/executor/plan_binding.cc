// Where the variables of a plan lie: those of the scope on the devices that write them, temporaries in arenas.
#include <algorithm>
#include <set>

#include "core/fill_pattern.h"
#include "executor/holders.h"
#include "executor/plan.h"
#include "executor/site.h"

namespace paddle_mini {

Accelerator* Plan::device_of(const Place& place) const {
  return place.is_cpu() ? nullptr : placement_.machine.at(place).device.get();
}

void Plan::bind_scope(Scope& scope) {
  std::set<int> written;
  for (const RunOp& op : segment_.ops) {
    op.outputs.each([&](int v) { written.insert(v); });
  }
  std::map<Place, std::vector<Variable*>> fresh;
  for (size_t v = 0; v < segment_.variables.size(); ++v) {
    const RunVariable& run = segment_.variables[v];
    Accelerator* device = device_of(run.place);
    Variable* held = nullptr;
    if (run.origin == Origin::InScope) {
      held = scope.find(run.name);
      bool fits = held && held->has_value() && held->info() == run.info;
      if (!fits) {
        require<OpError>(written.count(static_cast<int>(v)), "'", run.name, "' has no value in the scope");
        made_.push_back({run.name, held ? std::make_unique<Variable>(*held) : nullptr});
        held = &scope.create(run.name);
        *held = Variable();
        held->describe(run.info);
        fresh[run.place].push_back(held);
        scope.changed();
      }
    }
    if (!held || device) {  // what kernels follow is not what the scope says of a device's memory
      own_.emplace_back();
      own_.back().describe(run.info);
    }
    variables_.push_back(held && !device ? held : &own_.back());
    held_.push_back(held ? held : variables_.back());
    locations_.push_back({device, variables_.back(), nullptr});
  }
  for (const auto& [place, variables] : fresh) give_memory(variables, device_of(place));
  for (size_t v = 0; v < held_.size(); ++v) {
    bool kept = segment_.variables[v].origin == Origin::InScope && held_[v]->is_rows();
    if (kept) kept_rows_.emplace_back(held_[v], held_[v]->rows.size());
  }
  bring_home();
}

// Variables that one program makes live as long as each other, so they get one block: many of them
// together fill large pages (memory.cc) that each alone is too small for.
void Plan::give_memory(const std::vector<Variable*>& variables, Accelerator* device) {
  size_t total = 0;
  for (Variable* variable : variables) total = checked_sum(total, aligned(variable->tensor.bytes()));
  std::shared_ptr<void> block;
  try {
    block = device ? device->allocate(total) : allocate(total);
  } catch (const DeviceError& error) {
    std::vector<Holder> holders;
    for (const Made& made : made_) holders.push_back({made.name, scope_->find(made.name)->tensor.bytes()});
    throw DeviceError(with_holders(error.what(), std::move(holders), *scope_, device));
  }
  char* next = static_cast<char*>(block.get());
  for (Variable* variable : variables) {
    variable->tensor.memory = std::shared_ptr<void>(block, next);
    variable->tensor.data = next;
    variable->tensor.device = device;
    next += aligned(variable->tensor.bytes());
  }
}

// Values that lie elsewhere, because they were set by the user or used by another program there, move to where this
// plan needs them; and what stands for those on devices follows them.
void Plan::bring_home() {
  if (home_generation_ == scope_->generation()) return;
  if (flow_) flow_->forget_recordings();
  for (size_t v = 0; v < held_.size(); ++v) {
    if (segment_.variables[v].origin != Origin::InScope) continue;
    Tensor& tensor = held_[v]->tensor;
    Accelerator* home = locations_[v].device;
    if (tensor.device != home) {
      Tensor moved = new_tensor(tensor.dtype, tensor.shape, home);
      moved.lod = tensor.lod;
      copy_bytes(tensor, moved);
      tensor = std::move(moved);
      scope_->changed();  // other plans must look where it is
    }
    if (home) {
      scope_->note_devices();
      locations_[v].bind(tensor.data);
    }
  }
  home_generation_ = scope_->generation();
}

void Plan::assign_memory(const std::vector<std::vector<Variable*>>& scratches) {
  Sharing sharing = share_memory(segment_);
  // What passes between queues is not reused within a run: that would make them wait for each other.
  for (const Step& step : steps_) {
    if (step.lane == Lane::Compute) continue;
    for (int v : {step.op->inputs[0][0], step.op->outputs[0][0]}) {
      Lifetime& lifetime = sharing.lifetimes[sharing.share[v]];
      lifetime.first = 0;
      lifetime.last = static_cast<int>(segment_.ops.size());
    }
    if (step.is_piece()) sharing.lifetimes[step.op->outputs[0][0]].bytes = 0;  // it is never there as a whole
  }
  std::vector<int> ends = ends_of_batches();  // until then what is launched together needs its memory
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] == static_cast<int>(i)) continue;
    segment_.ops[i].inputs.each([&](int v) {
      Lifetime& lifetime = sharing.lifetimes[sharing.share[v]];
      lifetime.last = std::max(lifetime.last, ends[i]);
    });
  }
  std::map<Place, std::vector<Tenant>> tenants;
  offsets_.assign(segment_.variables.size(), 0);
  for (size_t v = 0; v < segment_.variables.size(); ++v) {
    if (segment_.variables[v].origin != Origin::Temporary || segment_.is_live_out(v)) continue;
    tenants[segment_.variables[v].place].push_back({&locations_[v], static_cast<int>(v), sharing.lifetimes[v], 0});
  }
  for (size_t i = 0; i < scratches.size(); ++i) {
    for (Variable* scratch : scratches[i]) {
      const Place& place = segment_.ops[i].place;
      scratch_locations_.push_back({device_of(place), scratch, nullptr});
      tenants[place].push_back({&scratch_locations_.back(), -1, {static_cast<int>(i), ends[i], scratch->tensor.bytes()}, 0});
    }
  }
  for (auto& [place, list] : tenants) {
    std::vector<Lifetime> lifetimes;
    for (const Tenant& tenant : list) lifetimes.push_back(tenant.lifetime);
    MemoryPlan memory = plan_memory(lifetimes);
    Block& block = blocks_[place];
    block.arena = &arenas_->at(place, device_of(place));
    block.bytes = memory.arena_bytes;
    for (size_t i = 0; i < list.size(); ++i) {
      list[i].offset = memory.offsets[i];
      if (list[i].variable >= 0) offsets_[list[i].variable] = memory.offsets[i];
    }
    for (Tenant& tenant : list) {
      if (tenant.variable >= 0) tenant.offset = offsets_[tenant.variable] = offsets_[sharing.share[tenant.variable]];
    }
    block.tenants = std::move(list);
  }
  bind_arenas();
}

// An arena may have grown, and moved, for another plan.
void Plan::bind_arenas() {
  for (auto& [place, block] : blocks_) {
    try {
      block.arena->reserve(block.bytes);
    } catch (const DeviceError& error) {
      fail_for_memory(block, error.what());
    }
    // Devices may still be at work on what the run before left.
    if (!flow_ && !block.arena->device()) fill_with_pattern(block.arena->data(), block.bytes);
    if (block.bound == block.arena->data()) continue;
    if (flow_) flow_->forget_recordings();
    block.bound = block.arena->data();
    for (const Tenant& tenant : block.tenants) tenant.location->bind(block.bound + tenant.offset);
  }
}

// Names the operator at which most is needed, and what for.
void Plan::fail_for_memory(const Block& block, const std::string& message) const {
  auto at = [&](const Tenant& tenant, int step) { return tenant.lifetime.first <= step && step <= tenant.lifetime.last; };
  size_t most = 0;
  int fullest = 0;
  for (int step = 0; step < static_cast<int>(segment_.ops.size()); ++step) {
    size_t bytes = 0;
    for (const Tenant& tenant : block.tenants) bytes += at(tenant, step) ? tenant.lifetime.bytes : 0;
    if (bytes > most) fullest = step;
    most = std::max(most, bytes);
  }
  std::vector<Holder> holders;
  for (const Tenant& tenant : block.tenants) {
    bool counts = at(tenant, fullest) && tenant.lifetime.bytes;
    if (counts) holders.push_back({tenant.variable < 0 ? "scratch memory" : segment_.variables[tenant.variable].name, tenant.lifetime.bytes});
  }
  const RunOp& op = segment_.ops[fullest];
  at_op({op.desc(), op.index, segment_.block},
        [&] { fail<DeviceError>(with_holders(message, std::move(holders), *scope_, block.arena->device())); });
  fail<DeviceError>(message);
}

// The bytes of a variable: of the scope, of the caller and of what is carried on each has memory of its own; temporaries
// of a place share theirs.
Touch Plan::touch(int v, bool writes) const {
  const RunVariable& run = segment_.variables[v];
  size_t bytes = std::max<size_t>(bytes_of(run.info), 1);
  if (run.origin != Origin::Temporary || segment_.is_live_out(v)) return {v, 0, bytes, writes};
  int arena = static_cast<int>(segment_.variables.size() + std::distance(blocks_.begin(), blocks_.find(run.place)));
  return {arena, offsets_[v], offsets_[v] + bytes, writes};
}

}  // namespace paddle_mini
