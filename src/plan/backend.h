// Backend: what turns nodes of a graph with known shapes into kernels. cpu/ and gpu/ implement it; this folder decides
// what runs where, in which buffers, and runs it. Nothing here knows a device.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"

namespace hf::plan {

/// Whose memory a value lies in.
enum class Space : uint8_t { Host, Device };

/// A way for a value to lie in memory that only one backend understands (blocked, padded, on a device, ...).
class LayoutDetail {
 public:
  virtual ~LayoutDetail() = default;
  virtual bool equals(const LayoutDetail& other) const = 0;
  /// Bytes of a buffer in this layout.
  virtual int64_t bytes() const = 0;
  virtual Space space() const { return Space::Host; }
  /// For reports: "nChw16c".
  virtual std::string text() const = 0;
};

/// How a value lies in memory: plain (dense and row-major on the host, as a Tensor), or a backend's own way.
struct Layout {
  std::shared_ptr<const LayoutDetail> detail;  // null: plain

  bool plain() const { return !detail; }
  Space space() const { return detail ? detail->space() : Space::Host; }
  bool operator==(const Layout& o) const {
    return plain() || o.plain() ? plain() == o.plain() : detail == o.detail || detail->equals(*o.detail);
  }
};

/// Compiled work for one node, for fixed shapes and layouts. Immutable: run() may be called from several threads at
/// once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// `inputs` in the node's order (null for absent and absorbed ones), `outputs` likewise (null where not wanted).
  /// `scratch` has the bytes that Prepared asked for, aligned to 64. Throws Error for faults of data or machine.
  virtual void run(std::span<const void* const> inputs, std::span<void* const> outputs, void* scratch) const = 0;
  /// What runs, for reports: "onednn brgconv:avx512_core + relu", "reference".
  virtual std::string text() const = 0;
};

/// A node made ready.
struct Prepared {
  /// Null with alias >= 0: output 0 is input `alias`, unchanged bytes under other extents or, with an output layout,
  /// seen in another order (a transpose that whoever reads it may undo for nothing).
  std::unique_ptr<Kernel> kernel;
  int alias = -1;
  /// The layouts that the kernel reads and writes; where an input lies otherwise, the plan converts it first.
  /// Missing entries mean plain.
  std::vector<Layout> inputs, outputs;
  /// Inputs (constants) that the kernel took a copy of when it was made and does not want at run time. Missing: false.
  std::vector<bool> absorbed;
  /// Inputs whose buffer output 0 may take over if nobody needs the input later. Same size and layout.
  std::vector<int> in_place;
  int64_t scratch_bytes = 0;
  /// Why kernels that would have been better were refused, for reports; empty if this is the first choice.
  std::string why;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // "cpu"
  /// Makes a node ready. All its inputs and outputs have known dtypes and static shapes. `layouts` says how each input
  /// lies now (the kernel may want another way). Thread-safe.
  virtual std::variant<Prepared, Refusal> prepare(const ir::Node& node, std::span<const Layout> layouts) = 0;
  /// A kernel that rewrites a value (input 0 to output 0) from one layout to another, and the scratch that it wants.
  virtual Prepared convert(const ir::Value& value, const Layout& from, const Layout& to) = 0;
  /// Called on the thread of a run before its first kernel.
  virtual void begin_run() {}
};

}  // namespace hf::plan
