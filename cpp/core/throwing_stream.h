// Streams that throw std::bad_alloc. Others keep it to themselves, and continue with a part of the text as if it were all.
#pragma once

#include <ios>
#include <utility>

namespace paddle_mini {

template <class Stream>
class Throwing : public Stream {
 public:
  template <class... Arguments>
  explicit Throwing(Arguments&&... arguments) : Stream(std::forward<Arguments>(arguments)...) {
    this->exceptions(std::ios::badbit);  // failbit, of text in another form, is not thrown
  }
};

}  // namespace paddle_mini
