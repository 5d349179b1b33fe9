// codec: the bytes of proto/framework.proto to plain structs and back; the only file that sees upb.
//
// Decoding moves fields out of the parsed message. What the structs cannot say (fields of later
// versions, notes of other tools, a default that is stated) is still in the message afterwards: its
// bytes are `unknown`, and encoding begins by merging them, so a file comes back byte for byte.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/error.h"
#include "program/program.h"

// upb reads a field by memcpy of its size into a union, which g++ takes for uninitialized.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include "google/protobuf/descriptor.upb.h"
#include "upb/mem/arena.h"
#include "upb/message/accessors.h"
#include "upb/message/array.h"
#include "upb/message/message.h"
#include "upb/reflection/def.h"
#include "upb/reflection/message.h"
#include "upb/wire/decode.h"
#include "upb/wire/encode.h"
#pragma GCC diagnostic pop

namespace paddle_mini {
extern const unsigned char kFrameworkDesc[];  // proto/framework.desc, embedded by the build
extern const size_t kFrameworkDescSize;

namespace {

using Message = upb_Message;
using Value = upb_MessageValue;

constexpr size_t kLargestProgram = size_t{64} << 20;

struct ArenaDeleter {
  void operator()(upb_Arena* arena) const { upb_Arena_Free(arena); }
};
using Arena = std::unique_ptr<upb_Arena, ArenaDeleter>;

template <class T>
T checked(T memory) {
  require<DeviceError>(memory, "out of memory while reading or writing a program");
  return memory;
}

Arena new_arena() { return Arena(checked(upb_Arena_New())); }

// ---- The definitions in framework.desc, looked up once ----

struct Field {
  const upb_FieldDef* def = nullptr;
  const upb_MiniTableField* place = nullptr;  // where it is in a message: the fast way to it
  Field() = default;
  explicit Field(const upb_FieldDef* f) : def(f), place(upb_FieldDef_MiniTable(f)) {}
  const char* name() const { return upb_FieldDef_Name(def); }
  const upb_MessageDef* message() const { return upb_FieldDef_MessageSubDef(def); }
  bool is_list() const { return upb_MiniTableField_IsArray(place); }
};

struct Kind {
  const upb_MessageDef* def;
  const char* name;
  Kind(upb_DefPool* pool, const char* of)
      : def(upb_DefPool_FindMessageByName(pool, text("paddle.framework.proto.", of).c_str())),
        name(of) {
    require<ProgramError>(def, "framework.desc has no message ", of);
  }
  Field field(const char* of) const {
    const upb_FieldDef* found = upb_MessageDef_FindFieldByName(def, of);
    require<ProgramError>(found, "framework.desc has no field ", name, ".", of);
    return Field(found);
  }
};

// What a search for missing fields has to look at in one message type.
struct Checklist {
  std::vector<Field> required;
  std::vector<std::pair<Field, const Checklist*>> inside;
};
using Checklists = std::map<const upb_MessageDef*, Checklist>;

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

Checklists all_checklists(const upb_MessageDef* root) {
  Checklists all;
  make_checklist(root, &all);
  return all;
}

upb_DefPool* load_framework_desc() {
  Arena arena = new_arena();
  const auto* files = checked(google_protobuf_FileDescriptorSet_parse(
      reinterpret_cast<const char*>(kFrameworkDesc), kFrameworkDescSize, arena.get()));
  size_t count = 0;
  const auto* const* file = google_protobuf_FileDescriptorSet_file(files, &count);
  upb_DefPool* pool = checked(upb_DefPool_New());
  upb_Status status;
  upb_Status_Clear(&status);
  for (size_t i = 0; i < count; ++i) {
    require<ProgramError>(upb_DefPool_AddFile(pool, file[i], &status),
                          "framework.desc: ", upb_Status_ErrorMessage(&status));
  }
  return pool;
}

// PaddlePaddle's kinds of variable that have a tensor desc, and the way to it inside VarType.
struct Door {
  VarKind kind;
  Field field;
  Field tensor;  // not for SELECTED_ROWS, which describes its matrix directly
  Field lod_level;
  bool is_direct() const { return !tensor.def; }
};

struct Format {
  upb_DefPool* pool = load_framework_desc();  // never freed: definitions live with the process
  Kind program{pool, "ProgramDesc"}, version{pool, "Version"}, version_map{pool, "OpVersionMap"},
      version_pair{pool, "OpVersionMap.OpVersionPair"}, op_version{pool, "OpVersion"},
      block{pool, "BlockDesc"}, op{pool, "OpDesc"}, slot{pool, "OpDesc.Var"},
      attr{pool, "OpDesc.Attr"}, scalar{pool, "Scalar"}, complex{pool, "Complex"},
      var{pool, "VarDesc"}, var_type{pool, "VarType"}, tensor{pool, "VarType.TensorDesc"},
      lod_tensor{pool, "VarType.LoDTensorDesc"}, array{pool, "VarType.LoDTensorArrayDesc"};

