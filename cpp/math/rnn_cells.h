// Activations and cells of recurrent layers, and their gradients, for V = T or, on a CPU, Vec<T>.
//   LSTM (Hochreiter and Schmidhuber 1997): c = f c' + i c~, h = o tanh(c)
//   GRU (Cho et al. 2014, the reset gate after the product): c~ = tanh(x + r (W_h h' + b_h)), h = (1 - z) c~ + z h'
#pragma once

#include <tuple>

#include "math/number.h"

namespace paddle_mini {

// For cells alone: a CPU has faster ones for Vec<float>, which must not become those of other operators.
template <class V>
PM_HD V logistic(V x) {
  return V(1) / (V(1) + exp(-x));
}
template <class V>
PM_HD V cell_tanh(V x) {
  return tanh(x);
}

struct Sigmoid {
  template <class V>
  PM_HD V operator()(V x) const {
    return logistic(x);
  }
  // The derivative, computed from the value y.
  template <class V>
  PM_HD V slope(V y) const {
    return y * (V(1) - y);
  }
};

struct Tanh {
  template <class V>
  PM_HD V operator()(V x) const {
    return cell_tanh(x);
  }
  template <class V>
  PM_HD V slope(V y) const {
    return V(1) - y * y;
  }
};

struct Relu {
  template <class V>
  PM_HD V operator()(V x) const {
    return maximum(x, V(0));
  }
  template <class V>
  PM_HD V slope(V y) const {
    return select(y > V(0), V(1), V(0));
  }
};

struct LstmCell {
  template <class V>
  PM_HD auto operator()(V i, V f, V g, V o, V bi, V bf, V bg, V bo, V last) const {
    V input = Sigmoid{}(i + bi), forget = Sigmoid{}(f + bf), candidate = Tanh{}(g + bg), output = Sigmoid{}(o + bo);
    V cell = forget * last + input * candidate;
    V squashed = Tanh{}(cell), hidden = output * squashed;
    return std::make_tuple(input, forget, candidate, output, cell, squashed, cell, hidden, hidden);
  }
};

struct LstmCellGradient {
  template <class V>
  PM_HD auto operator()(V i, V f, V g, V o, V squashed, V last, V to_out, V to_state, V to_cell) const {
    V to_hidden = to_out + to_state;
    V cell = to_cell + to_hidden * o * Tanh{}.slope(squashed);
    return std::make_tuple(cell * g * Sigmoid{}.slope(i), cell * last * Sigmoid{}.slope(f), cell * i * Tanh{}.slope(g),
                           to_hidden * squashed * Sigmoid{}.slope(o), cell * f, V(0));
  }
};

struct GruCell {
  template <class V>
  PM_HD auto operator()(V r, V z, V c, V hr, V hz, V hc, V br, V bz, V bc, V bh, V last) const {
    V reset = Sigmoid{}(r + hr + br), update = Sigmoid{}(z + hz + bz), share = hc + bh;
    V candidate = Tanh{}(c + bc + reset * share);
    V hidden = candidate + update * (last - candidate);
    return std::make_tuple(reset, update, candidate, share, hidden, hidden);
  }
};

struct GruCellGradient {
  template <class V>
  PM_HD auto operator()(V reset, V update, V candidate, V share, V last, V to_out, V to_state) const {
    V to_hidden = to_out + to_state;
    V c = to_hidden * (V(1) - update) * Tanh{}.slope(candidate), r = c * share * Sigmoid{}.slope(reset);
    V z = to_hidden * (last - candidate) * Sigmoid{}.slope(update);
    return std::make_tuple(r, z, c, r, z, c * reset, to_hidden * update);
  }
};

}  // namespace paddle_mini
