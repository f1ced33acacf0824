// Shapes for inputs that nobody gave, and what to say when they don't fit.
#pragma once
#include "base/error.h"
#include "session/random_inputs.h"

namespace hf::cli {

/// Without a batch (0) and overrides: the shapes that an .hfp file was compiled for. Else as input_shapes(), but the
/// height and width that a picture input (rank 4, 1 or 3 channels) leaves open become 224: convolutional networks have
/// no answer for a picture of one pixel.
std::map<std::string, Dims> made_up_shapes(const Session& session, const ShapeOverrides& overrides, int64_t batch = 0);

/// Refuses a --batch that no input can take: InvalidArgument.
void check_batch(const Session& session, int64_t batch);

/// "N = 1, H = 224": the extents of these shapes that the model leaves open and no override sets; empty if there are
/// none.
std::string made_up_text(const Session& session, const ShapeOverrides& overrides,
                         const std::map<std::string, Dims>& shapes);

/// Calls f(), which plans or runs the model with made-up shapes. An error about shapes says in addition which were made
/// up.
template <class F>
auto with_shape_hint(const Session& session, const ShapeOverrides& overrides, const std::map<std::string, Dims>& shapes,
                     F f) {
  try {
    return f();
  } catch (const Error& e) {
    std::string extents = made_up_text(session, overrides, shapes);
    bool of_data = e.code() == Code::InvalidModel || e.code() == Code::InvalidArgument;
    if (!of_data || extents.empty()) throw;
    throw Error(e.code(),
                fmt::format("{}; this was with made-up extents {}: set them with --shape", e.what(), extents));
  }
}

}  // namespace hf::cli
