// Guesses at files that are no ONNX models.
#include "load/diagnose.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace hf::load {
namespace {

using namespace std::string_view_literals;

struct Signature {
  size_t at;
  std::string_view bytes;
  std::string_view hint;
};

constexpr Signature kSignatures[] = {
    {0, "PK\x03\x04"sv, "it is a zip archive, perhaps a PyTorch file: export it with torch.onnx.export"sv},
    {4, "TFL3"sv, "it is a TensorFlow Lite model: convert it with tf2onnx"sv},
    {4, "ORTM"sv, "it is an onnxruntime .ort model: use the .onnx file it was made from"sv},
    {0, "version https://git-lfs"sv, "it is a git-lfs pointer, not the model: run 'git lfs pull'"sv},
    {0, "<!DOCTYPE"sv, "it is a web page: the download went wrong"sv},
    {0, "<!doctype"sv, "it is a web page: the download went wrong"sv},
    {0, "<html"sv, "it is a web page: the download went wrong"sv},
    {0, "<?xml"sv, "it is an XML file, perhaps an OpenVINO model"sv},
    {0, "\x89HDF"sv, "it is an HDF5 file, perhaps a Keras model: convert it with tf2onnx"sv},
    {0, "GGUF"sv, "it is a GGUF model"sv},
    {0, "\x1f\x8b"sv, "it is compressed: unpack it with gunzip"sv},
    {0,
     "\xfd"
     "7zXZ"sv,
     "it is compressed: unpack it with unxz"sv},
    {0, "\x28\xb5\x2f\xfd"sv, "it is compressed: unpack it with unzstd"sv},
    {0, "\x93NUMPY"sv, "it is a NumPy array"sv},
    {0, "\x80\x02"sv, "it is a Python pickle, perhaps a PyTorch file: export it with torch.onnx.export"sv},
    {0,
     "\x7f"
     "ELF"sv,
     "it is a program or library"sv},
    {8, "{\""sv, "it is a safetensors file: only weights, without a graph"sv},
};

std::optional<uint64_t> read_varint(std::span<const std::byte> bytes, size_t& at) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64 && at < bytes.size(); shift += 7) {
    auto b = static_cast<uint64_t>(bytes[at++]);
    value |= (b & 127) << shift;
    if (b < 128) return value;
  }
  return std::nullopt;
}

// Walks the outermost fields; fails where one leaves the file.
void expect_whole_fields(std::span<const std::byte> bytes) {
  size_t at = 0;
  while (at < bytes.size()) {
    size_t start = at;
    auto cut = [&](uint64_t wanted) {
      fail(Code::InvalidModel,
           "this is not a whole ONNX model: it is cut off or damaged at byte {} (a field of {} bytes in "
           "a file of {})",
           start, wanted, bytes.size());
    };
    auto tag = read_varint(bytes, at);
    if (!tag) cut(1);
    uint64_t length = 0;
    switch (*tag & 7) {
      case 0:
        if (!read_varint(bytes, at)) cut(1);
        break;
      case 1: length = 8; break;
      case 2: {
        auto n = read_varint(bytes, at);
        if (!n) cut(1);
        length = *n;
        break;
      }
      case 5: length = 4; break;
      default: fail(Code::InvalidModel, "this is not an ONNX model: it is damaged at byte {}", start);
    }
    if (length > bytes.size() - at) cut(length);
    at += static_cast<size_t>(length);
  }
}

}  // namespace

void fail_not_onnx(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) fail(Code::InvalidModel, "this is not an ONNX model: the file is empty");
  for (const Signature& s : kSignatures)
    if (text.size() >= s.at && text.substr(s.at).starts_with(s.bytes))
      fail(Code::InvalidModel, "this is not an ONNX model: {}", s.hint);
  std::string_view start = text.substr(0, 256);
  auto is_text = [](unsigned char c) { return c == '\n' || c == '\r' || c == '\t' || (c >= 32 && c < 127); };
  if (start.size() >= 8 && std::all_of(start.begin(), start.end(), is_text))
    fail(Code::InvalidModel, "this is not an ONNX model: it is a text file");
  expect_whole_fields(bytes);
  fail(Code::InvalidModel, "this is not an ONNX model, or it is damaged or nested too deeply");
}

}  // namespace hf::load
