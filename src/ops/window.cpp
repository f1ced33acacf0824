// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix: tables for signal processing.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef window_attrs[] = {int_attr("output_datatype", 1), int_attr("periodic", 1)};
constexpr AttrDef mel_attrs[] = {int_attr("output_datatype", 1)};

DType output_type(const Infer& in) {
  int64_t t = in.node.i("output_datatype");
  DType type = t > 0 && t < kDTypeCount ? static_cast<DType>(t) : DType::Undefined;
  in.require(is_float(type) || is_int(type), "output_datatype {} is no number's", t);
  return type;
}

int64_t at_least(const Tensor& t, int64_t least, const char* what) {
  int64_t v = to_int(t);
  if (v < least) fail(Code::InvalidArgument, "{} is {}, wanted at least {}", what, v, least);
  return v;
}

void infer_window(Infer& in) {
  Dim size = in.constant(0) ? Dim(at_least(*in.constant(0), 0, "size")) : Dim();
  in.set(0, output_type(in), Shape({size}));
}

// A sum of cosines: a[0] - a[1] cos(t) + a[2] cos(2 t), t from 0 to 2 pi. Blackman and Tukey 1958; Harris 1978.
struct Cosines {
  double a[3];
};
constexpr Cosines kHann = {{0.5, 0.5, 0}};
constexpr Cosines kHamming = {{25.0 / 46, 21.0 / 46, 0}};
constexpr Cosines kBlackman = {{0.42, 0.5, 0.08}};

template <const Cosines& w>
void window(Eval& e) {
  int64_t n = e.out().size();
  auto period = static_cast<double>(std::max<int64_t>(e.node.i("periodic") ? n : n - 1, 1));
  WriteAs<double> out(e.out());
  for (int64_t i = 0; i < n; ++i) {
    double t = 2 * std::numbers::pi * static_cast<double>(i) / period;
    out[i] = w.a[0] - w.a[1] * std::cos(t) + w.a[2] * std::cos(2 * t);
  }
  out.commit();
}

enum MelInputs { kBins, kLength, kRate, kLower, kUpper };

void infer_mel(Infer& in) {
  Dim rows, columns;
  if (in.constant(kLength)) rows = at_least(*in.constant(kLength), 0, "dft_length") / 2 + 1;
  if (in.constant(kBins)) columns = at_least(*in.constant(kBins), 0, "num_mel_bins");
  in.set(0, output_type(in), Shape({rows, columns}));
}

double mel_of(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
double hertz_of(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

// The spectrum's bin at each edge of the triangles, which share edges: triangle i goes from edge i over i + 1 to i + 2.
std::vector<int64_t> mel_edges(Eval& e, int64_t rows, int64_t bins) {
  double lower = mel_of(to_number(e.in(kLower))), upper = mel_of(to_number(e.in(kUpper)));
  double rate = static_cast<double>(at_least(e.in(kRate), 1, "sample_rate"));
  auto length = static_cast<double>(to_int(e.in(kLength)));
  double step = (upper - lower) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    double bin = std::floor((length + 1) * hertz_of(lower + static_cast<double>(i) * step) / rate);
    if (!(bin >= 0 && bin <= static_cast<double>(rows)))
      fail(Code::InvalidArgument, "the edge frequencies lie outside 0 to half the sample rate");
    edges.push_back(static_cast<int64_t>(bin));
  }
  return edges;
}

void mel(Eval& e) {
  int64_t rows = e.out().dims()[0], bins = e.out().dims()[1];
  WriteAs<double> out(e.out());
  std::fill_n(out.data(), rows * bins, 0.0);
  std::vector<int64_t> edges = mel_edges(e, rows, bins);
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t* edge = edges.data() + i;
    auto up = static_cast<double>(edge[1] - edge[0]), down = static_cast<double>(edge[2] - edge[1]);
    for (int64_t j = std::max<int64_t>(edge[0], 0); j <= edge[1] && j < rows; ++j)
      out[j * bins + i] = up == 0 ? 1 : static_cast<double>(j - edge[0]) / up;
    if (down > 0)
      for (int64_t j = edge[1]; j < edge[2] && j < rows; ++j)
        out[j * bins + i] = static_cast<double>(edge[2] - j) / down;
  }
  out.commit();
}

constexpr OpDef defs[] = {
    {.name = "HannWindow", .since = 17, .attrs = window_attrs, .infer = infer_window, .reference = window<kHann>},
    {.name = "HammingWindow", .since = 17, .attrs = window_attrs, .infer = infer_window, .reference = window<kHamming>},
    {.name = "BlackmanWindow",
     .since = 17,
     .attrs = window_attrs,
     .infer = infer_window,
     .reference = window<kBlackman>},
    {.name = "MelWeightMatrix",
     .since = 17,
     .min_inputs = 5,
     .max_inputs = 5,
     .attrs = mel_attrs,
     .infer = infer_mel,
     .reference = mel},
};

}  // namespace

std::span<const OpDef> window_ops() { return defs; }

}  // namespace hf::ops
