// Completes an operator by its schema: checks its ports and attributes, fills in defaults, and infers its outputs.
#include <algorithm>

#include "core/op_schema.h"

namespace paddle_mini {
namespace {

template <class List, class Key>
auto named(List& list, const Key& name) {
  return std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
}

// Sorts the ports instead of comparing all pairs, since a file may name any number of them.
void require_each_once(const std::vector<Slot>& slots, const char* side) {
  if (slots.size() < 2) return;
  std::vector<const std::string*> names;
  names.reserve(slots.size());
  for (const Slot& slot : slots) names.push_back(&slot.name);
  std::sort(names.begin(), names.end(), [](const std::string* a, const std::string* b) { return *a < *b; });
  auto twice = std::adjacent_find(names.begin(), names.end(),
                                  [](const std::string* a, const std::string* b) { return *a == *b; });
  if (twice != names.end()) fail<ProgramError>(side, " ", printable(**twice), " is given twice");
}

void check_ports(const std::vector<PortSchema>& schemas, const std::vector<Slot>& slots, const char* side) {
  require_each_once(slots, side);
  for (const Slot& slot : slots) {
    auto schema = named(schemas, slot.name);
    require<ProgramError>(schema != schemas.end() || slot.arguments.empty(), "there is no ", side, " '",
                          printable(slot.name), "'");
    if (schema == schemas.end()) continue;
    require<ProgramError>(schema->list || slot.arguments.size() <= 1, side, " ", slot.name, " takes one variable, not ",
                          slot.arguments.size());
    for (const std::string& name : slot.arguments) {
      require<ProgramError>(!name.empty(), side, " ", slot.name, " names a variable with an empty name");
    }
  }
  for (const PortSchema& schema : schemas) {
    auto slot = named(slots, schema.name);
    bool given = slot != slots.end() && !slot->arguments.empty();
    require<ProgramError>(given || schema.optional, side, " ", schema.name, " is missing");
  }
}

// Removes holes. A hole in a port of one variable means that the port is absent; kernels never see one. In a list only
// an optional output may have holes: gradients that are not needed.
void drop_holes(const std::vector<PortSchema>& schemas, std::vector<Slot>& slots, bool inputs) {
  for (Slot& slot : slots) {
    auto schema = named(schemas, slot.name);
    if (schema == schemas.end()) continue;
    if (!schema->list && slot.arguments.size() == 1 && slot.arguments[0] == kEmptyName) slot.arguments.clear();
    if (!schema->list || (!inputs && schema->optional)) continue;
    for (const std::string& name : slot.arguments) {
      require<ProgramError>(name != kEmptyName, slot.name, " has a hole among its variables");
    }
  }
}

// Gives an output with as many rows as an input of sequences the same sequences. Variables updated in place, such as
// parameters, are excluded: they may have as many rows by chance.
void share_lod(InferContext& context, const std::vector<std::pair<std::string, std::string>>& updates) {
  const VarInfo* sequences = nullptr;
  for (const Slot& slot : context.op().inputs) {
    for (size_t i = 0; i < slot.arguments.size() && !sequences; ++i) {
      const VarInfo& info = context.input(slot.name.c_str(), i);
      if (info.lod_level > 0 && info.shape.rank() > 0) sequences = &info;
    }
  }
  for (const Slot& slot : context.op().outputs) {
    bool updated =
        std::any_of(updates.begin(), updates.end(), [&](const auto& pair) { return pair.second == slot.name; });
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      VarInfo& out = context.output(slot.name.c_str(), i);
      if (out.lod_level > 0 && (out.lod.empty() || (out.shape.rank() > 0 && out.lod.back().back() == out.shape[0])))
        continue;
      out.lod.clear();
      out.lod_level = 0;
      bool same_rows = sequences && !updated && out.kind == VarKind::Tensor && out.shape.rank() > 0 &&
                       dims_agree(out.shape[0], sequences->shape[0]);
      if (!same_rows) continue;
      out.lod = sequences->lod;
      out.lod_level = sequences->lod_level;
    }
  }
}

}  // namespace

void OpSchema::complete_ports(OpDesc& op) const {
  drop_holes(inputs_, op.inputs, true);
  drop_holes(outputs_, op.outputs, false);
  check_ports(inputs_, op.inputs, "input");
  check_ports(outputs_, op.outputs, "output");
}

void OpSchema::complete(OpDesc& op) const {
  complete_ports(op);
  for (const AttrSchema& schema : attrs_) {
    const AttrValue* given = op.attr(schema.name);
    require<ProgramError>(given || schema.default_value, "attribute '", schema.name, "' is missing");
    AttrValue value = given ? convert(*given, schema.type, schema.name) : *schema.default_value;
    if (schema.check) schema.check(schema.name, value);
    op.set_attr(schema.name, std::move(value));
  }
}

void OpSchema::run_infer(InferContext& context) const {
  for (const Slot& slot : context.op().inputs) {
    bool rows_too = std::find(row_ports_.begin(), row_ports_.end(), slot.name) != row_ports_.end();
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      VarKind kind = context.input(slot.name.c_str(), i).kind;
      bool fits = kind == VarKind::Tensor || (rows_too && kind == VarKind::SelectedRows) ||
                  (control_ && kind == VarKind::TensorArray);
      require<ShapeError>(fits, slot.name, " is ", name_of(kind), ", it must be a tensor");
    }
  }
  infer_(context);
  for (const Slot& slot : context.op().outputs) {
    for (size_t i = 0; i < slot.arguments.size(); ++i) {
      const Shape& shape = context.output(slot.name.c_str(), i).shape;
      if (shape.known()) shape.numel();  // throws if they are too many
    }
  }
  // A gradient copies the variable that it belongs to, sequences included.
  if (!decides_lod_ && !is_gradient()) share_lod(context, updates_);
}

}  // namespace paddle_mini
