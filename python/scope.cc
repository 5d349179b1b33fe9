// Python interface of scopes.
#include "core/scope.h"

#include "core/outside_values.h"

#include "module.h"

namespace paddle_mini::python {

// The name of a variable, or the Variable of a program that has it.
struct NameOfVariable {
  std::string text;
  operator const std::string&() const { return text; }
};

}  // namespace paddle_mini::python

template <>
class pybind11::detail::type_caster<paddle_mini::python::NameOfVariable> {
 public:
  PYBIND11_TYPE_CASTER(paddle_mini::python::NameOfVariable, const_name("str | paddle_mini.variable.Variable"));

  bool load(handle from, bool) {
    auto name = reinterpret_borrow<object>(from);
    if (!PyUnicode_Check(from.ptr())) {
      const bool is_variable = isinstance(from, module_::import("paddle_mini.variable").attr("Variable"));
      paddle_mini::require<paddle_mini::ProgramError>(is_variable, "the name is of type ", Py_TYPE(from.ptr())->tp_name,
                                                      ", it must be a variable or its name");
      name = from.attr("name");
    }
    value.text = name.cast<std::string>();
    return true;
  }
};

namespace paddle_mini::python {
namespace {

const Variable& at(const Scope& scope, const std::string& name) {
  const Variable* variable = scope.find(name);
  require<OpError>(variable && variable->has_value(), "'", printable(name), "' is not in the scope");
  return *variable;
}

// Arrays, including those of other libraries, keep their element type; numbers and lists take that of the scope's
// tensor with this name, if it exists.
py::array array_from_python(Scope& scope, const std::string& name, const py::object& value) {
  auto numpy = py::module_::import("numpy");
  std::string shown = "'" + printable(name) + "'";
  require<ShapeError>(!value.is_none(), shown, " can't be set to None; give an array");
  require<ShapeError>(!is_masked(value), shown, " can't be set to a masked array; give its filled(value)");
  std::string wanted;
  if (!py::hasattr(value, "__array__") && !py::hasattr(value, "__dlpack__")) {
    InScope use(scope, Access::Read);
    const Variable* there = scope.find(name);
    if (there && there->has_value() && there->kind == VarKind::Tensor) wanted = name_of(there->tensor.dtype);
  }
  py::array array = as_array(value, shown);
  if (!wanted.empty()) {
    py::module_ feeds = py::module_::import("paddle_mini.feeds");
    std::string what = shown + " is set to " + feeds.attr("short")(value).cast<std::string>();
    array = feeds.attr("cast")(what, array, wanted).cast<py::array>();
  }
  return numpy.attr("ascontiguousarray")(array).attr("reshape")(array.attr("shape")).cast<py::array>();
}

void set(Scope& scope, const NameOfVariable& name, const py::object& value, py::object lod) {
  bool may_have_lod = lod.is_none() && !py::isinstance<py::array>(value);
  if (may_have_lod && py::isinstance(value, py::module_::import("paddle_mini.scope").attr("LoDTensor")))
    lod = value.attr("lod");
  py::array array = array_from_python(scope, name, value);
  Tensor tensor = view_of(array, name);
  if (!lod.is_none()) tensor.lod = lod_from_python(lod, name);
  check_lod(tensor.lod, tensor.shape, name);
  InScope use(scope, Access::Edit);
  scope.set(name, tensor);
}

void set_in_parts(Scope& scope, const py::sequence& values) {
  std::vector<Scope::InParts> found;
  for (py::handle one : values) {
    auto [name, shape, arrays] = one.cast<std::tuple<std::string, std::vector<int64_t>, std::vector<py::array>>>();
    require<ShapeError>(!arrays.empty() && shape.size() <= Shape::kMaxRank, "'", printable(name), "' has ",
                        arrays.size(), " parts and ", shape.size(), " dimensions");
    Scope::InParts value{name, dtype_from_numpy(arrays[0].dtype(), name), Shape(shape), {}};
    for (const py::array& array : arrays) {
      require<ShapeError>(array.flags() & py::array::c_style, "'", printable(name), "': a part is not C-contiguous");
      value.parts.push_back(view_of(array, name));  // `values` keeps it
    }
    found.push_back(std::move(value));
  }
  InScope use(scope, Access::Edit);
  WithoutGil others_run;
  scope.set(found);
}

std::vector<int64_t> rows_from_python(const std::string& name, const py::object& value) {
  try {
    return value.cast<std::vector<int64_t>>();
  } catch (const py::cast_error&) {
    fail<ShapeError>("'", printable(name), "': rows is ", printable(py::repr(value).cast<std::string>(), 60),
                     ", expected a list of integers");
  }
}

void set_rows(Scope& scope, const NameOfVariable& name, const py::object& row_numbers, const py::object& value,
              int64_t height) {
  std::vector<int64_t> rows = rows_from_python(name, row_numbers);
  py::array array = array_from_python(scope, name, value);
  Tensor values = view_of(array, name);
  Variable fresh = selected_rows(name, std::move(rows), values, height);
  InScope use(scope, Access::Edit);
  scope.require_unclaimed(name);
  scope.create(name) = std::move(fresh);
  scope.changed();
}

py::tuple get_rows(Scope& scope, const NameOfVariable& name) {
  InScope use(scope, Access::Read);
  const Variable& variable = at(scope, name);
  require<ShapeError>(variable.is_rows(), "'", printable(name), "' is not selected rows");
  return variable_to_python(variable).cast<py::tuple>();
}

// A use of the scope that spans several calls.
class Hold {
 public:
  Hold(std::shared_ptr<Scope> scope, Access access, std::vector<std::string> changed = {})
      : scope_(std::move(scope)), access_(access), changed_(std::move(changed)) {}
  void enter() {
    auto use = std::make_unique<InScope>(*scope_, access_);
    for (const std::string& name : changed_) scope_->require_unclaimed(name);
    use_ = std::move(use);
  }
  void exit() { use_.reset(); }

