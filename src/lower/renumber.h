// What lowerings of whole rows share: kernels number their buffers, a node has inputs and outputs of its own.
#pragma once
#include <cstdint>
#include <optional>

#include "lower/lowering.h"

namespace hf::lower {

/// Why a node is left to others: it has no elements, or more than the ints of kernels reach.
inline std::optional<Refusal> refused_size(const Request& r) {
  if (r.empty()) return Refusal{"no elements"};
  if (r.dims(0).count() > INT32_MAX / 2) return Refusal{fmt::format("{} elements", r.dims(0).count())};
  return std::nullopt;
}

/// Argument::input(i) becomes input(inputs[i]), Argument::output(i) output(outputs[i]).
inline void renumber(std::vector<kernel::Candidates>& launches, const std::vector<int>& inputs,
                     const std::vector<int>& outputs = {0}) {
  for (kernel::Candidates& candidates : launches)
    for (kernel::KernelSpec& spec : candidates)
      for (kernel::Argument& a : spec.arguments) {
        if (a.kind == kernel::Argument::Kind::Input) a.index = inputs.at(static_cast<size_t>(a.index));
        if (a.kind == kernel::Argument::Kind::Output) a.index = outputs.at(static_cast<size_t>(a.index));
      }
}

/// The node's inputs that a kernel's own inputs `own` and then the epilogue's operands are.
inline std::vector<int> with_operands(const Request& r, std::vector<int> own) {
  for (int k = 0; k < r.node.epilogue_inputs; ++k) own.push_back(r.node.own_inputs() + k);
  return own;
}

}  // namespace hf::lower
