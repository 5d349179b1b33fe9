// Finds chains of operators that split a batch, and gives them variables of fewer entries.
#include "executor/batches.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>

#include "executor/memory_plan.h"
#include "executor/variable_uses.h"

namespace paddle_mini {
namespace {

std::atomic<int64_t> batch_bytes{kBatchBytes};

// Consecutive operators, and how many entries of the batch they compute at once.
struct Chain {
  size_t first = 0, last = 0;
  int64_t entries = 0, at_once = 0;  // 0: there is no chain
  int groups = 0;  // an operator and its epilogues are one
  std::set<int> made = {};  // outputs
};

class BatchSplitter {
 public:
  explicit BatchSplitter(Segment segment)
      : segment_(std::move(segment)), uses_(find_variable_uses(segment_)),
        most_(batch_bytes.load(std::memory_order_relaxed)) {}

  Segment run() {
    Chain chain;
    for (size_t i = 0, end = 0; i < segment_.ops.size(); i = end) {
      end = end_of_group(i);
      if (joins(chain, i, end)) continue;
      split(chain);
      chain = begin(i, end);
      if (!joins(chain, i, end)) chain = {};
    }
    split(chain);
    return std::move(segment_);
  }

 private:
  const VarInfo& info(int v) const { return segment_.variables[v].info; }

  // An operator and those that run on parts of its output.
  size_t end_of_group(size_t i) const {
    do ++i;
    while (i < segment_.ops.size() && (segment_.ops[i].epilogue || segment_.ops[i].fused));
    return i;
  }

  static int first_output(const RunOp& op) {
    int first = -1;
    op.outputs.each([&](int v) { first = first < 0 ? v : first; });
    return first;
  }

  // Whether an entry of the outputs needs only one entry of this input.
  bool is_split(const RunOp& op, size_t slot, int v) const {
    if (op.schema().splits_batch_of(op.desc().inputs[slot].name)) return true;
    const int out = first_output(op);
    return op.schema().is_elementwise() && out >= 0 && info(v).shape.numel() == info(out).shape.numel();
  }

  // Calls f(v, split) for each input.
  template <class F>
  void each_input(const RunOp& op, F f) const {
    for (size_t s = 0; s < op.inputs.size(); ++s)
      for (int v : op.inputs[s])
        if (v >= 0) f(v, is_split(op, s, v));
  }

  Chain begin(size_t i, size_t end) const {
    const int out = first_output(segment_.ops[i]);
    if (out < 0 || info(out).shape.rank() == 0) return {};
    Chain chain{i, i, info(out).shape[0]};
    if (chain.entries < 2) return {};
    const int64_t bytes = traffic(i, end).entries / chain.entries;
    if (chain.entries * bytes <= most_) return {};
    for (int64_t n = 1; n == 1 || (n < chain.entries && n * bytes <= most_); ++n)
      if (chain.entries % n == 0) chain.at_once = n;
    return chain;
  }

  // Bytes that a group reads and writes: of all entries, and of what it needs as a whole in each turn.
  struct Traffic {
    int64_t entries = 0, whole = 0;
  };
  Traffic traffic(size_t i, size_t end) const {
    Traffic bytes;
    std::set<int> made;
    int64_t out = 0;
    for (; i < end; ++i) {
      each_input(segment_.ops[i], [&](int v, bool split) {
        if (!made.count(v)) (split ? bytes.entries : bytes.whole) += static_cast<int64_t>(bytes_of(info(v)));
      });
      segment_.ops[i].outputs.each([&](int v) {
        made.insert(v);
        out = std::max(out, static_cast<int64_t>(bytes_of(info(v))));
      });
    }
    bytes.entries += out;
    return bytes;
  }

  // Adds a group to the chain, if it fits and reads no more bytes again in each turn than it finds in the cache.
  bool joins(Chain& chain, size_t i, size_t end) const {
    if (!chain.entries) return false;
    const Traffic bytes = traffic(i, end);
    const int64_t at_once = bytes.entries / chain.entries * chain.at_once;
    if ((most_ && bytes.whole > at_once) || (chain.at_once > 1 && at_once > most_)) return false;
    std::set<int> made = chain.made;
    for (size_t op = i; op < end; ++op) {
      if (!fits(chain, segment_.ops[op], made)) return false;
      segment_.ops[op].outputs.each([&](int v) { made.insert(v); });
    }
    chain.made = std::move(made);
    chain.last = end;
    ++chain.groups;
    return true;
  }

