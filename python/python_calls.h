// Calls of Python functions by threads of C++, and the arrays that they read.
#pragma once

#include <algorithm>

#include "module.h"

namespace paddle_mini::python {

// As an error of C++, which holds no object of Python.
[[noreturn]] inline void rethrow(const py::error_already_set& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) throw Interrupted("stopped");
  std::string message = py::str(error.value()).cast<std::string>();
  py::module_ core = py::module_::import("paddle_mini._core");
  if (error.matches(core.attr("ShapeError"))) throw ShapeError(message);
  if (error.matches(core.attr("ProgramError"))) throw ProgramError(message);
  throw OpError(message);
}

// Runs f with the GIL, from any thread. An exception of Python becomes one of C++.
template <class F>
void in_python(F f) {
  NeedsGil here;
  py::gil_scoped_acquire gil;
  try {
    f();
  } catch (const py::error_already_set& error) { rethrow(error); }
}

// Read-only arrays in the memory of a run, for one call.
class Views {
 public:
  py::array add(const std::string& port, const Variable& variable) {
    const Tensor& tensor = variable.tensor;
    require<ShapeError>(tensor.dtype != DType::BFloat16, port, " is bfloat16, which NumPy lacks: cast it to float32");
    py::capsule owner(this, [](void*) {});
    py::array array(numpy_dtype(tensor.dtype), tensor.shape.vector(), tensor.data, owner);
    array.attr("flags").attr("writeable") = false;
    if (tensor.bytes() > 0) {
      owners_.push_back(owner);
      memory_.push_back(tensor.memory);
    }
    return array;
  }

  // After the call, when its arguments and results are gone. The memory may be freed or get other values after the
  // run, so a function that holds an array, or a part of one, is refused.
  void require_none_kept() {
    if (!any_kept()) return;
    py::module_::import("gc").attr("collect")();  // an array may only be in a cycle of objects that nothing refers to
    if (!any_kept()) return;
    new std::vector<std::shared_ptr<void>>(memory_);  // never freed, since the arrays remain
    note_kept_arrays();
    fail<OpError>("the function keeps an array of its inputs, whose memory gets other values: keep x.copy()");
  }

 private:
  bool any_kept() const {
    return std::any_of(owners_.begin(), owners_.end(), [](const py::capsule& owner) { return owner.ref_count() > 1; });
  }
  std::vector<py::capsule> owners_;
  std::vector<std::shared_ptr<void>> memory_;
};

}  // namespace paddle_mini::python