  Field program_blocks = program.field("blocks"), program_version = program.field("version"),
        program_op_versions = program.field("op_version_map");
  Field version_number = version.field("version"), pairs = version_map.field("pair");
  Field pair_name = version_pair.field("op_name"), pair_version = version_pair.field("op_version");
  Field op_version_number = op_version.field("version");
  Field block_idx = block.field("idx"), block_parent = block.field("parent_idx"),
        block_forward = block.field("forward_block_idx"), block_vars = block.field("vars"),
        block_ops = block.field("ops");
  Field op_type = op.field("type"), op_inputs = op.field("inputs"),
        op_outputs = op.field("outputs"), op_attrs = op.field("attrs"),
        op_is_target = op.field("is_target");
  Field slot_name = slot.field("parameter"), slot_arguments = slot.field("arguments");
  Field attr_name = attr.field("name"), attr_type = attr.field("type");
  std::array<Field, std::variant_size_v<AttrValue>> attr_payload = {
      attr.field("i"),         attr.field("f"),         attr.field("s"),
      attr.field("ints"),      attr.field("floats"),    attr.field("strings"),
      attr.field("b"),         attr.field("bools"),     attr.field("block_idx"),
      attr.field("l"),         attr.field("blocks_idx"), attr.field("longs"),
      attr.field("float64s"),  attr.field("var_name"),  attr.field("vars_name"),
      attr.field("float64"),   attr.field("scalar"),    attr.field("scalars")};
  Field scalar_type = scalar.field("type"), complex_r = complex.field("r"),
        complex_i = complex.field("i");
  std::array<Field, std::variant_size_v<ScalarValue>> scalar_payload = {
      scalar.field("b"), scalar.field("i"), scalar.field("r"), scalar.field("c")};
  Field var_name = var.field("name"), type_of_var = var.field("type"),
        var_persistable = var.field("persistable"), var_check_feed = var.field("need_check_feed"),
        var_is_parameter = var.field("is_parameter"),
        var_stop_gradient = var.field("stop_gradient");
  Field kind_of_type = var_type.field("type");
  Field tensor_dtype = tensor.field("data_type"), tensor_dims = tensor.field("dims");
  std::array<Door, 3> doors = {
      Door{VarKind::Tensor, var_type.field("lod_tensor"), lod_tensor.field("tensor"),
           lod_tensor.field("lod_level")},
      Door{VarKind::SelectedRows, var_type.field("selected_rows"), Field(), Field()},
      Door{VarKind::TensorArray, var_type.field("tensor_array"), array.field("tensor"),
           array.field("lod_level")}};
  Checklists checklists = all_checklists(program.def);
};

const Format& format() {
  static const Format once;
  return once;
}

// ---- Messages ----

bool has(const Message* m, Field f) { return upb_Message_HasBaseField(m, f.place); }
Value get(const Message* m, Field f) { return upb_Message_GetField(m, f.place, Value{}); }
void clear(Message* m, Field f) { upb_Message_ClearBaseField(m, f.place); }
std::string string_of(Value v) { return std::string(v.str_val.data, v.str_val.size); }

size_t size_of_list(const Message* m, Field f) {
  const upb_Array* list = get(m, f).array_val;
  return list ? upb_Array_Size(list) : 0;
}

// The messages are this file's own, so that taking fields out of them is allowed.
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

// A message holding what `bytes` say; they must outlive it.
Message* parse(std::string_view bytes, const Kind& kind, upb_Arena* arena) {
  const upb_MiniTable* table = upb_MessageDef_MiniTable(kind.def);
  Message* m = checked(upb_Message_New(table, arena));
  if (bytes.empty()) return m;
  const auto status = upb_Decode(
      bytes.data(), bytes.size(), m, table, nullptr,
      kUpb_DecodeOption_AliasString | kUpb_DecodeOption_AlwaysValidateUtf8, arena);
  require<ProgramError>(status == kUpb_DecodeStatus_Ok, "the bytes are not a ", kind.name, ": ",
                        status == kUpb_DecodeStatus_Malformed ? "cut off or not this format"
                                                              : upb_DecodeStatus_String(status));
  return m;
}

// The path of the first required field that is not there; empty when all are. upb has two searches:
// one reports the last message only, the other remembers every path, too many in a hostile file.
std::string missing_field(const Message* m, const Checklist& list) {
  for (const Field& field : list.required) {
    if (!has(m, field)) return field.name();
  }
  for (const auto& [field, below] : list.inside) {
    if (!field.is_list() && !has(m, field)) continue;
    for (size_t i = 0, n = field.is_list() ? size_of_list(m, field) : 1; i < n; ++i) {
      const Value value = get(m, field);
      const std::string missing = missing_field(
          field.is_list() ? upb_Array_Get(value.array_val, i).msg_val : value.msg_val, *below);
      if (missing.empty()) continue;
      const std::string index = field.is_list() ? text("[", i, "]") : "";
      return text(field.name(), index, ".", missing);
    }
  }
  return {};
}

Message* parse_complete(std::string_view bytes, const Kind& kind, upb_Arena* arena) {
  require<ProgramError>(!bytes.empty(), "the bytes are not a ", kind.name, ": empty");
  Message* m = parse(bytes, kind, arena);
  const std::string missing = missing_field(m, format().checklists.at(kind.def));
  require<ProgramError>(missing.empty(), "the bytes are not a ", kind.name, ": ", missing,
                        " is missing");
  return m;
}

// ---- Values: one C++ type, one field ----

template <class T>
struct List : std::false_type {};
template <class T>
struct List<std::vector<T>> : std::true_type { using Element = T; };

ScalarValue read_scalar(const Message* m);
Message* write_scalar(const ScalarValue& scalar, upb_Arena* arena);

template <class T>
T from(Value v) {
  if constexpr (std::is_same_v<T, bool>) return v.bool_val;
  else if constexpr (std::is_same_v<T, int32_t>) return v.int32_val;
  else if constexpr (std::is_same_v<T, int64_t>) return v.int64_val;
  else if constexpr (std::is_same_v<T, float>) return v.float_val;
  else if constexpr (std::is_same_v<T, double>) return v.double_val;
  else if constexpr (std::is_same_v<T, std::string>) return string_of(v);
  else if constexpr (std::is_same_v<T, BlockIndex>) return BlockIndex{v.int32_val};
  else if constexpr (std::is_same_v<T, VarName>) return VarName{string_of(v)};
  else if constexpr (std::is_same_v<T, std::complex<double>>)
    return {get(v.msg_val, format().complex_r).double_val,
            get(v.msg_val, format().complex_i).double_val};
  else return read_scalar(v.msg_val);
}

// Strings are not copied: `x` must live until the message is written.
template <class T>
Value to(const T& x, upb_Arena* arena) {
  Value v{};
  if constexpr (std::is_same_v<T, bool>) v.bool_val = x;
  else if constexpr (std::is_same_v<T, int32_t>) v.int32_val = x;
  else if constexpr (std::is_same_v<T, int64_t>) v.int64_val = x;
  else if constexpr (std::is_same_v<T, float>) v.float_val = x;
  else if constexpr (std::is_same_v<T, double>) v.double_val = x;
  else if constexpr (std::is_same_v<T, std::string>) v.str_val = {x.data(), x.size()};
  else if constexpr (std::is_same_v<T, BlockIndex>) v.int32_val = x.index;
  else if constexpr (std::is_same_v<T, VarName>) v.str_val = {x.name.data(), x.name.size()};
  else if constexpr (std::is_same_v<T, std::complex<double>>) {
    Message* m = parse({}, format().complex, arena);
    upb_Message_SetFieldByDef(m, format().complex_r.def, to(x.real(), arena), arena);
    upb_Message_SetFieldByDef(m, format().complex_i.def, to(x.imag(), arena), arena);
    v.msg_val = m;
  } else v.msg_val = write_scalar(x, arena);
  return v;
}

// A field as T, a list or a single value.
template <class T>
T read(const Message* m, Field f) {
  if constexpr (List<T>::value) {
    T list;
    const upb_Array* array = get(m, f).array_val;
    const size_t size = array ? upb_Array_Size(array) : 0;
    list.reserve(size);
    for (size_t i = 0; i < size; ++i) {
      list.push_back(from<typename List<T>::Element>(upb_Array_Get(array, i)));
    }
    return list;
  } else {
    return from<T>(get(m, f));
  }
}

upb_Array* new_list(Message* m, Field f, upb_Arena* arena) {
  clear(m, f);
  return checked(upb_Message_Mutable(m, f.def, arena).array);
}

template <class T>
void write(Message* m, Field f, const T& value, upb_Arena* arena) {
  if constexpr (List<T>::value) {
    if (value.empty()) return clear(m, f);
    upb_Array* array = new_list(m, f, arena);
    for (size_t i = 0; i < value.size(); ++i) {
      checked(upb_Array_Append(array, to<typename List<T>::Element>(value[i], arena), arena));
    }
  } else {
    const Value v = to(value, arena);
    upb_Message_SetBaseField(m, f.place, &v);
  }
}

template <class T>
T take(Message* m, Field f) {
  T value = read<T>(m, f);
  clear(m, f);
  return value;
}

// An optional field with a default, held by `to`. A file may state the default or leave it out: a
// stated one stays in the message, and so comes back.
template <class T>
void take_unless_default(Message* m, Field f, T* to) {
  if (has(m, f) && read<T>(m, f) != *to) *to = take<T>(m, f);
}

template <class T>
void write_unless(const T& absent, Message* m, Field f, const T& value, upb_Arena* arena) {
  if (value != absent) {
    write(m, f, value, arena);
  } else if (has(m, f) && read<T>(m, f) != absent) {
    clear(m, f);
  }
}

template <class T>
void take_optional(Message* m, Field f, std::optional<T>* to) {
  if (has(m, f)) *to = take<T>(m, f);
}

template <class T>
void write_optional(Message* m, Field f, const std::optional<T>& value, upb_Arena* arena) {
  if (value) write(m, f, *value, arena);
}

// Names reach C interfaces and file systems, where a NUL would cut them.
void check_name(const std::string& name) {
  if (name.find('\0') == std::string::npos) return;
  fail<ProgramError>("the name '", printable(name), "' has a NUL byte in it");
}

std::string read_name(const Message* m, Field f) {
  std::string name = read<std::string>(m, f);
  check_name(name);
  return name;
}

// PaddlePaddle itself writes some attributes twice (use_mkldnn of reshape2), with the same value.
template <class Thing, class Same>
void refuse_two_meanings(const std::vector<Thing>& things, const char* what, Same same) {
  std::vector<const Thing*> sorted;
  for (const Thing& thing : things) sorted.push_back(&thing);
  std::sort(sorted.begin(), sorted.end(),
            [](const Thing* a, const Thing* b) { return a->name < b->name; });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->name != sorted[i]->name || same(*sorted[i - 1], *sorted[i])) continue;
    fail<ProgramError>(what, " '", printable(sorted[i]->name), "' is there twice");
  }
}

