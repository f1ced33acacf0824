// TfIdfVectorizer. Expected values: onnxruntime 1.32.
#include "ops/case.h"
#include "ops/wave.h"

namespace hf::ops {

TEST(TfIdf, Cases) {
  const OpCase cases[] = {
      {.name = "counts",
       .op = "TfIdfVectorizer",
       .attrs = {{"min_gram_length", int64_t{1}},
                 {"max_gram_length", int64_t{2}},
                 {"max_skip_count", int64_t{0}},
                 {"mode", std::string("TF")},
                 {"ngram_counts", std::vector<int64_t>{0, 2}},
                 {"ngram_indexes", std::vector<int64_t>{0, 2, 1, 4}},
                 {"pool_int64s", std::vector<int64_t>{2, 3, 5, 4, 5, 6}}},
       .inputs = {tensor<int32_t>({2, 6}, {1, 1, 3, 3, 3, 7, 8, 5, 6, 5, 4, 5})},
       .expected = {tensor<float>({2, 5}, {0, 0, 3, 0, 0, 0, 1, 0, 0, 1})}},
      {.name = "skips",
       .op = "TfIdfVectorizer",
       .attrs = {{"min_gram_length", int64_t{1}},
                 {"max_gram_length", int64_t{2}},
                 {"max_skip_count", int64_t{5}},
                 {"mode", std::string("TF")},
                 {"ngram_counts", std::vector<int64_t>{0, 2}},
                 {"ngram_indexes", std::vector<int64_t>{0, 2, 1, 4}},
                 {"pool_int64s", std::vector<int64_t>{2, 3, 5, 4, 5, 6}}},
       .inputs = {tensor<int32_t>({2, 6}, {1, 1, 3, 3, 3, 7, 8, 5, 6, 5, 4, 5})},
       .expected = {tensor<float>({2, 5}, {0, 0, 3, 0, 0, 0, 2, 0, 0, 1})}},
      {.name = "only pairs, a vector",
       .op = "TfIdfVectorizer",
       .attrs = {{"min_gram_length", int64_t{2}},
                 {"max_gram_length", int64_t{2}},
                 {"max_skip_count", int64_t{1}},
                 {"mode", std::string("TF")},
                 {"ngram_counts", std::vector<int64_t>{0, 2}},
                 {"ngram_indexes", std::vector<int64_t>{0, 2, 1, 4}},
                 {"pool_int64s", std::vector<int64_t>{2, 3, 5, 4, 5, 6}}},
       .inputs = {tensor<int64_t>({7}, {5, 4, 8, 5, 6, 5, 6})},
       .expected = {tensor<float>({5}, {0, 1, 0, 0, 2})}},
      {.name = "IDF",
       .op = "TfIdfVectorizer",
       .attrs = {{"min_gram_length", int64_t{1}},
                 {"max_gram_length", int64_t{2}},
                 {"max_skip_count", int64_t{2}},
                 {"mode", std::string("IDF")},
                 {"ngram_counts", std::vector<int64_t>{0, 2}},
                 {"ngram_indexes", std::vector<int64_t>{0, 2, 1, 4}},
                 {"pool_int64s", std::vector<int64_t>{2, 3, 5, 4, 5, 6}},
                 {"weights", std::vector<float>{0.5f, 2.0f, 3.0f, 4.0f}}},
       .inputs = {tensor<int32_t>({2, 6}, {1, 1, 3, 3, 3, 7, 8, 5, 6, 5, 4, 5})},
       .expected = {tensor<float>({2, 5}, {0, 0, 2, 0, 0, 0, 3, 0, 0, 4})}},
      {.name = "TFIDF",
       .op = "TfIdfVectorizer",
       .attrs = {{"min_gram_length", int64_t{1}},
                 {"max_gram_length", int64_t{2}},
                 {"max_skip_count", int64_t{2}},
                 {"mode", std::string("TFIDF")},
                 {"ngram_counts", std::vector<int64_t>{0, 2}},
                 {"ngram_indexes", std::vector<int64_t>{0, 2, 1, 4}},
                 {"pool_int64s", std::vector<int64_t>{2, 3, 5, 4, 5, 6}},
                 {"weights", std::vector<float>{0.5f, 2.0f, 3.0f, 4.0f}}},
       .inputs = {tensor<int32_t>({2, 6}, {1, 1, 3, 3, 3, 7, 8, 5, 6, 5, 4, 5})},
       .expected = {tensor<float>({2, 5}, {0, 0, 6, 0, 0, 0, 6, 0, 0, 4})}},
  };
  for (const OpCase& c : cases) check_case(c);
}

TEST(TfIdf, Strings) {
  Tensor x(DType::String, {4});
  x.strings() = {"a", "b", "a", "b"};
  check_case({.name = "strings",
              .op = "TfIdfVectorizer",
              .attrs = {{"min_gram_length", int64_t{1}},
                        {"max_gram_length", int64_t{2}},
                        {"max_skip_count", int64_t{0}},
                        {"mode", std::string("TF")},
                        {"ngram_counts", std::vector<int64_t>{0, 1}},
                        {"ngram_indexes", std::vector<int64_t>{1, 0}},
                        {"pool_strings", std::vector<std::string>{"a", "a", "b"}}},
              .inputs = {x},
              .expected = {tensor<float>({2}, {2, 2})}});
}

TEST(TfIdf, RefusesAPoolThatDoesNotDivide) {
  EXPECT_THROW(run_case({.name = "pool",
                         .op = "TfIdfVectorizer",
                         .attrs = {{"min_gram_length", int64_t{1}},
                                   {"max_gram_length", int64_t{2}},
                                   {"max_skip_count", int64_t{0}},
                                   {"mode", std::string("TF")},
                                   {"ngram_counts", std::vector<int64_t>{0, 1}},
                                   {"ngram_indexes", std::vector<int64_t>{0, 1}},
                                   {"pool_int64s", std::vector<int64_t>{1, 2}}},
                         .inputs = {tensor<int64_t>({1}, {1})},
                         .expected = {Tensor()}}),
               Error);
}

}  // namespace hf::ops
