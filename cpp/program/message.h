// Messages of proto/framework.proto, parsed by upb: definitions and field access. Only codec.cc and op_codec.cc include
// this; the rest of the program's format does not depend on upb.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <utility>

#include "core/error.h"
#include "program/program.h"

// upb reads a field by memcpy of its size into a union, which g++ reports as uninitialized.
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

namespace paddle_mini::wire {

using Message = upb_Message;
using Value = upb_MessageValue;

inline constexpr size_t kLargestProgram = size_t{64} << 20;

struct ArenaDeleter {
  void operator()(upb_Arena* arena) const { upb_Arena_Free(arena); }
};
using Arena = std::unique_ptr<upb_Arena, ArenaDeleter>;

template <class T>
T checked(T memory) {
  require<DeviceError>(memory, "out of memory while reading or writing a program");
  return memory;
}

inline Arena new_arena() { return Arena(checked(upb_Arena_New())); }

// ---- The definitions in framework.desc, looked up once ----

struct Field {
  const upb_FieldDef* def = nullptr;
  const upb_MiniTableField* place = nullptr;  // offset in a message, for fast access
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
      : def(upb_DefPool_FindMessageByName(pool, text("paddle.framework.proto.", of).c_str())), name(of) {
    require<ProgramError>(def, "framework.desc has no message ", of);
  }
  Field field(const char* of) const {
    const upb_FieldDef* found = upb_MessageDef_FindFieldByName(def, of);
    require<ProgramError>(found, "framework.desc has no field ", name, ".", of);
    return Field(found);
  }
};

// The required fields and submessages of a message type, for the search for missing fields.
struct Checklist {
  std::vector<Field> required;
  std::vector<std::pair<Field, const Checklist*>> inside;
};
using Checklists = std::map<const upb_MessageDef*, Checklist>;
Checklists all_checklists(const upb_MessageDef* root);

upb_DefPool* load_framework_desc();

// A variable kind of PaddlePaddle with a tensor desc, and the field that leads to it inside VarType.
struct TensorPath {
  VarKind kind;
  Field field;
  Field tensor;  // not for SELECTED_ROWS, which describes its matrix directly
  Field lod_level;
  bool is_direct() const { return !tensor.def; }
};

struct Format {
  upb_DefPool* pool = load_framework_desc();  // never freed: definitions live as long as the process
  Kind program{pool, "ProgramDesc"}, version{pool, "Version"}, version_map{pool, "OpVersionMap"},
      version_pair{pool, "OpVersionMap.OpVersionPair"}, op_version{pool, "OpVersion"}, block{pool, "BlockDesc"},
      op{pool, "OpDesc"}, slot{pool, "OpDesc.Var"}, attr{pool, "OpDesc.Attr"}, scalar{pool, "Scalar"},
      complex{pool, "Complex"}, var{pool, "VarDesc"}, var_type{pool, "VarType"}, tensor{pool, "VarType.TensorDesc"},
      lod_tensor{pool, "VarType.LoDTensorDesc"}, array{pool, "VarType.LoDTensorArrayDesc"};

  Field program_blocks = program.field("blocks"), program_version = program.field("version"),
        program_op_versions = program.field("op_version_map"), program_provenance = program.field("provenance"),
        program_checksums = program.field("checksums");
  Field version_number = version.field("version"), pairs = version_map.field("pair");
  Field pair_name = version_pair.field("op_name"), pair_version = version_pair.field("op_version");
  Field op_version_number = op_version.field("version");
  Field block_idx = block.field("idx"), block_parent = block.field("parent_idx"),
        block_forward = block.field("forward_block_idx"), block_vars = block.field("vars"),
        block_ops = block.field("ops");
  Field op_type = op.field("type"), op_inputs = op.field("inputs"), op_outputs = op.field("outputs"),
        op_attrs = op.field("attrs"), op_is_target = op.field("is_target");
  Field slot_name = slot.field("parameter"), slot_arguments = slot.field("arguments");
  Field attr_name = attr.field("name"), attr_type = attr.field("type");
  std::array<Field, std::variant_size_v<AttrValue>> attr_payload = {
      attr.field("i"),         attr.field("f"),        attr.field("s"),          attr.field("ints"),
      attr.field("floats"),    attr.field("strings"),  attr.field("b"),          attr.field("bools"),
      attr.field("block_idx"), attr.field("l"),        attr.field("blocks_idx"), attr.field("longs"),
      attr.field("float64s"),  attr.field("var_name"), attr.field("vars_name"),  attr.field("float64"),
      attr.field("scalar"),    attr.field("scalars")};
  Field scalar_type = scalar.field("type"), complex_r = complex.field("r"), complex_i = complex.field("i");
  std::array<Field, std::variant_size_v<ScalarValue>> scalar_payload = {scalar.field("b"), scalar.field("i"),
                                                                        scalar.field("r"), scalar.field("c")};
  Field var_name = var.field("name"), type_of_var = var.field("type"), var_persistable = var.field("persistable"),
        var_check_feed = var.field("need_check_feed"), var_is_parameter = var.field("is_parameter"),
        var_stop_gradient = var.field("stop_gradient");
  Field kind_of_type = var_type.field("type");
  Field tensor_dtype = tensor.field("data_type"), tensor_dims = tensor.field("dims");
  std::array<TensorPath, 3> tensor_paths = {TensorPath{VarKind::Tensor, var_type.field("lod_tensor"),
                                                       lod_tensor.field("tensor"), lod_tensor.field("lod_level")},
                                            TensorPath{VarKind::SelectedRows, var_type.field("selected_rows"), Field(),
                                                       Field()},
                                            TensorPath{VarKind::TensorArray, var_type.field("tensor_array"),
                                                       array.field("tensor"), array.field("lod_level")}};
  Checklists checklists = all_checklists(program.def);
};

const Format& format();

// ---- Messages ----

inline bool has(const Message* m, Field f) { return upb_Message_HasBaseField(m, f.place); }
inline Value get(const Message* m, Field f) { return upb_Message_GetField(m, f.place, Value{}); }
inline void clear(Message* m, Field f) { upb_Message_ClearBaseField(m, f.place); }
inline std::string string_of(Value v) { return std::string(v.str_val.data, v.str_val.size); }

size_t size_of_list(const Message* m, Field f);
Message* submessage(Message* m, Field f);
Message* element(Message* m, Field f, size_t i);
Message* new_submessage(Message* m, Field f, upb_Arena* arena);
bool is_empty(const Message* m, const upb_MessageDef* def);
void clear_if_empty(Message* m, Field f);
std::string bytes_of(const Message* m, const Kind& kind, upb_Arena* arena);
// Parses a message from `bytes`, which must outlive it.
Message* parse(std::string_view bytes, const Kind& kind, upb_Arena* arena);
// Like parse(), but throws ProgramError naming the path of the first missing required field.
Message* parse_complete(std::string_view bytes, const Kind& kind, upb_Arena* arena);

}  // namespace paddle_mini::wire
