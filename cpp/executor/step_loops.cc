// Finds loops by the variables that steps read and write, and runs them.
#include "executor/step_loops.h"

#include <mutex>
#include <set>
#include <utility>

#include "core/interruption.h"
#include "core/parallel.h"

namespace paddle_mini {
namespace {

constexpr double kChunk = kLeastLoop / 2;
// A longer step splits its own loop as well.
constexpr double kLongestStep = 4 * kLeastLoop;

class LoopFinder {
 public:
  LoopFinder(const Segment& segment, const StepList& steps) : segment_(segment), steps_(steps) {}

  std::vector<StepLoop> run() {
    for (size_t i = 0; i < steps_.steps.size(); ++i) {
      const Step& step = steps_.steps[i];
      double cost = fits(step) ? cost_of(step) : 0;
      if (cost == 0 || cost > kLongestStep) {
        end(i);
        continue;
      }
      if (depends(step)) end(i);
      join(i, cost);
    }
    end(steps_.steps.size());
    return std::move(loops_);
  }

 private:
  bool fits(const Step& step) const {
    bool fits = step.place.is_cpu() && step.lane == Lane::Compute && !step.is_chunk();
    for (const RunOp* op = step.first(); fits && op != step.last(); ++op) {
      size_t number = static_cast<size_t>(op - segment_.ops.data());
      fits = op->schema().is_tiled() && op->copies_after.empty();
      for (const Variable* scratch : steps_.scratches[number]) fits = fits && scratch->tensor.bytes() == 0;
      op->inputs.each([&](int v) { fits = fits && segment_.variables[v].info.kind == VarKind::Tensor; });
      op->outputs.each([&](int v) { fits = fits && segment_.variables[v].origin == Origin::InScope; });
    }
    return fits;
  }

  double cost_of(const Step& step) const {
    double bytes = 0;
    auto add = [&](int v) {
      const VarInfo& info = segment_.variables[v].info;
      bytes += static_cast<double>(info.shape.numel()) * static_cast<double>(size_of(info.dtype));
    };
    for (const RunOp* op = step.first(); op != step.last(); ++op) op->inputs.each(add), op->outputs.each(add);
    return bytes_cost(bytes);
  }

  bool depends(const Step& step) const {
    bool found = false;
    for (const RunOp* op = step.first(); op != step.last(); ++op) {
      op->inputs.each([&](int v) { found = found || written_.count(v); });
      op->outputs.each([&](int v) { found = found || written_.count(v) || read_.count(v); });
    }
    return found;
  }

  void join(size_t step, double cost) {
    StepLoop& loop = open_;
    if (loop.chunks.empty()) loop.first = step;
    if (loop.chunks.empty() || in_chunk_ >= kChunk) {
      loop.chunks.push_back(step);
      in_chunk_ = 0;
    }
    in_chunk_ += cost;
    loop.cost += cost;
    loop.poll |= steps_.steps[step].poll;
    for (const RunOp* op = steps_.steps[step].first(); op != steps_.steps[step].last(); ++op) {
      op->inputs.each([&](int v) { read_.insert(v); });
      op->outputs.each([&](int v) { written_.insert(v); });
    }
  }

  // Ends the open loop before a step.
  void end(size_t step) {
    StepLoop loop = std::exchange(open_, {});
    read_.clear();
    written_.clear();
    if (loop.chunks.empty() || step - loop.first < 2) return;
    loop.last = step;
    loop.cost /= static_cast<double>(loop.chunks.size());
    loop.chunks.push_back(step);
    loops_.push_back(std::move(loop));
  }

  const Segment& segment_;
  const StepList& steps_;
  std::vector<StepLoop> loops_;
  StepLoop open_{};
  double in_chunk_ = 0;
  std::set<int> read_, written_;  // by the steps of the open loop
};

}  // namespace

std::vector<StepLoop> find_step_loops(const Segment& segment, const StepList& steps) {
  return LoopFinder(segment, steps).run();
}

void run_step_loop(const StepLoop& loop, const std::vector<Step>& steps, KernelContext& context, size_t& failed) {
  Interruptible never(nullptr);  // undo() needs all steps
  std::mutex mutex;
  std::exception_ptr error;
  size_t first = loop.last;
  auto chunks = static_cast<int64_t>(loop.chunks.size()) - 1;
  parallel_for(context, {chunks, loop.cost}, [&](int64_t begin, int64_t end) {
    size_t last = loop.chunks[static_cast<size_t>(end)];
    for (size_t i = loop.chunks[static_cast<size_t>(begin)]; i < last; ++i) {
      try {
        steps[i].kernel->run(context);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (i < first) first = i, error = std::current_exception();
      }
    }
  });
  if (!error) return;
  failed = first;
  std::rethrow_exception(error);
}

}  // namespace paddle_mini
