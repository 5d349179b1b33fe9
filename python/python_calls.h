// Calls of Python functions by threads of C++, and the arrays that they read.
#pragma once

#include <algorithm>

#include "core/user_code.h"

#include "module.h"

namespace paddle_mini::python {

// The last holder may be a thread without the GIL; after the interpreter's end has begun, the exception stays.
inline Cause cause_of(py::object exception) {
  return Cause({exception.release().ptr(), [](void* object) {
                  try {
                    NeedsGil here;
                    py::gil_scoped_acquire gil;
                    py::reinterpret_steal<py::object>(static_cast<PyObject*>(object));
                  } catch (const OpError&) {}
                }});
}

// As an error of C++, with the cause of Python's exception.
template <class ErrorType>
[[noreturn]] void rethrow_as(const py::error_already_set& error) {
  std::string message = py::str(error.value()).cast<std::string>();
  py::object cause = error.value().attr("__cause__");
  if (cause.is_none()) throw ErrorType(message);
  throw Caused<ErrorType>(message, cause_of(std::move(cause)));
}

[[noreturn]] inline void rethrow(const py::error_already_set& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) throw Interrupted("stopped");
  py::module_ core = py::module_::import("paddle_mini._core");
  if (error.matches(core.attr("ShapeError"))) rethrow_as<ShapeError>(error);
  if (error.matches(core.attr("ProgramError"))) rethrow_as<ProgramError>(error);
  rethrow_as<OpError>(error);
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
    if (keep_memory())
      fail<OpError>("the function keeps an array of its inputs, whose memory gets other values: keep x.copy()");
  }

  // Whether an array, or a part of one, is held by something, such as an exception. Its memory is then never freed.
  bool keep_memory() {
    if (!any_kept()) return false;
    py::module_::import("gc").attr("collect")();  // an array may only be in a cycle of objects that nothing refers to
    if (!any_kept()) return false;
    new std::vector<std::shared_ptr<void>>(memory_);
    note_kept_arrays();
    return true;
  }

 private:
  bool any_kept() const {
    return std::any_of(owners_.begin(), owners_.end(), [](const py::capsule& owner) { return owner.ref_count() > 1; });
  }
  std::vector<py::capsule> owners_;
  std::vector<std::shared_ptr<void>> memory_;
};

}  // namespace paddle_mini::python
