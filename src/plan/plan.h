// Plan: a graph with known shapes as a list of steps over one arena.
//
// A graph whose shapes depend on data is split: `steps` holds every node whose shapes are known, `breakers` the nodes
// that read only those but whose output shapes the data decides; what is left is a `tail` graph, planned in turn when
// the breakers have run and its input shapes are known.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "plan/backend.h"

namespace hf::plan {

/// Where a value's bytes are while a plan runs.
struct Place {
  enum Kind : uint8_t { Nowhere, Arena, Constant, Input, Output, Dynamic, DeviceArena, DeviceConstant };
  Kind kind = Nowhere;
  int64_t offset = 0;  // arenas: bytes; Input, Output, Dynamic: index; constants: index into the plan's
};

/// One kernel call, or one copy between the host and the device.
struct Step {
  enum Kind : uint8_t { Host, Device, Upload, Download };
  Kind kind = Host;
  int64_t staging = 0, bytes = 0;  // of a copy: its place in the staging memory, its size
  const ir::Node* node = nullptr;  // null for a layout conversion
  std::unique_ptr<Kernel> kernel;  // null for copies
  std::vector<Place> inputs, outputs;
  int64_t scratch_bytes = 0;
  std::string backend;
  std::string label;  // the node's name, or what a conversion converts
};

/// Why a node runs where it does.
struct Placement {
  std::string node, op, backend, kernel;
  std::string reason;  // why not an earlier backend or kernel; empty if it is the first choice
};

struct OutputSource {
  Place place;
  DType dtype;
  Dims dims;
};

struct Plan {
  std::unique_ptr<ir::Graph> graph;  // what the steps' nodes belong to
  std::vector<Step> steps;
  std::vector<Tensor> constants;  // kept alive for the kernels
  int64_t arena_bytes = 0;
  int64_t scratch_bytes = 0;  // the largest of the steps', after the arena
  int64_t weight_bytes = 0;   // constants that kernels read at run time
  std::vector<std::shared_ptr<const void>> device_constants;
  DeviceNeeds device;
  Backend* device_backend = nullptr;  // null: everything is on the host
  /// Steps [first, last) between two of the host: executed on the device in one go.
  struct Segment {
    size_t first, last;
  };
  std::vector<Segment> segments;
  std::vector<OutputSource> outputs;  // of the graph, where known statically
  std::vector<Placement> placements;

  // For graphs with data-dependent shapes; empty otherwise.
  std::vector<const ir::Node*> breakers;      // in order; run on tensors
  std::unique_ptr<ir::Graph> tail;            // null if nothing is left
  std::vector<const ir::Value*> tail_inputs;  // values of `graph`, in the order of the tail's inputs
  std::vector<int> tail_outputs;              // graph output i is the tail's output tail_outputs[i], or -1
  std::vector<const ir::Value*> live_out;     // values of `graph` that breakers or tail_inputs read
  std::vector<OutputSource> live_places;      // of live_out, in order
};

/// Plans a graph whose inputs have static shapes and which has been inferred and folded. Takes the graph over. The
/// backends are asked in order for each node. Throws Unsupported naming the node, with each backend's reason, when none
/// takes it.
std::unique_ptr<Plan> make_plan(std::unique_ptr<ir::Graph> graph, std::span<Backend* const> backends);

/// The plan as text: buffers, steps, placements.
std::string to_text(const Plan& plan);

/// Assigns offsets in one arena to buffers with lifetimes [first, last] in steps: largest first, each at the lowest
/// offset that is free over its whole lifetime. Offsets and the total are multiples of `alignment`.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
  int64_t offset = 0;  // result
};
int64_t assign_offsets(std::vector<Lifetime>& buffers, int64_t alignment = 64);

}  // namespace hf::plan
