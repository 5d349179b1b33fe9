// Implements the checksum header of a program's file and the link between a program and its parameters.
#include "program/model_file.h"

#include <cstring>

#include "program/checksum.h"

namespace paddle_mini {
namespace {

constexpr char kText[] = "pm-crc32c:";
constexpr size_t kTextSize = sizeof kText - 1, kStart = 3 + kTextSize, kShort = kStart + 4, kLong = kShort + 4;

// Tag of field 1001 (bytes), its length, the text.
std::string start(bool with_parameters) {
  return std::string("\xca\x3e") + static_cast<char>((with_parameters ? kLong : kShort) - 3) + kText;
}

uint32_t number_at(std::string_view bytes, size_t position) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + position, sizeof number);
  return number;
}

// Number of differing bits: few if the start is damaged, many if the file has none.
int distance(std::string_view a, std::string_view b) {
  int bits = 0;
  for (size_t i = 0; i < b.size(); ++i)
    bits += i < a.size() ? __builtin_popcount(static_cast<unsigned char>(a[i] ^ b[i])) : 8;
  return bits;
}

}  // namespace

ModelFile open_model(std::string_view file) {
  for (bool with_parameters : {false, true}) {
    std::string expected = start(with_parameters);
    if (file.substr(0, kStart) != expected) continue;
    size_t size = with_parameters ? kLong : kShort;
    bool whole = file.size() > size && crc32c(file.substr(kShort)) == number_at(file, kStart);
    require<ProgramError>(
        whole,
        "the bytes are not a ProgramDesc as it was written: the file is cut off or damaged, its checksum "
        "does not match");
    ModelFile model{file.substr(size), true, std::nullopt};
    if (with_parameters) model.parameters = number_at(file, kShort);
    return model;
  }
  constexpr int kDamaged = 16;  // out of 104 bits
  bool near = distance(file, start(false)) <= kDamaged || distance(file, start(true)) <= kDamaged;
  require<ProgramError>(!near, "the bytes are not a ProgramDesc: the file is damaged where its checksum begins");
  return {file, false, std::nullopt};
}

std::string model_front(std::string_view program, std::optional<uint32_t> parameters) {
  std::string front = start(parameters.has_value()), number;
  if (parameters) number.assign(reinterpret_cast<const char*>(&*parameters), sizeof *parameters);
  uint32_t checksum = crc32c(program, crc32c(number));
  front.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return front + number;
}

std::string model_beside(const std::string& parameters_path) {
  constexpr std::string_view kParameters = ".pdiparams";
  bool fits = parameters_path.size() > kParameters.size() &&
              parameters_path.compare(parameters_path.size() - kParameters.size(), std::string::npos, kParameters) == 0;
  return fits ? parameters_path.substr(0, parameters_path.size() - kParameters.size()) + ".pdmodel" : "";
}

std::optional<uint32_t> checksum_beside(const std::string& parameters_path) {
  std::string model = model_beside(parameters_path), front;
  if (model.empty() || !is_there(model)) return std::nullopt;
  read_file(model, [&](size_t size) { return front.assign(size, '\0').data(); }, kLong);
  if (front.size() < kLong || front.compare(0, kStart, start(true)) != 0) return std::nullopt;
  return number_at(front, kShort);
}

void require_parameters(std::optional<uint32_t> expected, uint32_t found) {
  require<ProgramError>(
      !expected || *expected == found,
      "these are not the parameters that were saved with the program beside them: they are damaged, were changed "
      "by another tool, or a save was interrupted. Save both again, or, if they are meant, load them with "
      "check=False (pm_run --no-check)");
}

void write_parameters(const std::string& path, const Pieces& parameters) {
  if (!checksum_beside(path)) return write_files({{path, parameters}});
  std::string model_path = model_beside(path);
  FileBytes file = read_file(model_path);
  ModelFile model;
  try {
    model = open_model(file);
  } catch (const ProgramError&) {  // its reader reports the damage
    return write_files({{path, parameters}});
  }
  write_model(model_path, model.program, path, parameters);
}

void write_model(const std::string& model_path, std::string_view program, const std::string& parameters_path,
                 const Pieces& parameters, const std::vector<NewFile>& between) {
  std::vector<NewFile> files{{parameters_path, parameters}};
  files.insert(files.end(), between.begin(), between.end());
  write_model(model_path, program, crc32c(parameters), files);
}

void write_model(const std::string& model_path, std::string_view program, std::optional<uint32_t> parameters,
                 const std::vector<NewFile>& before) {
  std::string front = model_front(program, parameters);
  std::vector<NewFile> files = before;
  files.push_back({model_path, Pieces{front, program}});
  write_files(files);
}

}  // namespace paddle_mini
