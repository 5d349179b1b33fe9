// Computes lifetimes, aliasing and offsets.
#include "executor/memory_plan.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/fill_pattern.h"

namespace paddle_mini {
namespace {

// Free ranges of the arena by offset; adjacent ranges are merged.
class FreeList {
 public:
  size_t take(size_t bytes) {
    auto best = pieces_.end();
    for (auto it = pieces_.begin(); it != pieces_.end(); ++it) {
      if (it->second >= bytes && (best == pieces_.end() || it->second < best->second)) best = it;
    }
    if (best == pieces_.end()) return grow(bytes);
    size_t offset = best->first, left = best->second - bytes;
    pieces_.erase(best);
    if (left) pieces_[offset + bytes] = left;
    return offset;
  }

  void give(size_t offset, size_t bytes) {
    auto after = pieces_.lower_bound(offset);
    if (after != pieces_.end() && offset + bytes == after->first) {
      bytes += after->second;
      after = pieces_.erase(after);
    }
    if (after != pieces_.begin()) {
      auto before = std::prev(after);
      if (before->first + before->second == offset) {
        before->second += bytes;
        return;
      }
    }
    pieces_[offset] = bytes;
  }

  size_t end() const { return end_; }

 private:
  // Grows the arena; reuses a free range at its end first.
  size_t grow(size_t bytes) {
    if (!pieces_.empty()) {
      auto last = std::prev(pieces_.end());
      if (last->first + last->second == end_) {
        size_t offset = last->first;
        pieces_.erase(last);
        end_ = checked_sum(offset, bytes);
        return offset;
      }
    }
    size_t offset = end_;
    end_ = checked_sum(end_, bytes);
    return offset;
  }