// The payload that `type` names is the only one present; a list may be empty, and then is absent.
template <size_t N>
void check_payload(const Message* m, const std::array<Field, N>& payload, size_t type,
                   const char* type_name) {
  const auto is_present = [&](Field f) { return f.is_list() ? size_of_list(m, f) > 0 : has(m, f); };
  for (size_t i = 0; i < N; ++i) {
    if (i == type || !is_present(payload[i])) continue;
    fail<ProgramError>("is ", type_name, " but has a value in ", payload[i].name());
  }
  if (payload[type].is_list() || has(m, payload[type])) return;
  fail<ProgramError>("is ", type_name, " but has no value in ", payload[type].name());
}

template <class Variant, size_t... I>
Variant read_payload(const Message* m, const std::array<Field, sizeof...(I)>& payload, size_t type,
                     std::index_sequence<I...>) {
  Variant value;
  ((I == type && (value.template emplace<I>(
                      read<std::variant_alternative_t<I, Variant>>(m, payload[I])), true)) || ...);
  return value;
}

ScalarValue read_scalar(const Message* m) {
  const auto& f = format();
  const size_t type = static_cast<size_t>(get(m, f.scalar_type).int32_val - 1);
  static const char* const names[] = {"a BOOLEAN scalar", "a LONG scalar", "a FLOAT64 scalar",
                                      "a COMPLEX128 scalar"};
  check_payload(m, f.scalar_payload, type, names[type]);
  require<ProgramError>(!upb_Message_HasUnknown(m), "has a scalar with fields of a later format");
  return read_payload<ScalarValue>(m, f.scalar_payload, type, std::make_index_sequence<4>());
}

