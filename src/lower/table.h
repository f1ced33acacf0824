// The lowerings that there are, each in the file of its family. All throw nothing for a node that infer accepted.
#pragma once
#include "lower/lowering.h"

namespace hf::lower {

Answer lower_alias(const Request& r);      // alias.cpp: operators that change extents only
Answer lower_depthwise(const Request& r);  // depthwise.cpp

}  // namespace hf::lower
