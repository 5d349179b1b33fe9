// The loops of one level of processor: the steps of math/optimizer_steps.h over arrays. The library has several of
// these, so nothing of this file but its table may be seen outside (CMakeLists.txt).
#include "optimizer/loops.h"

#include "math/cpu/average_rows.h"
#include "math/finite.h"
#include "math/optimizer_steps.h"
#include "math/sum_of.h"

namespace paddle_mini {
namespace {

// What loops ask of a device; on a processor nothing.
Device& processor() {
  static Device device;
  return device;
}

template <class F, class T>
void run1(int64_t n, const F& f, T* p, const T* g) {
  map(processor(), n, f, p, static_cast<const T*>(p), g);
}
template <class F, class T>
void run2(int64_t n, const F& f, T* p, T* const* k, const T* g) {
  map(processor(), n, f, std::tuple(p, k[0]), static_cast<const T*>(p), static_cast<const T*>(k[0]), g);
}
template <class F, class T>
void run3(int64_t n, const F& f, T* p, T* const* k, const T* g) {
  map(processor(), n, f, std::tuple(p, k[0], k[1]), static_cast<const T*>(p), static_cast<const T*>(k[0]),
      static_cast<const T*>(k[1]), g);
}

template <class T>
void sgd(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  T momentum = static_cast<T>(x.hyper->momentum);
  if (momentum == T(0)) run1(n, SgdStep<T>{x.rate}, p, g);
  else run2(n, MomentumStep<T>{momentum, x.rate, T(0), x.hyper->nesterov}, p, k, g);
}

template <class T>
void adadelta(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  run3(n, AdadeltaStep<T>{T(x.hyper->rho), T(x.hyper->epsilon), x.rate}, p, k, g);
}

template <class T>
void adagrad(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  run2(n, AdagradStep<T>{x.rate, T(x.hyper->epsilon)}, p, k, g);
}

template <class T>
void adam(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  const Hyper& h = *x.hyper;
  run3(n, AdamStep<T>(T(h.beta1), T(h.beta2), x.power1, x.power2, x.rate, T(h.epsilon)), p, k, g);
}

template <class T>
void adamax(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  const Hyper& h = *x.hyper;
  run3(n, AdamaxStep<T>{T(h.beta1), T(h.beta2), T(h.epsilon), x.rate / (T(1) - x.power1)}, p, k, g);
}

template <class T>
void rmsprop(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  const Hyper& h = *x.hyper;
  RmspropStep<T> step{T(h.rho), T(h.momentum), T(h.epsilon), x.rate};
  if (!h.centered) return run3(n, step, p, k, g);
  map(processor(), n, step, std::tuple(p, k[0], k[1], k[2]), static_cast<const T*>(p), static_cast<const T*>(k[0]),
      static_cast<const T*>(k[1]), static_cast<const T*>(k[2]), g);
}

// What is added keeps the division finite, as in the operator.
template <class T>
void ftrl(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  const Hyper& h = *x.hyper;
  run3(n, FtrlStep<T>{T(h.l1) + T(1e-10), T(h.l2) + T(1e-10), x.rate, -T(h.power)}, p, k, g);
}

template <class T>
LambStep<T> lamb_step(const StepNumbers<T>& x) {
  const Hyper& h = *x.hyper;
  return {T(h.beta1), T(h.beta2), T(1) - x.power1, T(1) - x.power2, T(h.epsilon), T(h.inner_decay)};
}

// The moments, and how long the parameter and the step are.
template <class T>
void lamb(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  LambStep<T> step = lamb_step(x);
  const T *m = k[0], *v = k[1];
  map(processor(), n, step, std::tuple(k[0], k[1]), m, v, g);
  if (!(step.decay > T(0) || x.hyper->always_adapt)) return;
  auto square = [step](auto p, auto m, auto v) {
    auto d = step.direction(p, m, v);
    return d * d;
  };
  x.squares[0] += map_sum(processor(), n, [](auto p) { return p * p; }, p);
  x.squares[1] += map_sum(processor(), n, square, p, m, v);
}

template <class T>
void lamb_move(int64_t n, T* p, T* const* k, const StepNumbers<T>& x) {
  T rate = x.rate;
  if (x.squares[0] > 0 && x.squares[1] > 0) rate *= static_cast<T>(std::sqrt(x.squares[0]) / std::sqrt(x.squares[1]));
  auto move = [step = lamb_step(x), rate](auto p, auto m, auto v) {
    return p - decltype(p)(rate) * step.direction(p, m, v);
  };
  map(processor(), n, move, p, static_cast<const T*>(p), static_cast<const T*>(k[0]), static_cast<const T*>(k[1]));
}

template <class T>
void lars(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  const Hyper& h = *x.hyper;
  LarsRule<T> rule{T(h.momentum), T(h.coefficient), T(h.epsilon), T(h.rescale), T(h.inner_decay), x.rate, x.squares};
  run2(n, rule, p, k, g);
}

template <class T>
void decayed_adagrad(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  run2(n, DecayedAdagradStep<T>{T(x.hyper->rho), T(x.hyper->epsilon), x.rate}, p, k, g);
}

template <class T>
void dpsgd(int64_t n, T* p, T* const*, const T* g, StepNumbers<T>& x) {
  run1(n, DpsgdRule<T>{x.rate, x.squares, T(x.hyper->clip), x.noise}, p, g);
}

template <class T>
Proximal<T> proximal(const StepNumbers<T>& x) {
  return {x.rate, T(x.hyper->l1), T(x.hyper->l2)};
}

template <class T>
void proximal_gd(int64_t n, T* p, T* const*, const T* g, StepNumbers<T>& x) {
  run1(n, ProximalGdStep<T>{x.rate, proximal(x)}, p, g);
}

template <class T>
void proximal_adagrad(int64_t n, T* p, T* const* k, const T* g, StepNumbers<T>& x) {
  run2(n, ProximalAdagradStep<T>{x.rate, proximal(x)}, p, k, g);
}

template <class T>
void clip(int64_t n, T limit, const T* g, T* out) {
  map(
      processor(), n,
      [limit](auto g) {
        using V = decltype(g);
        return minimum(maximum(g, V(-limit)), V(limit));
      },
      out, g);
}

template <class T>
void scale(int64_t n, T factor, const T* g, T* out) {
  map(processor(), n, Times<T>{factor}, out, g);
}

template <class T>
void add_l2(int64_t n, T rate, const T* p, const T* g, T* out) {
  map(processor(), n, [rate](auto p, auto g) { return g + p * decltype(p)(rate); }, out, p, g);
}
template <class T>
void add_l1(int64_t n, T rate, const T* p, const T* g, T* out) {
  map(processor(), n, [rate](auto p, auto g) { return g + sign(p) * decltype(p)(rate); }, out, p, g);
}
template <class T>
void shrink(int64_t n, T decay, T* p) {
  map(processor(), n, [decay](auto p) { return p - decltype(p)(decay) * p; }, p, static_cast<const T*>(p));
}
template <class T>
void add_scaled(int64_t n, T scale, const T* delta, T* p) {
  run1(n, [scale](auto p, auto d) { return p + decltype(p)(scale) * d; }, p, delta);
}
template <class T>
void fade(int64_t n, T kept, T taken, T* p) {
  map(
      processor(), n,
      [kept, taken](auto p) {
        using V = decltype(p);
        return sign(p) * maximum(V(kept) * abs(p) - V(taken), V(T(0)));
      },
      p, static_cast<const T*>(p));
}
template <class T>
void add_to_block(int64_t n, T weight, const T* p, T* block) {
  map(processor(), n, AddToBlock<T>{weight}, block, static_cast<const T*>(block), p);
}
template <class T>
void end_block(int64_t n, const BlockStep<T>& step, const T* p, T* average, T* block) {
  map(processor(), n, EndBlock<T>(step), std::tuple(average, block), static_cast<const T*>(average),
      static_cast<const T*>(block), p);
}
template <class T>
void catch_up_one_row(int64_t n, double kept, const T* p, T* average, T* block) {
  catch_up_row(processor(), n, kept, p, average, block);
}
template <class T>
void end_row(int64_t n, double kept, const T* p, const T* average, const T* block, T* out) {
  ended_row(n, kept, p, average, block, out);
}

template <class T>
double squares(int64_t n, T scale, const T* x) {
  return scale == T(1) ? map_sum(processor(), n, Squared{}, x) : map_sum(processor(), n, ScaledSquare<T>{scale}, x);
}
template <class T>
bool finite(int64_t n, const T* x) {
  return all_finite(n, x);
}

void exp_of(int64_t n, double* x) {
  map(processor(), n, [](auto v) { return exp(v); }, x, static_cast<const double*>(x));
}

template <class T>
constexpr Loops<T> table() {
  return {{sgd<T>, adadelta<T>, adagrad<T>, adam<T>, adamax<T>, rmsprop<T>, ftrl<T>, lamb<T>, lars<T>,
           decayed_adagrad<T>, dpsgd<T>, proximal_gd<T>, proximal_adagrad<T>},
          lamb_move<T>,
          clip<T>,
          scale<T>,
          add_l2<T>,
          add_l1<T>,
          shrink<T>,
          add_scaled<T>,
          fade<T>,
          add_to_block<T>,
          end_block<T>,
          catch_up_one_row<T>,
          end_row<T>,
          squares<T>,
          finite<T>};
}

}  // namespace

// PM_LEVEL is v2, v3, v4 or baseline.
#define PM_TEXT_OF(x) #x
#define PM_TEXT(x) PM_TEXT_OF(x)
#define PM_JOIN_OF(a, b) a##b
#define PM_JOIN(a, b) PM_JOIN_OF(a, b)
extern "C" __attribute__((visibility("default"))) const LoopTables* PM_JOIN(paddle_mini_loops_, PM_LEVEL)() {
  static const LoopTables tables{PM_TEXT(PM_LEVEL), table<float>(), table<double>(), exp_of};
  return &tables;
}

}  // namespace paddle_mini
