// Python interface of files: parameters, programs and raw bytes.
#include <list>

#include "program/checksum.h"
#include "program/model_file.h"
#include "program/tensor_file.h"

#include "module.h"

namespace paddle_mini::python {
namespace {

std::string_view contents_of(const py::buffer_info& bytes) {
  require<ProgramError>(PyBuffer_IsContiguous(bytes.view(), 'C'), "the bytes of a file must be contiguous");
  return {static_cast<const char*>(bytes.ptr), static_cast<size_t>(bytes.size * bytes.itemsize)};
}

// Calls write(pieces) while the scope's values can be read, but not changed.
template <class Write>
auto with_parameters(Scope& scope, const std::vector<std::string>& names, const Write& write) {
  InScope use(scope, Access::Read);
  ParameterPieces parameters(scope, names);
  WithoutGil others_run;
  return write(parameters.pieces());
}

// Reads and checks everything before it changes the scope.
void load_parameters(Scope& scope, const FileName& path, const py::bytes& program,
                     const std::vector<std::string>& names, std::optional<uint32_t> checksum) {
  ProgramDesc desc = decode_program(view_of_bytes(program));
  auto tensors = from_stream(path, [&](FileStream& file) { return read_parameters(file, desc, names, checksum); });
  InScope use(scope, Access::Edit);
  set_parameters(scope, std::move(tensors));
}

// Reads directly into the memory of the returned object.
py::bytes read_whole(const FileName& path) {
  py::object bytes;
  read_file(path, [&](size_t size) {
    bytes = py::reinterpret_steal<py::object>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!bytes) throw py::error_already_set();
    return PyBytes_AS_STRING(bytes.ptr());
  });
  return bytes;
}

// The same as an array, in whose memory large arrays stay; NumPy's large ones have large pages.
py::array read_array(const FileName& path) {
  py::array_t<uint8_t> bytes;
  read_file(path, [&](size_t size) {
    bytes = py::array_t<uint8_t>(static_cast<py::ssize_t>(size));
    return static_cast<char*>(static_cast<void*>(bytes.mutable_data()));
  });
  return bytes;
}

// Contents are lists of pieces, so large ones need not be joined.
void write_several(const std::vector<std::pair<FileName, std::vector<py::buffer>>>& contents) {
  std::vector<NewFile> files;
  std::list<py::buffer_info> held;
  for (const auto& [path, pieces] : contents) {
    Pieces& views = files.emplace_back(NewFile{path, std::nullopt}).pieces.emplace();
    for (const py::buffer& piece : pieces) views.push_back(contents_of(held.emplace_back(piece.request())));
  }
  WithoutGil others_run;
  write_files(files);
}

using Others = std::vector<std::pair<FileName, std::optional<py::bytes>>>;

std::vector<NewFile> files_of(const Others& others) {
  std::vector<NewFile> files;
  for (const auto& [path, bytes] : others) {
    files.push_back({path, std::nullopt});
    if (bytes) files.back().pieces = Pieces{view_of_bytes(*bytes)};
  }
  return files;
}

void define_models(py::module_& m) {
  m.def("save_parameters", [](Scope& scope, const FileName& path, const std::vector<std::string>& names) {
    with_parameters(scope, names, [&](const Pieces& pieces) { write_parameters(path, pieces); });
  });
  m.def("parameters_checksum", [](Scope& scope, const std::vector<std::string>& names) {
    return with_parameters(scope, names, [](const Pieces& pieces) { return crc32c(pieces); });
  });
  m.def(
      "save_model",
      [](Scope& scope, const std::vector<std::string>& names, const FileName& parameters_path,
         const FileName& model_path, const py::bytes& program, const Others& others) {
        std::string_view model = view_of_bytes(program);
        std::vector<NewFile> files = files_of(others);
        with_parameters(scope, names,
                        [&](const Pieces& pieces) { write_model(model_path, model, parameters_path, pieces, files); });
      },
      "Both files and `others`, or none of them: [(path, bytes, or None to remove the file)].", py::arg("scope"),
      py::arg("names"), py::arg("parameters_path"), py::arg("model_path"), py::arg("program"),
      py::arg("others") = Others());
  m.def(
      "write_model",
      [](const FileName& path, const py::bytes& program, std::optional<uint32_t> parameters, const Others& others) {
        write_model(path, view_of_bytes(program), parameters, files_of(others));
      },
      "A program's file; parameters: the checksum of those that belong to it. others: as of save_model.",
      py::arg("path"), py::arg("program"), py::arg("parameters"), py::arg("others") = Others());
  m.def("load_parameters", &load_parameters);
  m.def(
      "model_facts",
      [](const py::bytes& file) {
        ModelFile model = open_model(view_of_bytes(file));
        return py::make_tuple(model.is_checked, model.parameters);
      },
      "For the file of a program: whether it has a checksum, which is correct, and the checksum of its parameters, or "
      "None.");
  m.def(
      "checksum_beside", [](const FileName& path) { return checksum_beside(path); },
      "The checksum that the model beside a parameter file has for it, or None.");
  m.def("require_parameters", &require_parameters);
}

}  // namespace

