// DFT and STFT.
#include <algorithm>
#include <optional>

#include "ops/fft.h"
#include "ops/op.h"

namespace hf::ops {
namespace {

using Complex = std::complex<double>;

constexpr AttrDef dft_attrs[] = {
    int_attr("axis", 1, 17, 19),
    int_attr("inverse", 0),
    int_attr("onesided", 0),
};

// Before opset 20 the axis was an attribute.
void upgrade(ir::Graph& g, Node& n, int opset) {
  if (opset >= 20) return;
  int64_t axis = n.i("axis");
  n.attrs.erase("axis");
  set_constant_input(g, n, 2, Tensor::scalar(axis));
}

enum DftInputs { kInput, kLength, kAxis };

int signal_axis(int64_t axis, int rank) {
  int a = normalize_axis(axis, rank);
  if (a == rank - 1) fail(Code::InvalidModel, "axis {} is that of the complex parts", axis);
  return a;
}

int64_t positive(const Tensor& t, const char* what) {
  int64_t v = to_int(t);
  if (v <= 0) fail(Code::InvalidArgument, "{} is {}, wanted a positive number", what, v);
  return v;
}

void require_parts(const Infer& in, int input) {
  in.require(is_float(in.dtype(input)), "input is {}, wanted a float type", name(in.dtype(input)));
  if (!in.shape(input).ranked()) return;
  const Dim& parts = in.shape(input)[in.rank(input) - 1];
  in.require(!parts.known() || parts.value == 1 || parts.value == 2,
             "the last extent is {}, wanted 1 (real) or 2 (complex)", parts.text());
}

void infer_dft(Infer& in) {
  bool half = in.node.i("onesided") != 0, inverse = in.node.i("inverse") != 0;
  int rank = in.rank(kInput);
  in.set(0, in.dtype(kInput));
  if (rank < 0) return;
  in.require(rank >= 2, "input has rank {}, wanted at least 2", rank);
  require_parts(in, kInput);
  Shape out = in.shape(kInput);
  out[rank - 1] = half && inverse ? 1 : 2;
  if (in.has(kAxis) && !in.constant(kAxis)) {
    for (int i = 0; i < rank - 1; ++i) out[i] = Dim();
    return in.set(0, in.dtype(kInput), std::move(out));
  }
  int axis = signal_axis(in.has(kAxis) ? to_int(*in.constant(kAxis)) : -2, rank);
  Dim& extent = out[axis];
  if (in.has(kLength))
    extent = in.constant(kLength) ? Dim(positive(*in.constant(kLength), "dft_length")) : Dim();
  else if (half && inverse)
    extent = extent.known() ? Dim(std::max<int64_t>(2 * (extent.value - 1), 0)) : Dim();
  if (half && !inverse) extent = extent.known() ? Dim(extent.value / 2 + 1) : Dim();
  in.set(0, in.dtype(kInput), std::move(out));
}

// What one transform reads and writes: lines of complex or real elements, some elements apart.
struct Line {
  int64_t at, stride;
};

void dft(Eval& e) {
  const Tensor& x = e.in(kInput);
  Tensor& y = e.out();
  if (y.size() == 0) return;
  bool half = e.node.i("onesided") != 0, inverse = e.node.i("inverse") != 0;
  int rank = x.rank(), axis = signal_axis(e.has(kAxis) ? to_int(e.in(kAxis)) : -2, rank);
  int64_t in_parts = x.dims().back(), out_parts = y.dims().back(), given = x.dims()[axis], wanted = y.dims()[axis];
  int64_t n = e.has(kLength) ? to_int(e.in(kLength)) : half && inverse ? 2 * (given - 1) : given;
  if (n < 1) fail(Code::InvalidArgument, "a transform of no elements");
  int64_t inner = x.dims().count(axis + 1, rank - 1), lines = x.dims().count(0, axis) * inner;
  int64_t used = std::min(given, half && inverse ? n / 2 + 1 : n);
  ReadAs<double> in(x);
  WriteAs<double> out(y);
  const Fft plan(n);
  parallel_for(lines, static_cast<double>(n) * 100, [&](int64_t from, int64_t to) {
    std::vector<Complex> work(static_cast<size_t>(n));
    for (int64_t l = from; l < to; ++l) {
      Line source{(l / inner * given * inner + l % inner) * in_parts, inner * in_parts};
      Line target{(l / inner * wanted * inner + l % inner) * out_parts, inner * out_parts};
      std::fill(work.begin(), work.end(), Complex());
      for (int64_t k = 0; k < used; ++k) {
        const double* v = in.data() + source.at + k * source.stride;
        Complex c(v[0], in_parts == 2 ? v[1] : 0);
        work[static_cast<size_t>(k)] = c;
        if (half && inverse && k > 0) work[static_cast<size_t>(n - k)] = std::conj(c);  // a real signal's spectrum
      }
      if (inverse)
        plan.inverse(work.data());
      else
        plan.forward(work.data());
      double scale = inverse ? 1.0 / static_cast<double>(n) : 1;
      for (int64_t k = 0; k < wanted; ++k) {
        double* v = out.data() + target.at + k * target.stride;
        v[0] = work[static_cast<size_t>(k)].real() * scale;
        if (out_parts == 2) v[1] = work[static_cast<size_t>(k)].imag() * scale;
      }
    }
  });
  out.commit();
}

// ---- STFT

constexpr AttrDef stft_attrs[] = {int_attr("onesided", 1)};

enum StftInputs { kSignal, kStep, kWindow, kFrame };

// The frame's length, as far as it is known.
Dim frame_length(const Infer& in) {
  Dim window = in.has(kWindow) && in.shape(kWindow).ranked() ? in.shape(kWindow)[0] : Dim();
  if (!in.has(kFrame)) return in.has(kWindow) ? window : in.shape(kSignal)[1];
  if (!in.constant(kFrame)) return window;
  int64_t n = positive(*in.constant(kFrame), "frame_length");
  in.require(!window.known() || window.value == n, "the window has {} elements, frame_length is {}", window.text(), n);
  return n;
}

void infer_stft(Infer& in) {
  int rank = in.rank(kSignal);
  in.set(0, in.dtype(kSignal));
  if (rank < 0) return;
  in.require(rank == 2 || rank == 3, "signal has rank {}, wanted 3", rank);
  if (rank == 3) require_parts(in, kSignal);
  if (in.has(kWindow) && in.shape(kWindow).ranked())
    in.require(in.rank(kWindow) == 1, "window has rank {}, wanted 1", in.rank(kWindow));
  Dim length = in.shape(kSignal)[1], frame = frame_length(in), frames;
  if (in.constant(kStep) && length.known() && frame.known()) {
    in.require(frame.value > 0, "frames of no samples");
    int64_t step = positive(*in.constant(kStep), "frame_step");
    frames = length.value < frame.value ? 0 : (length.value - frame.value) / step + 1;
  }
  Dim bins = in.node.i("onesided") != 0 && frame.known() ? Dim(frame.value / 2 + 1)
             : in.node.i("onesided") != 0                ? Dim()
                                                         : frame;
  in.set(0, in.dtype(kSignal), Shape({in.shape(kSignal)[0], frames, bins, 2}));
}

void stft(Eval& e) {
  const Tensor& x = e.in(kSignal);
  Tensor& y = e.out();
  if (y.size() == 0) return;
  int64_t batch = y.dims()[0], frames = y.dims()[1], bins = y.dims()[2], length = x.dims()[1];
  int64_t parts = x.rank() == 3 ? x.dims()[2] : 1, step = to_int(e.in(kStep));
  int64_t n = e.has(kFrame) ? to_int(e.in(kFrame)) : e.has(kWindow) ? e.in(kWindow).size() : length;
  std::optional<ReadAs<double>> window;
  if (e.has(kWindow)) window.emplace(e.in(kWindow));
  ReadAs<double> in(x);
  WriteAs<double> out(y);
  const Fft plan(n);
  parallel_for(batch * frames, static_cast<double>(n) * 100, [&](int64_t from, int64_t to) {
    std::vector<Complex> work(static_cast<size_t>(n));
    for (int64_t f = from; f < to; ++f) {
      const double* at = in.data() + (f / frames * length + f % frames * step) * parts;
      for (int64_t k = 0; k < n; ++k)
        work[static_cast<size_t>(k)] =
            Complex(at[k * parts], parts == 2 ? at[k * parts + 1] : 0) * (window ? (*window)[k] : 1.0);
      plan.forward(work.data());
      for (int64_t k = 0; k < bins; ++k) {
        out[(f * bins + k) * 2] = work[static_cast<size_t>(k)].real();
        out[(f * bins + k) * 2 + 1] = work[static_cast<size_t>(k)].imag();
      }
    }
  });
  out.commit();
}

constexpr OpDef defs[] = {
    {.name = "DFT",
     .since = 17,
     .max_inputs = 3,
     .attrs = dft_attrs,
     .upgrade = upgrade,
     .infer = infer_dft,
     .reference = dft},
    {.name = "STFT",
     .since = 17,
     .min_inputs = 2,
     .max_inputs = 4,
     .attrs = stft_attrs,
     .infer = infer_stft,
     .reference = stft},
};

}  // namespace

std::span<const OpDef> dft_ops() { return defs; }

}  // namespace hf::ops
