// Parses messages by upb with the definitions in proto/optimizer.desc. Only this file of the library uses upb.
#include "optimizer/config_message.h"

#include <cmath>

#include "core/error.h"

// upb reads a field by memcpy of its size into a union, which g++ reports as uninitialized.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "google/protobuf/descriptor.upb.h"
#include "upb/mem/arena.h"
#include "upb/message/array.h"
#include "upb/message/message.h"
#include "upb/reflection/def.h"
#include "upb/reflection/message.h"
#include "upb/wire/decode.h"
#pragma GCC diagnostic pop

namespace paddle_mini {

extern const unsigned char kOptimizerDesc[];
extern const size_t kOptimizerDescSize;

namespace {

constexpr size_t kLargest = size_t{1} << 20;  // bytes of a configuration

struct ArenaDeleter {
  void operator()(upb_Arena* arena) const { upb_Arena_Free(arena); }
};
using Arena = std::unique_ptr<upb_Arena, ArenaDeleter>;

template <class T>
T checked(T memory) {
  require<DeviceError>(memory, "out of memory while reading a configuration");
  return memory;
}

// Never freed: definitions live as long as the process.
const upb_MessageDef* load_definition() {
  Arena arena(checked(upb_Arena_New()));
  const auto* files = checked(google_protobuf_FileDescriptorSet_parse(reinterpret_cast<const char*>(kOptimizerDesc),
                                                                      kOptimizerDescSize, arena.get()));
  size_t count = 0;
  const auto* const* file = google_protobuf_FileDescriptorSet_file(files, &count);
  upb_DefPool* pool = checked(upb_DefPool_New());
  upb_Status status;
  upb_Status_Clear(&status);
  for (size_t i = 0; i < count; ++i) {
    bool added = upb_DefPool_AddFile(pool, file[i], &status) != nullptr;
    require<ProgramError>(added, "optimizer.desc: ", upb_Status_ErrorMessage(&status));
  }
  return checked(upb_DefPool_FindMessageByName(pool, "paddle.OptimizerConfig"));
}

const upb_MessageDef* as_def(const void* def) { return static_cast<const upb_MessageDef*>(def); }
const upb_Message* as_message(const void* message) { return static_cast<const upb_Message*>(message); }

const upb_FieldDef* field_of(const void* def, const char* name) {
  const upb_FieldDef* field = upb_MessageDef_FindFieldByName(as_def(def), name);
  require<ProgramError>(field, "optimizer.proto has no field ", upb_MessageDef_Name(as_def(def)), ".", name);
  return field;
}

upb_MessageValue value_of(const void* message, const upb_FieldDef* field) {
  return message ? upb_Message_GetFieldByDef(as_message(message), field) : upb_FieldDef_Default(field);
}

// A closed enum stores unknown values among the unknown fields, so this rejects them too.
void refuse_unknown(const upb_Message* message, const upb_MessageDef* def, const std::string& path) {
  bool known = !upb_Message_HasUnknown(message);
  require<ProgramError>(known, "the configuration has fields or values that are unknown to this version",
                        path.empty() ? "" : " in ", path);
  size_t at = kUpb_Message_Begin;
  const upb_FieldDef* field;
  upb_MessageValue value;
  while (upb_Message_Next(message, def, nullptr, &field, &value, &at)) {
    if (!upb_FieldDef_IsSubMessage(field)) continue;
    const upb_MessageDef* inner = upb_FieldDef_MessageSubDef(field);
    std::string name = path.empty() ? upb_FieldDef_Name(field) : path + "." + upb_FieldDef_Name(field);
    if (!upb_FieldDef_IsRepeated(field)) {
      refuse_unknown(value.msg_val, inner, name);
      continue;
    }
    for (size_t i = 0; i < upb_Array_Size(value.array_val); ++i) {
      refuse_unknown(upb_Array_Get(value.array_val, i).msg_val, inner, text(name, "[", i, "]"));
    }
  }
}

}  // namespace

struct ConfigMessage::Parsed {
  std::string bytes;
  Arena arena;
};

ConfigMessage::ConfigMessage(std::shared_ptr<const Parsed> parsed, const void* message, const void* def,
                             std::string path)
    : parsed_(std::move(parsed)), message_(message), def_(def), path_(std::move(path)) {}

ConfigMessage ConfigMessage::parse(std::string_view bytes) {
  static const upb_MessageDef* const def = load_definition();
  require<ProgramError>(!bytes.empty(), "the configuration is empty");
  require<ProgramError>(bytes.size() <= kLargest, "the configuration has ", bytes.size(), " bytes, at most ", kLargest,
                        " are read");
  auto parsed = std::make_shared<Parsed>();
  parsed->bytes = bytes;
  parsed->arena = Arena(checked(upb_Arena_New()));
  const upb_MiniTable* table = upb_MessageDef_MiniTable(def);
  upb_Message* message = checked(upb_Message_New(table, parsed->arena.get()));
  auto status = upb_Decode(parsed->bytes.data(), parsed->bytes.size(), message, table, nullptr,
                           kUpb_DecodeOption_AliasString, parsed->arena.get());
  require<ProgramError>(status == kUpb_DecodeStatus_Ok, "the bytes are not an OptimizerConfig: ",
                        status == kUpb_DecodeStatus_Malformed ? "cut off or not this format"
                                                              : upb_DecodeStatus_String(status));
  refuse_unknown(message, def, "");
  return ConfigMessage(std::move(parsed), message, def, "");
}

bool ConfigMessage::has(const char* name) const {
  const upb_FieldDef* field = field_of(def_, name);
  return message_ && upb_Message_HasFieldByDef(as_message(message_), field);
}

double ConfigMessage::number(const char* name) const {
  double value = value_of(message_, field_of(def_, name)).double_val;
  require<ProgramError>(std::isfinite(value), path_of(name), " is ", value, ", it must be finite");
  return value;
}

int64_t ConfigMessage::integer(const char* name) const {
  const upb_FieldDef* field = field_of(def_, name);
  upb_MessageValue value = value_of(message_, field);
  switch (upb_FieldDef_CType(field)) {
    case kUpb_CType_UInt32: return value.uint32_val;
    case kUpb_CType_UInt64:
      require<ProgramError>(value.uint64_val <= INT64_MAX, path_of(name), " is ", value.uint64_val, ", too large");
      return static_cast<int64_t>(value.uint64_val);
    default: return value.int64_val;
  }
}

bool ConfigMessage::flag(const char* name) const { return value_of(message_, field_of(def_, name)).bool_val; }

int ConfigMessage::choice(const char* name) const { return value_of(message_, field_of(def_, name)).int32_val; }

std::string ConfigMessage::choice_name(const char* name) const {
  const upb_FieldDef* field = field_of(def_, name);
  const upb_EnumValueDef* value = upb_EnumDef_FindValueByNumber(upb_FieldDef_EnumSubDef(field), choice(name));
  return value ? upb_EnumValueDef_Name(value) : text(choice(name));
}

ConfigMessage ConfigMessage::message(const char* name) const {
  const upb_FieldDef* field = field_of(def_, name);
  const void* inner = has(name) ? value_of(message_, field).msg_val : nullptr;
  return ConfigMessage(parsed_, inner, upb_FieldDef_MessageSubDef(field), path_of(name));
}

std::vector<ConfigMessage> ConfigMessage::list(const char* name) const {
  const upb_FieldDef* field = field_of(def_, name);
  const upb_Array* array = value_of(message_, field).array_val;
  std::vector<ConfigMessage> all;
  for (size_t i = 0, n = array ? upb_Array_Size(array) : 0; i < n; ++i) {
    const void* element = upb_Array_Get(array, i).msg_val;
    all.push_back(ConfigMessage(parsed_, element, upb_FieldDef_MessageSubDef(field), text(path_of(name), "[", i, "]")));
  }
  return all;
}

std::vector<std::string> ConfigMessage::messages() const {
  std::vector<std::string> names;
  for (int i = 0, n = upb_MessageDef_FieldCount(as_def(def_)); i < n; ++i) {
    const upb_FieldDef* field = upb_MessageDef_Field(as_def(def_), i);
    if (!upb_FieldDef_IsSubMessage(field) || upb_FieldDef_IsRepeated(field)) continue;
    if (has(upb_FieldDef_Name(field))) names.push_back(upb_FieldDef_Name(field));
  }
  return names;
}

}  // namespace paddle_mini
