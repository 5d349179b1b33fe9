// Runs programs from Python: takes and returns arrays, and releases the GIL in between.
#include "executor/executor.h"

#include "core/cpu_count.h"
#include "core/outside_values.h"
#include "core/replica_turns.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

py::object tensor_to_python(const Tensor& tensor) {
  if (!tensor.data) return py::none();
  py::array array = result_to_numpy(tensor);
  return tensor.lod.empty() ? py::object(std::move(array)) : py::make_tuple(array, tensor.lod);
}

// Returns an array, (array, lod) for sequences, (rows, values, height) for selected rows, or a list for an array of
// tensors.
py::object fetched_to_python(const Variable& variable) {
  if (variable.kind == VarKind::Tensor) return tensor_to_python(variable.tensor);
  if (variable.is_rows()) return variable_to_python(variable);
  require<OpError>(variable.kind == VarKind::TensorArray, "a variable that is ", name_of(variable.kind),
                   " can't be fetched");
  py::list list;
  for (const Tensor& element : variable.array) list.append(tensor_to_python(element));
  return std::move(list);
}

// The callers' arrays; `copies` owns copies of those that were not contiguous or aligned.
std::vector<Tensor> tensors_of(const Signature& signature, const py::tuple& feeds, std::vector<py::array>& copies) {
  const auto& names = signature.feeds();
  signature.require_feeds(feeds.size());
  constexpr int kUsable = py::array::c_style | py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  std::vector<Tensor> tensors;
  tensors.reserve(feeds.size());
  for (size_t i = 0; i < feeds.size(); ++i) {
    py::object item = feeds[i];
    Lod lod;
    if (py::isinstance<py::tuple>(item)) {
      auto pair = py::reinterpret_borrow<py::tuple>(item);
      require<ShapeError>(pair.size() == 2, "feed '", printable(names[i]), "' is not an array");
      lod = lod_from_python(pair[1], names[i]);
      item = pair[0];
    }
    require<ShapeError>(py::isinstance<py::array>(item), "feed '", printable(names[i]), "' is not an array");
    auto array = py::reinterpret_borrow<py::array>(item);
    if ((array.flags() & kUsable) != kUsable) {
      array = array.attr("copy")("C");
      copies.push_back(array);
    }
    tensors.push_back(view_of(array, names[i]));
    check_lod(lod, tensors.back().shape, names[i]);
    tensors.back().lod = std::move(lod);
  }
  return tensors;
}

py::list run(Executor& executor, const std::shared_ptr<Signature>& signature, const std::shared_ptr<Scope>& scope,
             const py::tuple& feeds) {
  NeedsGil here;
  std::vector<py::array> copies;
  std::vector<Tensor> tensors = tensors_of(*signature, feeds, copies);
  Executor::Run run(executor, signature, scope);
  const uint64_t kept_before = times_arrays_were_kept();
  try {
    WithoutGil others_run;
    run.start(tensors, user_wants_to_stop);
  } catch (...) {
    // A Python function may hold arrays in the memory of this run, so that memory is never freed.
    if (times_arrays_were_kept() != kept_before)
      py::make_tuple(py::cast(&executor, py::return_value_policy::reference), feeds, copies, signature, scope)
          .release();
    throw;
  }
  py::list results(signature->fetches().size());
  for (size_t i = 0; i < results.size(); ++i) results[i] = fetched_to_python(run.fetched(i));
  return results;
}

std::string plan_text(Executor& executor, const std::shared_ptr<Signature>& signature,
                      const std::shared_ptr<Scope>& scope, const py::tuple& feeds, const std::string& stage) {
  std::vector<py::array> copies;
  std::vector<Tensor> tensors = tensors_of(*signature, feeds, copies);
  Executor::Run run(executor, signature, scope);
  WithoutGil others_run;
  return run.plan_text(tensors, stage, user_wants_to_stop);
}

using HeldExecutor = std::unique_ptr<Executor, EndWithoutGil<Executor>>;

std::vector<Place> places_of(const std::vector<std::string>& names) {
  std::vector<Place> places;
  for (const std::string& name : names) places.push_back(parse_place(name));
  return places;
}

}  // namespace

