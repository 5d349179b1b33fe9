// Kernel: an operator ready to run. The constructor, called once per plan, resolves ports, reads attributes and
// computes all geometry; run() is called once per step.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/infer.h"
#include "core/place.h"
#include "core/target.h"

namespace paddle_mini {

// Error report of a GPU kernel about its data, in device memory; the first kernel to find an error writes it.
struct Fault {
  unsigned long long step = 0;  // 1 + KernelContext::step of the reporting kernel; 0: no error
  int64_t value = 0, at = 0;    // the offending value and its element index
};

class Communicator;  // core/communicator.h
class PackedStore;   // core/packed_store.h
struct PackedCopy;
struct KernelContext;

// Expected nanoseconds below which a loop is not split: other threads begin only microseconds later.
inline constexpr double kLeastLoop = 20000;

// Launches of one kind that wait in a batch to be merged into one.
class PendingLaunches {
 public:
  virtual ~PendingLaunches() = default;
  virtual const void* kind() const = 0;
  virtual void launch(KernelContext& context) = 0;
};

class Epilogue;  // core/stored_parts.h

// The executor's services for a running kernel.
struct KernelContext {
  Place place;
  void* stream = nullptr;     // on a GPU: the stream of its launches
  Fault* fault = nullptr;     // on a GPU: one for the whole run, read when the host waits for the checks
  unsigned long long step = 0;  // number of the running step
  uint64_t values_version = 0;  // Scope::values_version; 0: not known
  Communicator* communicator = nullptr;  // if the executor is one of several replicas
  int rank = 0;                          // its rank
  int threads = 1;                       // at most this many for one loop (core/parallel.h)
  double least_loop = kLeastLoop;        // loops of less expected time are not split
  std::mt19937_64 generator;  // for operators whose `seed` is 0
  bool may_touch_files = false;  // whether the operators save and load may access files that the program names
  std::map<const OpDesc*, int64_t> printed;  // how often each operator print has printed
  const Epilogue* epilogue = nullptr;  // only for a kernel that stores_parts(); see StoredParts

  // Between begin_batch() and end_batch() operators run that need nothing of each other, such as the optimizer's for
  // all parameters: on a GPU maps of one kind become one launch (math/gpu/map.h).
  bool in_batch = false;
  std::vector<std::unique_ptr<PendingLaunches>> pending;  // ordered by the first launch of each kind

  void begin_batch() { in_batch = true; }
  void end_batch() {
    in_batch = false;
    launch_pending();
  }
  void launch_pending();
};

// Inputs that the program never writes, and the store of their packed copies.
struct ConstantInputs {
  std::shared_ptr<PackedStore> store;
  std::set<const Variable*> variables;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(KernelContext& context) = 0;
  // For operators whose schema has checks_data(): whether this kernel instance may throw. If it may, the executor
  // copies the values that the run changes before it.
  virtual bool may_fail_validation() const { return true; }
  // Whether run() adds all elements of the output that the schema's stores_parts() names to StoredParts.
  virtual bool stores_parts() const { return false; }
  // Throws the error that run() on the CPU would have thrown for this data. Called on the host.
  virtual void refuse(const Fault& fault) const { fail<OpError>("refused ", fault.value, " at element ", fault.at); }
};

// A kernel that works element by element on variables of one shape and can therefore run on a range of elements.
// Adjacent kernels over the same variables run on one tile after another while it is in cache (executor/fuse.h). Not
// used if an input is selected rows.
class TiledKernel : public Kernel {
 public:
  // Runs the elements [begin, end). The first call is the one with element 0. The call with the last element comes when
  // all others have ended, and also does the work that run() does once.
  virtual void run_tile(KernelContext& context, int64_t begin, int64_t end) = 0;
  // Whether the calls between the first and the last one may come in any order and at the same time. They don't throw.
  virtual bool has_independent_tiles() const { return true; }
};

// A kernel without a state, whose only output's elements each depend on the elements at the same place in inputs of as many
// elements, and on smaller inputs. On the CPU it can run after another kernel, on one part after the other of what that
// one stores (executor/epilogues.h). Not used if an input is selected rows.
class ElementwiseKernel : public Kernel {
 public:
  // Computes the elements [begin, end) on the calling thread. Threads may call it at the same time.
  virtual void run_range(int64_t begin, int64_t end);

 protected:
  // run() for so many elements; the cost of one is in nanoseconds.
  void run_all_ranges(KernelContext& context, int64_t elements, double cost);
};

// The context of a kernel's constructor: ports, attributes, scratch memory.
class KernelInit {
 public:
  // `inputs` and `outputs` hold one list for each slot of the operator, with nullptr for holes.
  KernelInit(const OpDesc& op, std::vector<std::vector<Variable*>> inputs, std::vector<std::vector<Variable*>> outputs,
             int threads = 1, const ConstantInputs* constants = nullptr);

  // For a kernel inside a kernel, which shares the scratch memory of the outer one.
  KernelInit(const OpDesc& op, std::vector<std::vector<Variable*>> inputs, std::vector<std::vector<Variable*>> outputs,
             const KernelInit& outer);

  size_t input_count(const char* port) const;
  size_t output_count(const char* port) const;
  Variable* input(const char* port, size_t i = 0) const;   // nullptr when absent
  Variable* output(const char* port, size_t i = 0) const;  // nullptr when absent

  template <class T>
  const T& attr(const char* name) const {
    return attr_of<T>(op_, name);
  }

