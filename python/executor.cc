// Runs programs from Python: takes and returns arrays, and releases the GIL in between.
#include "executor/executor.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

py::object tensor_to_python(const Tensor& tensor) {
  if (!tensor.data) return py::none();
  py::array array = copy_to_numpy(tensor);
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

class Executor {
 public:
  Executor(const std::string& place, std::optional<uint64_t> seed, bool files, bool cpu_fallback,
           const std::optional<std::shared_ptr<ThreadCommunicator>>& communicator, int rank, int64_t max_loop_steps)
      : placement_(machine(), parse_place(place), cpu_fallback, communicator.has_value()),
        devices_(machine(), placement_.place, communicator.value_or(nullptr), rank) {
    devices_.may_touch_files(files);
    devices_.limit_loops(max_loop_steps);
    devices_.seed(seed ? *seed : std::random_device{}());
  }

  py::list run(const std::shared_ptr<VerifiedProgram>& program, const std::shared_ptr<Scope>& scope,
               const py::tuple& feed_names, const py::tuple& feeds, const py::tuple& fetches) {
    std::shared_ptr<Session> session = session_for(program, scope, feed_names, fetches);
    std::vector<py::array> kept;
    std::vector<Tensor> tensors = tensors_of(*session, feeds, kept);
    Turn::Use executor(turn_, "this executor");
    // Programs that only read may run in one scope at the same time, each by an executor of its own; but not where that may
    // move values between devices.
    bool alone = !program->written.empty() || !placement_.place.is_cpu();
    Scope::Use in_scope(*scope, alone ? Access::Run : Access::ReadingRun);
    {
      py::gil_scoped_release release;
      executor.begin(Access::Run, user_wants_to_stop);
      in_scope.begin(user_wants_to_stop);
      session->run(tensors, devices_, user_wants_to_stop);
    }
    py::list results(session->fetch_count());
    for (size_t i = 0; i < session->fetch_count(); ++i) results[i] = fetched_to_python(session->fetched(i));
    return results;
  }

  std::string plan_text(const std::shared_ptr<VerifiedProgram>& program, const std::shared_ptr<Scope>& scope,
                        const py::tuple& feed_names, const py::tuple& feeds, const py::tuple& fetches,
                        const std::string& stage) {
    std::shared_ptr<Session> session = session_for(program, scope, feed_names, fetches);
    std::vector<py::array> kept;
    std::vector<Tensor> tensors = tensors_of(*session, feeds, kept);
    Turn::Use executor(turn_, "this executor");
    Scope::Use in_scope(*scope, Access::Run);
    py::gil_scoped_release release;
    executor.begin(Access::Run, user_wants_to_stop);
    in_scope.begin(user_wants_to_stop);
    return session->plan_text(tensors, stage);
  }

  std::string random_state() {
    return alone([&] { return devices_.random_state(); });
  }
  void set_random_state(const std::string& text) {
    alone([&] { devices_.set_random_state(text); });
  }
  void seed(uint64_t seed) {
    alone([&] { devices_.seed(seed); });
  }

 private:
  struct Entry {
    std::shared_ptr<VerifiedProgram> program;
    std::shared_ptr<Scope> scope;
    py::tuple feeds, fetches;
    std::shared_ptr<Session> session;  // shared with the runs that go on while it is dropped from here
  };

  // Runs f while nobody draws random numbers.
  template <class F>
  auto alone(F f) -> decltype(f()) {
    std::vector<std::shared_ptr<Scope>> scopes;  // entries_ may change while others have the GIL
    for (const Entry& entry : entries_) scopes.push_back(entry.scope);
    for (const auto& scope : scopes) InScope settled(*scope, Access::Change);
    Turn::Use executor(turn_, "this executor");
    py::gil_scoped_release release;
    executor.begin(Access::Run, user_wants_to_stop);
    return f();
  }

  // The callers' arrays; `kept` keeps those alive that had to be copied to be contiguous or aligned.
  static std::vector<Tensor> tensors_of(const Session& session, const py::tuple& feeds, std::vector<py::array>& kept) {
    const auto& names = session.feed_names();
    require<ProgramError>(feeds.size() == names.size(), feeds.size(), " arrays for ", names.size(), " feeds");
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
        kept.push_back(array);
      }
      tensors.push_back(view_of(array, names[i]));
      check_lod(lod, tensors.back().shape, names[i]);
      tensors.back().lod = std::move(lod);
    }
    return tensors;
  }

  // The names are compared by identity first: callers that keep their tuples pay nothing.
  std::shared_ptr<Session> session_for(const std::shared_ptr<VerifiedProgram>& program,
                                       const std::shared_ptr<Scope>& scope, const py::tuple& feeds,
                                       const py::tuple& fetches) {
    for (Entry& entry : entries_) {
      bool fits =
          entry.program == program && entry.scope == scope && same(entry.feeds, feeds) && same(entry.fetches, fetches);
      if (fits) return entry.session;
    }
    constexpr size_t kMostSessions = 64;
    if (entries_.size() == kMostSessions) entries_.erase(entries_.begin());
    using Names = std::vector<std::string>;
    auto session = std::make_shared<Session>(program, scope, placement_, feeds.cast<Names>(), fetches.cast<Names>());
    entries_.push_back({program, scope, feeds, fetches, session});
    return session;
  }

  static bool same(const py::tuple& a, const py::tuple& b) { return a.ptr() == b.ptr() || a.equal(b); }

  Placement placement_;
  Devices devices_;
  Turn turn_;
  std::vector<Entry> entries_;
};

}  // namespace

