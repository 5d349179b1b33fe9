// Offsets of windows and taps, computed by each thread of a product with taps.
#pragma once

#include "cuda/launch.h"
#include "math/gpu/tap_products.h"

namespace paddle_mini {

// A window or a tap: its position in the image, and its offset in the other operand or the result.
struct Spot {
  int64_t in, other;
  int z, y, x;
};

template <class T>
struct TapOffsets : TapProducts<T> {
  int64_t window_count, tap_count;

  explicit TapOffsets(const TapProducts<T>& products)
      : TapProducts<T>(products), window_count(products.windows()), tap_count(products.taps()) {}

  // Coordinates from a linear index, the last axis first.
  PM_DEVICE static void split(int64_t i, int64_t height, int64_t width, int (&at)[3]) {
    if (i <= INT32_MAX) {  // for faster division
      uint32_t left = static_cast<uint32_t>(i), rest = left / static_cast<uint32_t>(width);
      at[2] = static_cast<int>(left - rest * static_cast<uint32_t>(width));
      at[0] = static_cast<int>(rest / static_cast<uint32_t>(height));
      at[1] = static_cast<int>(rest - static_cast<uint32_t>(at[0]) * static_cast<uint32_t>(height));
    } else {
      at[2] = static_cast<int>(i % width), i /= width;
      at[1] = static_cast<int>(i % height), at[0] = static_cast<int>(i / height);
    }
  }
  PM_DEVICE int64_t place(int64_t z, int64_t y, int64_t x) const {
    return ((z * this->axes[1].in + y) * this->axes[2].in + x) * this->in.pixel;
  }
  PM_DEVICE static Spot nowhere() { return {0, 0, INT32_MIN / 2, 0, 0}; }

  // Window `i` of all images.
  PM_DEVICE Spot window(int64_t i) const {
    int64_t image = i / window_count;
    if (image >= this->images) return nowhere();
    int at[3];
    split(i - image * window_count, this->axes[1].windows, this->axes[2].windows, at);
    int64_t from[3], to[3];
    for (int d = 0; d < 3; ++d) {
      from[d] = this->axes[d].first + at[d] * this->axes[d].stride;
      to[d] = this->axes[d].out_first + at[d] * this->axes[d].out_step;
    }
    int64_t pixel = (to[0] * this->axes[1].out + to[1]) * this->axes[2].out + to[2];
    return {image * this->in.image + place(from[0], from[1], from[2]),
            image * this->out.image + pixel * this->out.pixel, static_cast<int>(from[0]), static_cast<int>(from[1]),
            static_cast<int>(from[2])};
  }

  // Tap `i` of all channels.
  PM_DEVICE Spot tap(int64_t i) const {
    int64_t channel = i / tap_count;
    if (channel >= this->channels) return nowhere();
    int at[3];
    split(i - channel * tap_count, this->axes[1].taps, this->axes[2].taps, at);
    int64_t from[3], to[3];
    for (int d = 0; d < 3; ++d) {
      from[d] = at[d] * this->axes[d].tap_step;
      to[d] = this->axes[d].filter_first + at[d] * this->axes[d].filter_step;
    }
    int64_t element = (to[0] * this->axes[1].filter + to[1]) * this->axes[2].filter + to[2];
    return {channel * this->in.channel + place(from[0], from[1], from[2]), channel * this->filter_channel + element,
            static_cast<int>(from[0]), static_cast<int>(from[1]), static_cast<int>(from[2])};
  }

  // The image element at window a and tap b; 0 outside of the image.
  PM_DEVICE T meeting(const T* image, const Spot& a, const Spot& b) const {
    int z = a.z + b.z, y = a.y + b.y, x = a.x + b.x;
    bool inside = z >= 0 && z < this->axes[0].in && y >= 0 && y < this->axes[1].in && x >= 0 && x < this->axes[2].in;
    return inside ? image[a.in + b.in] : T(0);
  }
};

}  // namespace paddle_mini
