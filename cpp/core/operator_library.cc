// Defines the operators of a library in a copy of the table first, so that an invalid one changes nothing.
#include "core/operator_library.h"

#include <dlfcn.h>

#include <mutex>

namespace paddle_mini {

void add_operators(OpTable& operators, const std::function<void(OpTable&)>& define, const std::function<void()>& last) {
  static std::mutex one_at_a_time;
  std::lock_guard<std::mutex> lock(one_at_a_time);
  OpTable extended = operators;
  define(extended);
  extended.check_gradients();
  if (last) last();
  for (const std::string& name : extended.types()) {
    if (!operators.find(name)) operators.add(extended.at(name));
  }
}

std::function<void(OpTable&)> operators_of_library(const std::string& path) {
  // RTLD_NODELETE: the code of an exception that the library throws may be in the library.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!handle) fail<ProgramError>("can't load the library of an operator: ", printable(dlerror()));
  auto define = reinterpret_cast<void (*)(OpTable&)>(dlsym(handle, "paddle_mini_define_operators"));
  require<ProgramError>(define, printable(path), " is not a library of operators");
  return [define, path](OpTable& operators) {
    try {
      define(operators);
    } catch (const Error&) { throw; } catch (const std::exception& error) {
      fail<ProgramError>("the definition of the operators of ", printable(path), " fails: ", printable(error.what()));
    }
  };
}

}  // namespace paddle_mini