bool user_wants_to_stop() {
  py::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

void define_executor(py::module_& m) {
  py::class_<VerifiedProgram, std::shared_ptr<VerifiedProgram>>(m, "Program",
                                                                "A parsed and verified program, ready to run.")
      .def(py::init([](const py::bytes& bytes) {
        ProgramDesc desc = decode_program(static_cast<std::string>(bytes));
        return std::make_shared<VerifiedProgram>(verify(desc, machine().operators()));
      }));
  py::class_<ThreadCommunicator, std::shared_ptr<ThreadCommunicator>>(m, "Communicator",
                                                                      "Where replicas, each run by a thread, meet.")
      .def(py::init([](const std::vector<std::string>& names) {
             std::vector<Place> places;
             for (const std::string& name : names) places.push_back(parse_place(name));
             return std::make_shared<ThreadCommunicator>(static_cast<int>(places.size()), machine().sums_among(places));
           }),
           py::arg("places"))
      .def("give_up", &ThreadCommunicator::give_up, py::arg("reason"), py::call_guard<py::gil_scoped_release>(),
           "Whoever waits for a replica, now or later, gets this as DeviceError.")
      .def("begin_anew", &ThreadCommunicator::begin_anew, "Forgets who has given up, while no replica runs.");
  py::class_<Executor>(m, "Executor")
      .def(py::init<const std::string&, std::optional<uint64_t>, bool, bool,
                    const std::optional<std::shared_ptr<ThreadCommunicator>>&, int, int64_t>(),
           py::arg("place"), py::arg("seed") = py::none(), py::arg("files") = false,
           py::arg("allow_cpu_fallback") = false, py::arg("communicator") = py::none(), py::arg("rank") = 0,
           py::arg("max_loop_steps") = 0)
      .def("run", &Executor::run, py::arg("program"), py::arg("scope"), py::arg("feed_names"), py::arg("feeds"),
           py::arg("fetches"))
      .def("plan_text", &Executor::plan_text, py::arg("program"), py::arg("scope"), py::arg("feed_names"),
           py::arg("feeds"), py::arg("fetches"), py::arg("stage") = "plan")
      .def("seed", &Executor::seed, py::arg("seed"))
      .def("random_state", &Executor::random_state)
      .def("set_random_state", &Executor::set_random_state, py::arg("state"));
  m.def(
      "find_waits",
      [](const std::vector<std::pair<int, std::vector<std::tuple<int, size_t, size_t, bool>>>>& steps, int queues) {
        std::vector<OrderedStep> given;
        for (const auto& [queue, touches] : steps) {
          given.push_back({queue, {}});
          for (const auto& [memory, begin, end, writes] : touches)
            given.back().touches.push_back({memory, begin, end, writes});
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
