// The steps of a plan: kernels, what runs part by part, and on several devices the order among their queues.
#include <algorithm>
#include <numeric>
#include <set>

#include "executor/plan.h"
#include "executor/site.h"

namespace paddle_mini {
namespace {

// Keeps a value of the scope, in the queue of its device.
class KeepKernel : public Kernel {
 public:
  KeepKernel(Backup& backup, Accelerator* device) : backup_(backup), device_(device) {}
  void run(Device&) override {
    if (!device_) return backup_.keep();
    device_->within(backup_.kept.data, backup_.variable->tensor.data, backup_.kept.bytes());
    backup_.is_kept = true;
  }

 private:
  Backup& backup_;
  Accelerator* device_;
};

}  // namespace

void Plan::make_steps() {
  constexpr int kSmallSteps = 64;         // so many small operators take some microseconds
  constexpr size_t kLargeBytes = 1 << 16;
  std::vector<std::vector<Variable*>> scratches;
  int since_poll = 0;
  for (size_t i = 0; i < segment_.ops.size(); ++i) {
    const RunOp& op = segment_.ops[i];
    if (op.lane == Lane::ToHost && i + 1 < segment_.ops.size() && segment_.ops[i + 1].joined) {
      i = add_pieces(i, scratches);
    } else if (op.lane != Lane::Compute) {
      auto transfer = std::make_unique<TransferKernel>(locations_[op.inputs[0][0]], locations_[op.outputs[0][0]]);
      steps_.push_back({std::move(transfer), &op, op.place, op.lane});
      scratches.emplace_back();
    } else {
      std::unique_ptr<Kernel> kernel = make_kernel(op, scratches);
      bool in_batch = may_join_batch(op);
      if (op.joined || in_batch) join_to_last_step(op, std::move(kernel));
      else steps_.push_back({std::move(kernel), &op, op.place});
    }
    for (const auto& [from, to] : op.copies_after) {
      steps_.push_back({std::make_unique<CopyKernel>(locations_[from], locations_[to]), &op, op.place});
    }
    size_t most = 0;
    for (const Ports* ports : {&op.inputs, &op.outputs}) {
      ports->each([&](int v) { most = std::max(most, variables_[v]->tensor.bytes()); });
    }
    if (most >= kLargeBytes || ++since_poll >= kSmallSteps) {
      steps_.back().poll = true;
      since_poll = 0;
    }
  }
  assign_memory(scratches);
}

std::unique_ptr<Kernel> Plan::make_kernel(const RunOp& op, std::vector<std::vector<Variable*>>& scratches) {
  auto resolve = [&](const Ports& ports) {
    std::vector<std::vector<Variable*>> result;
    for (const auto& slot : ports) {
      result.emplace_back();
      for (int v : slot) result.back().push_back(v < 0 ? nullptr : variables_[v]);
    }
    return result;
  };
  auto inputs = segment_.infos(op.inputs);
  return at_op({op.desc(), op.index, segment_.block, &inputs}, [&] {
    KernelInit init(op.desc(), resolve(op.inputs), resolve(op.outputs));
    std::unique_ptr<Kernel> kernel = op.make(init);
    scratches.emplace_back();
    for (Variable& scratch : init.scratches()) scratches.back().push_back(&scratch);
    scratches_.push_back(init.share_scratches());
    return kernel;
  });
}

void Plan::join_to_last_step(const RunOp& op, std::unique_ptr<Kernel> kernel) {
  Step& step = steps_.back();
  if (!step.several) {
    std::unique_ptr<SeveralKernels> several;
    if (op.joined) {
      int64_t elements = 0;
      op.outputs.each([&](int v) { elements = std::max(elements, segment_.variables[v].info.shape.numel()); });
      several = std::make_unique<FusedTilesKernel>(elements);
    } else {
      several = std::make_unique<BatchKernel>();
      step.is_batch = true;
    }
    several->add(std::move(step.kernel));
    step.several = several.get();
    step.kernel = std::move(several);
  }
  step.several->add(std::move(kernel));
  ++step.count;
}

// On a GPU neighbours of one type that work element by element on values of the scope, such as the optimizer's operators
// for all parameters, are launched together if none of them needs what another one writes.
bool Plan::may_join_batch(const RunOp& op) const {
  if (op.place.is_cpu() || steps_.empty() || device_of(op.place)->gains_from_tiles()) return false;
  const Step& step = steps_.back();
  bool alike = step.place == op.place && step.lane == Lane::Compute && step.op->op->spec == op.op->spec;
  if (!alike || !op.spec().is_tiled() || !op.copies_after.empty() || !step.op->copies_after.empty()) return false;
  std::set<int> read, written;
  for (const RunOp* other = step.first(); other != step.last(); ++other) {
    other->inputs.each([&](int v) { read.insert(v); });
    other->outputs.each([&](int v) { written.insert(v); });
  }
  bool free = true;
  op.inputs.each([&](int v) { free = free && !written.count(v); });
  op.outputs.each([&](int v) { free = free && !written.count(v) && !read.count(v); });
  for (const Ports* ports : {&op.outputs, &step.op->outputs}) {
    ports->each([&](int v) { free = free && segment_.variables[v].origin == Origin::InScope; });
  }
  return free;
}

// Of each operator the last one that is launched with it.
std::vector<int> Plan::ends_of_batches() const {
  std::vector<int> ends(segment_.ops.size());
  std::iota(ends.begin(), ends.end(), 0);
  for (const Step& step : steps_) {
    if (!step.is_batch) continue;
    size_t begin = static_cast<size_t>(step.first() - segment_.ops.data());
    for (size_t i = 0; i < step.count; ++i) ends[begin + i] = static_cast<int>(begin + step.count) - 1;
  }
  return ends;
}

// A transfer to the host whose readers all work part by part: each piece of the variable passes through a ring of staging
// memory, and is worked on while the next ones are on their way. Returns the last operator that belongs to it.
size_t Plan::add_pieces(size_t leader, std::vector<std::vector<Variable*>>& scratches) {
  const RunOp& transfer = segment_.ops[leader];
  int from = transfer.inputs[0][0], to = transfer.outputs[0][0];
  const VarInfo& info = segment_.variables[to].info;
  auto tiles = std::make_shared<FusedTilesKernel>(info.shape.numel());
  scratches.emplace_back();
  size_t last = leader;
  for (; last + 1 < segment_.ops.size() && segment_.ops[last + 1].joined; ++last) {
    tiles->add(make_kernel(segment_.ops[last + 1], scratches));
  }
  auto& [ring, used] = staging_[transfer.place];
  size_t all = device_of(transfer.place)->staging_bytes(), size = size_of(info.dtype);
  if (!ring) ring = device_of(transfer.place)->allocate_staging(all);
  int64_t most = std::max<int64_t>(static_cast<int64_t>(all / 4 / kAlignment * kAlignment / size), 1);
  for (int64_t begin = 0; begin < info.shape.numel(); begin += most) {
    int64_t end = std::min(begin + most, info.shape.numel());
    size_t bytes = aligned(static_cast<size_t>(end - begin) * size);
    if (used + bytes > all) used = 0;  // round the ring
    Piece piece{&locations_[from], variables_[to], static_cast<char*>(ring.get()) + used, begin, end};
    steps_.push_back({std::make_unique<PieceTransferKernel>(piece), &transfer, transfer.place, Lane::ToHost, 1, nullptr, false, false,
                      begin, end, used});
    steps_.push_back({std::make_unique<PieceKernel>(piece, tiles), &transfer + 1, Place{}, Lane::Compute, last - leader, tiles.get(),
                      false, false, begin, end, used});
    used += bytes;
  }
  return last;
}

int Plan::lane_of(const Place& place, Lane lane, std::vector<FlowLane>& lanes) {
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (flow_places_[i] == place && flow_lanes_[i] == lane) return static_cast<int>(i);
  }
  Queue* queue = placement_.host_queue.get();
  if (!place.is_cpu()) {
    DeviceQueues& queues = placement_.machine.at(place);
    queue = lane == Lane::Compute ? &queues.device->compute() : lane == Lane::ToHost ? &queues.to_host : &queues.to_device;
  }
  lanes.push_back({queue, lane == Lane::Compute ? device_of(place) : nullptr, nullptr});
  flow_places_.push_back(place);
  flow_lanes_.push_back(lane);
  return static_cast<int>(lanes.size()) - 1;
}

