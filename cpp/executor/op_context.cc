// Formats errors with their operator: at most five lines, or twelve in nested blocks; the last one is the user's source
// line.
#include "executor/op_context.h"

#include <algorithm>

namespace paddle_mini {
namespace {

std::string describe_inputs(const OpContext& op_context) {
  constexpr size_t kMost = 6;
  std::string line;
  size_t shown = 0;
  for (size_t slot = 0; slot < op_context.inputs->size(); ++slot) {
    const auto& infos = (*op_context.inputs)[slot];
    for (size_t i = 0; i < infos.size() && shown < kMost; ++i, ++shown) {
      line += text(shown ? ", " : "\n  ", op_context.op.inputs[slot].name, " '",
                   printable(op_context.op.inputs[slot].arguments[i], 80), "' ", infos[i].str());
    }
  }
  return line;
}

}  // namespace

std::string with_context(const std::string& message, const OpContext& op_context) {
  constexpr int kMostLines = 12, kMostMore = 3;
  if (std::count(message.begin(), message.end(), '\n') + 1 > kMostLines - kMostMore) return message;
  const OpDesc& op = op_context.op;
  std::string type = printable(op.type, 80);
  std::string out = type + ": " + message;
  if (op_context.inputs) out += describe_inputs(op_context);
  out += op_context.index < 0 ? "\n  in op " : text("\n  in op #", op_context.index, " ");
  out += type;
  if (!op.outputs.empty() && !op.outputs[0].arguments.empty()) {
    out += " -> '" + printable(op.outputs[0].arguments[0], 80) + "'";
  }
  if (op_context.index >= 0) out += text(", block ", op_context.block);
  std::string line = creation_site(op);
  if (!line.empty()) out += "\n  added at " + line;
  return out;
}

}  // namespace paddle_mini
