// Creates kernels and groups operators into steps.
#include "executor/steps.h"

#include <algorithm>
#include <set>

#include "core/kept_array.h"
#include "executor/finite_check.h"
#include "executor/op_context.h"

namespace paddle_mini {
namespace {

class StepMaker {
 public:
  StepMaker(const Segment& segment, Binding& binding, int threads, std::shared_ptr<PackedStore> packed)
      : segment_(segment), binding_(binding), threads_(threads), constants_{std::move(packed), {}} {
    for (size_t v = 0; v < segment.variables.size(); ++v) {
      if (segment.variables[v].constant) constants_.variables.insert(binding.variable(static_cast<int>(v)));
    }
  }

  StepList run() {
    for (const RunOp& op : segment_.ops)
      if (op.fused) in_tiles_ += elements_of(op);
    for (size_t i = 0; i < segment_.ops.size(); ++i) {
      const RunOp& op = segment_.ops[i];
      if (op.lane == Lane::ToHost && i + 1 < segment_.ops.size() && segment_.ops[i + 1].fused) {
        i = add_chunks(i);
      } else if (op.lane != Lane::Compute) {
        const Location &from = binding_.location(op.inputs[0][0]), &to = binding_.location(op.outputs[0][0]);
        steps().push_back({std::make_unique<TransferKernel>(from, to), &op, op.place, op.lane});
        result_.scratches.emplace_back();
      } else {
        std::unique_ptr<Kernel> kernel = make_kernel(op);
        if (op.fused || op.epilogue || may_join_batch(op)) join_to_last_step(op, std::move(kernel));
        else steps().push_back({std::move(kernel), &op, op.place});
      }
      for (const auto& [from, to] : op.copies_after) {
        steps().push_back({std::make_unique<CopyKernel>(binding_.location(from), binding_.location(to)), &op,
                           op.place});
      }
      set_poll(op);
    }
    return std::move(result_);
  }

 private:
  std::vector<Step>& steps() { return result_.steps; }

  // Polls every few microseconds: after a large operator, or after many small ones.
  void set_poll(const RunOp& op) {
    constexpr int kSmallSteps = 64;
    constexpr size_t kLargeBytes = 1 << 16;
    size_t most = 0;
    for (const Ports* ports : {&op.inputs, &op.outputs}) {
      ports->each([&](int v) { most = std::max(most, binding_.variable(v)->tensor.bytes()); });
    }
    if (most < kLargeBytes && ++since_poll_ < kSmallSteps) return;
    steps().back().poll = true;
    since_poll_ = 0;
  }

  std::unique_ptr<Kernel> make_kernel(const RunOp& op) {
    auto inputs = segment_.infos(op.inputs);
    return with_op_context({op.desc(), op.index, segment_.block, &inputs}, [&] {
      KernelInit init(op.desc(), binding_.variables(op.inputs), binding_.variables(op.outputs), threads_, &constants_);
      const size_t kept_before = kept_array_bytes();
      std::unique_ptr<Kernel> kernel = op.make(init);
      result_.scratches.emplace_back();
      for (Variable& scratch : init.scratches()) result_.scratches.back().push_back(&scratch);
      result_.scratch_owners.push_back(init.share_scratches());
      result_.kernel_bytes += init.kept_bytes() + kept_array_bytes() - kept_before;
      if (op.derived) kernel = std::make_unique<DerivedKernel>(std::move(kernel), op.derived);
      return kernel;
    });
  }

  int64_t elements_of(const RunOp& op) const {
    int64_t elements = 0;
    op.outputs.each([&](int v) { elements = std::max(elements, segment_.variables[v].info.shape.numel()); });
    return elements;
  }

