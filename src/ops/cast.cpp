// Cast, CastLike and BitCast: the same values, or the same bits, in another type.
#include <charconv>
#include <cmath>
#include <cstring>

#include "ops/broadcast.h"
#include "ops/op.h"

namespace hf::ops {
namespace {

constexpr AttrDef cast_attrs[] = {
    required_attr("to", AttrType::Int),
    int_attr("saturate", 1, 19),
    string_attr("round_mode", "up", 24),
};
constexpr AttrDef like_attrs[] = {
    int_attr("saturate", 1, 19),
    string_attr("round_mode", "up", 24),
};
constexpr AttrDef bit_attrs[] = {required_attr("to", AttrType::Int)};

// Before these opsets there was no choice, and the default is what was done.
void upgrade(ir::Graph&, Node& n, int) {
  n.attrs.emplace("saturate", int64_t{1});
  n.attrs.emplace("round_mode", std::string("up"));
  const std::string& mode = n.s("round_mode");
  if (mode != "up" && mode != "down" && mode != "nearest")
    fail(Code::InvalidModel, "round_mode is '{}', wanted up, down or nearest", mode);
}

DType target(const Infer& in) {
  int64_t to = in.node.i("to");
  if (to <= 0 || to >= kDTypeCount) in.bad("attribute 'to' is {}, which is no element type", to);
  return static_cast<DType>(to);
}

void infer_cast(Infer& in) { in.set(0, target(in), in.shape(0)); }

void infer_like(Infer& in) { in.set(0, in.dtype(1), in.shape(0)); }

void infer_bits(Infer& in) {
  DType from = in.dtype(0), to = target(in);
  if (from != DType::Undefined && (bits(from) != bits(to) || bits(to) == 0))
    in.bad("{} and {} have not the same number of bits", name(from), name(to));
  in.set(0, to, in.shape(0));
}

// The power of two that a positive float becomes, as its exponent with the bias 127 (OCP MX 1.0, E8M0).
uint8_t to_e8m0(float v, bool saturate, std::string_view mode) {
  constexpr uint8_t kNan = 255, kMax = 254;
  if (std::isnan(v) || v < 0) return kNan;
  if (std::isinf(v)) return saturate ? kMax : kNan;
  if (v == 0) return saturate ? 0 : kNan;
  int exponent = 0;
  const float fraction = std::frexp(v, &exponent);  // in [0.5, 1)
  const bool up = mode == "up" ? fraction > 0.5f : mode == "nearest" && fraction >= 0.75f;
  const int code = exponent - 1 + 127 + up;
  if (code > kMax) return saturate ? kMax : kNan;
  if (code < 0) return saturate ? 0 : kNan;
  return static_cast<uint8_t>(code);
}

bool is_small_float(DType t) { return is_float(t) && bits(t) <= 8; }

void write_float8(const float* from, Tensor& to, const Node& n) {
  const bool saturate = n.i("saturate") != 0;
  const std::string& mode = n.s("round_mode");
  const DType d = to.dtype();
  auto* bytes = static_cast<uint8_t*>(to.raw());
  for (int64_t i = 0; i < to.size(); ++i)
    bytes[i] = d == DType::F8E8M0 ? to_e8m0(from[i], saturate, mode) : float_to_small_float(d, from[i], saturate);
}

// float4 has no NaN; the standard's tests make it -0.
void write_float4(float* values, Tensor& to) {
  for (int64_t i = 0; i < to.size(); ++i)
    if (std::isnan(values[i])) values[i] = -0.0f;
  write_elements(values, to);
}

template <class T>
void write_numbers(T* values, Tensor& to, const Node& n) {
  if constexpr (std::is_same_v<T, float>) {
    if (to.dtype() == DType::F4E2M1) return write_float4(values, to);
    if (is_small_float(to.dtype())) return write_float8(values, to, n);
  }
  write_elements(values, to);
}

// Through the type that holds every value of the source.
void convert(const Tensor& from, Tensor& to, const Node& n) {
  dispatch_number(is_small_float(to.dtype()) ? DType::F32 : from.dtype(), [&]<class T>(T) {
    std::vector<T> values(static_cast<size_t>(from.size()));
    read_elements(from, values.data());
    write_numbers(values.data(), to, n);
  });
}

// The text without blanks around and without a plus sign, which from_chars does not take.
std::string_view trimmed(std::string_view s) {
  constexpr std::string_view blank = " \t\r\n";
  size_t first = s.find_first_not_of(blank);
  if (first == s.npos) return {};
  s = s.substr(first, s.find_last_not_of(blank) + 1 - first);
  if (s.size() > 1 && s[0] == '+' && s[1] != '-') s.remove_prefix(1);
  return s;
}

template <class T>
bool parse(std::string_view s, T& value) {
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  return error == std::errc() && end == s.data() + s.size();
}

// Also what is beyond double's range: infinity or zero.
bool parse_real(std::string_view s, double& value) {
  auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error == std::errc::result_out_of_range) {
    bool small = s.find("e-") != s.npos || s.find("E-") != s.npos || s.find_first_of("eE") == s.npos;
    value = small ? 0.0 : s[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    error = std::errc();
  }
  return error == std::errc() && end == s.data() + s.size();
}

template <class T>
void parse_all(const std::vector<std::string>& from, Tensor& to, const Node& n) {
  std::vector<T> values(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    std::string_view s = trimmed(from[i]);
    if (parse(s, values[i])) continue;
    double real = 0;  // "2.0" as an integer, or a number beyond the range of T
    if (!parse_real(s, real)) fail(Code::InvalidArgument, "element {} is '{}', which is no number", i, from[i]);
    read_elements(Tensor::scalar(real), &values[i]);
  }
  write_numbers(values.data(), to, n);
}

std::string to_text(double v, DType d) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v < 0 ? "-INF" : "INF";
  if (d == DType::F64) return fmt::format("{}", v);
  if (d == DType::F32) return fmt::format("{}", static_cast<float>(v));
  return fmt::format("{:.{}g}", v, d == DType::F16 ? 5 : 4);  // as many digits as it takes to read it back
}

void print_all(const Tensor& from, std::vector<std::string>& to) {
  const DType d = from.dtype();
  if (is_float(d)) {
    ReadAs<double> in(from);
    for (size_t i = 0; i < to.size(); ++i) to[i] = to_text(in[static_cast<int64_t>(i)], d);
  } else {
    dispatch_number(d, [&]<class T>(T) {
      ReadAs<T> in(from);
      for (size_t i = 0; i < to.size(); ++i) to[i] = std::to_string(in[static_cast<int64_t>(i)]);
    });
  }
}

void cast(Eval& e) {
  const Tensor& from = e.in(0);
  Tensor& to = e.out();
  const bool from_text = from.dtype() == DType::String, to_text = to.dtype() == DType::String;
  if (from.dtype() == to.dtype()) {
    to = from;
  } else if (from_text) {
    dispatch_number(to.dtype(), [&]<class T>(T) { parse_all<T>(from.strings(), to, e.node); });
  } else if (to_text) {
    print_all(from, to.strings());
  } else if (is_sub_byte(from.dtype()) || is_sub_byte(to.dtype())) {
    convert(from, to, e.node);
  } else {
    constexpr int64_t kBlock = 1024;
    parallel_for((to.size() + kBlock - 1) / kBlock, kBlock, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        int64_t at = b * kBlock, n = std::min(kBlock, to.size() - at);
        Tensor part = flat_slice(to, at, n);
        convert(flat_slice(from, at, n), part, e.node);
      }
    });
  }
}

void bit_cast(Eval& e) {
  if (e.in(0).size()) std::memcpy(e.out().raw(), e.in(0).raw(), static_cast<size_t>(e.in(0).size_bytes()));
}

constexpr OpDef defs[] = {
    {.name = "Cast", .attrs = cast_attrs, .upgrade = upgrade, .infer = infer_cast, .reference = cast},
    {.name = "CastLike",
     .since = 15,
     .min_inputs = 2,
     .max_inputs = 2,
     .attrs = like_attrs,
     .upgrade = upgrade,
     .infer = infer_like,
     .reference = cast},
    {.name = "BitCast", .since = 26, .attrs = bit_attrs, .infer = infer_bits, .reference = bit_cast},
};

}  // namespace

std::span<const OpDef> cast_ops() { return defs; }

}  // namespace hf::ops
