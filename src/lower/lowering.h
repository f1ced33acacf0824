// Lowering: nodes to kernel specifications. Knows targets and layouts, calls no driver: everything here runs, and is
// tested, without a device.
//
// table.cpp is the ordered list of what is tried for each operator. A lowering is one function; it accepts a node by
// returning a Lowered, or says why not. Elementwise epilogues are the caller's business unless the lowering's row says
// that it takes them: the engine's other nodes get the epilogue as one more launch.
#pragma once
#include <functional>
#include <variant>

#include "base/error.h"
#include "kernel/expression.h"
#include "kernel/kernel_spec.h"
#include "lower/device_layout.h"
#include "ops/op.h"

namespace hf::lower {

using plan::Layout;

/// Constant data made once on the device, shared by all plans of a session, for Argument::packed(i).
struct Packing {
  /// Either bytes made on the host, of any of the node's constants ...
  std::function<std::vector<std::byte>()> host;
  /// ... or a kernel whose inputs are these of the node's inputs (constants, row-major, in their own dtype) and whose
  /// output 0 is the data.
  std::vector<int> inputs;
  kernel::KernelSpec kernel;
  int64_t bytes = 0;
  std::string key;  // distinguishes packings of the same constants: everything that the data depends on besides them
};

/// A node as launches.
struct Lowered {
  /// In order, each the candidates for one launch. Argument::input(i) is the node's input i, in layout inputs[i];
  /// output(i) likewise. Workspace is one buffer for all launches, as large as the largest asks; what one launch writes
  /// the next may read.
  std::vector<kernel::Candidates> launches;
  std::vector<Packing> packings;
  /// Device layouts that the launches read and write. For absorbed or absent inputs: empty.
  std::vector<Layout> inputs, outputs;
  std::vector<bool> absorbed;  // inputs (constants) that only packings read. Missing: false
  std::vector<int> in_place;   // inputs whose buffer output 0 may take over
  int alias = -1;              // no launches: output 0 is this input's bytes
  std::string text;            // for reports: "conv 128x64x32 + Add + Relu"
};

using Answer = std::variant<Lowered, Refusal>;

/// What a lowering sees of a node: all shapes static, all dtypes known.
class Request {
 public:
  const ir::Node& node;
  std::span<const Layout> layouts;  // how each input lies now: the host's, or one of the device's
  const kernel::Target& target;
  DType precision = DType::F32;  // what float32 values are stored as: F32, F16, BF16

  bool has(int i) const { return node.input(i) != nullptr; }
  bool wants(int i) const { return node.output(i) != nullptr; }
  Dims dims(int i) const { return node.input(i)->shape.get(); }
  Dims out_dims(int i = 0) const { return node.output(i)->shape.get(); }
  DType dtype(int i) const { return node.input(i)->dtype; }
  const Tensor* constant(int i) const {
    const ir::Value* v = node.input(i);
    return v && v->is_constant() ? &v->constant : nullptr;
  }
  /// The constant integers of input i, if it is one.
  std::optional<std::vector<int64_t>> constant_ints(int i) const;
  /// What a value of this dtype is stored as unless the operator wants otherwise: F32 becomes `precision`.
  DType stored(DType dtype) const { return dtype == DType::F32 ? precision : dtype; }
  /// What input i is stored as: as it lies on the device now, else stored(dtype).
  DType stored_input(int i) const;
  /// What output i is to be stored as: stored(dtype), but F32 where the operator's results may leave float16's range
  /// or precision (powers, exponentials, sums).
  DType stored_output(int i = 0) const;
  /// Input i lies channels last on the device now.
  bool is_channels_last(int i) const;
  /// Layouts of input i or output i in their stored types.
  Layout rows(int i) const { return device_rows(dims(i), stored_input(i)); }
  Layout channels_last(int i) const { return device_channels_last(dims(i), stored_input(i)); }
  Layout out_rows(int i = 0) const { return device_rows(out_dims(i), stored_output(i)); }
  Layout out_channels_last(int i = 0) const { return device_channels_last(out_dims(i), stored_output(i)); }
  /// An output, or an input, has no elements.
  bool empty() const;
};

/// One row of the table.
struct Row {
  std::string_view op, domain;
  std::string_view name;  // of the lowering, for reports
  Answer (*lower)(const Request&);
  bool takes_epilogue = false;  // it does the node's epilogue itself, or refuses with a reason that names it
};
/// The rows for an operator, in the order tried.
std::vector<Row> rows_for(const ir::Node& node);

/// The first row that takes the node; the epilogue as a launch of its own where no row takes it. A Refusal with every
/// row's reason if none does. The layouts of float values are those that `r.precision` asks for.
Answer lower_node(const Request& r);

/// Rewrites a value from one device layout to another (input 0 to output 0): stored type and order, padding zeros.
/// Throws Unsupported for a type that kernels do not move.
kernel::Candidates convert_layout(const DeviceLayout& from, const DeviceLayout& to, const kernel::Target& target);

/// Elementwise work of a program as an expression; of integers where `whole`.
kernel::Expression expression_of(const ir::Program& program, bool whole = false);
/// The node's epilogue for a kernel whose output 0 is seen as [rows, columns]: channels last, [positions, C], where
/// `channels_last`; else row-major, [all but the last, the last]. Sets the layouts of the epilogue's operands in
/// `inputs`, which the caller has sized as the node's inputs. Its operands are to follow the kernel's own inputs in
/// that order: operand k is the node's input own_inputs() + k. A Refusal names an operand that no such view covers.
std::variant<kernel::Epilogue, Refusal> epilogue_of(const Request& r, bool channels_last, std::vector<Layout>& inputs);

}  // namespace hf::lower
