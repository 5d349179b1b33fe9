// The optimizers, one row each: the fields of its message, the number of its state arrays, its step. Everything else of the
// library is derived from these rows: kinds.cc makes the table of what configurations need, loops.cc the table of loops
// for each level of CPU.
#pragma once

#include "math/optimizer_steps.h"
#include "optimizer/kind.h"

namespace paddle_mini::kinds {
namespace {

struct Sgd : Kind {
  static constexpr KindName name{1, "sgd"};
  static int arrays(const Hyper& h) { return h.momentum == 0 ? 0 : 1; }
  static void read(const Fields& f, OptimizerConfig& c) {
    c.hyper.momentum = rounded(f.least("momentum", 0));
    c.hyper.nesterov = f.flag("nesterov");
    require<ProgramError>(!c.hyper.nesterov || c.hyper.momentum > 0, "sgd.nesterov needs a momentum above 0");
    c.l2 = rounded(static_cast<double>(c.l2) + f.least("decay", 0));
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    T momentum = static_cast<T>(x.hyper->momentum);
    if (momentum == T(0)) update<0>(e, SgdStep<T>{x.rate});
    else update<1>(e, MomentumStep<T>{momentum, x.rate, T(0), x.hyper->nesterov});
  }
};

// rho and epsilon, of optimizers that keep squares which decay.
inline void read_squares(const Fields& f, const char* rho, Hyper& h) {
  h.rho = rounded(f.fraction(rho));
  h.epsilon = rounded(f.least("epsilon", 0));
}

struct Adadelta : Kind {
  static constexpr KindName name{2, "adadelta"};
  static int arrays(const Hyper&) { return 2; }
  static void read(const Fields& f, OptimizerConfig& c) {
    read_squares(f, "rho", c.hyper);
    c.decay = rounded(f.least("decay", 0));
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    update<2>(e, AdadeltaStep<T>{T(x.hyper->rho), T(x.hyper->epsilon), x.rate});
  }
};

struct Adagrad : Kind {
  static constexpr KindName name{3, "adagrad"};
  static int arrays(const Hyper&) { return 1; }
  static void read(const Fields& f, OptimizerConfig& c) {
    c.hyper.epsilon = rounded(f.least("epsilon", 0));
    c.hyper.accumulator = f.least("initial_accumulator_value", 0);
    c.decay = rounded(f.least("decay", 0));
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    update<1>(e, AdagradStep<T>{x.rate, T(x.hyper->epsilon)});
  }
};

// The betas and epsilon of Adam, Adamax and Lamb.
inline void read_betas(const Fields& f, Hyper& h) {
  h.first_power1 = f.fraction("beta_1");
  h.first_power2 = f.fraction("beta_2");
  h.beta1 = rounded(h.first_power1);
  h.beta2 = rounded(h.first_power2);
  h.epsilon = rounded(f.least("epsilon", 0));
}

struct Adam : Kind {
  static constexpr KindName name{4, "adam"};
  static int arrays(const Hyper&) { return 2; }
  static void read(const Fields& f, OptimizerConfig& c) {
    read_betas(f, c.hyper);
    c.decay = rounded(f.least("decay", 0));
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    update<2>(e, AdamStep<T>(T(h.beta1), T(h.beta2), x.power1, x.power2, x.rate, T(h.epsilon)));
  }
};

struct Adamax : Kind {
  static constexpr KindName name{5, "adamax"};
  static int arrays(const Hyper&) { return 2; }
  static void read(const Fields& f, OptimizerConfig& c) { read_betas(f, c.hyper); }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    update<2>(e, AdamaxStep<T>{T(h.beta1), T(h.beta2), T(h.epsilon), x.rate / (T(1) - x.power1)});
  }
};

struct Rmsprop : Kind {
  static constexpr KindName name{6, "rmsprop"};
  static int arrays(const Hyper& h) { return h.centered ? 3 : 2; }
  static void read(const Fields& f, OptimizerConfig& c) {
    read_squares(f, "rho", c.hyper);
    c.hyper.momentum = rounded(f.least("momentum", 0));
    c.hyper.centered = f.flag("centered");
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    RmspropStep<T> step{T(h.rho), T(h.momentum), T(h.epsilon), x.rate};
    if (h.centered) update<3>(e, step);
    else update<2>(e, step);
  }
};

// l1 and l2 in the formula itself.
inline void read_penalties(const Fields& f, Hyper& h) {
  h.l1 = rounded(f.least("l1", 0));
  h.l2 = rounded(f.least("l2", 0));
}

struct Ftrl : Kind {
  static constexpr KindName name{7, "ftrl"};
  static int arrays(const Hyper&) { return 2; }
  static void read(const Fields& f, OptimizerConfig& c) {
    read_penalties(f, c.hyper);
    c.hyper.power = rounded(f.most("lr_power", 0));
  }
  // The added constant keeps the division finite, as in the operator.
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    update<2>(e, FtrlStep<T>{T(h.l1) + T(1e-10), T(h.l2) + T(1e-10), x.rate, -T(h.power)});
  }
};