Message* write_scalar(const ScalarValue& scalar, upb_Arena* arena) {
  const auto& f = format();
  Message* m = parse({}, f.scalar, arena);
  write(m, f.scalar_type, static_cast<int32_t>(scalar.index() + 1), arena);
  std::visit([&](const auto& x) { write(m, f.scalar_payload[scalar.index()], x, arena); }, scalar);
  return m;
}

// ---- Operators ----

// Ends the reading of a list of named things: only those with fields of later versions stay,
// reduced to these fields and the name, by which write_list finds them again.
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
void write_list(Message* m, Field list, const Kind& kind, Field name, const Things& things,
                upb_Arena* arena, Write write_thing) {
  std::vector<Message*> kept;
  for (size_t i = 0, n = size_of_list(m, list); i < n; ++i) kept.push_back(element(m, list, i));
  if (things.empty()) return clear(m, list);
  upb_Array* array = new_list(m, list, arena);
  for (const auto& thing : things) {
    const auto same = std::find_if(kept.begin(), kept.end(), [&](const Message* k) {
      return read<std::string>(k, name) == thing.name;
    });
    Value value;
    Message* written = same != kept.end() ? *same : parse({}, kind, arena);
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
    attr.value = read_payload<AttrValue>(
        m, f.attr_payload, type, std::make_index_sequence<std::variant_size_v<AttrValue>>());
  } catch (const ProgramError& e) {
    fail<ProgramError>("attribute '", printable(attr.name), "' ", e.what());
  }
  return attr;
}

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
  refuse_two_meanings(op.attrs, "attribute",
                      [](const Attr& a, const Attr& b) { return a.value == b.value; });
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
    std::visit([&](const auto& x) { write(to, f.attr_payload[a.value.index()], x, arena); },
               a.value);
  });
  write_unless(false, m, f.op_is_target, op.is_target, arena);
  return m;
}

