// How much work a node is, to decide whether threads pay.
#pragma once
#include "ir/graph.h"

namespace hf::cpu {

/// Nanoseconds that a node takes on one core, roughly: multiply-accumulates of convolutions and products at 50 a
/// nanosecond, everything else by the bytes it reads and writes, at 10 a nanosecond. All shapes static.
double work_ns(const ir::Node& node);

/// Below this a team costs more than it brings: waking it and the barrier at the end take a few microseconds.
inline constexpr double kWorthATeamNs = 20000;

}  // namespace hf::cpu
