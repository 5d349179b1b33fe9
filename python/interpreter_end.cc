// The end of the interpreter while threads run programs. Python terminates a thread that then asks for the GIL, and its C++
// frames with it, which aborts the process. So the end first waits for all such threads, and stops their runs.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "module.h"

namespace paddle_mini::python {
namespace {

std::atomic<int> working{0};
std::atomic<bool> ended{false};
std::atomic<std::thread::id> ending_thread{};

void end_work() {
  ending_thread = std::this_thread::get_id();
  ended = true;
  while (working > 0) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    py::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

bool interpreter_ends() { return ended; }

NeedsGil::NeedsGil() {
  ++working;
  if (!ended) return;
  --working;
  fail<OpError>("the interpreter ends");
}

NeedsGil::~NeedsGil() { --working; }

void stay_if_interpreter_ends() {
  if (!ended || ending_thread.load() == std::this_thread::get_id()) return;
  PyEval_SaveThread();
  while (true) pause();
}

void define_interpreter_end(py::module_& m) {
  pthread_atfork(nullptr, nullptr, [] { working = 0; });  // the child has none of the other threads
  m.def("end_work", &end_work, "Stops the runs of all threads, waits for them, and lets none begin.");
}

}  // namespace paddle_mini::python
