// Searches for NVIDIA's libraries.
#include "cuda/vendor_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.h"

namespace paddle_mini {
namespace {

void* load(const std::string& file, int how = 0) { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | how); }

#ifndef PM_CUDA_ON_HOST
// Returns "/usr/lib/python3/site-packages/" if this library is in /usr/lib/python3/site-packages/paddle_mini.
std::string site_packages() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&load), &info) == 0 || !info.dli_fname) return "";
  std::string path = info.dli_fname;
  for (int up = 0; up < 2; ++up) path.resize(std::min(path.rfind('/'), path.size()));
  return path + "/";
}
#endif

// Prefers a library that is already loaded, for example by PyTorch: a second copy in the process would double the
// memory.
void* look_for(const char* variable, const std::string& file, const std::string& folder) {
  const char* wanted = std::getenv(variable);
  if (wanted && *wanted) {
    void* handle = load(wanted);
    if (!handle) fail<DeviceError>(variable, ": can't load ", printable(wanted), ": ", dlerror());
    return handle;
  }
#ifdef PM_CUDA_ON_HOST
  (void)file, (void)folder;
  return nullptr;  // real libraries can't access the emulated memory
#else
  if (void* loaded = load(file, RTLD_NOLOAD)) return loaded;
  if (void* of_package = load(site_packages() + folder + "/" + file)) return of_package;
  return load(file);
#endif
}

}  // namespace

VendorLibrary::VendorLibrary(const char* name, const char* variable, const char* file, const char* folder)
    : name_(name), handle_(look_for(variable, file, folder)) {}

bool VendorLibrary::has(const char* symbol) const { return dlsym(handle_, symbol) != nullptr; }

void* VendorLibrary::address(const char* symbol) const {
  void* address = dlsym(handle_, symbol);
  require<DeviceError>(address, name_, " of ", path(), " has no ", symbol);
  return address;
}

std::string VendorLibrary::path() const {
  link_map* map = nullptr;
  return dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : "";
}

std::string VendorLibrary::description() const { return found() ? text(name_, " of ", path()) : text("no ", name_); }

}  // namespace paddle_mini
