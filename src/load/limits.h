// How much a model file may ask for before it is refused: files come from anywhere.
#pragma once
#include <cstdint>

namespace hf::load {

struct Limits {
  int64_t oldest_ir = 3;     // the first with opset_import
  int64_t newest_ir = 14;    // newer ones are tried, with a warning
  int64_t oldest_opset = 7;  // what the operators' definitions go back to; see legacy.h
  int64_t newest_opset = 28;
  int64_t file_bytes = INT32_MAX;   // protobuf's own limit
  int64_t nodes = 1'000'000;        // after inlining of functions
  int64_t inlined_bytes = 1 << 27;  // names and attributes of nodes, which inlining multiplies
  int64_t sparse_bytes = 1 << 30;   // all sparse tensors made dense together
  int depth = 64;                   // of subgraphs and function calls inside each other
  int message_depth = 1000;         // of protobuf messages: a subgraph takes three
};
inline constexpr Limits kLimits;

}  // namespace hf::load