// Bytes that a step reads and writes. Pieces touch a part of their variable, and the ring.
std::vector<Touch> Plan::touches_of(size_t at) const {
  const Step& step = steps_[at];
  std::vector<Touch> touches;
  bool reads_piece = step.is_piece() && step.lane == Lane::Compute;
  int staged = step.is_piece() ? (reads_piece ? step.op[-1] : *step.op).outputs[0][0] : -1;
  if (step.is_piece()) {
    const Place& device = segment_.variables[(reads_piece ? step.op[-1] : *step.op).inputs[0][0]].place;
    int ring = static_cast<int>(segment_.variables.size() + blocks_.size() + std::distance(staging_.begin(), staging_.find(device)));
    size_t size = size_of(segment_.variables[staged].info.dtype), bytes = static_cast<size_t>(step.end - step.begin) * size;
    touches.push_back({ring, step.staging, step.staging + bytes, step.lane == Lane::ToHost});
  }
  auto add = [&](const Ports& ports, bool writes) {
    ports.each([&](int v) {
      if (v != staged) touches.push_back(touch(v, writes));
    });
  };
  for (const RunOp* op = step.first(); op != step.last(); ++op) {
    add(op->inputs, false);
    add(op->outputs, true);
    for (const auto& [from, to] : op->copies_after) {
      touches.push_back(touch(from, true));
      touches.push_back(touch(to, true));
    }
  }
  return touches;
}