  std::map<size_t, size_t> pieces_;
  size_t end_ = 0;
};

// The steps at which a variable is written and read.
struct Uses {
  int first_write = -1, last_use = -1, writes = 0;
};

// A loop reads its inputs again in each turn: they must not be overwritten before its end, nor by the step that reads them last.
void add_uses_of_loop(const Segment& segment, const BatchLoop& loop, std::vector<Uses>& uses) {
  const int first = static_cast<int>(loop.first), end = static_cast<int>(loop.last);
  auto keep = [&](int v) { uses[v].last_use = std::max(uses[v].last_use, end); };
  for (int step = first; step < end; ++step) {
    segment.ops[step].inputs.each([&](int v) {
      if (uses[v].first_write < first) keep(v);
    });
  }
  for (const auto& [whole, part] : loop.parts) {
    keep(whole);
    if (uses[part].writes == 0) continue;
    uses[whole].first_write = first;
    ++uses[whole].writes;
  }
}

std::vector<Uses> find_uses(const Segment& segment) {
  std::vector<Uses> uses(segment.variables.size());
  int steps = static_cast<int>(segment.ops.size());
  for (int step = 0; step < steps; ++step) {
    const RunOp& op = segment.ops[step];
    auto access = [&](int v) { uses[v].last_use = step; };
    for (size_t s = 0; s < op.inputs.size(); ++s) {
      if (op.schema().reads_only_shape(op.desc().inputs[s].name)) continue;
      for (int v : op.inputs[s])
        if (v >= 0) access(v);
    }
    auto write = [&](int v) {
      access(v);
      if (uses[v].writes++ == 0) uses[v].first_write = step;
    };
    op.outputs.each(write);
    for (const auto& copy : op.copies_after) access(copy.first), write(copy.second);
  }
  for (int v : segment.fetches) uses[v].last_use = steps;
  for (const BatchLoop& loop : segment.batch_loops) add_uses_of_loop(segment, loop, uses);
  return uses;
}

// Whether an operator of the group before this epilogue (epilogues.h) reads the memory of `root` at other elements than
// those that the epilogue writes at that time.
bool group_needs(const Segment& segment, int epilogue, int root, const std::vector<int>& share, int64_t numel) {
  bool needs = false;
  for (int step = epilogue; segment.ops[step].epilogue;) {
    const RunOp& op = segment.ops[--step];
    const bool by_element = op.epilogue || op.schema().is_elementwise();
    op.inputs.each([&](int v) {
      needs |= share[v] == root && !(by_element && segment.variables[v].info.shape.numel() == numel);
    });
  }
  return needs;
}

}  // namespace

size_t bytes_of(const VarInfo& info) {
  Shape shape = info.shape;
  if (info.kind == VarKind::SelectedRows && shape.rank() > 0) shape[0] = info.row_count;
  return static_cast<size_t>(shape.numel()) * size_of(info.dtype);
}

void Arena::fill(size_t bytes) const {
  if (fill_pattern() < 0) return;
  if (!device_) return fill_with_pattern(data(), bytes);
  std::vector<char> pattern(bytes, static_cast<char>(fill_pattern()));
  device_->to_device(data(), pattern.data(), bytes);
}

MemoryPlan plan_memory(const std::vector<Lifetime>& lifetimes) {
  std::vector<int> by_first(lifetimes.size()), by_last(lifetimes.size());
  std::iota(by_first.begin(), by_first.end(), 0);
  by_last = by_first;
  std::stable_sort(by_first.begin(), by_first.end(),
                   [&](int a, int b) { return lifetimes[a].first < lifetimes[b].first; });
  std::stable_sort(by_last.begin(), by_last.end(), [&](int a, int b) { return lifetimes[a].last < lifetimes[b].last; });
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  FreeList free;
  size_t ended = 0;
  for (int i : by_first) {
    while (ended < by_last.size() && lifetimes[by_last[ended]].last < lifetimes[i].first) {
      int done = by_last[ended++];
      if (lifetimes[done].bytes) free.give(plan.offsets[done], aligned(lifetimes[done].bytes));
    }
    if (lifetimes[i].bytes) plan.offsets[i] = free.take(aligned(lifetimes[i].bytes));
  }
  plan.arena_bytes = free.end();
  return plan;
}

AliasPlan plan_aliases(const Segment& segment) {
  std::vector<Uses> uses = find_uses(segment);
  AliasPlan aliases;
  int count = static_cast<int>(segment.variables.size());
  aliases.share.resize(count);
  std::iota(aliases.share.begin(), aliases.share.end(), 0);
  // Live-out values have their own memory, which outlives the segment.
  std::vector<bool> temporary(count);
  for (int v = 0; v < count; ++v) temporary[v] = segment.variables[v].origin == Origin::Temporary;
  for (int v : segment.live_out) temporary[v] = false;
  auto is_temporary = [&](int v) { return temporary[v]; };
  for (int v = 0; v < count; ++v) {
    size_t bytes = is_temporary(v) && uses[v].first_write >= 0 ? bytes_of(segment.variables[v].info) : 0;
    aliases.lifetimes.push_back({std::max(uses[v].first_write, 0), std::max(uses[v].last_use, 0), bytes});
  }
  auto join = [&](int in, int out) {
    int root = aliases.share[in];
    aliases.share[out] = root;
    aliases.lifetimes[root].last = std::max(aliases.lifetimes[root].last, aliases.lifetimes[out].last);
    aliases.lifetimes[out].bytes = 0;
  };
  for (int step = 0; step < static_cast<int>(segment.ops.size()); ++step) {
    const RunOp& op = segment.ops[step];
    const OpSchema& schema = op.schema();
    auto candidates = [&](const auto& pairs, bool view) {
      for (const auto& [input, output] : pairs) {
        int in = op.input(input);
        int out = op.output(output);
        if (in < 0 || out < 0 || in == out || !is_temporary(in) || !is_temporary(out)) continue;
        if (segment.variables[in].info.kind == VarKind::SelectedRows) continue;  // their row count varies
        if (segment.variables[in].place != segment.variables[out].place) continue;  // a transfer
        int root = aliases.share[in];
        bool fresh = aliases.share[out] == out && uses[out].first_write == step && aliases.lifetimes[out].bytes > 0;
        bool same_bytes = bytes_of(segment.variables[in].info) == bytes_of(segment.variables[out].info) &&
                          aliases.lifetimes[root].bytes == bytes_of(segment.variables[out].info);
        if (!fresh || !same_bytes || op.inputs.count(in) != 1) continue;
        bool read_as_view = false;  // the same bytes under another name
        op.inputs.each([&](int v) { read_as_view |= v != in && aliases.share[v] == root; });
        // A view is valid only if neither name is written again; an overwritten input must be dead.
        bool allowed =
            view ? uses[in].writes == 1 && uses[out].writes == 1
                 : aliases.lifetimes[root].last == step && !read_as_view &&
                       !group_needs(segment, step, root, aliases.share, segment.variables[out].info.shape.numel());
        if (allowed) join(in, out);
      }
    };
    candidates(schema.views(), true);
    candidates(schema.in_places(), false);
  }
  return aliases;
}

}  // namespace paddle_mini
