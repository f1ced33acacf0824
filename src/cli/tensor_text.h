// What a tensor says of itself in a few words: range, mean, bad values, the first elements.
#pragma once
#include <string>
#include <vector>

#include "base/tensor.h"

namespace hf::cli {

struct TensorSummary {
  std::string name;
  DType dtype = DType::Undefined;
  Dims dims;
  bool numeric = false;               // min, max and mean are set: numbers or bools, and at least one finite element
  double min = 0, max = 0, mean = 0;  // of the finite elements
  int64_t nans = 0, infinities = 0;
  std::vector<std::string> first;  // the first elements, as text
};

TensorSummary summarize(const std::string& name, const Tensor& tensor, int64_t first = 6);
/// "logits  float32 [1, 1000]  min -2.1  max 9.4  mean 0.012  values 0.12, 0.53, ..."
std::string to_text(const TensorSummary& summary);
/// Element i as text: "1.5", "-3", "true", "'word'", "1+2i".
std::string element_text(const Tensor& tensor, int64_t i);
/// The index of element i: "[0, 3]".
std::string index_text(const Dims& dims, int64_t i);

}  // namespace hf::cli
