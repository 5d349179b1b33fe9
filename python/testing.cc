// For tests: builds schemas from lists of calls, changes one fact of an operator's schema, and sets memory limits.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "core/cpu_count.h"
#include "core/memory_limit.h"
#include "core/parallel.h"
#include "core/split_loops.h"
#include "executor/batches.h"
#include "executor/step_kernels.h"
#include "module.h"

namespace paddle_mini {

namespace py = pybind11;

struct SchemaAccess {
  using Names = std::vector<std::string>;

  template <class T>
  static py::object exchange_value(T& fact, const py::object& value) {
    py::object before = py::cast(fact);
    fact = value.cast<T>();
    return before;
  }

  // Sets `mark` on exactly the named ports; returns the names that had it.
  static py::object exchange_marks(std::vector<PortSchema>& ports, bool PortSchema::* mark, const py::object& value) {
    Names before, now = value.cast<Names>();
    for (PortSchema& port : ports) {
      if (port.*mark) before.push_back(port.name);
      port.*mark = std::find(now.begin(), now.end(), port.name) != now.end();
    }
    return py::cast(before);
  }

  static py::object exchange_dtype_port(OpSchema& schema, const py::object& value) {
    std::pair<std::string, bool> fact(schema.dtype_port_, schema.dtype_port_is_output_);
    py::object before = exchange_value(fact, value);
    std::tie(schema.dtype_port_, schema.dtype_port_is_output_) = fact;
    return before;
  }

  static py::object exchange_control(OpSchema& schema, const py::object& value) {
    auto address = reinterpret_cast<uintptr_t>(schema.control_);
    py::object before = exchange_value(address, value);
    schema.control_ = reinterpret_cast<ControlFunction>(address);
    return before;
  }

  static py::object exchange(OpSchema& schema, const std::string& fact, const py::object& value) {
    if (fact == "in_place") return exchange_value(schema.in_places_, value);
    if (fact == "views") return exchange_value(schema.views_, value);
    if (fact == "updates") return exchange_value(schema.updates_, value);
    if (fact == "accepts_selected_rows") return exchange_value(schema.row_ports_, value);
    if (fact == "inputs.shape_only") return exchange_value(schema.shape_ports_, value);
    if (fact == "tiled") return exchange_value(schema.is_tiled_, value);
    if (fact == "elementwise") return exchange_value(schema.is_elementwise_, value);
    if (fact == "stores_parts") return exchange_value(schema.output_in_parts_, value);
    if (fact == "splits_batch") return exchange_value(schema.batch_ports_, value);
    if (fact == "checks_data") return exchange_value(schema.checks_data_, value);
    if (fact == "checked_port") return exchange_value(schema.checked_port_, value);
    if (fact == "custom_lod") return exchange_value(schema.decides_lod_, value);
    if (fact == "on_gpu") return exchange_value(schema.on_gpu_, value);
    if (fact == "cpu_only") return exchange_value(schema.cpu_only_reason_, value);
    if (fact == "no_gradient") return exchange_value(schema.no_gradient_reason_, value);
    if (fact == "dtype_from") return exchange_dtype_port(schema, value);
    if (fact == "control") return exchange_control(schema, value);
    if (fact == "inputs.optional") return exchange_marks(schema.inputs_, &PortSchema::optional, value);
    if (fact == "outputs.optional") return exchange_marks(schema.outputs_, &PortSchema::optional, value);
    if (fact == "inputs.list") return exchange_marks(schema.inputs_, &PortSchema::list, value);
    if (fact == "outputs.list") return exchange_marks(schema.outputs_, &PortSchema::list, value);
    fail<ProgramError>("a schema has no '", printable(fact), "'");
  }

