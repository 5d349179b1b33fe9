// Prints segments and implements small queries.
#include "executor/segment.h"

#include <algorithm>

namespace paddle_mini {
namespace {

std::string ports_text(const std::vector<Slot>& slots, const Ports& ports) {
  std::string line;
  for (size_t s = 0; s < ports.size(); ++s) {
    for (int v : ports[s])
      if (v >= 0) line += text(line.empty() ? "" : ", ", slots[s].name, "=v", v);
  }
  return line;
}

}  // namespace

bool Segment::is_live_out(int v) const { return std::binary_search(live_out.begin(), live_out.end(), v); }

std::vector<std::vector<VarInfo>> Segment::infos(const Ports& ports) const {
  std::vector<std::vector<VarInfo>> infos;
  for (const auto& slot : ports) {
    infos.emplace_back();
    for (int v : slot) infos.back().push_back(v < 0 ? VarInfo{} : variables[v].info);
  }
  return infos;
}

std::string Segment::str() const {
  static constexpr const char* kOrigins[] = {"fed", "scope", "temporary", "part", "derived"};
  std::string out;
  for (size_t i = 0; i < variables.size(); ++i) {
    const RunVariable& v = variables[i];
    out += text("v", i, " ", printable(v.name, 60), " ", v.info.str(), " ", kOrigins[static_cast<int>(v.origin)],
                v.place.is_cpu() ? "" : " on " + name_of(v.place), "\n");
  }
  for (size_t i = 0; i < ops.size(); ++i) {
    const RunOp& op = ops[i];
    out += text("#", i, " ", op.desc().type, "(", ports_text(op.desc().inputs, op.inputs), ") -> ",
                ports_text(op.desc().outputs, op.outputs));
    for (const auto& [from, to] : op.copies_after) out += text(", v", to, " = v", from);
    out += text(op.place.is_cpu() ? "" : " on " + name_of(op.place),
                op.fused ? ", tile by tile with the operator before it" : "",
                op.epilogue ? ", on each part of the output before it" : "",
                op.derived ? ", when values of the scope have changed" : "", "\n");
  }
  for (const BatchLoop& loop : batch_loops) {
    out += text("#", loop.first, " to #", loop.last - 1, " run ", loop.count, " times");
    for (const auto& [whole, part] : loop.parts) out += text(", v", part, " is a part of v", whole);
    out += "\n";
  }
  return out;
}

}  // namespace paddle_mini
