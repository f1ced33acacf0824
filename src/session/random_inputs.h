// Valid inputs for a model whose user gave none.
#pragma once
#include "session/session.h"

namespace hf {

/// Extents that the user fixed: by input name ("images" -> [8, 3, 224, 224]) or by symbol ("batch" -> [8]).
using ShapeOverrides = std::map<std::string, Dims>;

/// The declared shape with overrides; symbols and unknown extents without one become `batch` when they are the first
/// extent, else 1. Throws InvalidArgument for an override of the wrong rank or against a declared extent, NotFound for
/// an override that names neither an input nor a symbol.
std::map<std::string, Dims> input_shapes(const Session& session, const ShapeOverrides& overrides, int64_t batch = 1);

/// A tensor for each input without a default, the same for the same seed. Floats are uniform in [0, 1); integers are
/// indices in range where they select from a table of known size, else 1 (so that masks are on and counts positive);
/// bools are true; strings empty.
NamedTensors random_inputs(const Session& session, const std::map<std::string, Dims>& shapes, uint64_t seed = 0);

}  // namespace hf
