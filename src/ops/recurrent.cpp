// RNN, GRU and LSTM.
#include <algorithm>
#include <array>
#include <optional>

#include "ops/op.h"
#include "ops/product.h"
#include "ops/recurrent_cell.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    optional_attr("activation_alpha", AttrType::Floats),
    optional_attr("activation_beta", AttrType::Floats),
    optional_attr("activations", AttrType::Strings),
    optional_attr("clip", AttrType::Float),
    string_attr("direction", "forward"),
    optional_attr("hidden_size", AttrType::Int),
    int_attr("layout", 0, 14),
};
template <size_t N>
constexpr auto with(const AttrDef (&common)[N], AttrDef more) {
  std::array<AttrDef, N + 1> all{};
  std::copy(common, common + N, all.begin());
  all[N] = more;
  return all;
}
constexpr auto gru_attrs = with(attrs, int_attr("linear_before_reset", 0));
constexpr auto lstm_attrs = with(attrs, int_attr("input_forget", 0));

// Before opset 14 there was one layout.
void upgrade(ir::Graph&, Node& n, int opset) {
  if (opset < 14) n.attrs["layout"] = int64_t{0};
}

enum class Kind { Rnn, Gru, Lstm };
enum Inputs { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

constexpr int gates_of(Kind kind) { return kind == Kind::Rnn ? 1 : kind == Kind::Gru ? 3 : 4; }

int directions_of(const Node& n) {
  const std::string& d = n.s("direction");
  if (d != "forward" && d != "reverse" && d != "bidirectional")
    fail(Code::InvalidModel, "direction '{}', wanted forward, reverse or bidirectional", d);
  return d == "bidirectional" ? 2 : 1;
}

Dim times(int64_t factor, const Dim& d) { return d.known() ? Dim(Dims{factor, d.value}.count()) : Dim(); }

// Input i, if it is there, has this shape as far as both are known.
void require_shape(const Infer& in, int i, const char* name, std::vector<Dim> wanted) {
  if (!in.has(i)) return;
  auto where = context([&] { return fmt::format("input {}", name); });
  merge(in.shape(i), Shape(std::move(wanted)));
}

template <Kind kind>
void infer(Infer& in) {
  bool batch_first = in.node.i("layout") != 0;
  Dim seq, batch, width, hidden, dirs = directions_of(in.node);
  in.require(is_float(in.dtype(kX)), "X is {}, wanted a float type", name(in.dtype(kX)));
  for (int i : {kW, kR, kB, kInitialH, kInitialC, kP})
    if (in.has(i))
      in.require(in.dtype(i) == in.dtype(kX), "input {} is {}, X is {}", i, name(in.dtype(i)), name(in.dtype(kX)));
  if (in.shape(kX).ranked()) {
    in.require(in.rank(kX) == 3, "X has rank {}, wanted 3", in.rank(kX));
    seq = in.shape(kX)[batch_first ? 1 : 0], batch = in.shape(kX)[batch_first ? 0 : 1], width = in.shape(kX)[2];
  }
  if (in.shape(kR).ranked()) {
    in.require(in.rank(kR) == 3, "R has rank {}, wanted 3", in.rank(kR));
    hidden = in.shape(kR)[2];
  }
  if (in.node.has("hidden_size")) {
    int64_t size = in.node.i("hidden_size");
    in.require(size > 0 && (!hidden.known() || hidden.value == size), "hidden_size {}, R has {}", size, hidden.text());
    hidden = size;
  }
  constexpr int gates = gates_of(kind);
  require_shape(in, kW, "W", {dirs, times(gates, hidden), width});
  require_shape(in, kR, "R", {dirs, times(gates, hidden), hidden});
  require_shape(in, kB, "B", {dirs, times(2 * gates, hidden)});
  require_shape(in, kLengths, "sequence_lens", {batch});
  std::vector<Dim> state = {dirs, batch, hidden};
  if (batch_first) std::swap(state[0], state[1]);
  require_shape(in, kInitialH, "initial_h", state);
  require_shape(in, kInitialC, "initial_c", state);
  require_shape(in, kP, "P", {dirs, times(3, hidden)});
  in.set(0, in.dtype(kX), batch_first ? Shape({batch, seq, dirs, hidden}) : Shape({seq, dirs, batch, hidden}));
  in.set(1, in.dtype(kX), Shape(state));
  in.set(2, in.dtype(kX), Shape(state));
}

// A whole recurrent node in T. The time steps are walked once a direction; what they share is made before.
template <Kind kind, class T>
class Run {
 public:
  explicit Run(Eval& e)
      : e_(e),
        batch_first_(e.node.i("layout") != 0),
        dirs_(directions_of(e.node)),
        x_(e.in(kX)),
        w_(e.in(kW)),
        r_(e.in(kR)) {
    const Dims& d = e.in(kX).dims();
    seq_ = d[batch_first_ ? 1 : 0], batch_ = d[batch_first_ ? 0 : 1], width_ = d[2];
    hidden_ = e.in(kR).dims()[2];
    for (int i : {kB, kInitialH, kInitialC, kP})
      if (e.has(i)) optional_[static_cast<size_t>(i)].emplace(e.in(i));
    for (int i = 0; i < 3; ++i)
      if (e.wants(i)) out_[static_cast<size_t>(i)].emplace(e.out(i));
    Tensor(DType::I64, {batch_, kGates * hidden_ + 1});  // refuses a batch that an X without elements may claim
    lengths_.assign(static_cast<size_t>(batch_), seq_);
    if (e.has(kLengths)) lengths_ = to_ints(e.in(kLengths));
    for (int64_t n : lengths_)
      if (n < 0 || n > seq_) fail(Code::InvalidArgument, "sequence length {}, wanted 0 to {}", n, seq_);
    read_attributes();
  }

