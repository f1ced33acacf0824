// What is supported: every operator that hipforge knows, as data for docs/operators.md and `hipforge operators`.
#pragma once
#include <string>
#include <vector>

namespace hf {

struct OperatorInfo {
  std::string domain;  // "" is ai.onnx
  std::string name;
  int since = 1;  // first opset handled of its domain
  int until = 0;  // last one; 0: the newest
  bool elementwise = false;
  std::vector<std::string> cpu;  // the CPU's kernels for it, best first; the last is "reference" or "control flow"
};

/// By domain, then by name. Internal operators (made by passes) are left out.
std::vector<OperatorInfo> operators();

}  // namespace hf
