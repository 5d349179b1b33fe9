// Kernel: an operator made ready to run. It is built once a plan, with its ports resolved, its
// attributes read and all geometry worked out; then run() is called once a step.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/infer.h"
#include "core/place.h"
#include "core/target.h"

namespace paddle_mini {

// What a kernel on a GPU found wrong with its data, in the device's memory; the first to find something writes it.
struct Fault {
  unsigned long long step = 0;  // 1 + Device::step of the one that found it; 0: nothing was found
  int64_t value = 0, at = 0;    // what it found, and at which element
};

class Communicator;  // core/communicator.h
struct Device;

// Launches of one kind that wait in a batch to become one.
class Waiting {
 public:
  virtual ~Waiting() = default;
  virtual const void* kind() const = 0;
  virtual void launch(Device& device) = 0;
};

// What a running kernel may ask of the executor.
struct Device {
  Place place;
  void* stream = nullptr;     // of a GPU: where its kernels are launched
  Fault* fault = nullptr;     // of a GPU: one for the whole run, read when somebody waits for the checks
  unsigned long long step = 0;  // the number of the running step
  Communicator* communicator = nullptr;  // of an executor that is one of several replicas
  int rank = 0;                          // and which one
  std::mt19937_64 generator;  // for operators whose `seed` is 0
  bool may_touch_files = false;  // operators save and load write and read files whose names the program says
  std::map<const OpDesc*, int64_t> printed;  // how often each operator print has

  // Between begin_batch() and end_batch() operators run that need nothing of each other, such as the optimizer's for
  // all parameters: on a GPU maps of one kind become one launch (math/gpu/map.h).
  bool in_batch = false;
  std::vector<std::unique_ptr<Waiting>> waiting;  // by the order in which the first of each kind came

  void begin_batch() { in_batch = true; }
  void end_batch() {
    in_batch = false;
    launch_waiting();
  }
  void launch_waiting() {
    std::vector<std::unique_ptr<Waiting>> now;
    now.swap(waiting);
    for (auto& kind : now) kind->launch(*this);
  }
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void run(Device& device) = 0;
  // Where the record says checks_data(): whether this very kernel may refuse. A refusal that can come
  // costs a copy of whatever the run has changed by then.
  virtual bool may_refuse() const { return true; }
  // Throws what run() on a processor would have thrown for this data. Called on the host.
  virtual void refuse(const Fault& fault) const { fail<OpError>("refused ", fault.value, " at element ", fault.at); }
};

// A kernel that works element by element on variables of one shape, and so tile by tile too: neighbours over the same
// variables then run on one tile after another, while it is in cache (executor/fuse.h). Not used where an input is
// selected rows.
class TiledKernel : public Kernel {
 public:
  // The elements [begin, end) of run(). The executor asks for all of them, from the first to the last; the tile that
  // ends with the last one does what run() does once.
  virtual void run_tile(Device& device, int64_t begin, int64_t end) = 0;
};

// What a kernel's constructor may ask: ports, attributes, scratch memory.
class KernelInit {
 public:
  // `inputs` and `outputs` hold one list for each slot of the operator; nullptr for a hole.
  KernelInit(const OpDesc& op, std::vector<std::vector<Variable*>> inputs, std::vector<std::vector<Variable*>> outputs)
      : op_(op), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  // A kernel inside a kernel, with scratch memory of the same run.
  KernelInit(const OpDesc& op, std::vector<std::vector<Variable*>> inputs, std::vector<std::vector<Variable*>> outputs,
             const KernelInit& outer)
      : op_(op), inputs_(std::move(inputs)), outputs_(std::move(outputs)), scratches_(outer.scratches_) {}

  size_t input_count(const char* port) const;
  size_t output_count(const char* port) const;
  Variable* input(const char* port, size_t i = 0) const;   // nullptr when absent
  Variable* output(const char* port, size_t i = 0) const;  // nullptr when absent

  template <class T>
  const T& attr(const char* name) const {
    return attr_of<T>(op_, name);
  }

  // Memory that belongs to this kernel while it runs; its content does not outlive run().
  Variable* scratch(DType dtype, int64_t count);
  std::deque<Variable>& scratches() { return *scratches_; }
  std::shared_ptr<std::deque<Variable>> share_scratches() { return scratches_; }

  const OpDesc& op() const { return op_; }

 private:
  const OpDesc& op_;
  std::vector<std::vector<Variable*>> inputs_, outputs_;
  std::shared_ptr<std::deque<Variable>> scratches_ = std::make_shared<std::deque<Variable>>();
};

// Ports of a kernel. The constructor refuses an absent port or another dtype, so run() need not look.
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
#ifndef PM_GPU  // the host can't read a GPU's memory; math/uniform.h is for single numbers
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

// Whole numbers that a program may hold as int32 or int64: ids, labels, sizes.
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

// Numbers that a program may hold as float32 or float64 whatever the dtype of the rest: a weight, an epsilon.
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

// Every variable of a port that takes a list.
template <class T>
std::vector<In<T>> in_list(const KernelInit& init, const char* port) {
  std::vector<In<T>> list;
  for (size_t i = 0; i < init.input_count(port); ++i) list.emplace_back(init, port, i);
  return list;
}

}  // namespace paddle_mini
