// Kernels of convolutions of images and volumes.
//
// Filters<T>(init, with_gradients) has run(context, input, filter, output), filter_gradient(context, input,
// output_gradient, filter_gradient) and input_gradient(context, filter, output_gradient, input_gradient).
#pragma once

#include "core/op_table.h"

namespace paddle_mini {

template <template <class> class Filters>
struct ConvolutionKernel {
  template <class T>
  struct For : Kernel {
    In<T> input, filter;
    Out<T> output;
    Filters<T> filters;

    explicit For(KernelInit& init)
        : input(init, "Input"), filter(init, "Filter"), output(init, "Output"), filters(init, false) {}
    void run(KernelContext& context) override { filters.run(context, input.data(), filter.data(), output.data()); }
  };
};

template <template <class> class Filters>
struct ConvolutionGradKernel {
  template <class T>
  struct For : Kernel {
    In<T> input, filter, gradient;
    Out<T> input_gradient, filter_gradient;
    Filters<T> filters;

    explicit For(KernelInit& init)
        : input(init, "Input"), filter(init, "Filter"), gradient(init, "Output@GRAD"),
          input_gradient(init, "Input@GRAD", optional_port), filter_gradient(init, "Filter@GRAD", optional_port),
          filters(init, true) {}
    void run(KernelContext& context) override {
      if (filter_gradient) filters.filter_gradient(context, input.data(), gradient.data(), filter_gradient.data());
      if (input_gradient) filters.input_gradient(context, filter.data(), gradient.data(), input_gradient.data());
    }
  };
};

}  // namespace paddle_mini
