// Parameters of integer kernels as text.
#include "kernel/integer_text.h"

#include <fmt/core.h>

namespace hf::kernel {
namespace {

struct Named {
  const char* name;
  const IntegerParameter* parameter;
  std::string_view type;
  const char* otherwise;  // where there is none
  const char* index;
};

std::vector<Named> parameters_of(const IntegerTypes& t) {
  return {{"a_zero", &t.a_zero, c_name(t.a), "0", "row"}, {"b_zero", &t.b_zero, c_name(t.b), "0", "column"},
          {"a_scale", &t.a_scale, "float", "1.f", "row"}, {"b_scale", &t.b_scale, "float", "1.f", "column"},
          {"y_scale", &t.y_scale, "float", "1.f", "0"},   {"y_zero", &t.y_zero, c_name(t.out), "0", "0"},
          {"bias", &t.bias, "int", "0", "column"}};
}

const char* const kFinished = R"hip(
DEV out_type finished(int sum, int row, int column HF_INT_PARAMS) {
#if HF_QUANTIZES
  float scale = get_a_scale(row, column HF_INT_ARGS) * get_b_scale(row, column HF_INT_ARGS) / get_y_scale(0, 0 HF_INT_ARGS);
  return (out_type)requantized(sum + get_bias(row, column HF_INT_ARGS), scale, get_y_zero(0, 0 HF_INT_ARGS));
#else
  return sum;
#endif
}
)hip";

}  // namespace

std::string integer_text(const IntegerTypes& t) {
  std::string parameters, arguments, functions;
  for (const Named& p : parameters_of(t)) {
    std::string value = p.otherwise;
    if (p.parameter->input >= 0) {
      parameters += fmt::format(", const {}* {}", p.type, p.name);
      arguments += fmt::format(", {}", p.name);
      value = fmt::format("{}[{}]", p.name, p.parameter->each ? p.index : "0");
    }
    functions += fmt::format("DEV {} get_{}(int row, int column HF_INT_PARAMS) {{ return {}; }}\n",
                             p.type == "float" ? "float" : "int", p.name, value);
  }
  return fmt::format(
             "#define HF_INT_PARAMS {}\n#define HF_INT_ARGS {}\n#define HF_QUANTIZES {}\n#define HF_INTEGER {}\n"
             "typedef {} a_type;\ntypedef {} b_type;\ntypedef {} out_type;\n",
             parameters, arguments, int{t.quantizes()}, t.quantizes() ? static_cast<int>(t.out) : 0, c_name(t.a),
             c_name(t.b), c_name(t.out)) +
         std::string(kQuantized) + functions + kFinished;
}

void add_parameters(KernelSpec& spec, const IntegerTypes& t) {
  for (const Named& p : parameters_of(t))
    if (p.parameter->input >= 0) spec.arguments.push_back(Argument::input(p.parameter->input));
}

}  // namespace hf::kernel