// Its steps change the moments and gather the squares of the parameter and of its direction; the parameter moves when
// both are known.
struct Lamb : Kind {
  static constexpr KindName name{8, "lamb"};
  static constexpr bool takes_norms = true, finishes = true;
  static int arrays(const Hyper&) { return 2; }
  static void read(const Fields& f, OptimizerConfig& c) {
    read_betas(f, c.hyper);
    c.hyper.inner_decay = rounded(f.least("weight_decay", 0));
    c.hyper.always_adapt = f.flag("always_adapt");
  }
  template <class T>
  static LambStep<T> formula(const StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    return {T(h.beta1), T(h.beta2), T(1) - x.power1, T(1) - x.power2, T(h.epsilon), T(h.inner_decay)};
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    LambStep<T> step = formula(x);
    const T *p = e.p, *m = e.state[0], *v = e.state[1];
    map(cpu_context(), e.n, step, std::tuple(e.state[0], e.state[1]), m, v, e.gradient);
    if (!(step.decay > T(0) || x.hyper->always_adapt)) return;
    auto square = [step](auto p, auto m, auto v) {
      auto d = step.direction(p, m, v);
      return d * d;
    };
    x.squares[0] += squares(e.n, T(1), p);
    x.squares[1] += map_sum(cpu_context(), e.n, square, p, m, v);
  }
  template <class T>
  static void finish(const Elements<T>& e, StepNumbers<T>& x) {
    T rate = x.rate;
    if (x.squares[0] > 0 && x.squares[1] > 0) rate *= static_cast<T>(std::sqrt(x.squares[0]) / std::sqrt(x.squares[1]));
    auto move = [step = formula(x), rate](auto p, auto m, auto v) {
      return p - decltype(p)(rate) * step.direction(p, m, v);
    };
    const T *p = e.p, *m = e.state[0], *v = e.state[1];
    map(cpu_context(), e.n, move, e.p, p, m, v);
  }
};

struct Lars : Kind {
  static constexpr KindName name{9, "lars"};
  static constexpr bool takes_norms = true;
  static int arrays(const Hyper&) { return 1; }
  static void read(const Fields& f, OptimizerConfig& c) {
    c.hyper.momentum = rounded(f.least("momentum", 0));
    c.hyper.coefficient = rounded(f.above("lars_coeff", 0));
    c.hyper.inner_decay = rounded(f.least("lars_weight_decay", 0));
    c.hyper.epsilon = rounded(f.least("epsilon", 0));
    c.hyper.rescale = rounded(f.any("rescale_grad"));
  }
  static bool measures(const Hyper& h) { return h.inner_decay > 0; }
  template <class T>
  static void measure(const Elements<T>& whole, StepNumbers<T>& x) {
    const T* p = whole.p;
    x.squares[0] = squares(whole.n, T(1), p);
    x.squares[1] = squares(whole.n, static_cast<T>(x.hyper->rescale), whole.gradient);
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    LarsRule<T> rule{T(h.momentum), T(h.coefficient), T(h.epsilon), T(h.rescale), T(h.inner_decay), x.rate, x.squares};
    update<1>(e, rule);
  }
};

struct DecayedAdagrad : Kind {
  static constexpr KindName name{10, "decayed_adagrad"};
  static int arrays(const Hyper&) { return 1; }
  static void read(const Fields& f, OptimizerConfig& c) { read_squares(f, "decay", c.hyper); }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    update<1>(e, DecayedAdagradStep<T>{T(x.hyper->rho), T(x.hyper->epsilon), x.rate});
  }
};

struct Dpsgd : Kind {
  static constexpr KindName name{11, "dpsgd"};
  static constexpr bool takes_norms = true;
  static int arrays(const Hyper&) { return 0; }
  static void read(const Fields& f, OptimizerConfig& c) {
    c.hyper.clip = rounded(f.above("clip", 0));
    c.hyper.batch_size = rounded(f.above("batch_size", 0));
    c.hyper.sigma = rounded(f.least("sigma", 0));
    c.hyper.seed = static_cast<uint32_t>(f.integer("seed"));
  }
  static bool measures(const Hyper&) { return true; }
  template <class T>
  static void measure(const Elements<T>& whole, StepNumbers<T>& x) {
    const Hyper& h = *x.hyper;
    uint32_t seed = h.seed + static_cast<uint32_t>(x.update);
    x.squares[0] = squares(whole.n, T(1), whole.gradient);
    x.noise = static_cast<T>(one_normal(seed)) * static_cast<T>(h.sigma) / static_cast<T>(h.batch_size);
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    update<0>(e, DpsgdRule<T>{x.rate, x.squares, T(x.hyper->clip), x.noise});
  }
};

template <class T>
Proximal<T> proximal(const StepNumbers<T>& x) {
  return {x.rate, T(x.hyper->l1), T(x.hyper->l2)};
}

struct ProximalGd : Kind {
  static constexpr KindName name{12, "proximal_gd"};
  static int arrays(const Hyper&) { return 0; }
  static void read(const Fields& f, OptimizerConfig& c) {
    require<ProgramError>(!f.has("initial_accumulator_value"), name.message, " keeps no accumulator");
    read_penalties(f, c.hyper);
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    update<0>(e, ProximalGdStep<T>{x.rate, proximal(x)});
  }
};

struct ProximalAdagrad : Kind {
  static constexpr KindName name{13, "proximal_adagrad"};
  static int arrays(const Hyper&) { return 1; }
  static void read(const Fields& f, OptimizerConfig& c) {
    read_penalties(f, c.hyper);
    c.hyper.accumulator = f.least("initial_accumulator_value", 0);
  }
  template <class T>
  static void step(const Elements<T>& e, StepNumbers<T>& x) {
    update<1>(e, ProximalAdagradStep<T>{x.rate, proximal(x)});
  }
};

template <class... K>
struct List {};

using All = List<Sgd, Adadelta, Adagrad, Adam, Adamax, Rmsprop, Ftrl, Lamb, Lars, DecayedAdagrad, Dpsgd, ProximalGd,
                 ProximalAdagrad>;

}  // namespace
}  // namespace paddle_mini::kinds
