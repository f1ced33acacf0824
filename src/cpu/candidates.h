// The ordered table of candidates.
#pragma once
#include "cpu/candidate.h"

namespace hf::cpu {

struct Candidate {
  std::string_view name;
  Answer (*prepare)(const Request&);
};

/// What to try for this node, best first; the reference is the last.
std::vector<Candidate> candidates_for(const ir::Node& node);

}  // namespace hf::cpu