// ---- Variables ----

const Door* door_of(int32_t kind) {
  for (const Door& door : format().doors) {
    if (static_cast<int32_t>(door.kind) == kind) return &door;
  }
  return nullptr;
}

void take_tensor(Message* type, const Door& door, VarDesc* var) {
  const auto& f = format();
  Message* around = submessage(type, door.field);
  Message* tensor = door.is_direct() ? around : submessage(around, door.tensor);
  var->has_tensor = true;
  var->dtype = take<int32_t>(tensor, f.tensor_dtype);
  var->dims = take<std::vector<int64_t>>(tensor, f.tensor_dims);
  if (!door.is_direct()) {
    clear_if_empty(around, door.tensor);
    take_unless_default(around, door.lod_level, &var->lod_level);
  }
  clear_if_empty(type, door.field);
}

void write_tensor(const VarDesc& var, const Door& door, Message* type, upb_Arena* arena) {
  const auto& f = format();
  Message* around = new_submessage(type, door.field, arena);
  Message* tensor =
      door.is_direct() ? around : new_submessage(around, door.tensor, arena);
  write(tensor, f.tensor_dtype, var.dtype, arena);
  write(tensor, f.tensor_dims, var.dims, arena);
  if (!door.is_direct()) write_unless(0, around, door.lod_level, var.lod_level, arena);
}

