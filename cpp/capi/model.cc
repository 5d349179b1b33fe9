// Reads programs and their parameters from bytes, files and folders.
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include "capi/objects.h"
#include "executor/structure.h"
#include "program/checksum.h"
#include "program/model_file.h"
#include "program/state_file.h"
#include "program/tensor_file.h"

namespace paddle_mini::capi {

bool is_folder(const std::string& path) {
  struct stat found;
  return stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

namespace {

// The variables of feed or fetch operators, ordered by column.
std::vector<std::string> names_by_column(const VerifiedProgram& program, OpRole role) {
  std::map<int32_t, std::string> by_column;
  for (const VerifiedOp& op : program.blocks[0].ops) {
    if (op.schema->role() != role) continue;
    by_column[attr_of<int32_t>(op.desc, "col")] =
        role == OpRole::Feed ? op.desc.output("Out")[0] : op.desc.input("X")[0];
  }
  std::vector<std::string> names;
  for (auto& entry : by_column) names.push_back(std::move(entry.second));
  return names;
}

std::string file_in(const std::string& folder, const std::string& name) {
  bool inside = name[0] != '/' && ("/" + name + "/").find("/../") == std::string::npos;
  require<ProgramError>(inside, "parameter '", printable(name), "' would be read from outside of '", printable(folder),
                        "'");
  return folder + "/" + name;
}

ParameterFormat format_at(const std::string& path) {
  std::string begin;
  read_file(
      path,
      [&](size_t size) {
        begin.resize(size);
        return begin.data();
      },
      kFormatBytes);
  return parameter_format(begin);
}

// A state, and that of the optimizer beside it where the program needs both.
Parameters read_state_at(const std::string& path, const Model& model, bool exact) {
  std::vector<std::string> names = model.parameters();
  std::string beside = optimizer_beside(path);
  std::optional<FileBytes> optimizer;
  if (!beside.empty() && is_there(beside)) optimizer.emplace(read_file(beside));
  return from_file(path, [&](std::string_view file) {
    return read_state({file, optimizer ? std::string_view(*optimizer) : ""}, model.desc(), names, exact);
  });
}

}  // namespace

DeviceManager& runtime() {
  static DeviceManager& once = *new DeviceManager;
  return once;
}

Model::Model(std::string_view bytes)
    : desc_(read_program(bytes, runtime().operators())), checksum_(open_model(bytes).parameters) {}

std::vector<std::string> Model::parameters() const { return parameter_file_order(desc_); }

const std::shared_ptr<const VerifiedProgram>& Model::verified() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!verified_) {
    auto program = std::make_shared<const VerifiedProgram>(verify(desc_, runtime().operators()));
    feeds_ = names_by_column(*program, OpRole::Feed);
    fetches_ = names_by_column(*program, OpRole::Fetch);
    verified_ = std::move(program);
  }
  return verified_;
}

const std::vector<std::string>& Model::names(OpRole role) const {
  verified();
  return role == OpRole::Feed ? feeds_ : fetches_;
}

std::shared_ptr<const Model> read_model_file(const std::string& path) {
  return from_file(path, [](std::string_view bytes) { return std::make_shared<const Model>(bytes); });
}

bool is_checked(int check) {
  require<ArgumentError>(check == PM_CHECKED || check == PM_UNCHECKED, "check is ", check,
                         ", it must be PM_CHECKED or PM_UNCHECKED");
  return check == PM_CHECKED;
}

ParameterCheck check_at(const std::string& path) {
  if (!is_folder(path)) return {true, checksum_beside(path)};
  std::string model = path + "/__model__";
  if (!is_there(model)) return {true, std::nullopt};
  return {true, from_file(model, [](std::string_view bytes) { return open_model(bytes).parameters; })};
}

Parameters read_parameters_at(const std::string& path, const Model& model, const ParameterCheck& check) {
  if (!is_folder(path) && format_at(path) != ParameterFormat::Tensors) return read_state_at(path, model, check.exact);
  std::vector<std::string> names = model.parameters();
  const std::optional<uint32_t>& checksum = check.checksum;
  if (!is_folder(path)) {
    return from_stream(path, [&](FileStream& file) { return read_parameters(file, model.desc(), names, checksum); });
  }
  Parameters all;
  uint32_t found = 0;
  for (const std::string& name : names) {
    Parameters one = from_file(file_in(path, name), [&](std::string_view bytes) {
      if (checksum) found = crc32c(bytes, found);
      return read_parameters(bytes, model.desc(), {name});
    });
    all.push_back(std::move(one[0]));
  }
  if (!names.empty()) require_parameters(checksum, found);
  return all;
}

Parameters read_parameters_in(std::string_view bytes, const Model& model, const ParameterCheck& check) {
  std::vector<std::string> names = model.parameters();
  bool tensors = parameter_format(bytes) == ParameterFormat::Tensors;
  if (!tensors) return read_state({bytes, {}}, model.desc(), names, check.exact);
  return read_parameters(bytes, model.desc(), names, check.checksum);
}

}  // namespace paddle_mini::capi
