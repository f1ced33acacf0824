// Elementwise work on values as they lie on the device, for lowerings that launch it.
#pragma once
#include "kernel/pointwise.h"
#include "lower/lowering.h"

namespace hf::lower {

/// Where a register's values lie.
struct Source {
  kernel::Argument at;
  Layout layout;
};

/// An expression of sources, which broadcast to `to`. A Refusal names an element type that kernels do not compute with.
std::variant<kernel::Candidates, Refusal> pointwise_launch(const kernel::Expression& expression,
                                                           const std::vector<Source>& sources, const Layout& to,
                                                           kernel::Argument at, const kernel::Target& target);
/// How input i best lies for elementwise work on results that lie as `to` does: as it lies now unless it varies along
/// channels and positions and these are in another order. Small float constants stay float32.
Layout operand_layout(const Request& r, int i, const Layout& to);
/// The layout of elementwise results: that of the first of these inputs which lies channels last and has the result's
/// shape, else rows.
Layout result_layout(const Request& r, std::span<const int> inputs);
/// From one position to the next along each axis of a value, in elements.
std::vector<int64_t> strides_of(const DeviceLayout& layout);
/// "Add + Relu"
std::string steps_text(const ir::Program& program);

}  // namespace hf::lower
