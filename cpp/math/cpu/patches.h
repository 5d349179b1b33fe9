// PatchGrid: inputs of windows that slide over images, packed so that one load reads a tap of neighbouring windows.
#pragma once

#include "core/kernel.h"
#include "core/stored_parts.h"
#include "math/vec.h"
#include "math/window.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace paddle_mini {

struct PatchAxis {
  static PatchAxis forward(const WindowAxis& axis);

  int64_t size = 1;               // image size
  int64_t stride = 1, first = 0;  // window o begins at o * stride + first
  std::vector<int64_t> taps;      // offsets relative to the window's beginning
  int64_t windows = 0;
  int64_t out_size = 1, out_first = 0, out_step = 1;  // window positions in the result, which has size out_size
};

// Windows are processed in regions: several images, or some rows and columns of one. The inputs of a region's windows
// are copied to a buffer that stays in the cache, with zeros for the padding. Taps whose distance is a multiple of the
// stride share a strip of every stride-th row (column), so that neighbouring windows are adjacent in the buffer for any
// stride, and a tap of a register full of windows is one load. Patches are never materialized.
// It has many methods because kernels read and write the regions in several orders.
template <class T>
class PatchGrid {
 public:
  // Windows of one region that are read by one load: a register, at offset `in` of the buffer.
  struct Slot {
    int64_t in;
    int run, runs;
  };
  struct Run {
    int at, count;  // lanes of a slot
    int64_t to;     // element of the result
  };
  struct Slots {
    std::vector<Slot> slots;  // the first `full` are one run of all lanes
    std::vector<Run> runs;
    std::vector<T> masks;  // by slot: 1 in lanes that are windows
    size_t full = 0;
  };
  struct Region {
    int64_t image, images, y, x, rows, columns;
    const Slots* slots;
    int64_t to;  // element of the result
  };

  // `in_image` and `out_image` are the strides between images; `channels` is the number of channels in a region, and
  // `most_windows` that of its windows, which has at least two registers of them.
  PatchGrid(const PatchAxis& height, const PatchAxis& width, int64_t images, int64_t channels, int64_t in_image,
            int64_t out_image, int64_t most_windows = 1 << 11);

  int64_t buffer_size() const;
  int64_t image_elements() const;  // the part of the buffer for one image
  int64_t pitch() const { return width_.length(); }  // from a row of windows to the next one
  int64_t lanes() const;  // total of all slots of all regions
  int64_t most_slots() const { return most_slots_; }
  size_t kept_bytes() const;  // by tables, for KernelInit
  // Offsets of the taps in the buffer relative to a window, ordered by channel, then tap row, then tap column.
  const std::vector<int64_t>& offsets() const { return offsets_; }

  void pack(const T* image, const Region& region, int64_t channels, T* buffer) const;

  // Adds the results of a region, in so many channels `plane` apart, which are complete.
  void add_results(StoredParts<T>& stored, const Region& region, int64_t channels, int64_t plane, const T* out) const {
    if (!stored.are_wanted()) return;
    const bool whole_rows = region.columns == width_.out_size;
    for (int64_t image = 0; image < region.images; ++image) {
      for (int64_t c = 0; c < channels; ++c) {
        const T* at = out + region.to + image * out_image_ + c * plane;
        if (whole_rows) stored.add(at, region.rows * region.columns);
        else
          for (int64_t y = 0; y < region.rows; ++y) stored.add(at + y * width_.out_size, region.columns);
      }
    }
  }

  int64_t regions() const {
    return parts(images_, at_once_) * parts(height_.windows, height_.at_once) * parts(width_.windows, width_.at_once);
  }
  Region region(int64_t i) const {
    int64_t columns = parts(width_.windows, width_.at_once), rows = parts(height_.windows, height_.at_once);
    int64_t x = i % columns * width_.at_once, y = i / columns % rows * height_.at_once;
    int64_t image = i / columns / rows * at_once_, images = std::min(at_once_, images_ - image);
    bool fewer_rows = y + height_.at_once > height_.windows, fewer_columns = x + width_.at_once > width_.windows;
    return {image,
            images,
            y,
            x,
            std::min(height_.at_once, height_.windows - y),
            std::min(width_.at_once, width_.windows - x),
            &slots_[images < at_once_][fewer_rows][fewer_columns],
            image * out_image_ + y * height_.out_step * width_.out_size + x * width_.out_step};
  }

 private:
  struct Axis {
    int64_t size, stride, windows, out_step, out_size;
    std::vector<int64_t> begins;                    // by strip: the first window's position in the image
    std::vector<std::pair<int64_t, int64_t>> taps;  // strip, offset in it
    int64_t reach = 0;                              // offset of the furthest tap
    int64_t at_once;                                // windows per region

    explicit Axis(const PatchAxis& axis);
    int64_t length() const { return at_once + reach; }  // strip length
  };

  static int64_t parts(int64_t size, int64_t part) { return (size + part - 1) / part; }
  void choose_region(int64_t most_windows);
  Slots slots_of(int64_t images, int64_t rows, int64_t columns) const;
  void add_slot(Slots& slots, int64_t image, int64_t position, int64_t row, int64_t end_row, int64_t columns) const;

  Axis height_, width_;
  int64_t images_, channels_, in_image_, out_image_, at_once_ = 1, most_slots_ = 0;
  std::vector<int64_t> offsets_;
  Slots slots_[2][2][2];  // by whether the region has fewer images, rows, columns
};

extern template class PatchGrid<float>;
extern template class PatchGrid<double>;

}  // namespace paddle_mini
