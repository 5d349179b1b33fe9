// Loads the definitions from framework.desc and parses messages.
#include "program/message.h"

#include <memory>
#include <new>

namespace paddle_mini {

extern const unsigned char kFrameworkDesc[];  // proto/framework.desc, embedded by the build
extern const size_t kFrameworkDescSize;

namespace wire {
namespace {

const Checklist* make_checklist(const upb_MessageDef* def, Checklists* all) {
  const auto [found, is_new] = all->try_emplace(def);
  Checklist* made = &found->second;
  for (int i = 0; is_new && i < upb_MessageDef_FieldCount(def); ++i) {
    const Field field(upb_MessageDef_Field(def, i));
    if (upb_FieldDef_IsRequired(field.def)) made->required.push_back(field);
    if (!upb_FieldDef_IsSubMessage(field.def)) continue;
    made->inside.emplace_back(field, make_checklist(field.message(), all));
  }
  return made;
}

// The path of the first missing required field, or "". upb offers two searches: one reports only the last message, the
// other stores every path, which is too many for a hostile file.
std::string missing_field(const Message* m, const Checklist& list) {
  for (const Field& field : list.required) {
    if (!has(m, field)) return field.name();
  }
  for (const auto& [field, below] : list.inside) {
    if (!field.is_list() && !has(m, field)) continue;
    for (size_t i = 0, n = field.is_list() ? size_of_list(m, field) : 1; i < n; ++i) {
      const Value value = get(m, field);
      const std::string missing =
          missing_field(field.is_list() ? upb_Array_Get(value.array_val, i).msg_val : value.msg_val, *below);
      if (missing.empty()) continue;
      const std::string index = field.is_list() ? text("[", i, "]") : "";
      return text(field.name(), index, ".", missing);
    }
  }
  return {};
}

}  // namespace

Checklists all_checklists(const upb_MessageDef* root) {
  Checklists all;
  make_checklist(root, &all);
  return all;
}

upb_DefPool* load_framework_desc() {
  wire::Arena arena = new_arena();
  const auto* files = checked(google_protobuf_FileDescriptorSet_parse(reinterpret_cast<const char*>(kFrameworkDesc),
                                                                      kFrameworkDescSize, arena.get()));
  size_t count = 0;
  const auto* const* file = google_protobuf_FileDescriptorSet_file(files, &count);
  std::unique_ptr<upb_DefPool, decltype(&upb_DefPool_Free)> pool(checked(upb_DefPool_New()), &upb_DefPool_Free);
  upb_Status status;  // the file is a part of this library, so it has no errors but exhausted memory
  for (size_t i = 0; i < count; ++i) {
    upb_Status_Clear(&status);
    checked(upb_DefPool_AddFile(pool.get(), file[i], &status));
  }
  return pool.release();
}

const Format& format() {
  static const Format once;
  return once;
}

size_t size_of_list(const Message* m, Field f) {
  const upb_Array* list = get(m, f).array_val;
  return list ? upb_Array_Size(list) : 0;
}

// The messages are owned by this file, so removing fields from them is allowed.
Message* submessage(Message* m, Field f) { return const_cast<Message*>(get(m, f).msg_val); }

Message* element(Message* m, Field f, size_t i) {
  return const_cast<Message*>(upb_Array_Get(get(m, f).array_val, i).msg_val);
}

Message* new_submessage(Message* m, Field f, upb_Arena* arena) {
  return checked(upb_Message_Mutable(m, f.def, arena).msg);
}

bool is_empty(const Message* m, const upb_MessageDef* def) {
  size_t at = kUpb_Message_Begin;
  const upb_FieldDef* field;
  Value value;
  return !upb_Message_HasUnknown(m) && !upb_Message_Next(m, def, nullptr, &field, &value, &at);
}

void clear_if_empty(Message* m, Field f) {
  if (has(m, f) && is_empty(get(m, f).msg_val, f.message())) clear(m, f);
}

std::string bytes_of(const Message* m, const Kind& kind, upb_Arena* arena) {
  if (is_empty(m, kind.def)) return {};
  char* bytes = nullptr;
  size_t size = 0;
  const auto status = upb_Encode(m, upb_MessageDef_MiniTable(kind.def), 0, arena, &bytes, &size);
  require<ProgramError>(status == kUpb_EncodeStatus_Ok, "cannot write a ", kind.name, ": ",
                        upb_EncodeStatus_String(status));
  return std::string(bytes, size);
}

Message* parse(std::string_view bytes, const Kind& kind, upb_Arena* arena) {
  const upb_MiniTable* table = upb_MessageDef_MiniTable(kind.def);
  Message* m = checked(upb_Message_New(table, arena));
  if (bytes.empty()) return m;
  const auto status = upb_Decode(bytes.data(), bytes.size(), m, table, nullptr,
                                 kUpb_DecodeOption_AliasString | kUpb_DecodeOption_AlwaysValidateUtf8, arena);
  if (status == kUpb_DecodeStatus_OutOfMemory) throw std::bad_alloc();
  require<ProgramError>(status == kUpb_DecodeStatus_Ok, "the bytes are not a ", kind.name, ": ",
                        status == kUpb_DecodeStatus_Malformed ? "cut off or not this format"
                                                              : upb_DecodeStatus_String(status));
  return m;
}

Message* parse_complete(std::string_view bytes, const Kind& kind, upb_Arena* arena) {
  require<ProgramError>(!bytes.empty(), "the bytes are not a ", kind.name, ": empty");
  Message* m = parse(bytes, kind, arena);
  const std::string missing = missing_field(m, format().checklists.at(kind.def));
  require<ProgramError>(missing.empty(), "the bytes are not a ", kind.name, ": ", missing, " is missing");
  return m;
}

}  // namespace wire
}  // namespace paddle_mini