  bool fits(const Chain& chain, const RunOp& op, const std::set<int>& made) const {
    bool fits = op.place.is_cpu() && op.lane == Lane::Compute && op.copies_after.empty() && !op.derived &&
                !op.schema().may_fail_validation();
    int splits = 0;
    each_input(op, [&](int v, bool split) {
      splits += split;
      fits = fits && (split ? is_batch(v, chain) : may_be_whole(op, v) && !made.count(v));
    });
    op.outputs.each([&](int v) {
      fits = fits && is_batch(v, chain) && segment_.variables[v].origin == Origin::Temporary && uses_[v].writes == 1;
    });
    return fits && splits > 0 && first_output(op) >= 0 && infers_parts(chain, op);
  }

  // A convolution whose filters are packed in each run is computed in another way, with other last bits, for few images.
  bool may_be_whole(const RunOp& op, int v) const {
    return info(v).kind == VarKind::Tensor && (op.schema().is_elementwise() || segment_.variables[v].constant);
  }

  // Parts begin where kernels expect arrays to begin.
  bool is_batch(int v, const Chain& chain) const {
    const VarInfo& batch = info(v);
    if (batch.kind != VarKind::Tensor || !batch.lod.empty() || batch.shape.rank() == 0) return false;
    if (batch.shape[0] != chain.entries || batch.shape.numel() == 0) return false;
    return bytes_of(part_of(batch, chain)) % kAlignment == 0;
  }

  static VarInfo part_of(VarInfo info, const Chain& chain) {
    info.shape[0] = chain.at_once;
    return info;
  }

  // Whether the schema's infer gives the parts of the outputs for those of the inputs.
  bool infers_parts(const Chain& chain, const RunOp& op) const {
    std::vector<std::vector<VarInfo>> inputs = segment_.infos(op.inputs), outputs = segment_.infos(op.outputs);
    for (size_t s = 0; s < inputs.size(); ++s) {
      for (size_t i = 0; i < inputs[s].size(); ++i) {
        const int v = op.inputs[s][i];
        if (v >= 0 && is_split(op, s, v)) inputs[s][i] = part_of(inputs[s][i], chain);
      }
    }
    InferContext context(op.desc(), inputs);
    try {
      op.schema().run_infer(context);
    } catch (const Error&) { return false; }
    for (size_t s = 0; s < outputs.size(); ++s) {
      for (size_t i = 0; i < outputs[s].size(); ++i)
        if (op.outputs[s][i] >= 0 && !(context.outputs()[s][i] == part_of(outputs[s][i], chain))) return false;
    }
    return true;
  }

  // Gives the operators of a chain their parts. What only they read is never there as a whole.
  void split(const Chain& chain) {
    if (chain.groups < 2) return;
    std::map<int, int> reads;
    for (size_t i = chain.first; i < chain.last; ++i) segment_.ops[i].inputs.each([&](int v) { ++reads[v]; });
    auto is_inner = [&](int v) { return chain.made.count(v) && !uses_[v].is_needed && reads[v] == uses_[v].reads; };
    BatchLoop loop{chain.first, chain.last, chain.entries / chain.at_once};
    std::map<int, int> parts;
    auto replace = [&](int& v) {
      if (is_inner(v)) return;
      auto [part, is_new] = parts.try_emplace(v, -1);
      if (is_new) {
        RunVariable variable{segment_.variables[v].name, part_of(info(v), chain), Origin::Part};
        part->second = segment_.add(std::move(variable));
        loop.parts.emplace_back(v, part->second);
      }
      v = part->second;
    };
    for (size_t i = chain.first; i < chain.last; ++i) {
      RunOp& op = segment_.ops[i];
      Ports inputs = op.inputs;
      for (size_t s = 0; s < inputs.size(); ++s)
        for (int& v : inputs[s])
          if (v >= 0 && is_split(op, s, v)) replace(v);
      op.inputs = std::move(inputs);
      op.outputs.each(replace);
    }
    for (int v : chain.made)
      if (is_inner(v)) segment_.variables[v].info = part_of(info(v), chain);
    segment_.batch_loops.push_back(std::move(loop));
  }

  Segment segment_;
  const std::vector<VariableUse> uses_;
  const int64_t most_;
};

}  // namespace

void set_batch_bytes(int64_t bytes) { batch_bytes = bytes; }

Segment split_batches(Segment segment, const Placement& placement) {
  if (placement.threads > 1 || !may_replace_operators(segment, placement)) return segment;
  // Those that compute derived values come first, so that they don't end chains.
  std::stable_partition(segment.ops.begin(), segment.ops.end(), [](const RunOp& op) { return op.derived != nullptr; });
  return BatchSplitter(std::move(segment)).run();
}

}  // namespace paddle_mini
