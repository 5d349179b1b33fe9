// NarrowRows: a kernel of 16-bit floats that runs a float32 kernel on a few rows at a time, whose float32 copies stay in the
// cache. For operators along an axis, whose rows of the first axis do not depend on each other unless it is that axis.
#pragma once

#include <deque>

#include "core/infer.h"
#include "core/op_table.h"
#include "math/cast.h"

namespace paddle_mini {

template <template <class> class K>
struct NarrowRows {
  template <class Half>
  class For : public Kernel {
   public:
    explicit For(KernelInit& init) {
      const Variable& first = *first_of(init);
      const Shape& shape = first.tensor.shape;
      rows_ = shape.rank() > 0 ? shape[0] : 1;
      int64_t elements = 0;
      each_port(init, [&](Variable& port, bool) {
        if (port.tensor.dtype == dtype_of<Half>::value)
          elements += port.tensor.shape.numel() / std::max<int64_t>(rows_, 1);
      });
      const bool apart = shape.rank() > 0 && normal_axis(init.attr<int32_t>("axis"), shape.rank(), "axis") > 0;
      const int64_t fit = kElements * init.threads() / std::max<int64_t>(elements, 1);
      const int64_t at_once = apart ? std::clamp<int64_t>(fit, 1, std::max<int64_t>(rows_, 1)) : rows_;
      each_port(init, [&](Variable& port, bool) {
        const bool narrow = port.tensor.dtype == dtype_of<Half>::value;
        copies_.emplace_back(init, narrow && rows_ ? port.tensor.shape.numel() / rows_ * at_once : 0);
      });
      if (rows_ == 0) return;
      add_part(init, at_once);
      if (rows_ % at_once) add_part(init, rows_ % at_once);
    }

    void run(KernelContext& context) override {
      for (int64_t row = 0; row < rows_;) {
        Part& part = rows_ - row >= parts_[0].rows ? parts_[0] : parts_[1];
        part.bind(context, row, copies_);
        part.kernel->run(context);
        part.write_back(context, row);
        row += part.rows;
      }
    }

   private:
    static constexpr int64_t kElements = 1 << 15;  // for each thread

    // The ports of so many rows, and a kernel for them.
    struct Part {
      struct Port {
        Variable* whole;
        bool is_output;
        Variable rows;
      };
      int64_t rows;
      std::deque<Port> ports;
      std::unique_ptr<Kernel> kernel;

      static void* at(const Port& port, int64_t row) {
        const int64_t size =
            port.rows.tensor.shape.numel() / (port.rows.tensor.shape.rank() ? port.rows.tensor.shape[0] : 1);
        return static_cast<char*>(port.whole->tensor.data) +
               static_cast<size_t>(row * size) * size_of(port.whole->tensor.dtype);
      }
      static bool is_cast(const Port& port) { return port.rows.tensor.dtype != port.whole->tensor.dtype; }

      void bind(KernelContext& context, int64_t row, const std::vector<Scratch<float>>& copies) {
        for (size_t i = 0; i < ports.size(); ++i) {
          Port& port = ports[i];
          Tensor& tensor = port.rows.tensor;
          tensor.data = is_cast(port) ? copies[i].data() : at(port, row);
          if (is_cast(port) && !port.is_output)
            cast_function(dtype_of<Half>::value, DType::Float32)(context, tensor.shape.numel(), at(port, row),
                                                                 tensor.data);
        }
      }
      void write_back(KernelContext& context, int64_t row) {
        for (Port& port : ports) {
          const Tensor& tensor = port.rows.tensor;
          if (port.is_output && is_cast(port))
            cast_function(DType::Float32, dtype_of<Half>::value)(context, tensor.shape.numel(), tensor.data,
                                                                 at(port, row));
        }
      }
    };

    // Calls f(variable, is_output) for the ports in order, without those that are absent.
    template <class F>
    static void each_port(const KernelInit& init, F f) {
      for (const Slot& slot : init.op().inputs) {
        for (size_t i = 0; i < init.input_count(slot.name.c_str()); ++i)
          if (Variable* port = init.input(slot.name.c_str(), i)) f(*port, false);
      }
      for (const Slot& slot : init.op().outputs) {
        for (size_t i = 0; i < init.output_count(slot.name.c_str()); ++i)
          if (Variable* port = init.output(slot.name.c_str(), i)) f(*port, true);
      }
    }
    // Its first axis is that of the others.
    static const Variable* first_of(const KernelInit& init) {
      const Variable* first = nullptr;
      each_port(init, [&](const Variable& port, bool) { first = first ? first : &port; });
      return first;
    }

    void add_part(KernelInit& init, int64_t rows) {
      Part& part = parts_.emplace_back();
      part.rows = rows;
      std::vector<std::vector<Variable*>> inputs, outputs;
      auto add = [&](Variable* whole, bool is_output) -> Variable* {
        if (!whole) return nullptr;
        typename Part::Port& port = part.ports.emplace_back();
        port.whole = whole, port.is_output = is_output;
        VarInfo info = whole->info();
        if (info.dtype == dtype_of<Half>::value) info.dtype = DType::Float32;
        if (info.shape.rank() > 0) info.shape[0] = rows;
        info.lod = {};
        port.rows.describe(info);
        return &port.rows;
      };
      for (const Slot& slot : init.op().inputs) {
        inputs.emplace_back();
        for (size_t i = 0; i < init.input_count(slot.name.c_str()); ++i)
          inputs.back().push_back(add(init.input(slot.name.c_str(), i), false));
      }
      for (const Slot& slot : init.op().outputs) {
        outputs.emplace_back();
        for (size_t i = 0; i < init.output_count(slot.name.c_str()); ++i)
          outputs.back().push_back(add(init.output(slot.name.c_str(), i), true));
      }
      KernelInit inner(init.op(), std::move(inputs), std::move(outputs), init);
      part.kernel = std::make_unique<K<float>>(inner);
    }

    int64_t rows_;
    std::vector<Scratch<float>> copies_;  // one for each port; empty unless it is of 16 bits
    std::deque<Part> parts_;  // the rows that are computed at once, and the rest
  };
};

}  // namespace paddle_mini
