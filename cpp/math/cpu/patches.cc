// PatchGrid: strips, slots, and the copy of a region into its buffer.
#include "math/cpu/patches.h"

namespace paddle_mini {
namespace {

constexpr int64_t kRegionElements = 1 << 17;

// The range of i in [0, count) for which position first + i * step is inside of the image.
struct Inside {
  int64_t begin, end;

  Inside(int64_t size, int64_t first, int64_t step, int64_t count)
      : begin(first < 0 ? std::min((-first + step - 1) / step, count) : 0),
        end(first < size ? std::max(std::min((size - first + step - 1) / step, count), begin) : begin) {}
};

// Writes zeros in full registers. Elements past `count` are overwritten afterwards, or are the slack of the buffer.
template <class T>
inline void clear(T* to, int64_t count) {
  for (int64_t i = 0; i < count; i += Vec<T>::size) Vec<T>(T(0)).store(to + i);
}

// Copies rows of a strip, consecutively, with zeros for the padding; `from` may be read up to `from_end`.
template <int known_step, class T>
void copy_rows(const T* from, int64_t row_step, int64_t column_step, const T* from_end, int64_t rows, Inside columns,
               int64_t pitch, T* to) {
  constexpr int lanes = Vec<T>::size;
  const int64_t step = known_step == 0 ? column_step : known_step, count = columns.end - columns.begin;
  for (int64_t row = 0; row < rows; ++row, from += row_step, to += pitch) {
    clear(to, columns.begin);
    T* inside = to + columns.begin;
    int64_t i = 0;
    if (known_step != 0) {
      for (; i < count && known_step * (i + lanes) <= from_end - from; i += lanes) {
        Vec<T> values = Vec<T>::load(from + known_step * i);
        if (known_step == 2) values = every_second(values, Vec<T>::load(from + 2 * i + lanes));
        values.store(inside + i);
      }
    }
    for (; i < count; ++i) inside[i] = from[i * step];
    clear(to + columns.end, pitch - columns.end);
  }
}

}  // namespace

PatchAxis PatchAxis::forward(const WindowAxis& axis) {
  PatchAxis patches{axis.size, axis.stride, -axis.before, {}, axis.out, axis.out, 0, 1};
  for (int64_t tap = 0; tap < axis.window; ++tap) patches.taps.push_back(tap * axis.dilation);
  return patches;
}

// Taps far apart get separate strips: the gap between them could be longer than all the data that is read.
template <class T>
PatchGrid<T>::Axis::Axis(const PatchAxis& axis)
    : size(axis.size), stride(axis.stride), windows(std::max<int64_t>(axis.windows, 0)), out_step(axis.out_step),
      out_size(axis.out_size), at_once(std::max<int64_t>(windows, 1)) {
  for (int64_t tap : axis.taps) {
    int64_t begin = axis.first + tap, shift = 0;
    size_t strip = 0;
    for (; strip < begins.size(); ++strip) {
      shift = (begin - begins[strip]) / stride;
      if ((begin - begins[strip]) % stride == 0 && shift >= 0 && shift <= reach + at_once) break;
    }
    if (strip == begins.size()) begins.push_back(begin), shift = 0;
    taps.push_back({static_cast<int64_t>(strip), shift});
    reach = std::max(reach, shift);
  }
}

template <class T>
PatchGrid<T>::PatchGrid(const PatchAxis& height, const PatchAxis& width, int64_t images, int64_t channels,
                        int64_t in_image, int64_t out_image, int64_t most_windows)
    : height_(height), width_(width), images_(images), channels_(channels), in_image_(in_image), out_image_(out_image) {
  choose_region(most_windows);
  int64_t pitch = width_.length(), strip = height_.length() * pitch;
  int64_t strips = static_cast<int64_t>(width_.begins.size());
  for (int64_t c = 0; c < channels_; ++c) {
    for (auto [row_strip, row] : height_.taps) {
      for (auto [column_strip, column] : width_.taps) {
        int64_t before = c * static_cast<int64_t>(height_.begins.size()) + row_strip;
        offsets_.push_back((before * strips + column_strip) * strip + row * pitch + column);
      }
    }
  }
  for (int few_images : {0, 1}) {
    for (int few_rows : {0, 1}) {
      for (int few_columns : {0, 1}) {
        int64_t count = few_images ? images_ % at_once_ : at_once_;
        int64_t rows = few_rows ? height_.windows % height_.at_once : height_.at_once;
        int64_t columns = few_columns ? width_.windows % width_.at_once : width_.at_once;
        Slots& slots = slots_[few_images][few_rows][few_columns] = slots_of(count, rows, columns);
        most_slots_ = std::max(most_slots_, static_cast<int64_t>(slots.slots.size()));
      }
    }
  }
}

template <class T>
int64_t PatchGrid<T>::image_elements() const {
  return channels_ * static_cast<int64_t>(height_.begins.size() * width_.begins.size()) * height_.length() *
         width_.length();
}

// A region is several whole images if they fit, else some rows of one image, else a part of one row.
template <class T>
void PatchGrid<T>::choose_region(int64_t most_windows) {
  auto fits = [&] { return image_elements() <= kRegionElements && height_.at_once * width_.at_once <= most_windows; };
  while (!fits() && height_.at_once > 1) height_.at_once = (height_.at_once + 1) / 2;
  while (!fits() && width_.at_once > 2 * Vec<T>::size) width_.at_once = (width_.at_once + 1) / 2;
  if (height_.at_once < height_.windows || width_.at_once < width_.windows) return;
  int64_t fitting = std::min(kRegionElements / std::max<int64_t>(image_elements(), 1),
                             most_windows / (height_.at_once * width_.at_once));
  at_once_ = std::max<int64_t>(std::min(fitting, images_), 1);
}

template <class T>
int64_t PatchGrid<T>::buffer_size() const {
  return at_once_ * image_elements() + 2 * Vec<T>::size;
}

template <class T>
size_t PatchGrid<T>::kept_bytes() const {
  auto bytes = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  size_t total = bytes(offsets_);
  for (const Axis* axis : {&height_, &width_}) total += bytes(axis->begins) + bytes(axis->taps);
  for (const auto& of_images : slots_) {
    for (const auto& of_rows : of_images) {
      for (const Slots& one : of_rows) total += bytes(one.slots) + bytes(one.runs) + bytes(one.masks);
    }
  }
  return total;
}

template <class T>
int64_t PatchGrid<T>::lanes() const {
  int64_t slots = 0;
  for (int64_t i = 0; i < regions(); ++i) slots += static_cast<int64_t>(region(i).slots->slots.size());
  return slots * Vec<T>::size;
}

// Adds a slot at this position in the buffer, with the windows of these rows.
template <class T>
void PatchGrid<T>::add_slot(Slots& slots, int64_t image, int64_t position, int64_t row, int64_t end_row,
                            int64_t columns) const {
  constexpr int64_t lanes = Vec<T>::size;
  int64_t pitch = width_.length();
  Slot slot{image * image_elements() + position, static_cast<int>(slots.runs.size()), 0};
  for (int64_t y = std::max(row, position / pitch); y < end_row && y * pitch < position + lanes; ++y) {
    int64_t begin = std::max(position, y * pitch), end = std::min(position + lanes, y * pitch + columns);
    if (begin >= end) continue;
    int count = static_cast<int>(end - begin);
    int64_t to = image * out_image_ + y * height_.out_step * width_.out_size + (begin - y * pitch) * width_.out_step;
    Run* last = slot.runs > 0 ? &slots.runs.back() : nullptr;
    if (last && position + last->at + last->count == begin && last->to + last->count * width_.out_step == to) {
      last->count += count;
      continue;
    }
    slots.runs.push_back({static_cast<int>(begin - position), count, to});
    ++slot.runs;
  }
  if (slot.runs > 0) slots.slots.push_back(slot);
}

// Either every row begins with a new slot, or slots span rows, whichever needs fewer slots.
template <class T>
typename PatchGrid<T>::Slots PatchGrid<T>::slots_of(int64_t images, int64_t rows, int64_t columns) const {
  constexpr int64_t lanes = Vec<T>::size;
  Slots slots;
  if (rows == 0 || columns == 0) return slots;
  int64_t pitch = width_.length(), span = (rows - 1) * pitch + columns;
  bool by_row = rows * ((columns + lanes - 1) / lanes) <= (span + lanes - 1) / lanes;
  for (int64_t image = 0; image < images; ++image) {
    if (by_row) {
      for (int64_t y = 0; y < rows; ++y) {
        for (int64_t x = 0; x < columns; x += lanes) add_slot(slots, image, y * pitch + x, y, y + 1, columns);
      }
    } else {
      for (int64_t at = 0; at < span; at += lanes) add_slot(slots, image, at, 0, rows, columns);
    }
  }
  auto full = [&](const Slot& slot) { return slot.runs == 1 && slots.runs[slot.run].count == lanes; };
  std::stable_partition(slots.slots.begin(), slots.slots.end(), full);
  for (const Slot& slot : slots.slots) {
    slots.full += full(slot);
    std::vector<T> mask(lanes, T(0));
    for (int r = 0; r < slot.runs; ++r) {
      const Run& run = slots.runs[slot.run + r];
      std::fill_n(mask.begin() + run.at, run.count, T(1));
    }
    slots.masks.insert(slots.masks.end(), mask.begin(), mask.end());
  }
  return slots;
}

template <class T>
void PatchGrid<T>::pack(const T* image, const Region& region, int64_t channels, T* buffer) const {
  int64_t pitch = width_.length();
  for (int64_t n = 0; n < region.images; ++n) {
    T* to = buffer + n * image_elements();
    for (int64_t c = 0; c < channels; ++c) {
      const T* plane = image + (region.image + n) * in_image_ + c * height_.size * width_.size;
      const T* plane_end = plane + height_.size * width_.size;
      for (int64_t top : height_.begins) {
        for (int64_t left : width_.begins) {
          const int64_t y = top + region.y * height_.stride, x = left + region.x * width_.stride;
          const Inside rows(height_.size, y, height_.stride, height_.length());
          const Inside columns(width_.size, x, width_.stride, pitch);
          const T* from = plane + (y + rows.begin * height_.stride) * width_.size + x + columns.begin * width_.stride;
          clear(to, rows.begin * pitch);
          auto copy = width_.stride == 1 ? copy_rows<1, T> : width_.stride == 2 ? copy_rows<2, T> : copy_rows<0, T>;
          copy(from, height_.stride * width_.size, width_.stride, plane_end, rows.end - rows.begin, columns, pitch,
               to + rows.begin * pitch);
          clear(to + rows.end * pitch, (height_.length() - rows.end) * pitch);
          to += height_.length() * pitch;
        }
      }
    }
  }
}

template class PatchGrid<float>;
template class PatchGrid<double>;

}  // namespace paddle_mini
