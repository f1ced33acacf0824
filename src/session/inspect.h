// What there is to say of a model without timing it: operators, parameters, arithmetic, placement, memory.
#pragma once
#include "session/session.h"

namespace hf {

struct Inspection {
  struct Operator {
    std::string name;
    int count = 0;
  };
  std::vector<Operator> operators;  // of the model's graph after loading, most frequent first
  int64_t parameters = 0;           // elements of float constants
  int64_t parameter_bytes = 0;
  int64_t macs = 0;         // multiply-accumulates of convolutions and matrix products, for these shapes
  int64_t arena_bytes = 0;  // activations of one run
  int64_t scratch_bytes = 0;
  std::vector<plan::Placement> placements;  // of the plan's nodes, in order
  bool split = false;                       // the plan is split where data decides a shape
};

/// For inputs of these shapes (see random_inputs.h). Makes the plan.
Inspection inspect(const Session& session, const std::map<std::string, Dims>& shapes);

}  // namespace hf