 private:
  std::shared_ptr<Scope> scope_;
  Access access_;
  std::vector<std::string> changed_;
  std::unique_ptr<InScope> use_;
};

void synchronize(Scope& scope) { InScope use(scope, Access::Change); }

}  // namespace

Lod lod_from_python(const py::object& value, const std::string& name) {
  try {
    return value.cast<Lod>();
  } catch (const py::cast_error&) {
    fail<ShapeError>("'", printable(name), "': lod is ", printable(py::repr(value).cast<std::string>(), 60),
                     ", expected a list of levels, each a list of integers");
  }
}

void define_scope(py::module_& m) {
  py::class_<Hold>(m, "ScopeHold", "The result of Scope.reading and Scope.editing.")
      .def("__enter__", &Hold::enter)
      .def("__exit__", [](Hold& self, const py::args&) { self.exit(); });
  py::class_<Scope, std::shared_ptr<Scope>>(m, "Scope",
                                            "Named values that outlive a run, such as parameters.\n\n"
                                            "Example:\n"
                                            "    >>> scope = pm.Scope()\n"
                                            "    >>> scope.set(\"w\", np.ones((2, 3), \"float32\"))\n"
                                            "    >>> scope.get(\"w\").shape, \"w\" in scope\n"
                                            "    ((2, 3), True)")
      .def(py::init([] { return std::shared_ptr<Scope>(new Scope, EndWithoutGil<Scope>()); }))
      .def("set", &set, py::arg("name"), py::arg("array"), py::arg("lod") = py::none(),
           "Gives the variable a copy of the array, of any library; numbers and lists take the element type that it "
           "has. "
           "`lod` lists offsets of sequences, one list a level; None: those of a LoDTensor.")
      .def(
          "get",
          [](Scope& scope, const NameOfVariable& name, std::optional<bool> copy) {
            InScope use(scope, Access::Read);
            const Variable& variable = at(scope, name);
            const bool copied = copy.value_or(variable.tensor.device != nullptr);
            return copied ? variable_to_python(variable) : view_of_value(scope, name, variable);
          },
          py::arg("name"), py::arg("copy") = true,
          "A copy of the value as a NumPy array; OpError if the variable is not in the scope. copy=False: a read-only "
          "array in the memory of the value, which keeps "
          "this value: a run, or set, that changes the variable gives it other memory first. DeviceError for a value "
          "on "
          "a device, of which copy=None returns a copy.")
      .def("set_rows", &set_rows, py::arg("name"), py::arg("rows"), py::arg("values"), py::arg("height"),
           "Gives the variable selected rows: rows[i] of a table of `height` rows has values[i].")
      .def("get_rows", &get_rows, py::arg("name"), "(rows, values, height) of selected rows, copied.")
      .def(
          "lod",
          [](Scope& scope, const NameOfVariable& name) {
            InScope use(scope, Access::Read);
            return at(scope, name).tensor.lod;
          },
          py::arg("name"), "The offsets of the sequences in the rows of the value, one list a level.")
      .def(
          "info",
          [](Scope& scope, const NameOfVariable& name) {
            InScope use(scope, Access::Read);
            return info_to_python(at(scope, name).info());
          },
          py::arg("name"), "A dict with dtype, shape, lod_level and kind, the type of the value in the file format.")
      .def(
          "erase",
          [](Scope& scope, const NameOfVariable& name) {
            InScope use(scope, Access::Edit);
            scope.erase(name);
          },
          py::arg("name"), "Removes the variable, if it is in the scope.")
      .def(
          "exchange",
          [](Scope& scope, const ExchangeTriples& triples) {
            std::vector<Scope::Exchange> exchanges = exchanges_of(triples);
            InScope use(scope, Access::Change);
            scope.exchange(exchanges);
          },
          py::arg("triples"),
          "For (name, by, keep): name gets the value of by, which is gone; what it had is kept as keep unless that is "
          "''. "
          "All of them or none; waits for runs in the scope to end; nothing is copied.")
      .def(
          "restore",
          [](Scope& scope, const ExchangeTriples& triples) {
            std::vector<Scope::Exchange> names = exchanges_of(triples);
            InScope use(scope, Access::Change);
            scope.restore(names);
          },
          py::arg("triples"),
          "Gives each name of (name, by, keep) its own value back where it stands for another; erases `by`.")
      .def("synchronize", &synchronize,
           "Waits until no device uses the values. Raises the error of asynchronous work of a run that has returned.")
      .def(
          "settle",
          [](Scope& scope) {
            if (PyErr_WarnEx(PyExc_DeprecationWarning, "Scope.settle is called Scope.synchronize now", 1) != 0)
              throw py::error_already_set();
            synchronize(scope);
          },
          "The former name of `synchronize`.")
      .def(
          "place",
          [](Scope& scope, const NameOfVariable& name) {
            InScope use(scope, Access::Read);
            return name_of(place_of(at(scope, name).tensor));
          },
          py::arg("name"), "The device whose memory the value is in.")
      .def(
          "reading", [](const std::shared_ptr<Scope>& scope) { return std::make_unique<Hold>(scope, Access::Read); },
          "Inside this `with` block the scope does not change, so that the values of several calls belong together. "
          "Runs of "
          "this thread are refused inside.")
      .def(
          "editing",
          [](const std::shared_ptr<Scope>& scope, std::vector<std::string> names) {
            return std::make_unique<Hold>(scope, Access::Edit, std::move(names));
          },
          py::arg("names"),
          "Inside this `with` block no other thread uses the scope, so that all of these names get their values at "
          "once; "
          "ScopeInUse, before anything is changed, when one of them can't be set. Runs of this thread are refused "
          "inside.")
      .def(
          "names",
          [](Scope& scope) {
            InScope use(scope, Access::Read);
            return scope.names();
          },
          "The names of all variables.")
      .def("__contains__", [](Scope& scope, const NameOfVariable& name) {
        InScope use(scope, Access::Read);
        const Variable* variable = scope.find(name);
        return variable && variable->has_value();
      });
  m.def(
      "set_in_parts", &set_in_parts, py::arg("scope"), py::arg("values"),
      "Gives variables values that come as (name, shape, arrays), whose elements follow each other: all of them or, on "
      "an error, none.");
}

}  // namespace paddle_mini::python