  // Memory of this kernel during run(); its content is lost afterwards.
  Variable* scratch(DType dtype, int64_t count);
  // Memory for a copy of an input that the program never writes (math/cpu/packed_input.h); nullptr for others.
  std::shared_ptr<PackedCopy> packed(const char* port, const char* order, std::vector<int64_t> sizes, size_t bytes,
                                     size_t i = 0) const;
  std::deque<Variable>& scratches() { return memory_->scratches; }
  std::shared_ptr<std::deque<Variable>> share_scratches() { return {memory_, &memory_->scratches}; }

  // Bytes that the kernel keeps besides scratch memory, by which plans are evicted: its object, which make_kernel adds, and
  // tables that grow with its shapes, which their owners add.
  void add_kept_bytes(size_t bytes) { memory_->kept += bytes; }
  size_t kept_bytes() const { return memory_->kept + memory_->scratches.size() * sizeof(Variable); }

  const OpDesc& op() const { return op_; }
  int threads() const { return threads_; }  // that the kernel may use in run()

 private:
  const OpDesc& op_;
  std::vector<std::vector<Variable*>> inputs_, outputs_;
  struct Memory {  // for a kernel and the kernels inside it
    std::deque<Variable> scratches;
    size_t kept = 0;
  };
  std::shared_ptr<Memory> memory_;
  int threads_;
  const ConstantInputs* constants_ = nullptr;
};

// Ports of a kernel. The constructors throw if the port is absent or has another dtype, so run() need not check.
struct OptionalPort {};
inline constexpr OptionalPort optional_port{};

Variable* checked_port(Variable* variable, const char* port, DType dtype);

template <class T>
class In {
 public:
  In(const KernelInit& init, const char* port, size_t i = 0)
      : variable_(checked_port(init.input(port, i), port, dtype_of<T>::value)) {}
  In(const KernelInit& init, const char* port, OptionalPort)
      : variable_(init.input(port) ? checked_port(init.input(port), port, dtype_of<T>::value) : nullptr) {}

  explicit operator bool() const { return variable_ != nullptr; }
  const T* data() const { return static_cast<const T*>(variable_->tensor.data); }
#ifndef PM_GPU  // the host can't read a GPU's memory; math/scalar_arg.h reads single numbers
  T operator[](int64_t i) const { return data()[i]; }
#endif
  const Shape& shape() const { return variable_->tensor.shape; }
  int64_t numel() const { return shape().numel(); }
  const Variable& variable() const { return *variable_; }
  bool is_rows() const { return variable_->kind == VarKind::SelectedRows; }

 private:
  Variable* variable_;
};

template <class T>
class Out {
 public:
  Out(const KernelInit& init, const char* port, size_t i = 0)
      : variable_(checked_port(init.output(port, i), port, dtype_of<T>::value)) {}
  Out(const KernelInit& init, const char* port, OptionalPort)
      : variable_(init.output(port) ? checked_port(init.output(port), port, dtype_of<T>::value) : nullptr) {}
  explicit Out(Variable* scratch) : variable_(scratch) {}

  explicit operator bool() const { return variable_ != nullptr; }
  T* data() const { return static_cast<T*>(variable_->tensor.data); }
#ifndef PM_GPU
  T& operator[](int64_t i) const { return data()[i]; }
#endif
  const Shape& shape() const { return variable_->tensor.shape; }
  int64_t numel() const { return shape().numel(); }
  Variable& variable() const { return *variable_; }

 private:
  Variable* variable_;
};

// Scratch memory of `count` elements: Scratch<float> columns(init, n).
template <class T>
class Scratch : public Out<T> {
 public:
  Scratch(KernelInit& init, int64_t count) : Out<T>(init.scratch(dtype_of<T>::value, count)) {}
};

// An integer input that a program may declare as int32 or int64: ids, labels, sizes.
class IndexIn {
 public:
  IndexIn(const KernelInit& init, const char* port);
#ifndef PM_GPU
  int64_t operator[](int64_t i) const {
    const void* data = variable_->tensor.data;
    return wide_ ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
#endif
  const void* data() const { return variable_->tensor.data; }
  bool wide() const { return wide_; }
  const Shape& shape() const { return variable_->tensor.shape; }
  int64_t numel() const { return shape().numel(); }

 private:
  const Variable* variable_;
  bool wide_;
};

// A float input that a program may declare as float32 or float64, whatever the dtype of the rest: a weight, an epsilon.
class NumberIn {
 public:
  NumberIn(const KernelInit& init, const char* port);
  NumberIn(const KernelInit& init, const char* port, OptionalPort);
  explicit operator bool() const { return variable_ != nullptr; }
#ifndef PM_GPU
  double operator[](int64_t i) const {
    const void* data = variable_->tensor.data;
    return wide_ ? static_cast<const double*>(data)[i] : static_cast<double>(static_cast<const float*>(data)[i]);
  }
#endif
  const void* data() const { return variable_->tensor.data; }
  bool wide() const { return wide_; }

 private:
  const Variable* variable_;
  bool wide_ = false;
};

// All variables of a list port.
template <class T>
std::vector<In<T>> in_list(const KernelInit& init, const char* port) {
  std::vector<In<T>> list;
  for (size_t i = 0; i < init.input_count(port); ++i) list.emplace_back(init, port, i);
  return list;
}

}  // namespace paddle_mini