FileArray::FileArray(const py::object& file) {
  if (py::isinstance<py::bytes>(file)) {
    const auto size = static_cast<py::ssize_t>(PyBytes_GET_SIZE(file.ptr()));
    bytes_ = py::array(py::dtype("uint8"), std::vector{size}, PyBytes_AS_STRING(file.ptr()), file);
    bytes_.attr("flags").attr("writeable") = false;
  } else {
    bytes_ = file.cast<py::array>();
  }
  require<ProgramError>(bytes_.ndim() == 1 && bytes_.itemsize() == 1 && (bytes_.flags() & py::array::c_style),
                        "the bytes of a file must be a contiguous array of uint8");
}

void define_files(py::module_& m) {
  define_models(m);
  m.def("parameter_file_order",
        [](const py::bytes& program) { return parameter_file_order(decode_program(view_of_bytes(program))); });
  m.def("read_file", &read_whole);
  m.def("read_array", &read_array, "The bytes of a file as an array of uint8.");
  m.def("write_file", [](const FileName& path, const py::buffer& bytes) { write_several({{path, {bytes}}}); });
  m.def("write_files", &write_several, "[(path, [bytes, ...])]: all of them, or none.");
  m.def("begin_writing", &begin_writing, "The disk begins to write these bytes of an open file; fsync waits for it.");
  m.def("unfinished_name", &unfinished_name, "For a file that is being written, under a lock (flock).");
  m.def(
      "remove_unfinished", [](const FileName& folder) { remove_unfinished(folder); },
      "Those in a folder whose writers are gone.");
  m.def(
      "crc32c",
      [](const py::buffer& bytes, uint32_t before) {
        const py::buffer_info held = bytes.request();
        const std::string_view contents = contents_of(held);
        WithoutGil others_run;
        return crc32c(contents, before);
      },
      py::arg("bytes"), py::arg("before") = 0);
  m.def("crc32c_by_tables", [](const py::bytes& bytes) { return crc32c_by_tables(view_of_bytes(bytes)); });
  m.def(
      "read_tensor",
      [](const py::object& bytes, size_t position) {
        const FileArray file(bytes);
        Tensor tensor = tensor_in(file, position);
        py::array array = file.view(numpy_dtype(tensor.dtype), tensor.shape.vector(), tensor.data);
        return py::make_tuple(array, tensor.lod, position);
      },
      "(array, lod, end) of the tensor that begins there in a file's bytes; its elements stay there, and are not "
      "aligned.",
      py::arg("file"), py::arg("position") = 0);
  m.def(
      "tensor_header",
      [](const py::dtype& dtype, const std::vector<int64_t>& shape) {
        Tensor tensor;
        tensor.dtype = dtype_from_numpy(dtype, "the array");
        tensor.shape = Shape(shape);
        return py::bytes(tensor_header(tensor));
      },
      "The bytes that tensor_bytes() writes before the elements of an array of this shape, without sequences.");
  m.def("tensor_bytes", [](const py::array& array, const Lod& lod) {
    py::array contiguous = py::array::ensure(array, py::array::c_style);
    Tensor tensor = view_of(contiguous, "array");
    tensor.lod = lod;
    std::string bytes;
    append_tensor(tensor, bytes);
    return py::bytes(bytes);
  });
}

}  // namespace paddle_mini::python
