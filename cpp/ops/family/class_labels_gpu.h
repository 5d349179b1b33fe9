// Losses of class labels on a GPU.
#pragma once

#include "math/for_each_index.h"
#include "math/gpu/ids.h"
#include "math/gpu/lines.h"

namespace paddle_mini {

namespace class_labels_gpu {

// to[i] = slope(row, i) if i is the element of row i / classes at its label, else 0.
template <class T, class Slope>
struct AtLabel {
  LabelsBelow labels;
  Slope slope;
  T* to;

  PM_DEVICE void operator()(int64_t i) const {
    LinePlace place = line_place(i, labels.classes, 1);
    to[i] = labels[place.line] == place.at ? slope(place.line, i) : T(0);
  }
};

}  // namespace class_labels_gpu

template <class T, class Slope>
void put_at_label(KernelContext& context, const LabelsBelow& labels, int64_t rows, const Slope& slope, T* to) {
  for_each_index(context, rows * labels.classes, class_labels_gpu::AtLabel<T, Slope>{labels, slope, to});
}

}  // namespace paddle_mini
