// NarrowRows: a kernel of 16-bit floats that runs a float32 kernel on a few rows at a time, whose float32 copies stay in the
// cache. For operators along an axis, whose rows of the first axis do not depend on each other unless it is that axis.
#pragma once

#include <deque>

#include "core/op_table.h"

namespace paddle_mini {

class RowsInFloat : public Kernel {
 public:
  // `make` makes the float32 kernel.
  RowsInFloat(KernelInit& init, DType narrow, KernelFactory make);
  void run(KernelContext& context) override;

 private:
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

    static void* at(const Port& port, int64_t row);
    static bool is_cast(const Port& port) { return port.rows.tensor.dtype != port.whole->tensor.dtype; }
    void bind(KernelContext& context, int64_t row, const std::vector<Scratch<float>>& copies);
    void write_back(KernelContext& context, int64_t row);
  };

  void add_part(KernelInit& init, KernelFactory make, int64_t rows);

  DType narrow_;
  int64_t rows_;
  std::vector<Scratch<float>> copies_;  // one for each port; empty unless it is of 16 bits
  std::deque<Part> parts_;  // the rows that are computed at once, and the rest
};

template <template <class> class K>
struct NarrowRows {
  template <class Half>
  struct For : RowsInFloat {
    explicit For(KernelInit& init) : RowsInFloat(init, dtype_of<Half>::value, &OpSchema::make_kernel<K<float>>) {}
  };
};

}  // namespace paddle_mini
