// CPU kernels of dropout.
#pragma once

namespace paddle_mini {
namespace {

template <class T>
void DropoutKernel<T>::fill_mask(KernelContext& context, uint8_t* keep) const {
  with_generator(context, seed_tensor ? (*seed_tensor)[0] : seed,
                 [&](std::mt19937_64& generator) { draw(generator, keep); });
}

}  // namespace
}  // namespace paddle_mini
