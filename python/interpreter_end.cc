// The end of the interpreter while threads run programs. Python terminates a thread that then asks for the GIL, and its C++
// frames with it, which aborts the process. So the end first waits for all such threads, and stops their runs.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "module.h"

namespace paddle_mini::python {
namespace {

constexpr const char* kMessage = "the interpreter ends";
std::atomic<int> working{0};  // threads that have a NeedsGil or a WithoutGil
thread_local int depth = 0;  // how many of them this thread has
std::atomic<bool> ended{false};  // end_work() has begun
std::atomic<std::thread::id> ending_thread{};

void enter() {
  if (depth++ == 0) ++working;
}

void leave() {
  if (--depth == 0) --working;
}

// After it, no thread but this one releases the GIL inside this module.
void end_work() {
  ending_thread = std::this_thread::get_id();
  ended = true;
  while (working > (depth > 0 ? 1 : 0)) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

bool interpreter_ends() { return ended && ending_thread.load() != std::this_thread::get_id(); }

NeedsGil::NeedsGil() {
  enter();
  if (!ended) return;
  leave();
  fail<OpError>(kMessage);
}

NeedsGil::~NeedsGil() { leave(); }

WithoutGil::WithoutGil() {
  require_interpreter();
  enter();
  thread_ = PyEval_SaveThread();
}

WithoutGil::~WithoutGil() {
  PyEval_RestoreThread(thread_);
  leave();
}

void require_interpreter() {
  if (depth == 0) require<OpError>(!interpreter_ends(), kMessage);
}

void define_interpreter_end(py::module_& m) {
  // The child has none of the other threads.
  pthread_atfork(nullptr, nullptr, [] { working = depth > 0 ? 1 : 0; });
  py::detail::npy_api::get();  // pybind11 releases the GIL by itself when it first needs this
  m.def("end_work", &end_work, "Stops the runs of all threads, waits for them, and lets none begin.");
}

}  // namespace paddle_mini::python
