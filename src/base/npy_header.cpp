// The header of a .npy file: a Python dictionary as text.
#include <charconv>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/npy.h"

namespace hf {
namespace {

// Reads the few forms of Python literal that a header is made of.
class Literal {
 public:
  explicit Literal(std::string_view text) : text_(text) {}

  bool accept(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(Code::InvalidArgument, "the .npy header lacks '{}' at character {}", c, at_);
  }
  std::string string() {
    skip_space();
    char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"')
      fail(Code::Unsupported, "a .npy file of structures; only plain element types are handled");
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail(Code::InvalidArgument, "the .npy header has a string without an end");
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return s;
  }
  bool boolean() {
    skip_space();
    for (bool value : {true, false}) {
      std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail(Code::InvalidArgument, "the .npy header lacks True or False at character {}", at_);
  }
  int64_t number() {
    skip_space();
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0)
      fail(Code::InvalidArgument, "the .npy header lacks an extent at character {}", at_);
    at_ = static_cast<size_t>(end - text_.data());
    accept('L');  // Python 2 wrote long integers so
    return value;
  }
  Dims dims() {
    Dims d;
    expect('(');
    while (!accept(')')) {
      d.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return d;
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  std::string_view text_;
  size_t at_ = 0;
};

// The header's text and where it ends.
std::pair<std::string_view, size_t> header_text(std::string_view file) {
  constexpr std::string_view magic("\x93NUMPY", 6);
  if (!file.starts_with(magic) || file.size() < 10) fail(Code::InvalidArgument, "this is not a .npy file");
  int version = file[6];
  if (version < 1 || version > 3) fail(Code::Unsupported, ".npy format version {}, 1 to 3 are handled", version);
  size_t digits = version == 1 ? 2 : 4, start = 8 + digits, length = 0;
  if (file.size() < start) fail(Code::InvalidArgument, "the .npy file is cut off in its header");
  for (size_t i = 0; i < digits; ++i) length |= static_cast<size_t>(static_cast<uint8_t>(file[8 + i])) << (8 * i);
  if (length > file.size() - start)
    fail(Code::InvalidArgument, "the .npy file is cut off: a header of {} bytes in a file of {}", length, file.size());
  return {file.substr(start, length), start + length};
}

}  // namespace

NpyHeader read_npy_header(std::span<const std::byte> bytes) {
  auto [text, end] = header_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  NpyHeader header;
  header.data_at = end;
  Literal in(text);
  int seen = 0;
  in.expect('{');
  while (!in.accept('}')) {
    std::string key = in.string();
    in.expect(':');
    if (key == "descr")
      header.type = in.string(), seen |= 1;
    else if (key == "fortran_order")
      header.fortran_order = in.boolean(), seen |= 2;
    else if (key == "shape")
      header.dims = in.dims(), seen |= 4;
    else
      fail(Code::InvalidArgument, "the .npy header has an unknown key '{}'", key);
    if (!in.accept(',')) {
      in.expect('}');
      break;
    }
  }
  if (seen != 7) fail(Code::InvalidArgument, "the .npy header lacks descr, fortran_order or shape");
  return header;
}

}  // namespace hf
