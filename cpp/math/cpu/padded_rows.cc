// PaddedRows: the copy with padding.
#include "math/cpu/padded_rows.h"

#include "math/map.h"

namespace paddle_mini {
namespace {

constexpr int64_t kPaddedElements = 1 << 11;  // copied at once, so few that copies and sums of different rows overlap
constexpr int64_t kRowsTogether = 4;
constexpr int64_t kAhead = 1 << 9;  // elements that are prefetched before they are copied: planes lie in slow memory

// At least one register, as compilers make a call of a loop.
template <class T>
inline void clear_elements(T* to, int64_t count) {
  Vec<T>(T(0)).store(to);
  for (int64_t i = Vec<T>::size; i < count; i += Vec<T>::size) Vec<T>(T(0)).store(to + i);
}

// These write `count` elements and zeros after them, and return how many.
template <class T>
inline int64_t copy_row(const T* from, int64_t count, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    __builtin_prefetch(from + x + kAhead);
    Vec<T>::load(from + x).store(to + x);
  }
  if (x == count) return count;
  map_loop::load_part(from + x, count - x).store(to + x);
  return x + lanes;
}

// Elements and zeros in turn.
template <class T>
inline int64_t spread_row(const T* from, int64_t count, T* to) {
  constexpr int64_t lanes = Vec<T>::size;
  int64_t x = 0;
  for (; x < count; x += 2 * lanes, from += lanes) {
    __builtin_prefetch(from + kAhead);
    const int64_t left = (count - x + 1) / 2;
    const Vec<T> values = left >= lanes ? Vec<T>::load(from) : map_loop::load_part(from, left);
    spread_half<0>(values).store(to + x);
    spread_half<1>(values).store(to + x + lanes);
  }
  return x;
}

}  // namespace

template <class T>
bool PaddedRows<T>::fits(const ConvolutionSizes& s) {
  const WindowAxis &h = s.height, &w = s.width;
  const bool square = h.window == w.window && h.stride == w.stride && h.dilation == 1 && w.dilation == 1;
  return s.in_channels == 1 && s.out_channels <= 2 && square && (h.window == 3 || h.window == 5) &&
         (h.stride == 1 || h.stride == 2) && h.before >= 0 && w.before >= 0 && w.out > 0 && h.out > 0;
}

template <class T>
PaddedRows<T>::PaddedRows(const ConvolutionSizes& s, int64_t spread)
    : height_(s.height), width_(s.width), spread_(spread), pitch_((width_.out - 1) * width_.stride + width_.window) {
  const int64_t fitting = kPaddedElements / (pitch_ * height_.stride) / kRowsTogether * kRowsTogether;
  at_once_ = std::min(std::max<int64_t>(fitting, kRowsTogether), height_.out);
}

// Loads and stores of full registers exceed the last row.
template <class T>
int64_t PaddedRows<T>::elements() const {
  return ((at_once_ - 1) * height_.stride + height_.window) * pitch_ + 4 * Vec<T>::size;
}

// A row is followed by the padding on its right, and that on the left of the next one.
template <class T>
void PaddedRows<T>::copy(const T* plane, int64_t y, int64_t rows, T* to) const {
  const int64_t before = std::min(width_.before, pitch_);
  const int64_t columns = std::clamp<int64_t>(pitch_ - width_.before, 0, width_.size);
  const int64_t first = height_.first(y), end = first + (rows - 1) * height_.stride + height_.window;
  const int64_t row_size = (width_.size + spread_ - 1) / spread_;
  clear_elements(to, before);
  to += before;
  for (int64_t row = first; row < end; ++row, to += pitch_) {
    const int64_t gap = pitch_ - columns - (row + 1 < end ? 0 : before);
    if (row < 0 || row >= height_.size || (spread_ == 2 && row % 2 != 0)) {
      clear_elements(to, columns + gap);
      continue;
    }
    const T* from = plane + row / spread_ * row_size;
    const int64_t written = spread_ == 1 ? copy_row(from, columns, to) : spread_row(from, columns, to);
    if (written < columns + gap) clear_elements(to + columns, gap);
  }
}

template class PaddedRows<float>;
template class PaddedRows<double>;

}  // namespace paddle_mini
