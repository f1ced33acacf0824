// Rotation and placing of rows of heads against loops in double.
#include "kernel/head_rows.h"

#include <algorithm>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

using Positions = HeadRowsProblem::Positions;
constexpr int64_t kBatch = 2, kHeads = 3, kRows = 4, kSize = 10, kAngles = 9, kCapacity = 7;

Bytes bytes_of(const void* from, size_t bytes) {
  const uint8_t* b = static_cast<const uint8_t*>(from);
  return {b, b + bytes};
}

class HeadRowsTest : public KernelTest {
 protected:
  const std::vector<int32_t> lengths = {6, 2};
  const std::vector<int64_t> given = {0, 8, 3, 3, 1, 2, 7, 5};

  // Inputs: rows [2, 3, 4, 10], lengths, cosines, sines, positions. Output [2, 3, 7, 10].
  void check(HeadRowsProblem p) {
    p.batch = kBatch, p.heads = kHeads, p.rows = kRows, p.size = kSize;
    p.from = {.buffer = 0, .batch = kHeads * kRows * kSize, .head = kRows * kSize, .row = kSize};
    p.to = {
        .batch = kHeads * kCapacity * kSize, .head = kCapacity * kSize, .row = kSize, .place = Argument::Kind::Output};
    p.capacity = kCapacity, p.cos = 2, p.sin = 3, p.angles = kAngles, p.positions_input = 4;
    std::vector<float> x = rounded(random_floats(kBatch * kHeads * kRows * kSize, -2, 2), p.type);
    const int64_t half = p.dim / 2;
    std::vector<float> cos = random_floats(static_cast<size_t>(kAngles * half + 1), -1, 1, 2),
                       sin = random_floats(static_cast<size_t>(kAngles * half + 1), -1, 1, 3);
    std::vector<float> want(kBatch * kHeads * kCapacity * kSize, NAN);  // what nobody writes
    for (int64_t b = 0; b < kBatch; ++b) {
      int64_t length = p.lengths < 0 ? kCapacity : lengths[static_cast<size_t>(b)] + p.lengths_more;
      int64_t first = p.lengths < 0 ? p.first : std::max<int64_t>(length - kRows, 0);
      for (int64_t h = 0; h < kHeads; ++h)
        for (int64_t i = 0; i < kRows && first + i < length; ++i) {
          const float* from = x.data() + ((b * kHeads + h) * kRows + i) * kSize;
          float* to = want.data() + ((b * kHeads + h) * kCapacity + (p.keep_place ? i : first + i)) * kSize;
          std::copy_n(from, kSize, to);
          int64_t row = b * kRows + i, at = p.positions == Positions::Row     ? row
                                            : p.positions == Positions::Place ? first + i
                                            : p.positions == Positions::Given ? given[static_cast<size_t>(row)]
                                                                              : given[0] + i;
          for (int64_t j = 0; j < half; ++j) {
            int64_t one = p.interleaved ? 2 * j : j, two = p.interleaved ? 2 * j + 1 : j + half;
            double c = cos[static_cast<size_t>(at * half + j)], s = sin[static_cast<size_t>(at * half + j)];
            to[one] = static_cast<float>(c * from[one] - s * from[two]);
            to[two] = static_cast<float>(s * from[one] + c * from[two]);
          }
        }
    }
    std::vector<Bytes> inputs = {stored(x, p.type), bytes_of(lengths.data(), 8), stored(cos, Element::F32),
                                 stored(sin, Element::F32), bytes_of(given.data(), 64)};
    for (const KernelSpec& spec : head_rows(p, target())) {
      size_t bytes = want.size() * static_cast<size_t>(size_of(p.out_type));
      Bytes out = run(spec, inputs, {bytes})[0];
      std::vector<float> got = floats(out, p.out_type);
      for (size_t i = 0; i < want.size(); ++i) {
        if (std::isnan(want[i]))
          ASSERT_EQ(out[i * static_cast<size_t>(size_of(p.out_type))], 0xcd)
              << "element " << i << " is not the kernel's";
        else
          ASSERT_NEAR(got[i], want[i], 1e-6 + std::abs(want[i]) * unit_of(p.out_type)) << "element " << i;
      }
    }
  }
};

TEST_P(HeadRowsTest, Copies) {
  check({.first = 3});
  check({.type = Element::F16, .out_type = Element::BF16, .lengths = 1});
  check({.lengths = 1, .lengths_more = 1});
}
TEST_P(HeadRowsTest, Rotates) {
  check({.dim = 10, .positions = Positions::Row});
  check({.type = Element::F16, .out_type = Element::F16, .dim = 4, .interleaved = true, .positions = Positions::Given});
  check({.first = 2, .dim = 6, .positions = Positions::Start});
  check({.lengths = 1, .lengths_more = 1, .dim = 6, .positions = Positions::Place});
  check({.lengths = 1, .keep_place = true, .dim = 10, .interleaved = true, .positions = Positions::Place});
}

// A cache of 7 rows: old ones first, zeros behind the tokens.
TEST_P(HeadRowsTest, Past) {
  const int64_t held = 5;
  std::vector<float> past = random_floats(kBatch * kHeads * held * kSize, -2, 2);
  HeadPastProblem p{.batch = kBatch, .heads = kHeads, .rows = kRows, .size = kSize, .capacity = kCapacity};
  p.past = {.buffer = 0, .batch = kHeads * held * kSize, .head = held * kSize, .row = kSize};
  p.to = {
      .batch = kHeads * kCapacity * kSize, .head = kCapacity * kSize, .row = kSize, .place = Argument::Kind::Output};
  p.past_rows = held, p.lengths = 1;
  std::vector<float> got =
      floats(run(head_past(p, target())[0], {stored(past, Element::F32), bytes_of(lengths.data(), 8)},
                 {static_cast<size_t>(kBatch * kHeads * kCapacity * kSize * 4)})[0],
             Element::F32);
  const float poison = floats(Bytes(4, 0xcd), Element::F32)[0];
  for (int64_t at = 0; at < kBatch * kHeads * kCapacity * kSize; ++at) {
    int64_t j = at / kSize % kCapacity, head = at / kSize / kCapacity,
            length = lengths[static_cast<size_t>(head / kHeads)];
    float want = j < length - kRows ? past[static_cast<size_t>((head * held + j) * kSize + at % kSize)]
                 : j < length       ? poison
                                    : 0;
    ASSERT_EQ(got[static_cast<size_t>(at)], want) << "row " << j << " element " << at;
  }
}

HF_ON_ALL_DEVICES(HeadRowsTest);

}  // namespace
}  // namespace hf::kernel
