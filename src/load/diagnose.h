// What a file that is no ONNX model may be instead.
#pragma once
#include <cstddef>
#include <span>

namespace hf::load {

/// Throws InvalidModel with a hint: another format, a text, a download that failed, or where the file is cut off.
[[noreturn]] void fail_not_onnx(std::span<const std::byte> bytes);

}  // namespace hf::load
