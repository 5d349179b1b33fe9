// The loops of one level of CPU: the rows of kinds.h, and others. The library has several of
// these, so nothing of this file but its table may be seen outside (CMakeLists.txt).
#include "optimizer/loops.h"

#include "math/cpu/average_rows.h"
#include "math/finite.h"
#include "optimizer/kinds.h"

namespace paddle_mini {
namespace {

using kinds::cpu_context;

template <class T>
void clip(int64_t n, T limit, const T* g, T* out) {
  map(
      cpu_context(), n,
      [limit](auto g) {
        using V = decltype(g);
        return minimum(maximum(g, V(-limit)), V(limit));
      },
      out, g);
}

template <class T>
void scale(int64_t n, T factor, const T* g, T* out) {
  map(cpu_context(), n, Times<T>{factor}, out, g);
}

template <class T>
void add_l2(int64_t n, T rate, const T* p, const T* g, T* out) {
  map(cpu_context(), n, [rate](auto p, auto g) { return g + p * decltype(p)(rate); }, out, p, g);
}
template <class T>
void add_l1(int64_t n, T rate, const T* p, const T* g, T* out) {
  map(cpu_context(), n, [rate](auto p, auto g) { return g + sign(p) * decltype(p)(rate); }, out, p, g);
}
template <class T>
void shrink(int64_t n, T decay, T* p) {
  map(cpu_context(), n, [decay](auto p) { return p - decltype(p)(decay) * p; }, p, static_cast<const T*>(p));
}
template <class T>
void add_scaled(int64_t n, T scale, const T* delta, T* p) {
  map(
      cpu_context(), n, [scale](auto p, auto d) { return p + decltype(p)(scale) * d; }, p, static_cast<const T*>(p),
      delta);
}
template <class T>
void fade(int64_t n, T kept, T taken, T* p) {
  map(
      cpu_context(), n,
      [kept, taken](auto p) {
        using V = decltype(p);
        return sign(p) * maximum(V(kept) * abs(p) - V(taken), V(T(0)));
      },
      p, static_cast<const T*>(p));
}
template <class T>
void add_to_block(int64_t n, T weight, const T* p, T* block) {
  map(cpu_context(), n, AddToBlock<T>{weight}, block, static_cast<const T*>(block), p);
}
template <class T>
void end_block(int64_t n, const BlockStep<T>& step, const T* p, T* average, T* block) {
  map(cpu_context(), n, EndBlock<T>(step), std::tuple(average, block), static_cast<const T*>(average),
      static_cast<const T*>(block), p);
}
template <class T>
void catch_up_one_row(int64_t n, double decay, const T* p, T* average, T* block) {
  catch_up_row(cpu_context(), n, decay, p, average, block);
}
template <class T>
void end_row(int64_t n, double decay, const T* p, const T* average, const T* block, T* out) {
  ended_row(n, decay, p, average, block, out);
}

template <class T>
bool finite(int64_t n, const T* x) {
  return all_finite(n, x);
}

void exp_of(int64_t n, double* x) {
  map(cpu_context(), n, [](auto v) { return exp(v); }, x, static_cast<const double*>(x));
}

template <class K, class T>
constexpr KindLoops<T> of_kind() {
  return {K::template step<T>, K::template measure<T>, K::finishes ? K::template finish<T> : nullptr};
}

template <class T, class... K>
const KindLoops<T>* of_kinds(kinds::List<K...>) {
  static constexpr KindLoops<T> loops[] = {of_kind<K, T>()...};
  return loops;
}

template <class T>
Loops<T> table() {
  return {of_kinds<T>(kinds::All()),
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
          kinds::squares<T>,
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
