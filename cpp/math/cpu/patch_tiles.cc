// PatchTiles: the runs of pixels in a tile, and the copies between the images and the panels of a tile.
#include "math/cpu/patch_tiles.h"

#include "math/cpu/short_runs.h"

namespace paddle_mini {
namespace {

constexpr int64_t kPanelElements = 1 << 17;  // limit of the panels of a group of tiles

// Locates the patches of pixels in the image.
struct Patches {
  int64_t height, width, step;
  bool padded;

  Patches(const ConvolutionSizes& s, bool padded)
      : height(s.height.size), width(s.width.size), step(s.width.stride), padded(padded) {}

  // Calls f(position in the tile, element of the image, count, step) for the pixels of a run whose tap is inside of the
  // image.
  template <class Run, class Tap, class F>
  void each_part(const Run& run, const Tap& tap, F f) const {
    int64_t from = run.offset + tap.offset;
    if (!padded) return f(run.at, from, run.count, step);
    int64_t y = run.y + tap.y, x = run.x + tap.x;
    if (y < 0 || y >= height) return;
    int begin = 0, end = run.count;
    while (begin < end && x + begin * step < 0) ++begin;
    while (end > begin && x + (end - 1) * step >= width) --end;
    if (begin < end) f(run.at + begin, from + begin * step, end - begin, step);
  }
};

}  // namespace

template <class T>
PatchTiles<T>::PatchTiles(const ConvolutionSizes& sizes)
    : s_(sizes), padded_(s_.height.before || s_.height.after || s_.width.before || s_.width.after),
      count_((s_.images * s_.pixels() + kTile - 1) / kTile) {
  const WindowAxis &h = s_.height, &w = s_.width;
  for (int64_t c = 0; c < s_.in_channels; ++c) {
    for (int64_t i = 0; i < h.window; ++i) {
      for (int64_t j = 0; j < w.window; ++j) {
        int64_t y = i * h.dilation, x = j * w.dilation;
        taps_.push_back({y, x, (c * h.size + y) * w.size + x});
      }
    }
  }
  int64_t fitting = kPanelElements / std::max<int64_t>(s_.taps() * kTile, 1);
  at_once_ = std::max<int64_t>(std::min({count_, fitting, kMostAtOnce}), 1);
}

template <class T>
typename PatchTiles<T>::Tile PatchTiles<T>::tile_at(int64_t first) const {
  Tile tile;
  tile.run_count = 0;
  int at = 0;
  int64_t end = std::min(first + kTile, s_.images * s_.pixels());
  for (int64_t pixel = first; pixel < end;) {
    int64_t image = pixel / s_.pixels(), inside = pixel % s_.pixels(), y = inside / s_.width.out,
            x = inside % s_.width.out;
    int count = static_cast<int>(std::min(s_.width.out - x, end - pixel));
    int64_t top = s_.height.first(y), left = s_.width.first(x);
    tile.runs[tile.run_count++] = {image, inside, top, left, image * s_.image_size() + top * s_.width.size + left,
                                   at,    count};
    at += count, pixel += count;
  }
  tile.pixel_count = at;
  return tile;
}

template <class T>
void PatchTiles<T>::pack_columns(const T* image, int64_t tap, int64_t end_tap, int64_t group, const Tile& tile,
                                 T* panel) const {
  const T* start = image + group * s_.in_channels * s_.height.size * s_.width.size;
  const Patches patches(s_, padded_);
  Run runs[kTile];  // a local copy can't alias the stores, so it is not reloaded after each
  std::copy_n(tile.runs, tile.run_count, runs);
  const int run_count = tile.run_count;
  const bool holes = padded_ || tile.pixel_count < kTile;
  for (const Tap *next = taps_.data() + tap, *end = taps_.data() + end_tap; next != end; ++next) {
    if (holes) std::fill_n(panel, kTile, T(0));
    for (int r = 0; r < run_count; ++r) {
      patches.each_part(runs[r], *next, [&](int at, int64_t from, int count, int64_t step) {
        if (step == 1) copy_run(panel + at, start + from, count);
        else
          for (int i = 0; i < count; ++i) panel[at + i] = start[from + i * step];
      });
    }
    panel += kTile;
  }
}

template <class T>
void PatchTiles<T>::add_columns(const T* rows, int64_t tap, int row_count, int64_t group, const Tile& tile,
                                T* image) const {
  T* start = image + group * s_.in_channels * s_.height.size * s_.width.size;
  const Patches patches(s_, padded_);
  Run runs[kTile];
  std::copy_n(tile.runs, tile.run_count, runs);
  const int run_count = tile.run_count;
  for (const Tap *next = taps_.data() + tap, *end = next + row_count; next != end; ++next, rows += kTile) {
    for (int r = 0; r < run_count; ++r) {
      patches.each_part(runs[r], *next, [&](int at, int64_t to, int count, int64_t step) {
        if (step == 1) add_run(start + to, rows + at, count);
        else
          for (int i = 0; i < count; ++i) start[to + i * step] += rows[at + i];
      });
    }
  }
}

// The values of one output channel at the pixels of a tile.
template <class T>
inline void PatchTiles<T>::copy_outputs(const T* out, int64_t channel, const Tile& tile, T* to) const {
  for (int r = 0; r < tile.run_count; ++r) {
    const Run& run = tile.runs[r];
    copy_run(to + run.at, out + run.image * s_.out_size() + channel * s_.pixels() + run.pixel, run.count);
  }
}

template <class T>
void PatchTiles<T>::pack_outputs(const T* out, int64_t group, const Tile& tile, T* panel) const {
  for (int64_t c = 0; c < s_.out_channels; ++c, panel += kTile) {
    if (tile.pixel_count < kTile) std::fill_n(panel, kTile, T(0));
    copy_outputs(out, group * s_.out_channels + c, tile, panel);
  }
}

template <class T>
void PatchTiles<T>::store_outputs(const T* rows, int64_t channel, int row_count, int64_t group, const Tile& tile,
                                  T* out) const {
  for (int i = 0; i < row_count; ++i, rows += kTile) {
    T* to = out + (group * s_.out_channels + channel + i) * s_.pixels();
    for (int r = 0; r < tile.run_count; ++r) {
      const Run& run = tile.runs[r];
      copy_run(to + run.image * s_.out_size() + run.pixel, rows + run.at, run.count);
    }
  }
}

template class PatchTiles<float>;
template class PatchTiles<double>;

}  // namespace paddle_mini
