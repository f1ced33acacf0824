// What the tests of image/ share: golden files (made by make_golden.py) and errors as text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/image.h"

namespace hf::image {

inline std::filesystem::path data_path(const std::string& name) {
  return std::filesystem::path(HIPFORGE_SOURCE_DIR) / "tests/image/data" / name;
}

inline std::vector<std::uint8_t> read_data(const std::string& name) {
  std::ifstream file(data_path(name), std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Image decode_vector(const std::vector<std::uint8_t>& bytes, const DecodeOptions& options = {}) {
  return decode(std::as_bytes(std::span(bytes)), "test", options);
}

// The 64x48 picture that the resize and fit goldens start from.
inline Image photo() { return {64, 48, 3, read_data("photo.rgb")}; }

// The largest difference between two buffers, 256 if their sizes differ.
inline int largest_difference(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  if (a.size() != b.size()) return 256;
  int most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// Expects an Error of this code whose text holds `part` and is one line.
inline void expect_error(Code code, const std::string& part, const std::function<void()>& act) {
  try {
    act();
    ADD_FAILURE() << "no error; wanted: " << part;
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << text;
    EXPECT_NE(text.find(part), std::string::npos) << "got: " << text << "\nwanted: " << part;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

}  // namespace hf::image
