// Finds the values of a program's parameters in states by name.
#include "program/state_file.h"

#include <algorithm>
#include <map>

#include "program/pickle.h"
#include "program/safetensors.h"

namespace paddle_mini {
namespace {

// A state as it was read. Entries that are not arrays, such as the settings of an optimizer's schedule, have no type.
using Arrays = std::map<std::string, StateArray>;

void add(Arrays& arrays, std::string name, StateArray array) {
  bool added = arrays.emplace(name, std::move(array)).second;
  require<ProgramError>(added, "'", printable(name), "' is in the .pdparams and in the .pdopt file");
}

void add_file(Arrays& arrays, std::string_view file) {
  if (parameter_format(file) == ParameterFormat::Safetensors) {
    for (auto& [name, array] : read_safetensors(file)) add(arrays, name, std::move(array));
    return;
  }
  Pickled state = read_pickle(file);
  join_state(*state, true);
  for (size_t i = 0; i < state->items.size(); i += 2)
    add(arrays, utf8_of(*state->items[i]), state->items[i + 1]->array);  // another name may refer to the array
}

void require_same_names(const Arrays& arrays, const std::vector<std::string>& names, bool exact) {
  for (const std::string& name : names)
    require<ProgramError>(arrays.count(name), "it has no value for '", printable(name), "'; it has ", arrays.size(),
                          " values, the program has ", names.size(), " parameters");
  for (const auto& entry : arrays) {
    bool known = !exact || std::binary_search(names.begin(), names.end(), entry.first);
    require<ProgramError>(known, "it has a value for '", printable(entry.first),
                          "', which is not a parameter of the program: it belongs to another program");
  }
}

}  // namespace

ParameterFormat parameter_format(std::string_view begin) {
  constexpr std::string_view kZeros("\0\0\0\0", 4);
  // A header has at most 100 MB; its size may begin as a pickle does, but no pickle continues with zeros and a brace.
  bool sized = begin.size() >= kFormatBytes && begin.substr(4, 4) == kZeros && begin[8] == '{';
  if (sized && begin.substr(0, 4) != kZeros) return ParameterFormat::Safetensors;
  return !begin.empty() && begin[0] == '\x80' ? ParameterFormat::Pickled : ParameterFormat::Tensors;
}

Parameters read_state(const ParameterBytes& bytes, const ProgramDesc& program, const std::vector<std::string>& names,
                      bool exact) {
  Arrays arrays;
  add_file(arrays, bytes.file);
  if (!bytes.optimizer.empty()) add_file(arrays, bytes.optimizer);
  require_same_names(arrays, names, exact);
  Parameters parameters;
  for (const std::string& name : names) {
    const StateArray& array = arrays.at(name);
    require<ProgramError>(!array.type.empty(), "'", printable(name), "' is not an array");
    Tensor tensor;
    try {
      tensor = tensor_of(array);
    } catch (const DeviceError&) {
      throw;  // the file may be right: memory is exhausted
    } catch (const Error& e) { fail<ProgramError>("parameter '", printable(name), "': ", e.what()); }
    require_declared(program, name, tensor);
    parameters.emplace_back(name, std::move(tensor));
  }
  return parameters;
}

std::string optimizer_beside(const std::string& path) {
  constexpr std::string_view kSuffix = ".pdparams";
  bool state = path.size() > kSuffix.size() && path.compare(path.size() - kSuffix.size(), kSuffix.size(), kSuffix) == 0;
  return state ? path.substr(0, path.size() - kSuffix.size()) + ".pdopt" : "";
}

}  // namespace paddle_mini