  void join_to_last_step(const RunOp& op, std::unique_ptr<Kernel> kernel) {
    Step& step = steps().back();
    if (!step.several) {
      std::unique_ptr<SeveralKernels> several;
      if (op.fused) {
        several = std::make_unique<FusedTilesKernel>(elements_of(op), in_tiles_);
      } else if (op.epilogue) {
        const std::string& port = step.op->schema().output_in_parts();
        int output = port.empty() ? step.op->outputs[0][0] : step.op->output(port);
        several = std::make_unique<EpilogueKernel>(binding_.variable(output)->tensor,
                                                   segment_.variables[output].info.shape.numel(), !port.empty());
        step.has_epilogue = true;
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

  // On a GPU, adjacent operators of one type that work element by element on values of the scope, such as the
  // optimizer's for all parameters, are launched together if none depends on another. Averages join the updates of their
  // parameters: their launches come after these, or are one with them (math/gpu/map.h).
  bool may_join_batch(const RunOp& op) {
    if (op.place.is_cpu() || steps().empty() || binding_.device_at(op.place)->gains_from_tiles()) return false;
    const Step& step = steps().back();
    const bool of_batch = (step.last() - 1)->op->schema == op.op->schema,
               joins = op.schema().type() == "parameter_average";
    bool alike = step.place == op.place && step.lane == Lane::Compute && step.op->schema().is_tiled();
    if (!alike || !(of_batch || joins)) return false;
    if (!op.schema().is_tiled() || !op.copies_after.empty() || !step.op->copies_after.empty()) return false;
    std::set<int> read, written, updated;  // updated: by operators that come first
    for (const RunOp* other = step.first(); other != step.last(); ++other) {
      other->inputs.each([&](int v) { read.insert(v); });
      other->outputs.each([&](int v) { (other->op->schema == op.op->schema ? written : updated).insert(v); });
    }
    bool free = true;
    op.inputs.each([&](int v) { free = free && !written.count(v); });
    op.outputs.each([&](int v) { free = free && !written.count(v) && !updated.count(v) && !read.count(v); });
    for (const Ports* ports : {&op.outputs, &step.op->outputs}) {
      ports->each([&](int v) { free = free && segment_.variables[v].origin == Origin::InScope; });
    }
    return free;
  }

  // For a transfer to the host whose readers all work tile by tile: splits the variable into chunks that pass through a
  // staging ring, so that one chunk is processed while the next ones are transferred. Returns the last operator of the
  // group.
  size_t add_chunks(size_t leader) {
    const RunOp& transfer = segment_.ops[leader];
    int from = transfer.inputs[0][0], to = transfer.outputs[0][0];
    const VarInfo& info = segment_.variables[to].info;
    auto tiles = std::make_shared<FusedTilesKernel>(info.shape.numel(), in_tiles_);
    result_.scratches.emplace_back();
    size_t last = leader;
    for (; last + 1 < segment_.ops.size() && segment_.ops[last + 1].fused; ++last)
      tiles->add(make_kernel(segment_.ops[last + 1]));
    StagingMemory& ring = result_.staging[transfer.place];
    Device& device = *binding_.device_at(transfer.place);
    size_t all = device.staging_bytes(), size = size_of(info.dtype);
    if (!ring.memory) ring.memory = device.allocate_staging(all);
    int64_t most = std::max<int64_t>(static_cast<int64_t>(all / 4 / kAlignment * kAlignment / size), 1);
    for (int64_t begin = 0; begin < info.shape.numel(); begin += most) {
      int64_t end = std::min(begin + most, info.shape.numel());
      size_t bytes = aligned(static_cast<size_t>(end - begin) * size);
      if (ring.used + bytes > all) ring.used = 0;  // wraps around
      StagedChunk chunk{&binding_.location(from), binding_.variable(to),
                        static_cast<char*>(ring.memory.get()) + ring.used, begin, end};
      StagedRange staged{begin, end, ring.used};
      Step arrival{std::make_unique<ChunkTransferKernel>(chunk), &transfer, transfer.place, Lane::ToHost};
      arrival.staged = staged;
      Step work{std::make_unique<StagedChunkKernel>(chunk, tiles), &transfer + 1, Place{}};
      work.count = last - leader;
      work.several = tiles.get();
      work.staged = staged;
      steps().push_back(std::move(arrival));
      steps().push_back(std::move(work));
      ring.used += bytes;
    }
    return last;
  }

  const Segment& segment_;
  Binding& binding_;
  int threads_;
  ConstantInputs constants_;
  StepList result_;
  int since_poll_ = 0;
  int64_t in_tiles_ = 0;  // elements of all operators that run tile by tile with another
};

}  // namespace

std::string Step::types() const {
  std::string types;
  for (const RunOp* one = first(); one != last(); ++one) types += (types.empty() ? "" : " + ") + one->desc().type;
  return types;
}

StepList make_steps(const Segment& segment, Binding& binding, int threads, std::shared_ptr<PackedStore> packed) {
  return StepMaker(segment, binding, threads, std::move(packed)).run();
}

void fail_at(const RunOp& op, const Segment& segment, std::exception_ptr error) {
  auto inputs = segment.infos(op.inputs);
  auto raise = [&] { std::rethrow_exception(error); };
  try {
    raise();
  } catch (const NonFiniteOutput&) { throw; } catch (...) {
    with_op_context({op.desc(), op.index, segment.block, &inputs}, raise);
  }
  std::rethrow_exception(error);
}

}  // namespace paddle_mini
