// Sums of embeddings and counts of masks, against plain loops.
#include "kernel/embedding.h"

#include "kernel/run.h"
#include "kernel/targets.h"

namespace hf::kernel {
namespace {

class Embedding : public KernelTest {
 protected:
  static Bytes indices(const std::vector<int64_t>& values, int bits) {
    Bytes bytes(values.size() * static_cast<size_t>(bits / 8));
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(&bytes[i * bytes.size() / values.size()], &values[i], bits / 8);
    return bytes;
  }
};

TEST_P(Embedding, SumsOfThreeTables) {
  for (int bits : {32, 64})
    for (Element e : {Element::F32, Element::F16, Element::BF16}) {
      const int64_t width = bits == 32 ? 24 : 7;
      const EmbeddingProblem p{.batch = 2,
                               .length = 3,
                               .width = width,
                               .words = {5, e},
                               .positions = {4, Element::F32},
                               .segments = {2, e},
                               .has_segments = true,
                               .has_positions = true,
                               .positions_are_shared = true,
                               .index_bits = bits,
                               .sums = true,
                               .out = e};
      const std::vector<int64_t> ids = {4, 0, 3, 99, -7, 1}, positions = {2, 0, 3}, segments = {1, 0, 1, 1, 0, 0};
      auto table = [&](int64_t rows, Element type, unsigned seed) {
        return rounded(random_floats(static_cast<size_t>(rows * width), -1, 1, seed), type);
      };
      const std::vector<float> w = table(5, e, 1), q = table(4, Element::F32, 2), s = table(2, e, 3);
      std::vector<float> want;
      for (size_t t = 0; t < 6; ++t)
        for (int64_t c = 0; c < width; ++c) {
          const int64_t id = std::clamp<int64_t>(ids[t], 0, 4);  // what is outside is limited to the table
          want.push_back(w[static_cast<size_t>(id * width + c)] + q[static_cast<size_t>(positions[t % 3] * width + c)] +
                         s[static_cast<size_t>(segments[t] * width + c)]);
        }
      const auto out = run(embedding(p, target())[0],
                           {indices(ids, bits), stored(w, e), stored(q, Element::F32), indices(positions, bits),
                            indices(segments, bits), stored(s, e)},
                           {want.size() * static_cast<size_t>(size_of(e))});
      const std::vector<float> got = floats(out[0], e);
      for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6 + std::abs(want[i]) * unit_of(e)) << i;
    }
}
TEST_P(Embedding, CountsOnesOfMasks) {
  std::vector<int64_t> mask(3 * 300);
  for (size_t i = 0; i < mask.size(); ++i) mask[i] = static_cast<int64_t>(i % 7 < i / 300 + 2);
  mask[5] = 2;
  for (int bits : {32, 64}) {
    std::vector<int64_t> want(3);
    for (size_t i = 0; i < mask.size(); ++i) want[i / 300] += mask[i] == 1;
    MaskCountProblem p{.batch = 3, .length = 300, .index_bits = bits};
    const size_t bytes = static_cast<size_t>(3 * bits / 8);
    EXPECT_EQ(run(mask_count(p, target())[0], {indices(mask, bits)}, {bytes})[0], indices(want, bits));
    p.has_mask = false;
    EXPECT_EQ(run(mask_count(p, target())[0], {}, {bytes})[0], indices({0, 0, 0}, bits));
  }
}
HF_ON_ALL_DEVICES(Embedding);

const OnEveryTarget kernels([](const Target& t) {
  Candidates all =
      embedding({.batch = 8, .length = 128, .width = 768, .words = {30522, Element::F16}, .sums = true}, t);
  all.push_back(mask_count({.batch = 8, .length = 128}, t)[0]);
  return all;
});

}  // namespace
}  // namespace hf::kernel
