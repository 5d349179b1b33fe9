// Frames of the messages of jobs; paddle_mini/cluster/frames.py describes their bytes.
#include <cstring>

#include "frame_memory.h"
#include "module.h"

namespace paddle_mini::python {
namespace {

constexpr size_t kFrameLimit = size_t{1} << 32, kHeaderLimit = size_t{1} << 20;
constexpr size_t kBegin = 18, kOffer = 40, kMostDims = 32;
constexpr double kPatienceLimit = 3600.0;
constexpr int kInMemory = 1, kOffers = 2, kRequest = 0, kMostKind = 2;
constexpr const char* kDtypes[] = {"<f4", "<f8", "<i8"};
constexpr size_t kItemBytes[] = {4, 8, 8};

size_t gap(size_t at) { return (8 - at % 8) % 8; }

const py::dtype& dtype_of(int code) {
  static const std::vector<py::dtype>* all =
      new std::vector<py::dtype>{py::dtype(kDtypes[0]), py::dtype(kDtypes[1]), py::dtype(kDtypes[2])};
  return (*all)[static_cast<size_t>(code)];
}

// Its number in kDtypes.
int code_of(const py::array& array) {
  char kind = array.dtype().kind(), order = array.dtype().byteorder();
  py::ssize_t bytes = array.itemsize();
  int code = kind == 'f' && bytes == 4 ? 0 : kind == 'f' && bytes == 8 ? 1 : kind == 'i' && bytes == 8 ? 2 : -1;
  require<ProgramError>(code >= 0 && order != '>', "an array is not float32, float64 or int64");
  return code;
}

// Reads numbers of the first frame.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  template <class V>
  V next() {
    V value;
    std::memcpy(&value, take(sizeof(V)).data(), sizeof(V));
    return value;
  }
  std::string_view take(size_t count) {
    require<ProgramError>(count <= bytes_.size() - at_, "the first frame has ", bytes_.size(),
                          " bytes, which is too few");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  size_t at() const { return at_; }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
};

struct Spec {
  int code;
  std::vector<py::ssize_t> dims;
  size_t bytes;
};

std::string text_of(const Spec& spec) {
  std::string text = "[";
  for (size_t i = 0; i < spec.dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(static_cast<size_t>(spec.dims[i]));
  return text + "] " + kDtypes[spec.code];
}

Spec read_spec(Reader& reader) {
  Spec spec{reader.next<uint8_t>(), {}, 0};
  size_t dims = reader.next<uint8_t>();
  require<ProgramError>(spec.code < 3 && dims <= kMostDims, "an array has dtype ", spec.code, " and ", dims,
                        " dimensions");
  size_t bytes = kItemBytes[spec.code], span = bytes;  // span: as if no dimension were 0, as NumPy counts
  bool fits = true;
  for (size_t i = 0; i < dims; ++i) {
    auto dim = reader.next<uint64_t>();
    fits = fits && !__builtin_mul_overflow(span, dim ? dim : 1, &span) && span <= size_t{1} << 62;
    bytes *= dim;
    spec.dims.push_back(static_cast<py::ssize_t>(dim));
  }
  spec.bytes = bytes;
  require<ProgramError>(fits, "an array of ", text_of(spec), " is too large");
  return spec;
}

// An array in the memory of `owner`, which must not be written to; a copy if it is not aligned.
py::array array_at(const Spec& spec, const void* at, py::handle owner) {
  bool aligned = reinterpret_cast<uintptr_t>(at) % kItemBytes[spec.code] == 0 || spec.bytes == 0;
  if (!aligned) {
    py::array copy(dtype_of(spec.code), spec.dims);
    std::memcpy(copy.mutable_data(), at, spec.bytes);
    return copy;
  }
  py::array array(dtype_of(spec.code), spec.dims, {}, at, owner);
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

// A view of an object's bytes, as long as it lives.
class View {
 public:
  explicit View(const py::handle& of) : object_(py::reinterpret_steal<py::object>(PyMemoryView_FromObject(of.ptr()))) {
    if (!object_) throw py::error_already_set();
    require<ProgramError>(PyBuffer_IsContiguous(PyMemoryView_GET_BUFFER(object_.ptr()), 'C'),
                          "a frame is not contiguous");
  }
  explicit View(py::object view) : object_(std::move(view)) {}
  char* data() const { return static_cast<char*>(PyMemoryView_GET_BUFFER(object_.ptr())->buf); }
  size_t size() const { return static_cast<size_t>(PyMemoryView_GET_BUFFER(object_.ptr())->len); }
  const py::object& object() const { return object_; }

 private:
  py::object object_;
};

std::optional<View> view_of_memory(const py::object& memory) {
  if (memory.is_none()) return std::nullopt;
  require<ProgramError>(PyMemoryView_Check(memory.ptr()), "the memory is not a memoryview");
  return View(py::object(memory));
}

py::tuple unpack_frames(const py::bytes& head, const py::sequence& frames, const py::object& given) {
  std::optional<View> memory = view_of_memory(given);
  Reader reader(view_of_bytes(head));
  int kind = reader.next<uint8_t>(), flags = reader.next<uint8_t>();
  auto patience = reader.next<double>();
  size_t count = reader.next<uint32_t>(), length = reader.next<uint32_t>();
  bool fine = kind <= kMostKind && patience >= 0 && patience <= kPatienceLimit && length <= kHeaderLimit;
  require<ProgramError>(fine, "a message of kind ", kind, " with ", patience, " s and a header of ", length, " bytes");
  bool in_memory = flags & kInMemory;
  require<ProgramError>(!in_memory || memory, "a message has arrays in memory that was not lent");
  if (kind == kRequest && flags & kOffers) reader.take(kOffer);
  std::vector<Spec> specs;
  for (size_t i = 0; i < count; ++i) specs.push_back(read_spec(reader));  // ends at the end of the frame
  std::string_view header = reader.take(length);
  py::list arrays(count);
  size_t next = 0, frame_count = frames.size(), large = 0;
  for (size_t i = 0; i < count; ++i) {
    const Spec& spec = specs[i];
    auto has = [&](size_t bytes) {
      require<ProgramError>(bytes == spec.bytes, "an array of ", text_of(spec), " comes with ", bytes, " bytes");
    };
    py::array array;
    if (spec.bytes < kSmallArray) {
      reader.take(gap(reader.at()));
      array = array_at(spec, reader.take(spec.bytes).data(), head);
    } else if (in_memory) {
      size_t left = memory->size() - std::min(memory->size(), large);
      has(std::min(left, spec.bytes));
      array = array_at(spec, memory->data() + large, memory->object());
    } else {
      if (next == frame_count) has(0);
      View frame(py::handle(frames[next++]));
      has(frame.size());
      array = array_at(spec, frame.data(), frame.object());
    }
    if (spec.bytes >= kSmallArray) large += room(spec.bytes);
    arrays[i] = std::move(array);
  }
  require<ProgramError>(reader.at_end() && next == frame_count, "a message has other bytes than its ", count,
                        " arrays and its header of ", length, " bytes");
  return py::make_tuple(kind, patience, py::bytes(header.data(), header.size()), std::move(arrays), flags, large);
}

class Writer {
 public:
  explicit Writer(char* to) : to_(to) {}
  template <class V>
  void put(V value) {
    std::memcpy(to_ + at_, &value, sizeof value);
    at_ += sizeof value;
  }
  void put(const void* from, size_t bytes) {
    std::memcpy(to_ + at_, from, bytes);
    at_ += bytes;
  }
  void fill_gap() {
    size_t bytes = gap(at_);
    std::memset(to_ + at_, 0, bytes);
    at_ += bytes;
  }

 private:
  char* to_;
  size_t at_ = 0;
};

struct Given {
  py::array array;
  int code;
  size_t bytes;
};

std::vector<Given> checked(const py::sequence& arrays) {
  std::vector<Given> given;
  for (py::handle one : arrays) {
    require<ProgramError>(py::isinstance<py::array>(one), "an array is not a NumPy array");
    auto array = py::reinterpret_borrow<py::array>(one);
    auto bytes = static_cast<size_t>(array.nbytes());
    require<ProgramError>(bytes <= kFrameLimit, "an array has ", bytes, " bytes, ", kFrameLimit,
                          " are the most in one message: divide it");
    require<ProgramError>(array.flags() & py::array::c_style && array.ndim() <= static_cast<py::ssize_t>(kMostDims),
                          "an array is not C-contiguous, or has more than ", kMostDims, " dimensions");
    given.push_back({array, code_of(array), bytes});
  }
  return given;
}

py::list pack_frames(int kind, const py::bytes& header, const py::sequence& arrays, double patience, int flags,
                     const py::bytes& offer, const py::object& lent) {
  std::optional<View> memory = view_of_memory(lent);
  std::vector<Given> given = checked(arrays);
  std::string_view text = view_of_bytes(header), offered = view_of_bytes(offer);
  require<ProgramError>(text.size() <= kHeaderLimit && (offered.empty() || offered.size() == kOffer), "a header of ",
                        text.size(), " bytes, and an offer of ", offered.size());
  size_t size = kBegin + offered.size() + text.size(), large = 0;
  for (const Given& one : given) size += 2 + 8 * static_cast<size_t>(one.array.ndim());
  for (const Given& one : given) {
    if (one.bytes < kSmallArray) size += gap(size) + one.bytes;
    if (one.bytes >= kSmallArray) large += room(one.bytes);
  }
  require<ProgramError>(!memory || large <= memory->size(), "arrays of ", large, " bytes don't fit into the memory");
  auto head = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!head) throw py::error_already_set();
  Writer to(PyBytes_AS_STRING(head.ptr()));
  to.put(static_cast<uint8_t>(kind));
  to.put(static_cast<uint8_t>(memory ? flags | kInMemory : flags));
  to.put(patience);
  to.put(static_cast<uint32_t>(given.size()));
  to.put(static_cast<uint32_t>(text.size()));
  to.put(offered.data(), offered.size());
  for (const Given& one : given) {
    to.put(static_cast<uint8_t>(one.code));
    to.put(static_cast<uint8_t>(one.array.ndim()));
    for (py::ssize_t i = 0; i < one.array.ndim(); ++i) to.put(static_cast<uint64_t>(one.array.shape(i)));
  }
  to.put(text.data(), text.size());
  py::list frames;
  frames.append(head);
  std::vector<std::pair<const void*, size_t>> copied;
  for (const Given& one : given) {
    if (one.bytes < kSmallArray) {
      to.fill_gap();
      to.put(one.array.data(), one.bytes);
    } else if (memory) {
      copied.emplace_back(one.array.data(), one.bytes);
    } else {
      frames.append(one.array);
    }
  }
  if (copied.empty()) return frames;
  char* at = memory->data();
  std::vector<std::tuple<char*, const void*, size_t>> moves;
  for (auto [from, bytes] : copied) {
    auto source = static_cast<const char*>(from);
    bool is_inside = source < memory->data() + memory->size() && source + bytes > memory->data();
    require<ProgramError>(!is_inside || source == at, "an array is in the memory of the message, but not at its place");
    if (!is_inside) moves.emplace_back(at, from, bytes);
    at += room(bytes);
  }
  WithoutGil others_run;
  for (auto [to_place, from, bytes] : moves) std::memcpy(to_place, from, bytes);
  return frames;
}

}  // namespace

void define_frames(py::module_& m) {
  m.attr("FRAME_LIMIT") = kFrameLimit;
  m.attr("HEADER_LIMIT") = kHeaderLimit;
  m.attr("SMALL_ARRAY") = kSmallArray;
  m.attr("FRAME_ALIGNMENT") = kFrameAlignment;
  m.attr("PATIENCE_LIMIT") = kPatienceLimit;
  m.def("pack_frames", &pack_frames, py::arg("kind"), py::arg("header"), py::arg("arrays"), py::arg("patience"),
        py::arg("flags"), py::arg("offer"), py::arg("memory"),
        "The frames of a message of a job; ProgramError for arrays that it does not support.");
  m.def(
      "unpack_frames", &unpack_frames, py::arg("head"), py::arg("frames"), py::arg("memory"),
      "(kind, patience, header, arrays, flags, bytes of large arrays) of a message; ProgramError for what pack_frames "
      "does not make.");
}

}  // namespace paddle_mini::python
