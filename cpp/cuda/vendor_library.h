// A library of NVIDIA's that is used where this machine has it. The declarations are our own, so that building needs no
// headers of it.
#pragma once

#include <string>

namespace paddle_mini {

class VendorLibrary {
 public:
  // name: for people. variable: of the environment, names a file. file: what the loader knows it by. folder: where the
  // Python package of it has that, below site-packages.
  VendorLibrary(const char* name, const char* variable, const char* file, const char* folder);

  bool found() const { return handle_ != nullptr; }
  // DeviceError when it has no such function.
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
