// The cells of RNN, GRU and LSTM, by the equations of the ONNX operator specification.
#include "ops/recurrent_cell.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace hf::ops {
namespace {

template <class T>
T relu(T x, T, T) {
  return x > 0 ? x : T(0);
}
template <class T>
T tanh_(T x, T, T) {
  return std::tanh(x);
}
template <class T>
T sigmoid(T x, T, T) {
  return 1 / (1 + std::exp(-x));
}
template <class T>
T affine(T x, T a, T b) {
  return a * x + b;
}
template <class T>
T leaky_relu(T x, T a, T) {
  return x >= 0 ? x : a * x;
}
template <class T>
T thresholded_relu(T x, T a, T) {
  return x >= a ? x : T(0);
}
template <class T>
T scaled_tanh(T x, T a, T b) {
  return a * std::tanh(b * x);
}
template <class T>
T hard_sigmoid(T x, T a, T b) {
  return std::min(std::max(a * x + b, T(0)), T(1));
}
template <class T>
T elu(T x, T a, T) {
  return x >= 0 ? x : a * std::expm1(x);
}
template <class T>
T softsign(T x, T, T) {
  return x / (1 + std::fabs(x));
}
template <class T>
T softplus(T x, T, T) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::fabs(x)));
}

struct Row {
  std::string_view name;
  bool has_alpha, has_beta;
  float alpha, beta;  // defaults
  float (*f32)(float, float, float);
  double (*f64)(double, double, double);
};

constexpr Row rows[] = {
    {"relu", false, false, 0, 0, relu, relu},
    {"tanh", false, false, 0, 0, tanh_, tanh_},
    {"sigmoid", false, false, 0, 0, sigmoid, sigmoid},
    {"affine", true, true, 1, 0, affine, affine},
    {"leakyrelu", true, false, 0.01f, 0, leaky_relu, leaky_relu},
    {"thresholdedrelu", true, false, 1, 0, thresholded_relu, thresholded_relu},
    {"scaledtanh", true, true, 1, 1, scaled_tanh, scaled_tanh},
    {"hardsigmoid", true, true, 0.2f, 0.5f, hard_sigmoid, hard_sigmoid},
    {"elu", true, false, 1, 0, elu, elu},
    {"softsign", false, false, 0, 0, softsign, softsign},
    {"softplus", false, false, 0, 0, softplus, softplus},
};

// Exporters disagree on upper case.
const Row& find_row(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const Row& r : rows)
    if (r.name == lower) return r;
  fail(Code::InvalidModel, "activation function '{}' is not one of the standard's", name);
}

}  // namespace

template <class T>
std::vector<Activation<T>> activations_of(const Node& n, const std::vector<std::string_view>& names) {
  std::vector<std::string_view> chosen = names;
  if (n.has("activations")) chosen.assign(n.strings("activations").begin(), n.strings("activations").end());
  if (chosen.size() < names.size()) fail(Code::InvalidModel, "{} activations, wanted {}", chosen.size(), names.size());
  std::vector<float> none;
  const std::vector<float>& alphas = n.has("activation_alpha") ? n.floats("activation_alpha") : none;
  const std::vector<float>& betas = n.has("activation_beta") ? n.floats("activation_beta") : none;
  size_t alpha = 0, beta = 0;
  std::vector<Activation<T>> out;
  for (size_t i = 0; i < names.size(); ++i) {
    const Row& r = find_row(chosen[i]);
    Activation<T> a{nullptr, r.alpha, r.beta};
    if constexpr (std::is_same_v<T, float>)
      a.f = r.f32;
    else
      a.f = r.f64;
    if (r.has_alpha && alpha < alphas.size()) a.alpha = alphas[alpha++];
    if (r.has_beta && beta < betas.size()) a.beta = betas[beta++];
    out.push_back(a);
  }
  return out;
}

template <class T>
void Cell<T>::rnn(const T* gates, T* h) const {
  for (int64_t j = 0; j < hidden; ++j) h[j] = activate(0, gates[j]);
}

template <class T>
void Cell<T>::lstm(const T* gates, T* h, T* c) const {
  const T *gi = gates, *go = gi + hidden, *gf = go + hidden, *gc = gf + hidden;
  auto peep = [&](int64_t which, int64_t j) { return peephole ? peephole[which * hidden + j] : T(0); };
  for (int64_t j = 0; j < hidden; ++j) {
    T i = activate(0, gi[j] + peep(0, j) * c[j]);
    T f = input_forget ? 1 - i : activate(0, gf[j] + peep(2, j) * c[j]);
    c[j] = f * c[j] + i * activate(1, gc[j]);
    h[j] = activate(0, go[j] + peep(1, j) * c[j]) * activate(2, c[j]);
  }
}

template <class T>
void Cell<T>::gru_gates(T* gates, const T* h, T* reset) const {
  for (int64_t j = 0; j < 2 * hidden; ++j) gates[j] = activate(0, gates[j]);
  for (int64_t j = 0; j < hidden; ++j) reset[j] = gates[hidden + j] * h[j];
}

template <class T>
void Cell<T>::gru(const T* gates, const T* recurrent, bool linear_before_reset, T* h) const {
  const T *z = gates, *r = z + hidden, *x = r + hidden;
  for (int64_t j = 0; j < hidden; ++j) {
    T before = recurrent[j] + (hidden_bias ? hidden_bias[j] : T(0));
    T candidate = activate(1, x[j] + (linear_before_reset ? r[j] * before : before));
    h[j] = (1 - z[j]) * candidate + z[j] * h[j];
  }
}

template struct Cell<float>;
template struct Cell<double>;
template std::vector<Activation<float>> activations_of(const Node&, const std::vector<std::string_view>&);
template std::vector<Activation<double>> activations_of(const Node&, const std::vector<std::string_view>&);

}  // namespace hf::ops
