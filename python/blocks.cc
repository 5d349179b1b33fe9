// The blocks that one kind of push names: applies its gradients, and copies what its reply has, in two calls for all blocks.
#include <algorithm>
#include <cstring>

#include "frame_memory.h"
#include "module.h"

namespace paddle_mini::python {
namespace {

// Functions of the optimizers' C library (capi/paddle_optimizer.h), which is another library, and is loaded by Python.
struct OptimizerCalls {
  using Update = int (*)(void*, int, const void*, size_t);
  using UpdateRows = int (*)(void*, int, const int64_t*, size_t, const void*, size_t);
  using GetRows = int (*)(const void*, int, const int64_t*, size_t, void*, size_t);
  Update update;
  UpdateRows update_rows;
  GetRows get_rows;
};

constexpr size_t kManyBytes = size_t{1} << 16;  // from which other threads of Python run meanwhile

// A block on its server: rows of a table, or elements, in [begin, end), each of `unit` elements of `item` bytes.
struct Held {
  void* optimizer;
  int element;  // paddle_element_type
  size_t item;
  bool is_table;
  int64_t begin, end;
  std::vector<py::ssize_t> unit;
  const char* values;  // nullptr for tables

  size_t unit_bytes() const {
    size_t bytes = item;
    for (py::ssize_t dim : unit) bytes *= static_cast<size_t>(dim);
    return bytes;
  }
  size_t bytes() const { return static_cast<size_t>(end - begin) * unit_bytes(); }
};

Held held_from_python(const py::tuple& facts) {
  return {reinterpret_cast<void*>(facts[0].cast<uintptr_t>()),
          facts[1].cast<int>(),
          facts[2].cast<size_t>(),
          facts[3].cast<bool>(),
          facts[4].cast<int64_t>(),
          facts[5].cast<int64_t>(),
          facts[6].cast<std::vector<py::ssize_t>>(),
          reinterpret_cast<const char*>(facts[7].cast<uintptr_t>())};
}

bool is_number(const py::array& array, char kind, size_t item) {
  return array.dtype().kind() == kind && static_cast<size_t>(array.itemsize()) == item &&
         array.dtype().byteorder() != '>' && (array.flags() & py::array::c_style) &&
         reinterpret_cast<uintptr_t>(array.data()) % item == 0;
}

bool are_values(const Held& block, const py::array& array, py::ssize_t count) {
  if (!is_number(array, 'f', block.item) || array.ndim() != 1 + static_cast<py::ssize_t>(block.unit.size()))
    return false;
  return array.shape(0) == count && std::equal(block.unit.begin(), block.unit.end(), array.shape() + 1);
}

bool are_rows(const Held& block, const py::array& array) {
  if (!block.is_table || !is_number(array, 'i', sizeof(int64_t)) || array.ndim() != 1) return false;
  auto rows = static_cast<const int64_t*>(array.data());
  return std::all_of(rows, rows + array.shape(0), [&](int64_t row) { return row >= block.begin && row < block.end; });
}

class PushedBlocks {
 public:
  PushedBlocks(uintptr_t update, uintptr_t update_rows, uintptr_t get_rows, const py::sequence& pushed,
               const py::sequence& wanted, const py::sequence& tables)
      : calls_{reinterpret_cast<OptimizerCalls::Update>(update),
               reinterpret_cast<OptimizerCalls::UpdateRows>(update_rows),
               reinterpret_cast<OptimizerCalls::GetRows>(get_rows)} {
    for (py::handle one : pushed) pushed_.push_back(held_from_python(one.cast<py::tuple>()));
    for (py::handle one : wanted) wanted_.push_back(held_from_python(one.cast<py::tuple>()));
    for (py::handle one : tables) tables_.push_back(held_from_python(one.cast<py::tuple>()));
    for (const Held& block : wanted_) require<ProgramError>(!block.is_table, "a table is read by its rows");
    for (const Held& block : tables_) require<ProgramError>(block.is_table, "only a table is read by its rows");
  }

  // Whether these are the arrays of such a push.
  bool fits(const py::list& arrays) const {
    size_t next = 0;
    auto array = [&] { return py::reinterpret_borrow<py::array>(arrays[next++]); };
    size_t needed = tables_.size();
    for (const Held& block : pushed_) needed += block.is_table ? 2 : 1;
    if (arrays.size() != needed) return false;
    for (py::handle one : arrays)
      if (!py::isinstance<py::array>(one)) return false;
    for (const Held& block : pushed_) {
      py::ssize_t count = block.end - block.begin;
      if (block.is_table) {
        py::array rows = array();
        if (!are_rows(block, rows)) return false;
        count = rows.shape(0);
      }
      if (!are_values(block, array(), count)) return false;
    }
    for (const Held& block : tables_)
      if (!are_rows(block, array())) return false;
    return true;
  }

