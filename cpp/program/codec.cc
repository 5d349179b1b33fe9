// codec: converts between the bytes of proto/framework.proto and plain structs.
//
// Decoding moves fields out of the parsed message. Content that the structs can't represent (fields of later versions,
// annotations of other tools, a default that is stated explicitly) remains in the message; its bytes are stored in
// `unknown`. Encoding starts by merging them, so a file round-trips byte for byte.
#include <cctype>

#include "program/model_file.h"
#include "program/op_codec.h"

namespace paddle_mini {
namespace {

using namespace wire;

// ---- Variables ----

const TensorPath* tensor_path_of(int32_t kind) {
  for (const TensorPath& path : format().tensor_paths) {
    if (static_cast<int32_t>(path.kind) == kind) return &path;
  }
  return nullptr;
}

void take_tensor(Message* type, const TensorPath& path, VarDesc* var) {
  const auto& f = format();
  Message* around = submessage(type, path.field);
  Message* tensor = path.is_direct() ? around : submessage(around, path.tensor);
  var->has_tensor = true;
  var->dtype = take<int32_t>(tensor, f.tensor_dtype);
  var->dims = take<std::vector<int64_t>>(tensor, f.tensor_dims);
  if (!path.is_direct()) {
    clear_if_empty(around, path.tensor);
    take_unless_default(around, path.lod_level, &var->lod_level);
  }
  clear_if_empty(type, path.field);
}

void write_tensor(const VarDesc& var, const TensorPath& path, Message* type, upb_Arena* arena) {
  const auto& f = format();
  Message* around = new_submessage(type, path.field, arena);
  Message* tensor = path.is_direct() ? around : new_submessage(around, path.tensor, arena);
  write(tensor, f.tensor_dtype, var.dtype, arena);
  write(tensor, f.tensor_dims, var.dims, arena);
  if (!path.is_direct()) write_unless(0, around, path.lod_level, var.lod_level, arena);
}

VarDesc take_var(Message* m, upb_Arena* arena) {
  const auto& f = format();
  VarDesc var;
  var.name = read_name(m, f.var_name);
  clear(m, f.var_name);
  Message* type = submessage(m, f.type_of_var);
  var.kind = take<int32_t>(type, f.kind_of_type);
  const TensorPath* path = tensor_path_of(var.kind);
  if (path && has(type, path->field)) take_tensor(type, *path, &var);
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
  const TensorPath* own = tensor_path_of(var.kind);
  if (own && var.has_tensor) write_tensor(var, *own, type, arena);
  // After a change of kind, remove the submessages in `unknown` that have lost their tensor desc.
  for (const TensorPath& path : f.tensor_paths) {
    if (!has(type, path.field)) continue;
    const Message* around = get(type, path.field).msg_val;
    if (!has(around, path.is_direct() ? f.tensor_dtype : path.tensor)) clear(type, path.field);
  }
  write_unless(false, m, f.var_persistable, var.persistable, arena);
  write_unless(false, m, f.var_check_feed, var.need_check_feed, arena);
  write_optional(m, f.var_is_parameter, var.is_parameter, arena);
  write_optional(m, f.var_stop_gradient, var.stop_gradient, arena);
  return m;
}

// ---- Blocks and programs ----

// Reads all elements of a list and clears it; errors name the element.
template <class T, class Take>
std::vector<T> take_all(Message* m, Field list, const char* joint, Take take_one) {
  std::vector<T> all;
  const size_t size = size_of_list(m, list);
  all.reserve(size);
  for (size_t i = 0; i < size; ++i) {
    try {
      all.push_back(take_one(element(m, list, i)));
    } catch (const ProgramError& e) { fail<ProgramError>(list.name(), "[", i, "]", joint, e.what()); }
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
  block.vars = take_all<VarDesc>(m, f.block_vars, ": ", [&](Message* v) { return take_var(v, arena); });
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

ProgramDesc decode_program(std::string_view file) {
  const std::string_view bytes = open_model(file).program;
  require<ProgramError>(bytes.size() <= kLargestProgram, "a program of ", bytes.size(),
                        " bytes; the largest that is read has ", kLargestProgram);
  const auto& f = format();
  wire::Arena arena = new_arena();
  Message* m = parse_complete(bytes, f.program, arena.get());
  ProgramDesc program;
  program.blocks =
      take_all<BlockDesc>(m, f.program_blocks, ".", [&](Message* b) { return take_block(b, arena.get()); });
  require<ProgramError>(!program.blocks.empty(), "the bytes are not a ProgramDesc: no blocks");
  take_versions(m, &program);
  take_unless_default(m, f.program_provenance, &program.provenance);
  clear(m, f.program_checksums);
  program.unknown = bytes_of(m, f.program, arena.get());
  return program;
}

std::string encode_program(const ProgramDesc& program) {
  const auto& f = format();
  wire::Arena arena = new_arena();
  Message* m = parse(program.unknown, f.program, arena.get());
  write_all(m, f.program_blocks, program.blocks, arena.get(),
            [&](const BlockDesc& b) { return write_block(b, arena.get()); });
  write_versions(program, m, arena.get());
  if (!program.provenance.empty()) write(m, f.program_provenance, program.provenance, arena.get());
  return bytes_of(m, f.program, arena.get());
}

std::string type_name(int32_t number) {
  const upb_EnumDef* types = upb_FieldDef_EnumSubDef(format().tensor_dtype.def);
  const upb_EnumValueDef* value = upb_EnumDef_FindValueByNumber(types, number);
  if (!value) return text("number ", number);
  std::string name = upb_EnumValueDef_Name(value);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

TensorDesc decode_tensor_desc(std::string_view bytes) {
  const auto& f = format();
  wire::Arena arena = new_arena();
  const Message* m = parse_complete(bytes, f.tensor, arena.get());
  return TensorDesc{read<int32_t>(m, f.tensor_dtype), read<std::vector<int64_t>>(m, f.tensor_dims)};
}

std::string encode_tensor_desc(const TensorDesc& desc) {
  const auto& f = format();
  wire::Arena arena = new_arena();
  Message* m = parse({}, f.tensor, arena.get());
  write(m, f.tensor_dtype, desc.dtype, arena.get());
  write(m, f.tensor_dims, desc.dims, arena.get());
  return bytes_of(m, f.tensor, arena.get());
}

}  // namespace paddle_mini