  static py::object dtype_port(const OpSchema& schema) {
    if (schema.dtype_port_.empty()) return py::none();
    return py::make_tuple(schema.dtype_port_, schema.dtype_port_is_output_);
  }
};

namespace python {
namespace {

struct NoKernel : Kernel {
  explicit NoKernel(KernelInit&) {}
  void run(KernelContext&) override {}
};

using Words = std::vector<std::string>;

// ("input", ["X", "any shape"]) is .input("X", "any shape"). In the words of gradient, the first one is the type, and
// those that begin with "->" are outputs.
void make_call(OpSchema& schema, const std::string& call, const Words& w) {
  auto word = [&](size_t i) { return w.at(i).c_str(); };
  const std::map<std::string, std::function<void()>> calls = {
      {"doc", [&] { schema.doc(word(0)); }},
      {"input", [&] { schema.input(word(0), word(1)); }},
      {"shape_input", [&] { schema.shape_input(word(0), word(1)); }},
      {"optional_input", [&] { schema.optional_input(word(0), word(1)); }},
      {"output", [&] { schema.output(word(0), word(1)); }},
      {"attr", [&] { schema.attr(word(0), 1.0f, word(1)); }},
      {"infer", [&] { schema.infer([](InferContext&) {}); }},
      {"kernel", [&] { schema.kernel_for_any<NoKernel>(); }},
      {"no_gradient", [&] { schema.no_gradient(word(0)); }},
      {"dtype_from_input", [&] { schema.dtype_from_input(word(0)); }},
      {"dtype_from_output", [&] { schema.dtype_from_output(word(0)); }},
      {"in_place", [&] { schema.in_place(word(0), word(1)); }},
      {"view", [&] { schema.view(word(0), word(1)); }},
      {"updates", [&] { schema.updates(word(0), word(1)); }},
      {"shape_only", [&] { schema.shape_only(word(0)); }},
      {"accepts_selected_rows", [&] { schema.accepts_selected_rows(word(0)); }},
      {"checks_data", [&] { schema.checks_data(w.size() > 0 ? word(0) : nullptr); }},
      {"on_gpu", [&] { schema.on_gpu(); }},
      {"cpu_only", [&] { schema.cpu_only(word(0)); }},
      {"gradient",
       [&] {
         Words inputs, outputs;
         for (size_t i = 1; i < w.size(); ++i)
           w[i].rfind("->", 0) == 0 ? outputs.push_back(w[i].substr(2)) : inputs.push_back(w[i]);
         schema.gradient(w.at(0), inputs, outputs);
       }},
  };
  calls.at(call)();
}

// Adds a schema to the available operators, as a kernel library does. Throws ProgramError if it is invalid. Returns the
// inputs of which only the shape is read.
Words try_schema(const std::string& type, const std::vector<std::pair<std::string, Words>>& calls) {
  OpSchema schema(type);
  for (const auto& [call, words] : calls) make_call(schema, call, words);
  OpTable operators = manager().operators();
  operators.add(schema);
  operators.check_gradients();
  Words shape_only;
  for (const PortSchema& port : schema.inputs())
    if (schema.reads_only_shape(port.name)) shape_only.push_back(port.name);
  return shape_only;
}

// The ports and attributes of the schema that gradient_of begins for a schema made of `forward`, and `gradient` completes.
Words try_gradient_schema(const std::vector<std::pair<std::string, Words>>& forward,
                          const std::vector<std::pair<std::string, Words>>& gradient) {
  OpSchema schema("mended");
  for (const auto& [call, words] : forward) make_call(schema, call, words);
  OpTable operators = manager().operators();
  operators.add(schema);
  OpSchema derived = operators.gradient_of("mended");
  for (const auto& [call, words] : gradient) make_call(derived, call, words);
  operators.add(derived);
  operators.check_gradients();
  Words result{derived.runs_on_gpu() ? "on_gpu" : derived.cpu_only_reason()};
  for (const std::vector<PortSchema>* ports : {&derived.inputs(), &derived.outputs()})
    for (const PortSchema& port : *ports)
      result.push_back(port.name + (port.optional ? " (optional): " : ": ") + port.doc);
  for (const AttrSchema& attr : derived.attrs()) result.push_back(attr.name + ": " + attr.doc);
  return result;
}

// Replaces one fact of a schema, which applies to programs built from now on. Returns the previous value.
py::object alter_schema(const std::string& type, const std::string& fact, const py::object& value) {
  OpSchema changed = manager().operators().at(type);
  py::object before = SchemaAccess::exchange(changed, fact, value);
  OpTable().add(changed);  // throws if the schema is invalid
  const_cast<OpSchema&>(manager().operators().at(type)) = changed;
  return before;
}

// Splits a loop of items that each take this time, each range again a loop. Returns how often each item ran, and the last
// lane that ran it. Raises for the first item of `failing`, after which no item may have run twice.
std::pair<std::vector<int>, std::vector<int>> try_loop(int threads, int64_t items, const std::vector<int64_t>& failing,
                                                       int microseconds) {
  KernelContext context;
  context.threads = threads;
  context.least_loop = 1;
  std::vector<int> ran(static_cast<size_t>(items)), lanes(static_cast<size_t>(items));
  parallel_for(context, {items, 1}, [&](int64_t begin, int64_t end, int lane) {
    parallel_for(context, {end - begin, 1}, [&](int64_t from, int64_t to) {
      for (int64_t i = begin + from; i < begin + to; ++i) {
        if (std::count(failing.begin(), failing.end(), i)) fail<OpError>("item ", i);
        if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
        ++ran[static_cast<size_t>(i)];
        lanes[static_cast<size_t>(i)] = lane;
      }
    });
  });
  return {ran, lanes};
}

}  // namespace

py::object dtype_port(const OpSchema& schema) { return SchemaAccess::dtype_port(schema); }

void define_testing(py::module_& m) {
  m.def("container_memory_limit", &container_memory_limit, py::arg("root") = "");
  m.def("memory_limit", &memory_limit);
  m.def("container_cpu_quota", &container_cpu_quota, py::arg("root") = "");
  m.def("set_least_loop", &set_least_loop, py::arg("nanoseconds") = kLeastLoop);
  m.def("set_epilogue_tile", &set_epilogue_tile, py::arg("elements") = kEpilogueTile);
  m.def("set_batch_bytes", &set_batch_bytes, py::arg("bytes") = kBatchBytes);
  m.def("take_longest_split_loop", &take_longest_split_loop);
  m.def("started_workers", [] { return ThreadPool::of_process().workers(); });
  m.def("try_loop", &try_loop, py::arg("threads"), py::arg("items"), py::arg("failing") = std::vector<int64_t>(),
        py::arg("microseconds") = 0, py::call_guard<WithoutGil>());
  m.def("memory_in_use", &memory_in_use);
  m.def("try_schema", &try_schema, py::arg("type"), py::arg("calls"));
  m.def("try_gradient_schema", &try_gradient_schema, py::arg("forward"), py::arg("gradient"));
  m.def("alter_schema", &alter_schema, py::arg("type"), py::arg("fact"), py::arg("value"));
}

}  // namespace python
}  // namespace paddle_mini
