// Formats errors with their operator: at most five lines, or twelve in nested blocks; the last one is the user's source
// line.
#include "executor/op_context.h"

#include <algorithm>

namespace paddle_mini {
namespace {

constexpr const char* kUser = "inserted_for";  // an attribute: the type of the user's operator, and its first output

// "conv2d -> 'y'" in two parts.
std::vector<std::string> type_and_output(const OpDesc& op) {
  bool has_output = !op.outputs.empty() && !op.outputs[0].arguments.empty();
  return {op.type, has_output ? op.outputs[0].arguments[0] : ""};
}

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
  const AttrValue* user = op.attr(kUser);
  const auto* stated = user ? std::get_if<std::vector<std::string>>(user) : nullptr;
  const bool is_inserted = stated && stated->size() == 2;  // a program may have an attribute of this name, too
  const std::vector<std::string> named = is_inserted ? *stated : type_and_output(op);
  std::string type = printable(named[0], 80);
  std::string out = is_inserted ? text(printable(op.type, 80), " inserted for ", type) : type;
  out += ": " + message;
  if (op_context.inputs) out += describe_inputs(op_context);
  out += op_context.index < 0 ? "\n  in op " : text("\n  in op #", op_context.index, " ");
  out += type;
  if (!named[1].empty()) out += " -> '" + printable(named[1], 80) + "'";
  if (op_context.index >= 0) out += text(", block ", op_context.block);
  std::string line = creation_site(op);
  if (!line.empty()) out += "\n  added at " + line;
  return out;
}

void name_user_of(OpDesc& inserted, const OpDesc& user) {
  inserted.set_attr(kUser, type_and_output(user));
  if (const AttrValue* callstack = user.attr("op_callstack")) inserted.set_attr("op_callstack", *callstack);
}

}  // namespace paddle_mini
