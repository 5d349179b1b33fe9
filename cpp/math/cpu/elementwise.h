// Elementwise on a CPU, where it runs on ranges.
#pragma once

#include "math/map.h"

namespace paddle_mini {

template <class K>
class Elementwise : public ElementwiseKernel {
 public:
  void run(KernelContext& context) override {
    self().apply([&](auto, auto* out, const auto*... in) {
      run_all_ranges(context, self().numel(), map_loop::size_of_loop(1, out, in...).cost);
    });
  }
  void run_range(int64_t begin, int64_t end) override {
    self().apply([&](auto f, auto* out, const auto*... in) {
      map_loop::run(end - begin, bind_scalars(f), out + begin, (in + begin)...);
    });
  }

 private:
  K& self() { return static_cast<K&>(*this); }
};

}  // namespace paddle_mini
