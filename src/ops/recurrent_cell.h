// The cells of RNN, GRU and LSTM: activation functions by name, and one step of one sequence.
#pragma once
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace hf::ops {

/// f(x, alpha, beta).
template <class T>
struct Activation {
  T (*f)(T, T, T);
  T alpha, beta;
  T operator()(T x) const { return f(x, alpha, beta); }
};

/// The activation functions of a recurrent node: `names` if its attribute is absent, else its first names.size(). The
/// values of activation_alpha and activation_beta go, in order, to the functions that have such a parameter; those left
/// get the defaults of the ONNX operators. Throws InvalidModel for an unknown name or too few.
template <class T>
std::vector<Activation<T>> activations_of(const Node& n, const std::vector<std::string_view>& names);

/// What a cell's step needs of one direction. Gates are in ONNX's order: GRU z r h, LSTM i o f c.
template <class T>
struct Cell {
  int64_t hidden = 0;
  std::span<const Activation<T>> activations;
  T clip = 0;                      // 0: none
  bool input_forget = false;       // LSTM: f = 1 - i
  const T* peephole = nullptr;     // LSTM: i o f, or null
  const T* hidden_bias = nullptr;  // GRU with linear_before_reset: the recurrent bias of the hidden gate, or null

  /// The activation k of x, after clipping x.
  T activate(size_t k, T x) const {
    if (clip > 0) x = x > clip ? clip : x < -clip ? -clip : x;
    return activations[k](x);
  }
  /// The next state of one sequence from its gates before activation (input and recurrent terms and biases summed).
  void rnn(const T* gates, T* h) const;
  void lstm(const T* gates, T* h, T* c) const;
  /// GRU in two parts. First z and r in place; then, unless linear_before_reset, r (.) h into `reset` for the product
  /// with the recurrent weights of the hidden gate. That product, or the one with h itself, is the `recurrent` of the
  /// second.
  void gru_gates(T* gates, const T* h, T* reset) const;
  void gru(const T* gates, const T* recurrent, bool linear_before_reset, T* h) const;
};

}  // namespace hf::ops
