// VendorLibrary: an optional library of NVIDIA, loaded at run time. The declarations are our own, so the build does not
// need its headers.
#pragma once

#include <string>

namespace paddle_mini {

class VendorLibrary {
 public:
  // name: for messages. variable: the environment variable that overrides the path. file: the name for the loader.
  // folder: the library's folder in its Python package, relative to site-packages.
  VendorLibrary(const char* name, const char* variable, const char* file, const char* folder);

  bool found() const { return handle_ != nullptr; }
  bool has(const char* symbol) const;
  // Throws DeviceError if the library lacks the function.
  template <class Function>
  void find(const char* symbol, Function& function) const {
    function = reinterpret_cast<Function>(address(symbol));
  }
  std::string description() const;  // "cuBLAS of /usr/lib/libcublas.so.13", or "no cuBLAS"

 private:
  void* address(const char* symbol) const;
  std::string path() const;

  const char* name_;
  void* handle_;  // never closed
};

}  // namespace paddle_mini
