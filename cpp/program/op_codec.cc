// Converts slots, attributes and operators from and to parsed messages (codec.cc).
#include "program/op_codec.h"

#include <unordered_map>

namespace paddle_mini::wire {
namespace {

// Finishes reading a list of named things: keeps only those with fields of later versions, reduced to these fields and
// the name, by which write_list finds them again.
void keep_unknown(Message* m, Field list, Field name, upb_Arena* arena) {
  std::vector<Message*> kept;
  for (size_t i = 0, n = size_of_list(m, list); i < n; ++i) {
    if (upb_Message_HasUnknown(element(m, list, i))) kept.push_back(element(m, list, i));
  }
  if (kept.empty()) return clear(m, list);
  upb_Array* array = new_list(m, list, arena);
  const upb_MessageDef* def = list.message();
  for (Message* thing : kept) {
    for (int i = 0, n = upb_MessageDef_FieldCount(def); i < n; ++i) {
      const Field field(upb_MessageDef_Field(def, i));
      if (field.def != name.def) clear(thing, field);
    }
    Value value;
    value.msg_val = thing;
    checked(upb_Array_Append(array, value, arena));
  }
}

template <class Things, class Write>
void write_list(Message* m, Field list, const Kind& kind, Field name, const Things& things, upb_Arena* arena,
                Write write_thing) {
  std::unordered_map<std::string, Message*> kept;
  for (size_t i = 0, n = size_of_list(m, list); i < n; ++i) {
    kept.emplace(read<std::string>(element(m, list, i), name), element(m, list, i));
  }
  if (things.empty()) return clear(m, list);
  upb_Array* array = new_list(m, list, arena);
  for (const auto& thing : things) {
    const auto same = kept.find(thing.name);
    Value value;
    Message* written = same != kept.end() ? same->second : parse({}, kind, arena);
    write_thing(written, thing);
    value.msg_val = written;
    checked(upb_Array_Append(array, value, arena));
  }
}

std::vector<Slot> take_slots(Message* op, Field list, const char* what, upb_Arena* arena) {
  const auto& f = format();
  std::vector<Slot> slots(size_of_list(op, list));
  for (size_t i = 0; i < slots.size(); ++i) {
    const Message* m = element(op, list, i);
    slots[i].name = read_name(m, f.slot_name);
    slots[i].arguments = read<std::vector<std::string>>(m, f.slot_arguments);
    for (const std::string& argument : slots[i].arguments) check_name(argument);
  }
  refuse_two_meanings(slots, what, [](const Slot&, const Slot&) { return false; });
  keep_unknown(op, list, f.slot_name, arena);
  return slots;
}

Attr read_attr(const Message* m) {
  const auto& f = format();
  Attr attr{read_name(m, f.attr_name), {}};
  const auto type = static_cast<size_t>(get(m, f.attr_type).int32_val);
  try {
    check_payload(m, f.attr_payload, type, name_of(static_cast<AttrType>(type)));
    attr.value =
        read_payload<AttrValue>(m, f.attr_payload, type, std::make_index_sequence<std::variant_size_v<AttrValue>>());
  } catch (const ProgramError& e) { fail<ProgramError>("attribute '", printable(attr.name), "' ", e.what()); }
  return attr;
}

}  // namespace

OpDesc take_op(Message* m, upb_Arena* arena) {
  const auto& f = format();
  OpDesc op;
  op.type = read_name(m, f.op_type);
  clear(m, f.op_type);
  op.inputs = take_slots(m, f.op_inputs, "input", arena);
  op.outputs = take_slots(m, f.op_outputs, "output", arena);
  const size_t count = size_of_list(m, f.op_attrs);
  op.attrs.reserve(count);
  for (size_t i = 0; i < count; ++i) op.attrs.push_back(read_attr(element(m, f.op_attrs, i)));
  refuse_two_meanings(op.attrs, "attribute", [](const Attr& a, const Attr& b) { return a.value == b.value; });
  keep_unknown(m, f.op_attrs, f.attr_name, arena);
  take_unless_default(m, f.op_is_target, &op.is_target);
  op.unknown = bytes_of(m, f.op, arena);
  return op;
}

Message* write_op(const OpDesc& op, upb_Arena* arena) {
  const auto& f = format();
  Message* m = parse(op.unknown, f.op, arena);
  const auto write_slot = [&](Message* to, const Slot& slot) {
    write(to, f.slot_name, slot.name, arena);
    write(to, f.slot_arguments, slot.arguments, arena);
  };
  write(m, f.op_type, op.type, arena);
  write_list(m, f.op_inputs, f.slot, f.slot_name, op.inputs, arena, write_slot);
  write_list(m, f.op_outputs, f.slot, f.slot_name, op.outputs, arena, write_slot);
  write_list(m, f.op_attrs, f.attr, f.attr_name, op.attrs, arena, [&](Message* to, const Attr& a) {
    write(to, f.attr_name, a.name, arena);
    write(to, f.attr_type, static_cast<int32_t>(a.value.index()), arena);
    std::visit([&](const auto& x) { write(to, f.attr_payload[a.value.index()], x, arena); }, a.value);
  });
  write_unless(false, m, f.op_is_target, op.is_target, arena);
  return m;
}

}  // namespace paddle_mini::wire