VarDesc take_var(Message* m, upb_Arena* arena) {
  const auto& f = format();
  VarDesc var;
  var.name = read_name(m, f.var_name);
  clear(m, f.var_name);
  Message* type = submessage(m, f.type_of_var);
  var.kind = take<int32_t>(type, f.kind_of_type);
  const Door* door = door_of(var.kind);
  if (door && has(type, door->field)) take_tensor(type, *door, &var);
  clear_if_empty(m, f.type_of_var);
  take_unless_default(m, f.var_persistable, &var.persistable);
  take_unless_default(m, f.var_check_feed, &var.need_check_feed);
  take_optional(m, f.var_is_parameter, &var.is_parameter);
  take_optional(m, f.var_stop_gradient, &var.stop_gradient);
  var.unknown = bytes_of(m, f.var, arena);
  return var;
}

Message* write_var(const VarDesc& var, upb_Arena* arena) {
  const auto& f = format();
  Message* m = parse(var.unknown, f.var, arena);
  write(m, f.var_name, var.name, arena);
  Message* type = new_submessage(m, f.type_of_var, arena);
  write(type, f.kind_of_type, var.kind, arena);
  const Door* own = door_of(var.kind);
  if (own && var.has_tensor) write_tensor(var, *own, type, arena);
  // After a change of kind, what `unknown` keeps for the old kind has lost its tensor desc.
  for (const Door& door : f.doors) {
    if (!has(type, door.field)) continue;
    const Message* around = get(type, door.field).msg_val;
    if (!has(around, door.is_direct() ? f.tensor_dtype : door.tensor)) clear(type, door.field);
  }
  write_unless(false, m, f.var_persistable, var.persistable, arena);
  write_unless(false, m, f.var_check_feed, var.need_check_feed, arena);
  write_optional(m, f.var_is_parameter, var.is_parameter, arena);
  write_optional(m, f.var_stop_gradient, var.stop_gradient, arena);
  return m;
}

// ---- Blocks and programs ----

// Reads every element of a list and empties it; an error says which element it was.
template <class T, class Take>
std::vector<T> take_all(Message* m, Field list, const char* joint, Take take_one) {
  std::vector<T> all;
  const size_t size = size_of_list(m, list);
  all.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    try {
      all.push_back(take_one(element(m, list, i)));
    } catch (const ProgramError& e) {
      fail<ProgramError>(list.name(), "[", i, "]", joint, e.what());
    }
  }
  clear(m, list);
  return all;
}

template <class Things, class Write>
void write_all(Message* m, Field list, const Things& things, upb_Arena* arena, Write write_one) {
  if (things.empty()) return;
  upb_Array* array = new_list(m, list, arena);
  for (const auto& thing : things) {
    Value value;
    value.msg_val = write_one(thing);
    checked(upb_Array_Append(array, value, arena));
  }
}

BlockDesc take_block(Message* m, upb_Arena* arena) {
  const auto& f = format();
  BlockDesc block;
  block.idx = take<int32_t>(m, f.block_idx);
  block.parent_idx = take<int32_t>(m, f.block_parent);
  take_unless_default(m, f.block_forward, &block.forward_block_idx);
  block.vars = take_all<VarDesc>(m, f.block_vars, ": ",
                                 [&](Message* v) { return take_var(v, arena); });
  block.ops = take_all<OpDesc>(m, f.block_ops, ": ", [&](Message* o) { return take_op(o, arena); });
  block.unknown = bytes_of(m, f.block, arena);
  return block;
}

