// write_groups: a build tool. It reads from a kernel library's schemas which files of cpp/ops have GPU operators, and
// writes groups of files that are compiled as one, and the function that defines these operators.
//   write_groups KERNEL_LIBRARY OPS_FOLDER OUTPUT_FOLDER NUMBER_OF_GROUPS FILE...    FILE: additional sources
#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "core/op_table.h"

namespace paddle_mini {
namespace {

constexpr size_t kPerGroup =
    8;  // files that nvcc compiles as one: parsing CUDA's headers takes longer than an operator

using Define = void (*)(OpTable&);

bool has_operators_for_gpus(Define define) {
  OpTable operators;
  define(operators);
  for (const std::string& type : operators.types()) {
    if (operators.at(type).runs_on_gpu()) return true;
  }
  return false;
}

std::vector<std::string> files_with_operators_for_gpus(const char* kernel_library) {
  static std::vector<std::string> files;  // static, because the callback has no state
  void* library = dlopen(kernel_library, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail<DeviceError>("can't load ", kernel_library, ": ", dlerror());
  using Each = void (*)(void (*)(const char*, Define));
  auto for_each_file = reinterpret_cast<Each>(dlsym(library, "paddle_mini_for_each_operator_file"));
  require<DeviceError>(for_each_file, kernel_library, " is not a kernel library of paddle_mini");
  for_each_file([](const char* name, Define define) {
    if (has_operators_for_gpus(define)) files.push_back(name);
  });
  return files;
}

// Leaves an unchanged file alone, so its timestamp does not trigger a recompilation.
void write(const std::string& path, const std::string& text) {
  std::ifstream there(path);
  if (there && std::string(std::istreambuf_iterator<char>(there), {}) == text) return;
  std::ofstream file(path);
  file << text;
  file.close();
  require<DeviceError>(static_cast<bool>(file), "can't write ", path);
}

std::string definitions(const std::vector<std::string>& names) {
  std::string declared, called;
  for (const std::string& name : names) {
    declared += "void define_" + name + "(OpTable&);\n";
    called += "  paddle_mini::define_" + name + "(ops);\n";
  }
  return "// Made by write_groups: the files of cpp/ops whose schemas say .on_gpu().\n#include \"core/op_table.h\"\n"
         "namespace paddle_mini {\n" +
         declared +
         "}  // namespace paddle_mini\n"
         "extern \"C\" void paddle_mini_define_gpu_operators(paddle_mini::OpTable& ops) {\n" +
         called + "}\n";
}

void write_all(int count, char** words) {
  require<DeviceError>(count >= 5, "write_groups KERNEL_LIBRARY OPS_FOLDER OUTPUT_FOLDER NUMBER_OF_GROUPS FILE...");
  std::string ops = words[2], out = words[3];
  size_t groups = std::stoul(words[4]);
  std::vector<std::string> names = files_with_operators_for_gpus(words[1]), files(words + 5, words + count);
  for (const std::string& name : names) files.push_back(ops + "/" + name + ".cc");
  require<DeviceError>(files.size() <= groups * kPerGroup, files.size(), " files need more than ", groups, " groups");
  for (size_t group = 0; group < groups; ++group) {
    std::string text = "// Made by write_groups: files that are compiled as one.\n";
    for (size_t i = group * kPerGroup; i < std::min((group + 1) * kPerGroup, files.size()); ++i)
      text += "#include \"" + files[i] + "\"\n";
    for (const char* ending : {".cc", ".cu"}) write(out + "/group_" + std::to_string(group) + ending, text);
  }
  write(out + "/define_gpu_operators.cc", definitions(names));
}

}  // namespace
}  // namespace paddle_mini

int main(int count, char** words) {
  try {
    paddle_mini::write_all(count, words);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "write_groups: " << error.what() << "\n";
    return 1;
  }
}
