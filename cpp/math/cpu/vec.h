// Vec<T>: the elements of one SIMD register of this CPU, with the arithmetic of a number.
#pragma once

#include <Eigen/Core>

#include "math/number.h"

namespace paddle_mini {

template <class T>
struct Vec {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  static constexpr int size = Eigen::internal::unpacket_traits<Packet>::size;

  Packet p;

  Vec() = default;
  Vec(const Packet& packet) : p(packet) {}
  explicit Vec(T number) : p(Eigen::internal::pset1<Packet>(number)) {}
  static Vec load(const T* from) { return Eigen::internal::ploadu<Packet>(from); }
  void store(T* to) const { Eigen::internal::pstoreu(to, p); }
};

// Comparisons, selections and extremes of registers. With AVX-512, comparisons of floats stay in mask registers: Eigen's
// masks are numbers, and the conversions of one to numbers and back take longer than the rest of a relu.
template <class P> P less(P a, P b) { return Eigen::internal::pcmp_lt(a, b); }
template <class P> P less_or_equal(P a, P b) { return Eigen::internal::pcmp_le(a, b); }
template <class P> P equal(P a, P b) { return Eigen::internal::pcmp_eq(a, b); }
template <class P> P both(P a, P b) { return Eigen::internal::pand(a, b); }
template <class P> P pick(P mask, P yes, P no) { return Eigen::internal::pselect(mask, yes, no); }
template <class P> P larger(P a, P b) { return Eigen::internal::pmax<Eigen::PropagateNaN>(a, b); }
template <class P> P smaller(P a, P b) { return Eigen::internal::pmin<Eigen::PropagateNaN>(a, b); }
#ifdef __AVX512F__
inline __mmask16 less(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
inline __mmask8 less(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
inline __mmask16 less_or_equal(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
inline __mmask8 less_or_equal(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ); }
inline __mmask16 equal(__m512 a, __m512 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
inline __mmask8 equal(__m512d a, __m512d b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
inline __mmask16 both(__mmask16 a, __mmask16 b) { return static_cast<__mmask16>(a & b); }
inline __mmask8 both(__mmask8 a, __mmask8 b) { return static_cast<__mmask8>(a & b); }
inline __m512 pick(__mmask16 mask, __m512 yes, __m512 no) { return _mm512_mask_blend_ps(mask, no, yes); }
inline __m512d pick(__mmask8 mask, __m512d yes, __m512d no) { return _mm512_mask_blend_pd(mask, no, yes); }
// The instructions give b if one of the numbers is NaN.
inline __m512 larger(__m512 a, __m512 b) { return pick(equal(a, a), _mm512_max_ps(a, b), a); }
inline __m512d larger(__m512d a, __m512d b) { return pick(equal(a, a), _mm512_max_pd(a, b), a); }
inline __m512 smaller(__m512 a, __m512 b) { return pick(equal(a, a), _mm512_min_ps(a, b), a); }
inline __m512d smaller(__m512d a, __m512d b) { return pick(equal(a, a), _mm512_min_pd(a, b), a); }
#endif

template <class T>
struct Mask {
  using Packet = typename Vec<T>::Packet;
  decltype(less(Packet(), Packet())) p;
};

template <class T>
struct number_type<Vec<T>> {
  using type = T;
};

template <class T> Vec<T> operator+(Vec<T> a, Vec<T> b) { return Eigen::internal::padd(a.p, b.p); }
template <class T> Vec<T> operator-(Vec<T> a, Vec<T> b) { return Eigen::internal::psub(a.p, b.p); }
template <class T> Vec<T> operator*(Vec<T> a, Vec<T> b) { return Eigen::internal::pmul(a.p, b.p); }
template <class T> Vec<T> operator/(Vec<T> a, Vec<T> b) { return Eigen::internal::pdiv(a.p, b.p); }
// a * b + c, fused if the CPU supports it: for matrix products, which Eigen also rounds so.
template <class T> Vec<T> multiply_add(Vec<T> a, Vec<T> b, Vec<T> c) { return Eigen::internal::pmadd(a.p, b.p, c.p); }
template <class T> Vec<T> operator-(Vec<T> a) { return Eigen::internal::pnegate(a.p); }
template <class T> Mask<T> operator<(Vec<T> a, Vec<T> b) { return {less(a.p, b.p)}; }
template <class T> Mask<T> operator>(Vec<T> a, Vec<T> b) { return {less(b.p, a.p)}; }
template <class T> Mask<T> operator<=(Vec<T> a, Vec<T> b) { return {less_or_equal(a.p, b.p)}; }
template <class T> Mask<T> operator>=(Vec<T> a, Vec<T> b) { return {less_or_equal(b.p, a.p)}; }
template <class T> Mask<T> operator==(Vec<T> a, Vec<T> b) { return {equal(a.p, b.p)}; }
template <class T> Mask<T> operator&(Mask<T> a, Mask<T> b) { return {both(a.p, b.p)}; }

template <class T> Vec<T> select(Mask<T> m, Vec<T> yes, Vec<T> no) { return pick(m.p, yes.p, no.p); }

template <class T> Vec<T> maximum(Vec<T> a, Vec<T> b) { return larger(a.p, b.p); }
template <class T> Vec<T> minimum(Vec<T> a, Vec<T> b) { return smaller(a.p, b.p); }

// The CPU's correctly rounded square root. Eigen uses Newton's method for some registers, which gives NaN for infinity.
template <class Packet> Packet root_of(Packet a) { return Eigen::internal::psqrt(a); }
#ifdef __SSE2__
inline __m128 root_of(__m128 a) { return _mm_sqrt_ps(a); }
#endif
#ifdef __AVX__
inline __m256 root_of(__m256 a) { return _mm256_sqrt_ps(a); }
#endif
#ifdef __AVX512F__
inline __m512 root_of(__m512 a) { return _mm512_sqrt_ps(a); }
inline __m512d root_of(__m512d a) { return _mm512_sqrt_pd(a); }
#endif
template <class T> Vec<T> sqrt(Vec<T> a) { return root_of(a.p); }
template <class T> Vec<T> abs(Vec<T> a) { return Eigen::internal::pabs(a.p); }

// Applies f to each lane, if there is no vector form (such as tanh of double).
template <class T, class F>
Vec<T> each_lane(Vec<T> a, F f) {
  T lanes[Vec<T>::size];
  a.store(lanes);
  for (T& lane : lanes) lane = f(lane);
  return Vec<T>::load(lanes);
}

// With two operands.
template <class T, class F>
Vec<T> each_lane(Vec<T> a, Vec<T> b, F f) {
  T left[Vec<T>::size], right[Vec<T>::size];
  a.store(left);
  b.store(right);
  for (int i = 0; i < Vec<T>::size; ++i) left[i] = f(left[i], right[i]);
  return Vec<T>::load(left);
}

// Eigen's vector exp clamps its argument, so overflow, underflow and NaN are corrected afterwards. Results below the
// smallest normal number are flushed to 0.
template <class T>
Vec<T> exp(Vec<T> a) {
  const T overflow = sizeof(T) == 4 ? T(88.72283905) : T(709.782712893384);
  const T underflow = sizeof(T) == 4 ? T(-87.33654475) : T(-708.3964185322641);
  Vec<T> result = Eigen::internal::pexp(a.p);
  result = select(a > Vec<T>(overflow), Vec<T>(std::numeric_limits<T>::infinity()), result);
  result = select(a < Vec<T>(underflow), Vec<T>(T(0)), result);
  return select(a == a, result, a);
}

// Eigen's vector log treats subnormal numbers as the smallest normal one, so they are scaled up first.
template <class T>
Vec<T> log(Vec<T> a) {
  const T scale = sizeof(T) == 4 ? T(1 << 24) : T(int64_t{1} << 53);
  const T log_of_scale = sizeof(T) == 4 ? T(16.635532333438686) : T(36.7368005696771);
  Mask<T> small = a < Vec<T>(std::numeric_limits<T>::min());
  Vec<T> result = Eigen::internal::plog(select(small, a * Vec<T>(scale), a).p);
  return select(small, result - Vec<T>(log_of_scale), result);
}
template <class T>
Vec<T> tanh(Vec<T> a) {
  if constexpr (Eigen::internal::packet_traits<T>::HasTanh && sizeof(T) == 4) {
    return select(a == a, Vec<T>(Eigen::internal::ptanh(a.p)), a);
  } else {
    return each_lane(a, [](T x) { return std::tanh(x); });
  }
}

template <class T> T sum_of_lanes(Vec<T> a) { return Eigen::internal::predux(a.p); }
template <class T> T max_of_lanes(Vec<T> a) { return Eigen::internal::predux_max(a.p); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"  // a register's, as a template argument
// to = from', a square with as many rows and columns as a register has lanes; from_step and to_step are row strides.
template <class T>
void transpose_square(const T* from, int64_t from_step, T* to, int64_t to_step) {
  Eigen::internal::PacketBlock<typename Vec<T>::Packet, Vec<T>::size> block;
#pragma GCC unroll 16
  for (int i = 0; i < Vec<T>::size; ++i) block.packet[i] = Vec<T>::load(from + i * from_step).p;
  Eigen::internal::ptranspose(block);
#pragma GCC unroll 16
  for (int i = 0; i < Vec<T>::size; ++i) Vec<T>(block.packet[i]).store(to + i * to_step);
}
#pragma GCC diagnostic pop

// Every second lane of a, then of b: elements with a stride of 2.
template <class T, int... I>
Vec<T> every_second(Vec<T> a, Vec<T> b, std::integer_sequence<int, I...>) {
  return Vec<T>(__builtin_shufflevector(a.p, b.p, (2 * I)...));
}
template <class T>
Vec<T> every_second(Vec<T> a, Vec<T> b) {
  return every_second(a, b, std::make_integer_sequence<int, Vec<T>::size>());
}

// The inverse: the lanes of the first (half 0) or second half of a, interleaved with zeros.
template <int half, class T, int... I>
Vec<T> spread_half(Vec<T> a, std::integer_sequence<int, I...>) {
  constexpr int n = Vec<T>::size;
  return Vec<T>(__builtin_shufflevector(a.p, Vec<T>(T(0)).p, (I % 2 ? n : half * n / 2 + I / 2)...));
}
template <int half, class T>
Vec<T> spread_half(Vec<T> a) {
  return spread_half<half>(a, std::make_integer_sequence<int, Vec<T>::size>());
}

// The lanes of the first (half 0) or second half of a, each followed by that of b.
template <int half, class T, int... I>
Vec<T> interleave_half(Vec<T> a, Vec<T> b, std::integer_sequence<int, I...>) {
  constexpr int n = Vec<T>::size;
  return Vec<T>(__builtin_shufflevector(a.p, b.p, (half * n / 2 + I / 2 + (I % 2 ? n : 0))...));
}
template <int half, class T>
Vec<T> interleave_half(Vec<T> a, Vec<T> b) {
  return interleave_half<half>(a, b, std::make_integer_sequence<int, Vec<T>::size>());
}

}  // namespace paddle_mini
