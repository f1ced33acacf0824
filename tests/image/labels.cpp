// Label files, probabilities and the best k.
#include "image/labels.h"

#include <cmath>
#include <limits>

#include "helpers.h"

namespace hf::image {
namespace {

using Labels = std::vector<std::string>;

TEST(Labels, Lines) {
  EXPECT_EQ(parse_labels("cat\ndog", "l.txt"), (Labels{"cat", "dog"}));
  EXPECT_EQ(parse_labels("\xef\xbb\xbf"
                         "cat\r\n\r\n d\xc3\xb6g \r\n\r\n\n",
                         "l.txt"),
            (Labels{"cat", "", " d\xc3\xb6g"}));
  EXPECT_EQ(parse_labels("[UNK]\n[PAD]\n", "l.txt"), (Labels{"[UNK]", "[PAD]"}));
}

TEST(Labels, Json) {
  EXPECT_EQ(parse_labels(R"( [ "cat", "dog"])", "l.txt"), (Labels{"cat", "dog"}));
  EXPECT_EQ(parse_labels(R"({"2": "bird", "0": "cat"})", "l.txt"), (Labels{"cat", "", "bird"}));
  EXPECT_EQ(parse_labels(R"({"0": ["n01440764", "tench"]})", "l.txt"), Labels{"tench"});
}

TEST(Labels, WrongTexts) {
  struct {
    std::string text, name, part;
  } const cases[] = {
      {"", "l.txt", "label file 'l.txt' holds no label"},
      {"\n\n", "l.txt", "holds no label"},
      {"[]", "l.json", "holds no label"},
      {"cat", "l.json", "is not valid JSON, at byte '1'"},
      {std::string(100000, '['), "l.json", "is JSON nested deeper than '8'"},
      {"\"cat\"", "l.json", "is a JSON string; want an array"},
      {R"(["cat", 3])", "l.txt", "entry '1' is a number; want a string"},
      {R"({"cat": "0"})", "l.txt", "key 'cat' is not a class number"},
      {R"({"a\nb": "0"})", "l.txt", "key 'a b' is not a class number"},
      {R"({"-1": "a"})", "l.txt", "key '-1' is not a class number"},
      {R"({"99999999": "a"})", "l.txt", "goes beyond number '1000000'"},
      {R"({"99999999999999999999999": "a"})", "l.txt", "goes beyond number '1000000'"},
      {"cat\nd\xf6g\n", "l.txt", "not UTF-8 text: line '2' has byte 'f6'"},
      {"\xff\xfe"
       "c",
       "l.txt", "line '1' has byte 'ff'"},
      {std::string("a\0b", 3), "l.txt", "line '1' has byte '00'"},
      {"\xc0\xaf", "l.txt", "not UTF-8"},      // overlong
      {"\xed\xa0\x80", "l.txt", "not UTF-8"},  // surrogate
      {"\xe2\x82", "l.txt", "not UTF-8"},      // cut short
  };
  for (const auto& c : cases) {
    expect_error(Code::InvalidArgument, c.part, [&] { parse_labels(c.text, c.name); });
  }
  expect_error(Code::NotFound, "label file 'none.txt' does not exist", [] { load_labels("none.txt"); });
  expect_error(Code::InvalidArgument, "is a directory", [] { load_labels(data_path("")); });
  expect_error(Code::InvalidArgument, "not UTF-8", [] { load_labels(data_path("png_rgb_8.png")); });
}

TEST(Labels, DemoFile) {
  const Labels labels = load_labels(std::filesystem::path(HIPFORGE_SOURCE_DIR) / "assets/imagenet_labels.txt");
  ASSERT_EQ(labels.size(), 1000u);
  EXPECT_EQ(labels[0], "tench");
}

TEST(Probabilities, SoftmaxOnlyWhereNeeded) {
  const std::vector<float> done = {0.2f, 0.7999f, 0.0f};
  EXPECT_TRUE(is_distribution(done));
  EXPECT_EQ(to_probabilities(done), done);
  EXPECT_FALSE(is_distribution(std::vector<float>{0.5f, 0.6f}));
  EXPECT_FALSE(is_distribution(std::vector<float>{1.5f, -0.5f}));
  const std::vector<float> got = to_probabilities(std::vector<float>{1000.0f, 1000.0f + std::log(3.0f), -1000.0f});
  EXPECT_NEAR(got[0], 0.25, 1e-4);
  EXPECT_NEAR(got[1], 0.75, 1e-4);
  EXPECT_EQ(got[2], 0.0f);
  EXPECT_TRUE(to_probabilities({}).empty());
}

TEST(TopK, OrdersTiesAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {nan, 1, 3, nan, 3, -1};
  std::vector<int> order;
  for (const Ranked& ranked : top_k(values, 9)) order.push_back(ranked.index);
  EXPECT_EQ(order, (std::vector<int>{2, 4, 1, 5, 0, 3}));
  EXPECT_EQ(top_k(values, 1).at(0).value, 3);
  EXPECT_TRUE(top_k(values, 0).empty());
  EXPECT_TRUE(top_k(values, -1).empty());
  EXPECT_TRUE(top_k({}, 5).empty());
}

}  // namespace
}  // namespace hf::image
