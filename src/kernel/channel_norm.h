// Group and instance normalisation of channels-last data.
#pragma once
#include "kernel/expression.h"

namespace hf::kernel {

struct ChannelNormProblem {
  int64_t images = 0, positions = 0, channels = 0;  // all > 0
  int64_t pitch = 0;                                // elements from one position to the next, at least `channels`
  int64_t groups = 1;                               // divides the channels; at most kMostChannels of those
  float epsilon = 1e-5f;
  Element in = Element::F32, out = Element::F32;
  Element scale_type = Element::F32, bias_type = Element::F32;
  int64_t parameter_run = 1;  // channels that share an element of scale and bias
  Epilogue epilogue;          // sees [images * positions, channels]

  static constexpr int64_t kMostChannels = 4096;
};

/// Two launches that share a workspace, the first with counters. Inputs: x, scale, bias, the epilogue's operands, all
/// aligned to 16 bytes; output 0: (x - mean) / sqrt(variance + epsilon) * scale + bias with the mean and variance of
/// the image's positions and the group's channels. Deterministic.
std::vector<Candidates> channel_norm(const ChannelNormProblem& problem, const Target& target);

}  // namespace hf::kernel
