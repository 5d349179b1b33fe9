// Selects and loads a kernel library.
#include "core/kernel_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/cpu_levels.h"
#include "core/tiles.h"

namespace paddle_mini {
namespace {

std::string own_directory() {
  Dl_info info{};
  require<DeviceError>(dladdr(reinterpret_cast<void*>(&load_kernel_library), &info) != 0 && info.dli_fname,
                       "can't find the directory of libpaddle_mini");
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string file_of(const std::string& directory, const std::string& level) {
  return directory + "/libpaddle_mini_kernels_" + compiled_level(level) + ".so";
}

}  // namespace

KernelLibrary load_kernel_library() {
  std::string directory = own_directory(), built;
  std::vector<std::string> candidates;
  for (const std::string& level : cpu_levels()) {
    if (access(file_of(directory, level).c_str(), R_OK) == 0) candidates.push_back(level);
  }
  for (const std::string& level : candidates) built += (built.empty() ? "" : " ") + level;
  require<DeviceError>(!candidates.empty(), "no kernel library for this CPU in ", directory);
  const char* wanted = std::getenv("PM_CPU");
  std::string level = wanted && *wanted ? wanted : candidates.front();
  require<DeviceError>(std::find(candidates.begin(), candidates.end(), level) != candidates.end(),
                       "PM_CPU=", printable(level), ": this CPU has no such kernel library; those for it are ", built);
  KernelLibrary library;
  library.level = level;
  library.path = file_of(directory, level);
  library.reason = wanted && *wanted ? "PM_CPU selects it" : "the best of " + built + " that this CPU runs";
  void* handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) fail<DeviceError>("can't load ", library.path, ": ", dlerror());
  auto define = reinterpret_cast<void (*)(OpTable&)>(dlsym(handle, "paddle_mini_define_operators"));
  require<DeviceError>(define, library.path, " is not a kernel library of paddle_mini");
  if (level == "v4-bf16" || level == "v4-amx") library.operators.set_multiplies_bfloat16();
  use_tiles(level == "v4-amx");
  define(library.operators);
  library.operators.check_gradients();
  return library;
}

}  // namespace paddle_mini