  void all() {
    if (hidden_ == 0) return;  // nothing to write, however many steps there are
    if (out_[0]) std::fill_n(out_[0]->data(), e_.out(0).size(), T(0));  // what lies past a sequence's end
    for (int64_t d = 0; d < dirs_; ++d) direction(d);
    for (auto& out : out_)
      if (out) out->commit();
  }

 private:
  static constexpr int64_t kGates = gates_of(kind);

  void read_attributes() {
    std::vector<std::string_view> names;
    for (int64_t d = 0; d < dirs_; ++d) {
      if (kind != Kind::Rnn) names.push_back("Sigmoid");
      names.push_back("Tanh");
      if (kind == Kind::Lstm) names.push_back("Tanh");
    }
    activations_ = activations_of<T>(e_.node, names);
    cell_.hidden = hidden_;
    if (e_.node.has("clip")) cell_.clip = e_.node.f("clip");
    if constexpr (kind == Kind::Lstm) cell_.input_forget = e_.node.i("input_forget") != 0;
    if constexpr (kind == Kind::Gru) linear_before_reset_ = e_.node.i("linear_before_reset") != 0;
  }

  // Part d of an optional input whose first extent is the directions, or null.
  const T* part(int input, int64_t d, int64_t size) const {
    const auto& in = optional_[static_cast<size_t>(input)];
    return in ? in->data() + d * size : nullptr;
  }

  int64_t state_at(int64_t d, int64_t b) const { return (batch_first_ ? b * dirs_ + d : d * batch_ + b) * hidden_; }

  std::vector<T> initial_state(int input, int64_t d) const {
    std::vector<T> state(static_cast<size_t>(batch_ * hidden_));
    if (const T* from = part(input, 0, 0))
      for (int64_t b = 0; b < batch_; ++b) std::copy_n(from + state_at(d, b), hidden_, state.begin() + b * hidden_);
    return state;
  }

  void store_state(int output, int64_t d, const std::vector<T>& state) {
    auto& out = out_[static_cast<size_t>(output)];
    if (!out) return;
    for (int64_t b = 0; b < batch_; ++b)
      std::copy_n(state.begin() + b * hidden_, hidden_, out->data() + state_at(d, b));
  }

  // What every step adds to the gates: both biases, except the one that GRU's linear_before_reset puts elsewhere.
  std::vector<T> bias_of(int64_t d) {
    int64_t n = kGates * hidden_;
    std::vector<T> bias(static_cast<size_t>(n));
    const T* b = part(kB, d, 2 * n);
    if (!b) return bias;
    int64_t both = linear_before_reset_ ? 2 * hidden_ : n;
    for (int64_t j = 0; j < n; ++j) bias[static_cast<size_t>(j)] = b[j] + (j < both ? b[n + j] : T(0));
    if (linear_before_reset_) cell_.hidden_bias = b + n + both;
    return bias;
  }

  // The input's part of all gates at all steps: [rows of X] x [gates].
  Tensor input_gates(int64_t d) {
    int64_t n = kGates * hidden_, rows = seq_ * batch_;
    Tensor gates(dtype_of<T>(), {rows, n});
    std::vector<T> bias = bias_of(d), w = transposed(w_.data() + d * n * width_, n, width_);
    T* to = gates.template data<T>();
    for (int64_t i = 0; i < rows; ++i) std::copy(bias.begin(), bias.end(), to + i * n);
    add_product<T>({x_.data(), rows, width_}, {w.data(), width_, n}, {to, rows, n});
    return gates;
  }

  void direction(int64_t d) {
    int64_t n = kGates * hidden_;
    bool reverse = d == 1 || e_.node.s("direction") == "reverse";
    cell_.activations =
        std::span(activations_).subspan(activations_.size() / static_cast<size_t>(dirs_) * static_cast<size_t>(d));
    if (kind == Kind::Lstm) cell_.peephole = part(kP, d, 3 * hidden_);
    Tensor input = input_gates(d);
    std::vector<T> r = transposed(r_.data() + d * n * hidden_, n, hidden_);
    h_ = initial_state(kInitialH, d);
    if (kind == Kind::Lstm) c_ = initial_state(kInitialC, d);
    gates_.resize(static_cast<size_t>(batch_ * n));
    if (kind == Kind::Gru) {
      reset_.resize(h_.size());
      recurrent_.resize(h_.size());
    }
    int64_t steps = lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
    for (int64_t s = 0; s < steps; ++s) step(d, s, reverse, input.template data<T>(), {r.data(), hidden_, n});
    store_state(1, d, h_);
    store_state(2, d, c_);
  }

