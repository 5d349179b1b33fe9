// Python interface of devices: available ones, emulated ones, and memory use.
#include "module.h"

namespace paddle_mini::python {
namespace {

struct DeviceMemory {
  std::shared_ptr<void> memory;
};

py::dict memory_of(const std::string& place) {
  MemoryUse use = manager().at(parse_place(place)).device->memory();
  return py::dict(py::arg("in_use") = use.in_use, py::arg("reserved") = use.reserved, py::arg("peak") = use.peak,
                  py::arg("total") = use.total);
}

}  // namespace

DeviceManager& manager() {
  static DeviceManager manager;
  return manager;
}

void define_devices(py::module_& m) {
  // For tests that use an address of a device elsewhere.
  m.def("device_address", [](const std::string& place, uintptr_t address) {
    return reinterpret_cast<uintptr_t>(
        manager().at(parse_place(place)).device->address(reinterpret_cast<void*>(address)));
  });
  py::class_<DeviceMemory>(m, "DeviceMemory")
      .def(py::init([](const std::string& place, size_t bytes) {
        return DeviceMemory{manager().at(parse_place(place)).device->allocate(bytes)};
      }))
      .def_property_readonly("address",
                             [](const DeviceMemory& held) { return reinterpret_cast<uintptr_t>(held.memory.get()); });
  m.def(
      "emulate",
      [](int index, double bandwidth, double latency, size_t memory, size_t staging, uint64_t delay_seed,
         int most_delay) {
        Emulation emulation;
        emulation.bandwidth = bandwidth;
        emulation.latency = latency;
        emulation.memory = memory;
        emulation.staging = staging;
        emulation.delay_seed = delay_seed;
        emulation.most_delay = most_delay;
        manager().emulate(index, emulation);
      },
      py::arg("index"), py::arg("bandwidth"), py::arg("latency"), py::arg("memory"), py::arg("staging"),
      py::arg("delay_seed"), py::arg("most_delay"));
  m.def("device_memory", &memory_of, py::arg("place"),
        "Bytes in use, reserved, at the peak, and in total, of a device.");
  m.def(
      "forget_peak", [](const std::string& place) { manager().at(parse_place(place)).device->forget_peak(); },
      py::arg("place"));
  m.def(
      "device_text", [](const std::string& place) { return manager().at(parse_place(place)).device->description(); },
      py::arg("place"));
  m.def(
      "gpu_text", [] { return manager().gpu_text(); },
      "Versions of the GPU libraries, or the reason why GPUs are unavailable.");
  m.def("gpu_count", [] { return manager().gpu_count(); });
  m.def(
      "gpu_path", [] { return manager().gpu_path(); },
      "The library of GPU kernels, if GPUs can be used; otherwise ''.");
}

}  // namespace paddle_mini::python
