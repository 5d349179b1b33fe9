// DirectConvolution: products of filters with patches of images that are never written to memory.
#pragma once

#include "core/parallel.h"
#include "core/stored_parts.h"
#include "math/cpu/direct_product.h"
#include "math/cpu/last_steps.h"
#include "math/cpu/packed_input.h"

namespace paddle_mini {

// Sums stay in registers: a few filters times two registers of neighbouring pixels. A region's patches are packed into a
// buffer that stays in the cache (see PatchGrid). Several products write neighbouring pixels and read the same images, so that
// each block of images is multiplied by all of them while it is in the cache.
template <class T>
class DirectConvolution {
 public:
  // port: as of FilterOrder.
  // products: those of one of so many blocks of images.
  DirectConvolution(KernelInit& init, const ConvolutionSizes& sizes, std::vector<DirectProduct<T>> products,
                    int64_t blocks, const char* port);

  // Writes those elements of the result that belong to a product, and adds all its parts to StoredParts.
  void run(KernelContext& context, const T* image, const T* filter, T* result);

 private:
  using Grid = PatchGrid<T>;

  // The regions [first, end) of the products of one group of a block, and the slice of their rows.
  struct Part {
    int64_t group, first_region, end_region, slice, slices;
  };
  void pack_factors(KernelContext& context, const T* filter, T* to) const;
  void multiply_together(KernelContext& context, const DirectProduct<T>* first, const DirectProduct<T>* end,
                         const T* image, const T* packed, T* result);
  void multiply(StoredParts<T>& stored, const LastSteps<T>& steps, const DirectProduct<T>& product, const Part& part,
                const T* image, const T* factors, T* patches, T* out) const;
  void multiply_region(StoredParts<T>& stored, const LastSteps<T>& steps, const Part& part,
                       const DirectProduct<T>& product, const typename Grid::Region& region, const T* factors,
                       const T* patches, T* out) const;

  int64_t groups_, filter_size_;  // elements in the filters of one group
  int64_t blocks_;  // each has the same number of images
  std::vector<DirectProduct<T>> products_;
  PackedInput<T> factors_;
  LaneScratch<T> patches_;
};

extern template class DirectConvolution<float>;
extern template class DirectConvolution<double>;

}  // namespace paddle_mini