  int64_t time_of(int64_t b, int64_t s, bool reverse) const {
    return reverse ? lengths_[static_cast<size_t>(b)] - 1 - s : s;
  }

  // Step s of all sequences that are that long; the others keep their state.
  void step(int64_t d, int64_t s, bool reverse, const T* input, Matrix<const T> r) {
    int64_t n = r.columns;
    for_active(s, [&](int64_t b) {
      int64_t t = time_of(b, s, reverse);
      std::copy_n(input + (batch_first_ ? b * seq_ + t : t * batch_ + b) * n, n, gates_.data() + b * n);
    });
    advance(s, r);
    if (out_[0])
      for_active(s, [&](int64_t b) {
        int64_t t = time_of(b, s, reverse);
        int64_t row = batch_first_ ? (b * seq_ + t) * dirs_ + d : (t * dirs_ + d) * batch_ + b;
        std::copy_n(h_.data() + b * hidden_, hidden_, out_[0]->data() + row * hidden_);
      });
  }

  void advance(int64_t s, Matrix<const T> r) {
    Matrix<const T> h(h_.data(), batch_, hidden_);
    Matrix<T> gates(gates_.data(), batch_, r.columns);
    if constexpr (kind != Kind::Gru) {
      add_product<T>(h, r, gates);
      for_active(s, [&](int64_t b) {
        if constexpr (kind == Kind::Rnn)
          cell_.rnn(gates.row(b), h_.data() + b * hidden_);
        else
          cell_.lstm(gates.row(b), h_.data() + b * hidden_, c_.data() + b * hidden_);
      });
    } else {
      add_product<T>(h, r.columns_from(0, 2 * hidden_), gates.columns_from(0, 2 * hidden_));
      for_active(s, [&](int64_t b) { cell_.gru_gates(gates.row(b), h.row(b), reset_.data() + b * hidden_); });
      std::fill(recurrent_.begin(), recurrent_.end(), T(0));
      Matrix<const T> with = linear_before_reset_ ? h : Matrix<const T>(reset_.data(), batch_, hidden_);
      add_product<T>(with, r.columns_from(2 * hidden_, hidden_), {recurrent_.data(), batch_, hidden_});
      for_active(s, [&](int64_t b) {
        cell_.gru(gates.row(b), recurrent_.data() + b * hidden_, linear_before_reset_, h_.data() + b * hidden_);
      });
    }
  }

  template <class F>
  void for_active(int64_t s, F f) {
    parallel_for(batch_, static_cast<double>(kGates * hidden_) * 4, [&](int64_t from, int64_t to) {
      for (int64_t b = from; b < to; ++b)
        if (s < lengths_[static_cast<size_t>(b)]) f(b);
    });
  }

  Eval& e_;
  bool batch_first_, linear_before_reset_ = false;
  int64_t dirs_, seq_ = 0, batch_ = 0, width_ = 0, hidden_ = 0;
  ReadAs<T> x_, w_, r_;
  std::array<std::optional<ReadAs<T>>, kP + 1> optional_;
  std::array<std::optional<WriteAs<T>>, 3> out_;
  std::vector<int64_t> lengths_;
  std::vector<Activation<T>> activations_;
  Cell<T> cell_;
  std::vector<T> h_, c_, gates_, reset_, recurrent_;  // of the direction and step at work, a row a sequence
};

template <Kind kind>
void reference(Eval& e) {
  dispatch_float(e.in(kX).dtype(), [&]<class T>(T) { Run<kind, T>(e).all(); });
}

constexpr OpDef defs[] = {
    {.name = "RNN",
     .min_inputs = 3,
     .max_inputs = 6,
     .min_outputs = 0,
     .max_outputs = 2,
     .attrs = attrs,
     .upgrade = upgrade,
     .infer = infer<Kind::Rnn>,
     .reference = reference<Kind::Rnn>},
    {.name = "GRU",
     .min_inputs = 3,
     .max_inputs = 6,
     .min_outputs = 0,
     .max_outputs = 2,
     .attrs = gru_attrs,
     .upgrade = upgrade,
     .infer = infer<Kind::Gru>,
     .reference = reference<Kind::Gru>},
    {.name = "LSTM",
     .min_inputs = 3,
     .max_inputs = 8,
     .min_outputs = 0,
     .max_outputs = 3,
     .attrs = lstm_attrs,
     .upgrade = upgrade,
     .infer = infer<Kind::Lstm>,
     .reference = reference<Kind::Lstm>},
};

}  // namespace

std::span<const OpDef> recurrent_ops() { return defs; }

}  // namespace hf::ops
