// Python interface of cliques: sums of a scope's values over the GPUs of several processes.
#include "core/clique.h"

#include "core/scope.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

Cliques& cliques() {
  Cliques* found = manager().cliques();
  require<DeviceError>(found, "no NCCL 2.14 or newer is used: ", manager().gpu_text());
  return *found;
}

Place gpu_of(const std::string& name) {
  Place place = parse_place(name);
  require<DeviceError>(place.kind == DeviceKind::Gpu, "'", printable(name), "': a clique has GPUs only");
  return place;
}

// The tensor of a variable, which gets memory on the device unless it has some of this size there.
Tensor made(Scope& scope, const std::string& name, const Tensor& like, Device* device) {
  scope.require_unclaimed(name);
  Variable& variable = scope.create(name);
  const Tensor& now = variable.tensor;
  if (variable.kind == VarKind::Tensor && now.data && now.device == device && now.dtype == like.dtype &&
      now.shape == like.shape)
    return now;
  Tensor fresh = new_tensor(like.dtype, like.shape, device);
  variable = Variable{};
  variable.tensor = fresh;
  scope.note_devices();
  scope.changed();
  return fresh;
}

class ScopeClique {
 public:
  ScopeClique(const std::string& place, const std::string& id, int rank, int size, double seconds)
      : device_(manager().at(gpu_of(place)).device) {
    require<DeviceError>(0 <= rank && rank < size, "member ", rank, " of ", size, " does not exist");
    clique_ = cliques().join(gpu_of(place).index, id, rank, size, seconds, user_wants_to_stop);
  }

  void add_up(Scope& scope, const std::vector<std::pair<std::string, std::string>>& names, bool takes_part,
              double seconds) {
    InScope use(scope, Access::Change);
    WithoutGil others_run;
    std::vector<Clique::Sum> sums;
    for (const auto& [name, to_name] : names) {
      const Variable* variable = scope.find(name);
      require<OpError>(variable && variable->kind == VarKind::Tensor && variable->has_value(), "'", printable(name),
                       "' is not a tensor in the scope");
      const Tensor from = variable->tensor, to = made(scope, to_name, from, device_.get());
      bool is_here = takes_part && from.device == device_.get();
      if (!takes_part) device_->to_device(to.data, std::vector<char>(to.bytes()).data(), to.bytes());
      else if (!is_here) copy_bytes(from, to);
      sums.push_back({is_here ? from.data : to.data, to.data, to.dtype, to.shape.numel()});
    }
    clique_->add_up(sums, seconds, user_wants_to_stop);
  }

 private:
  std::shared_ptr<Device> device_;
  std::unique_ptr<Clique> clique_;
};

}  // namespace

void define_cliques(py::module_& m) {
  m.def(
      "nccl_version",
      []() -> std::optional<std::string> {
        Cliques* found = manager().cliques();
        return found ? std::optional<std::string>(found->version()) : std::nullopt;
      },
      "The version of NCCL, by which processes add up; None without a GPU, without NCCL, or before version 2.14.");
  m.def(
      "gpu_identity", [](const std::string& place) { return cliques().gpu(gpu_of(place).index); }, py::arg("place"),
      "A text that names this GPU among those of all machines.");
  m.def(
      "new_clique_id", [] { return py::bytes(cliques().new_id()); },
      "A name for a new clique, of which this process is the first member.");
  py::class_<ScopeClique, std::unique_ptr<ScopeClique, EndWithoutGil<ScopeClique>>>(
      m, "Clique", "GPUs of several processes that add up values. The end of the object leaves the clique.")
      .def(py::init([](const std::string& place, const py::bytes& id, int rank, int size, double seconds) {
             std::string name(id);
             WithoutGil others_run;
             return std::unique_ptr<ScopeClique, EndWithoutGil<ScopeClique>>(new ScopeClique(place, name, rank, size,
                                                                                             seconds));
           }),
           py::arg("place"), py::arg("id"), py::arg("rank"), py::arg("size"), py::arg("seconds"),
           "Returns when all `size` members have joined; DeviceError if they have not after so many seconds.")
      .def("add_up", &ScopeClique::add_up, py::arg("scope"), py::arg("names"), py::arg("takes_part"),
           py::arg("seconds"),
           "For (name, to) names: `to` gets the sum of all members' `name`, the same bits for all, on the device. All "
           "members ask for the same. takes_part: False: zeros stand for the values of this member. DeviceError "
           "if a member is missing or another sum fails: `to` then has any values, and this member has left.");
}

}  // namespace paddle_mini::python
