// The text that the launches of row normalisation share.
#include "kernel/row_norm_text.h"

#include <fmt/core.h>

#include "kernel/epilogue_text.h"

namespace hf::kernel {

const char* const kRowNormTypes = R"hip(
typedef element<HF_IN> in;
typedef element<HF_OUT> out;
enum { LAYER, RMS, L1, L2, DEVIATION };
constexpr bool CENTRED = HF_KIND == LAYER || HF_KIND == DEVIATION;
)hip";

const char* const kRowNormMeasure = R"hip(
DEV float distance(float v, float mean) {
  if (HF_KIND == L1) return abs_f32(v);
  if (!CENTRED) return v * v;
  return (v - mean) * (v - mean);
}
)hip";

const char* const kRowNormFactor = R"hip(
DEV float factor_of(float sum, float epsilon) {
  if (HF_KIND == L1) return sum > 0 ? 1.f / sum : sum;
  if (HF_KIND == L2) return sum > 0 ? 1.f / sqrt_f32(sum) : sum;
  if (HF_KIND == DEVIATION) return 1.f / (sqrt_f32(sum / HF_COLS) + epsilon);
  return 1.f / sqrt_f32(sum / HF_COLS + epsilon);
}
)hip";

const char* const kRowNormScale = R"hip(
$(functions)
// The parameters of the elements from col on; those beyond the row are whatever is there.
template <int T> DEV void read_parameters(const typename element<T>::type* p, i64 row, int col, float (&v)[HF_VEC]) {
  constexpr int WIDTH = (HF_COLS + HF_RUN - 1) / HF_RUN;
  if (HF_PARAMETER_ROWS > 1) p += row % HF_PARAMETER_ROWS * WIDTH;
  if constexpr (HF_RUN == 1 && HF_COLS % HF_VEC == 0) {
    pack<HF_VEC, T>::load(p + col, v);
  } else if constexpr (HF_RUN % HF_VEC == 0) {
    float one = element<T>::load(p[(col < HF_COLS ? col : HF_COLS - 1) / HF_RUN]);
    for (int i = 0; i < HF_VEC; i++) v[i] = one;
  } else {
    for (int i = 0; i < HF_VEC; i++)
      v[i] = element<T>::load(p[(col + i < HF_COLS ? col + i : HF_COLS - 1) / HF_RUN]);
  }
}
// y: where the elements from col on go.
DEV void write(out::type* y, i64 row, int col, float (&v)[HF_VEC], float mean, float factor$(own)$(parameters)) {
  for (int i = 0; i < HF_VEC; i++) v[i] = (CENTRED ? v[i] - mean : v[i]) * factor;
#if HF_SCALE >= 0
  float s[HF_VEC];
  read_parameters<HF_SCALE>(scale, row, col, s);
  for (int i = 0; i < HF_VEC; i++) v[i] *= s[i];
#endif
#if HF_BIAS >= 0
  float b[HF_VEC];
  read_parameters<HF_BIAS>(bias, row, col, b);
  for (int i = 0; i < HF_VEC; i++) v[i] += b[i];
#endif
  for (int i = 0; i < HF_VEC; i++)
    v[i] = col + i < HF_COLS ? finish(v[i], row, col + i$(arguments)) : 0.f;
  pack<HF_VEC, HF_OUT>::store(y, v);
}
)hip";

std::string row_norm_source(const RowNormProblem& p, std::string text) {
  std::string own, arguments;
  auto add = [&](bool there, const char* type, const char* name) {
    if (!there) return;
    own += fmt::format(", {} {}", type, name);
    arguments += fmt::format(", {}", name);
  };
  add(p.mean, "float*", "mean_out");
  add(p.inverse, "float*", "inverse_out");
  add(p.scale, "const element<HF_SCALE>::type*", "scale");
  add(p.bias, "const element<HF_BIAS>::type*", "bias");
  for (auto [hole, with] : {std::pair("$(own)", &own), std::pair("$(own_arguments)", &arguments)})
    for (size_t at = 0; (at = text.find(hole, at)) != std::string::npos; at += with->size())
      text.replace(at, std::string_view(hole).size(), *with);
  return with_epilogue(std::move(text), p.epilogue);
}

std::vector<std::string> row_norm_defines(const RowNormProblem& p) {
  std::vector<std::string> defines;
  const std::pair<const char*, int64_t> numbers[] = {
      {"IN", static_cast<int>(p.in)},
      {"OUT", static_cast<int>(p.out)},
      {"COLS", p.cols},
      {"PITCH", p.pitch ? p.pitch : p.cols},
      {"KIND", static_cast<int>(p.kind)},
      {"SCALE", p.scale ? static_cast<int>(p.scale_type) : -1},
      {"BIAS", p.bias ? static_cast<int>(p.bias_type) : -1},
      {"PARAMETER_ROWS", p.parameter_rows},
      {"RUN", p.parameter_run},
      {"MEAN", p.mean},
      {"INVERSE", p.inverse},
  };
  for (const auto& [name, value] : numbers) defines.push_back(fmt::format("HF_{}={}", name, value));
  return defines;
}

void add_row_norm_inputs(KernelSpec& spec, const RowNormProblem& p) {
  int input = 1;
  if (p.scale) spec.arguments.push_back(Argument::input(input++));
  if (p.bias) spec.arguments.push_back(Argument::input(input++));
  add_operands(spec, p.epilogue, input);
}

}  // namespace hf::kernel
