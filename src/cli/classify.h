// From photos to a model's input, and from a classifier's output to its best classes.
#pragma once
#include "image/labels.h"
#include "image/preprocess.h"
#include "session/random_inputs.h"

namespace hf::cli {

/// How a model takes photos.
struct ImageInput {
  Port port;
  image::Target target;
  image::Preprocess preprocess;
  int64_t batch = 1;  // photos a run
  bool free = false;  // the batch may be smaller for the last photos
};

/// The model's input for `count` photos: the first one that is not in `given`, of rank 4 or 3 with 1 or 3 channels.
/// `preprocess` is --preprocess's text; empty: the model's metadata 'hipforge.preprocess', else "imagenet". Throws
/// InvalidArgument if there is none, or if the text is no preprocessing.
ImageInput find_image_input(const Session& session, const ShapeOverrides& overrides, const NamedTensors& given,
                            const std::string& preprocess, int64_t count);

/// The tensor of these photos, at most `batch` of them; where the batch is not free the rest is zero. Throws as
/// image::load() does, and Unsupported for an input that is neither float nor uint8.
Tensor load_images(const ImageInput& input, std::span<const std::string> files);

/// The labels at `path`; if that is empty those of the model: '<model>.labels.txt' beside it, or its metadata 'labels'.
/// Empty if there are none.
std::vector<std::string> find_labels(const std::string& path, const Session& session, const std::string& model);

/// How many classes an output scores for each of `batch` photos: floats, one extent beside the batch that is not 1. 0
/// if it is no such output.
int64_t class_count(const Tensor& output, int64_t batch);

struct Guess {
  int index = 0;
  float probability = 0;
  std::string label;  // "class 17" without labels
};

/// The best `top` classes of photo `k`.
std::vector<Guess> best_classes(const Tensor& output, int64_t classes, int64_t k, int top,
                                const std::vector<std::string>& labels);

}  // namespace hf::cli