bool user_wants_to_stop() {
  if (interpreter_ends()) return true;
  py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

void define_executor(py::module_& m) {
  py::class_<VerifiedProgram, std::shared_ptr<VerifiedProgram>>(m, "Program",
                                                                "A parsed and verified program, ready to run.")
      .def(py::init([](const py::bytes& bytes) {
        ProgramDesc desc = decode_program(static_cast<std::string>(bytes));
        return std::make_shared<VerifiedProgram>(verify(desc, manager().operators()));
      }));
  using Turn = ReplicaTurns::Turn;
  // A class of C++, because an interrupt may come between any two steps of a context manager of Python.
  py::class_<Turn>(m, "ReplicaTurn", "The result of ReplicaTurns.turn().")
      .def("__enter__", [](const Turn&) {})
      .def("__exit__", [](Turn& self, const py::args&) { self.end(); });
  py::class_<ReplicaTurns, std::shared_ptr<ReplicaTurns>>(
      m, "ReplicaTurns", "Gives the runs of a group of replicas the devices that they need, one run at a time.")
      .def(py::init([](const std::vector<std::string>& places) {
             return std::make_shared<ReplicaTurns>(manager(), places_of(places));
           }),
           py::arg("places"))
      .def(
          "turn",
          [](std::shared_ptr<ReplicaTurns> turns) {
            WithoutGil others_run;
            return std::make_unique<Turn>(std::move(turns), user_wants_to_stop);
          },
          "Waits until no other thread has a turn with one of these devices. The turn ends with its `with` block. "
          "ScopeInUse where this thread has one already.");
  py::class_<ThreadCommunicator, std::shared_ptr<ThreadCommunicator>>(
      m, "Communicator", "All-reduce and barriers among replicas that run in threads of this process.")
      .def(py::init([](const std::vector<std::string>& names) {
             std::vector<Place> places = places_of(names);
             return std::make_shared<ThreadCommunicator>(static_cast<int>(places.size()), manager().sums_among(places));
           }),
           py::arg("places"))
      .def("cancel", &ThreadCommunicator::cancel, py::arg("reason"), py::call_guard<WithoutGil>(),
           "All current and later waits for a replica raise DeviceError with this reason.")
      .def("reset", &ThreadCommunicator::reset, "Clears cancel(); no replica may run meanwhile.");
  py::class_<Signature, std::shared_ptr<Signature>>(
      m, "Signature",
      "A program with the names of what is fed and what is fetched. Calls with the same one are fastest.")
      .def(py::init([](std::shared_ptr<VerifiedProgram> program, std::vector<std::string> feeds,
                       std::vector<std::string> fetches) {
             return std::make_shared<Signature>(std::move(program), std::move(feeds), std::move(fetches));
           }),
           py::arg("program"), py::arg("feeds"), py::arg("fetches"));
  py::class_<Executor, HeldExecutor>(m, "Executor")
      .def(py::init([](const std::string& place, std::optional<uint64_t> seed, bool files, bool cpu_fallback,
                       const std::optional<std::shared_ptr<ThreadCommunicator>>& communicator, int rank,
                       int64_t max_loop_steps, int threads) {
             ExecutorOptions options{parse_place(place), seed, files, cpu_fallback, nullptr, rank, threads,
                                     max_loop_steps};
             if (communicator) options.communicator = *communicator;
             return HeldExecutor(new Executor(manager(), options));
           }),
           py::arg("place"), py::arg("seed") = py::none(), py::arg("files") = false,
           py::arg("allow_cpu_fallback") = false, py::arg("communicator") = py::none(), py::arg("rank") = 0,
           py::arg("max_loop_steps") = 0, py::arg("threads") = 0)
      .def("run", &run, py::arg("signature"), py::arg("scope"), py::arg("feeds"))
      .def("plan_text", &plan_text, py::arg("signature"), py::arg("scope"), py::arg("feeds"), py::arg("stage") = "plan")
      .def(
          "seed", [](Executor& executor, uint64_t seed) { executor.seed(seed, user_wants_to_stop); }, py::arg("seed"),
          py::call_guard<WithoutGil>())
      .def(
          "random_state", [](Executor& executor) { return executor.random_state(user_wants_to_stop); },
          py::call_guard<WithoutGil>())
      .def(
          "set_random_state",
          [](Executor& executor, const std::string& state) { executor.set_random_state(state, user_wants_to_stop); },
          py::arg("state"), py::call_guard<WithoutGil>());
  m.def("num_threads", &num_threads);
  m.def("num_threads_reason", &num_threads_reason);
  m.def("set_num_threads", &set_num_threads, py::arg("threads"));
  m.def(
      "find_waits",
      [](const std::vector<std::pair<int, std::vector<std::tuple<int, size_t, size_t, bool>>>>& steps, int queues) {
        std::vector<OrderedStep> given;
        for (const auto& [queue, accesses] : steps) {
          given.push_back({queue, {}});
          for (const auto& [memory, begin, end, writes] : accesses)
            given.back().accesses.push_back({memory, begin, end, writes});
        }
        return find_waits(given, queues);
      },
      "For (queue, [(memory, begin, end, writes)]) steps: those that each waits for.");
  m.def(
      "plan_memory",
      [](const std::vector<std::tuple<int, int, size_t>>& lifetimes) {
        std::vector<Lifetime> given;
        for (const auto& [first, last, bytes] : lifetimes) given.push_back({first, last, bytes});
        MemoryPlan plan = plan_memory(given);
        return std::make_pair(plan.offsets, plan.arena_bytes);
      },
      "(offsets, arena bytes) for (first step, last step, bytes) lifetimes.");
}

}  // namespace paddle_mini::python