  // One step of each block's optimizer, for arrays that fit. Tables come first, since only their updates can still fail.
  // Returns the number of blocks whose steps were made before one failed, or -1 if none did.
  int64_t apply(const py::list& arrays) {
    struct Step {
      const Held* block;
      const int64_t* rows;
      size_t count;
      const void* values;
    };
    std::vector<Step> steps;
    size_t next = 0, moved = 0;
    auto data = [&](size_t number) { return py::reinterpret_borrow<py::array>(arrays[number]); };
    for (const Held& block : pushed_) {
      Step step{&block, nullptr, static_cast<size_t>(block.end - block.begin), nullptr};
      if (block.is_table) {
        py::array rows = data(next++);
        step.rows = static_cast<const int64_t*>(rows.data());
        step.count = static_cast<size_t>(rows.shape(0));
      }
      step.values = data(next++).data();
      moved += step.count * block.unit_bytes();
      steps.push_back(step);
    }
    std::stable_partition(steps.begin(), steps.end(), [](const Step& step) { return step.block->is_table; });
    std::optional<WithoutGil> others_run;
    if (moved >= kManyBytes) others_run.emplace();
    std::vector<int64_t> inside;
    for (size_t done = 0; done < steps.size(); ++done) {
      const auto& [block, rows, count, values] = steps[done];
      size_t bytes = count * block->unit_bytes();
      int failed;
      if (block->is_table) {
        relative(*block, rows, count, inside);
        failed = calls_.update_rows(block->optimizer, block->element, inside.data(), count, values, bytes);
      } else {
        failed = calls_.update(block->optimizer, block->element, values, bytes);
      }
      if (failed) return static_cast<int64_t>(done);
    }
    return -1;
  }

  // Copies of the blocks and of the rows that the reply has, in one piece of memory; None if a row could not be read. arrays:
  // of a push, which fit. lent: memory in which the large ones are, as pack_frames() wants them, if they fit; or None.
  py::object read(const py::list& arrays, const py::object& lent) {
    std::vector<Copy> copies;
    for (const Held& block : wanted_) copies.push_back({&block, nullptr, static_cast<size_t>(block.end - block.begin)});
    size_t next = arrays.size() - tables_.size();
    for (const Held& block : tables_) {
      auto rows = py::reinterpret_borrow<py::array>(arrays[next++]);
      copies.push_back({&block, static_cast<const int64_t*>(rows.data()), static_cast<size_t>(rows.shape(0))});
    }
    size_t small = 0, large = 0;
    for (Copy& one : copies) {
      size_t& used = one.bytes() < kSmallArray ? small : large;
      one.place = used;
      used += room(one.bytes());
    }
    Py_buffer* buffer = lent.is_none() ? nullptr : PyMemoryView_GET_BUFFER(lent.ptr());
    bool is_lent = buffer && large && static_cast<size_t>(buffer->len) >= large;
    py::array own(py::dtype::of<uint8_t>(),
                  std::vector<py::ssize_t>{static_cast<py::ssize_t>(small + (is_lent ? 0 : large))});
    char* begin = static_cast<char*>(own.mutable_data());
    char* of_large = is_lent ? static_cast<char*>(buffer->buf) : begin + small;
    py::list found(copies.size());
    for (size_t i = 0; i < copies.size(); ++i) {
      Copy& one = copies[i];
      bool is_small = one.bytes() < kSmallArray;
      one.to = (is_small ? begin : of_large) + one.place;
      std::vector<py::ssize_t> shape = one.block->unit;
      shape.insert(shape.begin(), static_cast<py::ssize_t>(one.count));
      py::handle owner = is_small || !is_lent ? py::handle(own) : py::handle(lent);
      found[i] = py::array(float_of(one.block->item), shape, {}, one.to, owner);
    }
    return copy(copies, small + large) ? py::object(std::move(found)) : py::none();
  }

 private:
  static const py::dtype& float_of(size_t item) {
    static const auto* both = new std::pair<py::dtype, py::dtype>(py::dtype::of<float>(), py::dtype::of<double>());
    return item == sizeof(float) ? both->first : both->second;
  }

  static void relative(const Held& block, const int64_t* rows, size_t count, std::vector<int64_t>& inside) {
    inside.resize(count);
    std::transform(rows, rows + count, inside.begin(), [&](int64_t row) { return row - block.begin; });
  }

  // rows: nullptr: all of the block.
  struct Copy {
    const Held* block;
    const int64_t* rows;
    size_t count;
    size_t place = 0;
    char* to = nullptr;
    size_t bytes() const { return count * block->unit_bytes(); }
  };

  bool copy(const std::vector<Copy>& copies, size_t moved) {
    std::optional<WithoutGil> others_run;
    if (moved >= kManyBytes) others_run.emplace();
    std::vector<int64_t> inside;
    for (const Copy& one : copies) {
      if (!one.bytes()) continue;
      if (!one.block->is_table) {
        std::memcpy(one.to, one.block->values, one.bytes());
        continue;
      }
      relative(*one.block, one.rows, one.count, inside);
      const Held& block = *one.block;
      if (calls_.get_rows(block.optimizer, block.element, inside.data(), one.count, one.to, one.bytes())) return false;
    }
    return true;
  }

  OptimizerCalls calls_;
  std::vector<Held> pushed_, wanted_, tables_;
};

}  // namespace

void define_blocks(py::module_& m) {
  py::class_<PushedBlocks>(m, "PushedBlocks")
      .def(py::init<uintptr_t, uintptr_t, uintptr_t, const py::sequence&, const py::sequence&, const py::sequence&>(),
           py::arg("update"), py::arg("update_rows"), py::arg("get_rows"), py::arg("pushed"), py::arg("wanted"),
           py::arg("tables"),
           "Addresses of functions of the optimizers' library, and blocks: (optimizer, element type, bytes of an "
           "element, "
           "is a table, begin, end, shape of a unit, address of the values).")
      .def("fits", &PushedBlocks::fits)
      .def("apply", &PushedBlocks::apply)
      .def("read", &PushedBlocks::read, py::arg("arrays"), py::arg("memory"));
}

}  // namespace paddle_mini::python
