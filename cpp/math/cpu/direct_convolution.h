// DirectConvolution: products of filters with patches of images that are never written to memory.
#pragma once

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/cpu/direct_product.h"
#include "math/cpu/last_steps.h"
#include "math/cpu/packed_input.h"

namespace paddle_mini {

// Sums stay in registers: a few filters times two registers of neighbouring pixels. A region's patches are packed into a
// buffer that stays in the cache (see PatchGrid).
template <class T>
class DirectConvolution {
 public:
  // port: as of FilterOrder.
  DirectConvolution(KernelInit& init, const ConvolutionSizes& sizes, std::vector<DirectProduct<T>> products,
                    const char* port);

  // Writes those elements of the result that belong to a product, and adds all its parts to StoredParts.
  void run(KernelContext& context, const T* image, const T* filter, T* result);

 private:
  using Grid = PatchGrid<T>;

  void pack_factors(KernelContext& context, const DirectProduct<T>& product, const T* filter, T* to) const;
  void multiply(KernelContext& context, const DirectProduct<T>& product, const T* image, const T* filter, T* out);
  void multiply_region(StoredParts<T>& stored, const LastSteps<T>& steps, int64_t group,
                       const DirectProduct<T>& product, const typename Grid::Region& region, const T* factors,
                       const T* patches, int64_t slice, int64_t slices, T* out) const;

  int64_t groups_, filter_size_;  // elements in the filters of one group
  std::vector<DirectProduct<T>> products_;
  PackedInput<T> factors_;
  LaneScratch<T> patches_;
};

extern template class DirectConvolution<float>;
extern template class DirectConvolution<double>;

}  // namespace paddle_mini
