// EXIF orientation: a bounded walk through the first TIFF directory, and the eight turns as one table.
#include "image/orientation.h"

#include <cstddef>
#include <utility>

namespace hf::image {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kTypeShort = 3;
constexpr std::uint32_t kTypeLong = 4;
constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kEntryBytes = 12;

// Integers at any offset of the block, in its own byte order. Out of range reads give 0, which no caller takes as
// valid.
class TiffReader {
 public:
  explicit TiffReader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    const std::uint32_t mark = bytes.size() >= kHeaderBytes ? bytes[0] * 256u + bytes[1] : 0u;
    little_ = mark == 0x4949;
    valid_ = (little_ || mark == 0x4d4d) && get(2, 2) == 42;
  }
  bool valid() const { return valid_; }
  std::uint32_t get(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
      value = value << 8 | bytes_[offset + (little_ ? size - 1 - i : i)];
    }
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool little_ = false;
  bool valid_ = false;
};

// How to find the stored pixel of an upright one: exchange x and y, then count from the far edge.
struct Turn {
  bool swap, flip_x, flip_y;
};
constexpr Turn kTurns[] = {
    {false, false, false},  // 1 upright
    {false, true, false},   // 2 mirrored
    {false, true, true},    // 3 upside down
    {false, false, true},   // 4 upside down, mirrored
    {true, false, false},   // 5 transposed
    {true, false, true},    // 6 turn right
    {true, true, true},     // 7 transposed along the other diagonal
    {true, true, false},    // 8 turn left
};

}  // namespace

int exif_orientation(std::span<const std::uint8_t> tiff) {
  const TiffReader reader(tiff);
  if (!reader.valid()) return 1;
  const std::size_t directory = reader.get(4, 4);
  const std::size_t count = reader.get(directory, 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = directory + 2 + i * kEntryBytes;
    if (entry + kEntryBytes > tiff.size()) return 1;
    if (reader.get(entry, 2) != kOrientationTag) continue;
    const std::uint32_t type = reader.get(entry + 2, 2);
    if (reader.get(entry + 4, 4) != 1 || (type != kTypeShort && type != kTypeLong)) return 1;
    const std::uint32_t value = reader.get(entry + 8, type == kTypeShort ? 2 : 4);
    return value >= 1 && value <= std::size(kTurns) ? static_cast<int>(value) : 1;
  }
  return 1;
}

Image apply_orientation(Image image, int orientation) {
  if (orientation < 2 || orientation > static_cast<int>(std::size(kTurns))) return image;
  const Turn turn = kTurns[orientation - 1];
  Image out = make_image(turn.swap ? image.height : image.width, turn.swap ? image.width : image.height, image.channels,
                         "", static_cast<std::int64_t>(image.width) * image.height);
  // One step right or down in the result is a fixed step in the source.
  const std::ptrdiff_t channels = image.channels;
  const std::ptrdiff_t step_x = turn.flip_x ? -channels : channels;
  const std::ptrdiff_t stride = channels * image.width;
  const std::ptrdiff_t step_y = turn.flip_y ? -stride : stride;
  const std::ptrdiff_t start =
      (turn.flip_x ? stride - channels : 0) + (turn.flip_y ? stride * (image.height - std::ptrdiff_t{1}) : 0);
  const std::ptrdiff_t right = turn.swap ? step_y : step_x;
  const std::ptrdiff_t down = turn.swap ? step_x : step_y;
  std::uint8_t* to = out.pixels.data();
  for (int y = 0; y < out.height; ++y) {
    for (int x = 0; x < out.width; ++x) {
      const std::uint8_t* from = image.pixels.data() + start + y * down + x * right;
      for (std::ptrdiff_t c = 0; c < channels; ++c) *to++ = from[c];
    }
  }
  return out;
}

}  // namespace hf::image
