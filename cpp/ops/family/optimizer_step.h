// The kernel of optimizers that update Param and their state in one pass.
#pragma once

#include "core/op_table.h"
#include "math/map.h"
#include "ops/family/optimizer.h"

namespace paddle_mini {

struct StatePorts {
  const char *in, *out;
};

// Settings<T>(init) reads attributes and scalars; kState names the ports of the state. step() returns the functor for
// map: it takes Param, the state and Grad, and returns ParamOut and the new state. With a sparse gradient, only the rows
// that it names change.
template <template <class> class Settings>
struct OptimizerKernel {
  template <class T>
  struct For : TiledKernel {
    using Variables = std::make_index_sequence<1 + std::size(Settings<T>::kState)>;
    In<T> grad;
    std::vector<In<T>> from;  // Param, then the state
    std::vector<Out<T>> to;
    Settings<T> settings;
    SparseGradient<T> gradient;

    explicit For(KernelInit& init)
        : grad(init, "Grad"), from{In<T>(init, "Param")}, to{Out<T>(init, "ParamOut")}, settings(init),
          gradient(init, from[0], grad) {
      for (const StatePorts& state : Settings<T>::kState) {
        from.emplace_back(init, state.in);
        to.emplace_back(init, state.out);
      }
    }

    void run(KernelContext& context) override {
      gradient.for_each_row(
          context, [&](int64_t at, int64_t count, const T* g) { update(context, at, count, g, Variables()); },
          [&](int64_t at, int64_t count) {
            for (size_t i = 0; i < from.size(); ++i) copy_part(context, from[i], to[i], at, count);
          });
    }

    void run_tile(KernelContext& context, int64_t begin, int64_t end) override {
      update(context, begin, end - begin, grad.data() + begin, Variables());
    }

    template <size_t... i>
    void update(KernelContext& context, int64_t at, int64_t count, const T* g, std::index_sequence<i...>) {
      map(context, count, settings.step(), std::tuple((to[i].data() + at)...),
          static_cast<const T*>(from[i].data() + at)..., g);
    }
  };
};

}  // namespace paddle_mini