Message* write_block(const BlockDesc& block, upb_Arena* arena) {
  const auto& f = format();
  Message* m = parse(block.unknown, f.block, arena);
  write(m, f.block_idx, block.idx, arena);
  write(m, f.block_parent, block.parent_idx, arena);
  write_unless(-1, m, f.block_forward, block.forward_block_idx, arena);
  write_all(m, f.block_vars, block.vars, arena, [&](const auto& v) { return write_var(v, arena); });
  write_all(m, f.block_ops, block.ops, arena, [&](const auto& o) { return write_op(o, arena); });
  return m;
}

using NamedVersion = std::pair<std::string, int32_t>;

void take_versions(Message* m, ProgramDesc* program) {
  const auto& f = format();
  if (has(m, f.program_version)) {
    take_optional(submessage(m, f.program_version), f.version_number, &program->version);
    if (program->version) clear_if_empty(m, f.program_version);
  }
  if (!has(m, f.program_op_versions)) return;
  Message* map = submessage(m, f.program_op_versions);
  program->op_versions = take_all<NamedVersion>(map, f.pairs, ": ", [&](Message* pair) {
    Message* version = submessage(pair, f.pair_version);
    require<ProgramError>(!upb_Message_HasUnknown(pair) && !upb_Message_HasUnknown(version),
                          "has fields of a later format");
    return NamedVersion(read_name(pair, f.pair_name), read<int32_t>(version, f.op_version_number));
  });
  if (!program->op_versions.empty()) clear_if_empty(m, f.program_op_versions);
}

void write_versions(const ProgramDesc& program, Message* m, upb_Arena* arena) {
  const auto& f = format();
  if (program.version) {
    Message* version = new_submessage(m, f.program_version, arena);
    write(version, f.version_number, *program.version, arena);
  }
  if (program.op_versions.empty()) return;
  Message* map = new_submessage(m, f.program_op_versions, arena);
  write_all(map, f.pairs, program.op_versions, arena, [&](const NamedVersion& named) {
    Message* pair = parse({}, f.version_pair, arena);
    write(pair, f.pair_name, named.first, arena);
    Message* version = new_submessage(pair, f.pair_version, arena);
    write(version, f.op_version_number, named.second, arena);
    return pair;
  });
}

}  // namespace

ProgramDesc decode_program(std::string_view bytes) {
  require<ProgramError>(bytes.size() <= kLargestProgram, "a program of ", bytes.size(),
                        " bytes; the largest that is read has ", kLargestProgram);
  const auto& f = format();
  Arena arena = new_arena();
  Message* m = parse_complete(bytes, f.program, arena.get());
  ProgramDesc program;
  program.blocks = take_all<BlockDesc>(m, f.program_blocks, ".",
                                       [&](Message* b) { return take_block(b, arena.get()); });
  require<ProgramError>(!program.blocks.empty(), "the bytes are not a ProgramDesc: no blocks");
  take_versions(m, &program);
  program.unknown = bytes_of(m, f.program, arena.get());
  return program;
}

std::string encode_program(const ProgramDesc& program) {
  const auto& f = format();
  Arena arena = new_arena();
  Message* m = parse(program.unknown, f.program, arena.get());
  write_all(m, f.program_blocks, program.blocks, arena.get(),
            [&](const BlockDesc& b) { return write_block(b, arena.get()); });
  write_versions(program, m, arena.get());
  return bytes_of(m, f.program, arena.get());
}

TensorDesc decode_tensor_desc(std::string_view bytes) {
  const auto& f = format();
  Arena arena = new_arena();
  const Message* m = parse_complete(bytes, f.tensor, arena.get());
  return TensorDesc{read<int32_t>(m, f.tensor_dtype),
                    read<std::vector<int64_t>>(m, f.tensor_dims)};
}

std::string encode_tensor_desc(const TensorDesc& desc) {
  const auto& f = format();
  Arena arena = new_arena();
  Message* m = parse({}, f.tensor, arena.get());
  write(m, f.tensor_dtype, desc.dtype, arena.get());
  write(m, f.tensor_dims, desc.dims, arena.get());
  return bytes_of(m, f.tensor, arena.get());
}

}  // namespace paddle_mini