void Plan::make_flow() {
  std::vector<FlowLane> lanes;
  std::vector<FlowStep> steps;
  std::vector<OrderedStep> ordered;
  for (Backup& backup : backups_) {
    Accelerator* device = backup.variable->tensor.device;
    keeping_.push_back(std::make_unique<KeepKernel>(backup, device));
    int v = static_cast<int>(std::find(held_.begin(), held_.end(), backup.variable) - held_.begin());
    int lane = lane_of(device ? device->place() : Place{}, Lane::Compute, lanes);
    steps.push_back({keeping_.back().get(), lane, {}, false});
    ordered.push_back({lane, {touch(v, false)}});
  }
  for (size_t i = 0; i < steps_.size(); ++i) {
    int lane = lane_of(steps_[i].place, steps_[i].lane, lanes);
    steps.push_back({steps_[i].kernel.get(), lane, {}, steps_[i].poll});
    ordered.push_back({lane, touches_of(i)});
  }
  std::vector<std::vector<int>> waits = find_waits(ordered, static_cast<int>(lanes.size()));
  for (size_t i = 0; i < steps.size(); ++i) steps[i].waits = std::move(waits[i]);
  flow_ = std::make_unique<Flow>(std::move(steps), std::move(lanes));
  set_flow_waits(ordered);
}

// Before run() returns the caller's arrays must have been read, what is fetched must be there, and so must backups.
void Plan::set_flow_waits(const std::vector<OrderedStep>& ordered) {
  size_t kept = keeping_.size();
  std::set<int> callers(segment_.feeds.begin(), segment_.feeds.end());
  callers.insert(segment_.fetches.begin(), segment_.fetches.end());
  std::map<int, int> refusing, needed;  // the last step of each lane
  for (size_t i = 0; i < ordered.size(); ++i) {
    if (i < kept) needed[ordered[i].queue] = static_cast<int>(i);
    if (i >= kept && may_refuse(steps_[i - kept])) refusing[ordered[i].queue] = static_cast<int>(i);
    for (const Touch& mine : ordered[i].touches) {
      bool meets = std::any_of(callers.begin(), callers.end(), [&](int v) {
        Touch theirs = touch(v, false);
        return theirs.memory == mine.memory && theirs.begin < mine.end && mine.begin < theirs.end;
      });
      if (meets) needed[ordered[i].queue] = static_cast<int>(i);
    }
  }
  auto steps_of = [](const std::map<int, int>& last) {
    std::vector<int> steps;
    for (const auto& entry : last) steps.push_back(entry.second);
    return steps;
  };
  flow_->set_waits(kept + stoppable_steps_, steps_of(refusing), steps_of(needed));
}

}  // namespace paddle_mini
