// Photos in, classes out.
#include "cli/classify.h"

#include <algorithm>

#include "base/convert.h"
#include "base/error.h"
#include "image/image.h"

namespace hf::cli {
namespace {

// The most photos of one run where the model leaves it open: bounds memory.
constexpr int64_t kMostPhotos = 64;

// The declared shape with what the user fixed; -1 where nothing is known.
std::vector<int64_t> known_shape(const Port& port, const ShapeOverrides& overrides) {
  if (auto whole = overrides.find(port.name); whole != overrides.end())
    return {whole->second.begin(), whole->second.end()};
  std::vector<int64_t> shape;
  for (const ir::Dim& d : port.shape.dims()) {
    auto named = overrides.find(d.symbol);
    shape.push_back(d.known() ? d.value : named != overrides.end() && !d.symbol.empty() ? named->second[0] : -1);
  }
  return shape;
}

// The picture that the input takes, if it takes one.
bool takes_picture(std::span<const int64_t> shape, const image::Preprocess& preprocess, image::Target& target) {
  if (shape.size() != 3 && shape.size() != 4) return false;
  try {
    target = image::make_target(shape, preprocess);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool takes_dtype(DType t) {
  return t == DType::U8 || t == DType::F32 || t == DType::F64 || t == DType::F16 || t == DType::BF16;
}

Dims tensor_shape(const ImageInput& in, int64_t batch) {
  const image::Target& t = in.target;
  Dims dims{t.height, t.width};
  dims.insert(t.layout == image::Layout::NCHW ? 0 : 2, t.channels);
  if (in.port.shape.rank() != 3) dims.insert(0, batch);
  return dims;
}

template <class T>
void fill_batch(const ImageInput& in, std::span<const std::string> files, std::span<T> out) {
  size_t each = in.target.size();
  for (size_t i = 0; i < files.size(); ++i)
    image::fill(image::load(files[i]), in.preprocess, in.target, out.subspan(i * each, each));
}

}  // namespace

ImageInput find_image_input(const Session& session, const ShapeOverrides& overrides, const NamedTensors& given,
                            const std::string& preprocess, int64_t count) {
  const auto& metadata = session.model().metadata;
  auto own = metadata.find("hipforge.preprocess");
  std::string text = !preprocess.empty() ? preprocess : own != metadata.end() ? own->second : "imagenet";
  ImageInput in;
  in.preprocess = image::parse(text);
  std::string inputs;
  for (const Port& p : session.inputs()) {
    inputs += fmt::format("{}'{}' {} {}", inputs.empty() ? "" : ", ", p.name, name(p.dtype), p.shape.text());
    if (given.contains(p.name) || !takes_dtype(p.dtype)) continue;
    std::vector<int64_t> shape = known_shape(p, overrides);
    if (!takes_picture(shape, in.preprocess, in.target)) continue;
    in.port = p;
    int64_t extent = shape.size() == 4 ? shape[0] : 1;
    in.free = extent < 0;
    in.batch = in.free ? std::min(count, kMostPhotos) : std::max<int64_t>(extent, 1);
    return in;
  }
  fail(Code::InvalidArgument,
       "no input takes a photo (rank 4 or 3 with 1 or 3 channels, float or uint8); the model's inputs: {}", inputs);
}

Tensor load_images(const ImageInput& in, std::span<const std::string> files) {
  int64_t batch = in.free ? static_cast<int64_t>(files.size()) : in.batch;
  Tensor tensor(in.port.dtype, tensor_shape(in, batch));
  auto size = static_cast<size_t>(tensor.size());
  if (in.port.dtype == DType::U8) {
    std::fill_n(tensor.data<uint8_t>(), size, uint8_t{0});
    fill_batch(in, files, std::span(tensor.data<uint8_t>(), size));
  } else {
    WriteAs<float> values(tensor);
    std::fill_n(values.data(), size, 0.f);
    fill_batch(in, files, std::span(values.data(), size));
    values.commit();
  }
  return tensor;
}

std::vector<std::string> find_labels(const std::string& path, const Session& session, const std::string& model) {
  if (!path.empty()) return image::load_labels(path);
  std::filesystem::path beside(model);
  beside.replace_extension(".labels.txt");
  if (std::error_code none; std::filesystem::is_regular_file(beside, none)) return image::load_labels(beside);
  const auto& metadata = session.model().metadata;
  auto own = metadata.find("labels");
  return own == metadata.end() ? std::vector<std::string>() : image::parse_labels(own->second, "metadata 'labels'");
}

int64_t class_count(const Tensor& output, int64_t batch) {
  if (!is_float(output.dtype()) || output.rank() == 0) return 0;
  int64_t classes = 1;
  bool single = batch == 1 && output.rank() == 1;
  for (int i = single ? 0 : 1; i < output.rank(); ++i) {
    int64_t extent = output.dims()[i];
    if (extent != 1 && classes != 1) return 0;
    classes = extent == 1 ? classes : extent;
  }
  bool fits = single || output.dims()[0] == batch;
  return fits && classes >= 2 ? classes : 0;
}

std::vector<Guess> best_classes(const Tensor& output, int64_t classes, int64_t k, int top,
                                const std::vector<std::string>& labels) {
  ReadAs<float> scores(output);
  std::span<const float> mine(scores.data() + k * classes, static_cast<size_t>(classes));
  std::vector<Guess> guesses;
  for (const image::Ranked& r : image::top_k(image::to_probabilities(mine), top)) {
    auto index = static_cast<size_t>(r.index);
    bool named = index < labels.size() && !labels[index].empty();
    guesses.push_back({r.index, r.value, named ? labels[index] : fmt::format("class {}", r.index)});
  }
  return guesses;
}

}  // namespace hf::cli
