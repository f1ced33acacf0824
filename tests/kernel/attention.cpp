// Attention kernels: every candidate against loops in double.
#include "kernel/attention.h"

#include <algorithm>
#include <limits>

#include "kernel/run.h"

namespace hf::kernel {
namespace {

using Kind = AttentionMask::Kind;

// Rows of [batch, heads, rows, size] and of [batch, rows, heads, size].
HeadRows outside(int64_t heads, int64_t rows, int64_t size) { return {0, 0, heads * rows * size, rows * size, size}; }
HeadRows inside(int64_t heads, int64_t rows, int64_t size) { return {0, 0, rows * heads * size, size, heads * size}; }
HeadRows in_buffer(HeadRows r, int buffer, int64_t offset = 0) {
  r.buffer = buffer, r.offset = offset;
  return r;
}

AttentionProblem problem(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t size, Element type) {
  return {.batch = batch,
          .heads = heads,
          .kv_heads = heads,
          .queries = queries,
          .keys = keys,
          .head_size = size,
          .v_head_size = size,
          .type = type,
          .out_type = type,
          .q = outside(heads, queries, size),
          .k = in_buffer(outside(heads, keys, size), 1),
          .v = in_buffer(outside(heads, keys, size), 2),
          .out = outside(heads, queries, size),
          .scale = 1 / std::sqrt(static_cast<float>(size))};
}

class Attention : public KernelTest {
 protected:
  std::vector<float> mask;       // of the problem's mask, if it has one
  std::vector<int32_t> lengths;  // of its lengths

  // The result for query i of head h of sequence b.
  std::vector<double> expected(const AttentionProblem& p, const std::vector<std::vector<float>>& in, int64_t b,
                               int64_t h, int64_t i) const {
    auto value = [&](const HeadRows& r, int64_t head, int64_t row, int64_t e) {
      return double{in[static_cast<size_t>(r.buffer)]
                      [static_cast<size_t>(r.offset + b * r.batch + head * r.head + row * r.row + e)]};
    };
    int64_t kv = h / (p.heads / p.kv_heads), keys = p.keys, position = p.past + i;
    if (p.lengths >= 0) {
      keys = lengths[static_cast<size_t>(b)] + p.lengths_more;
      position += keys - p.queries;
      if (p.tokens_first && keys < p.queries) position = i;
      if (p.tokens_first && i >= keys) return std::vector<double>(static_cast<size_t>(p.v_head_size));
    }
    std::vector<double> s(static_cast<size_t>(keys), -INFINITY), out(static_cast<size_t>(p.v_head_size));
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double x = 0, add = 0;
      for (int64_t e = 0; e < p.head_size; ++e) x += value(p.q, h, i, e) * value(p.k, kv, j, e);
      x *= p.scale;
      if (p.softcap > 0) x = p.softcap * std::tanh(x / p.softcap);
      if (p.mask.kind != Kind::None) {
        size_t at = static_cast<size_t>(b * p.mask.batch + h * p.mask.head + i * p.mask.row + j);
        add = j >= p.mask.keys ? -INFINITY : p.mask.kind == Kind::Add ? mask[at] : mask[at] != 0 ? 0 : -INFINITY;
      }
      if ((p.causal && j > position + p.ahead) || (p.window >= 0 && j < position - p.window)) add = -INFINITY;
      s[static_cast<size_t>(j)] = static_cast<float>(x + add);
      top = std::max(top, s[static_cast<size_t>(j)]);
    }
    if (top == -INFINITY) return out;
    for (double& x : s) sum += x = std::exp(x - top);
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t e = 0; e < p.v_head_size; ++e)
        out[static_cast<size_t>(e)] += s[static_cast<size_t>(j)] / sum * value(p.v, kv, j, e);
    return out;
  }

  // Inputs: buffers 0, 1, 2, as far as the problem reaches into them; then mask and lengths.
  void check(const AttentionProblem& p, float range = 1) {
    std::vector<std::vector<float>> in(3);
    auto reach = [&](const HeadRows& r, int64_t heads, int64_t rows, int64_t size) {
      return static_cast<size_t>(r.offset + (p.batch - 1) * r.batch + (heads - 1) * r.head + (rows - 1) * r.row + size);
    };
    auto widen = [&](const HeadRows& r, int64_t heads, int64_t rows, int64_t size) {
      std::vector<float>& values = in[static_cast<size_t>(r.buffer)];
      values.resize(std::max(values.size(), reach(r, heads, rows, size)));
    };
    widen(p.q, p.heads, p.queries, p.head_size);
    widen(p.k, p.kv_heads, p.keys, p.head_size);
    widen(p.v, p.kv_heads, p.keys, p.v_head_size);
    std::vector<Bytes> inputs;
    for (std::vector<float>& values : in) {
      values = rounded(random_floats(values.size(), -range, range, static_cast<unsigned>(inputs.size()) + 1), p.type);
      inputs.push_back(stored(values, p.type));
      if (inputs.back().empty()) inputs.back().resize(4);
    }
    if (p.mask.kind == Kind::Add) inputs.push_back(stored(mask, p.mask.type));
    if (p.mask.kind == Kind::Bool) {
      inputs.emplace_back();
      for (float m : mask) inputs.back().push_back(m != 0);
    }
    if (p.lengths >= 0) {
      std::vector<int64_t> wide(lengths.begin(), lengths.end());
      const uint8_t* bytes =
          reinterpret_cast<const uint8_t*>(p.lengths_wide ? static_cast<const void*>(wide.data()) : lengths.data());
      inputs.emplace_back(bytes, bytes + lengths.size() * (p.lengths_wide ? 8 : 4));
    }
    size_t count = reach(p.out, p.heads, p.queries, p.v_head_size);
    for (const KernelSpec& spec : attention(p, target())) {
      SCOPED_TRACE(
          fmt::format("{} x {} x {} x {} x {} {}", p.batch, p.heads, p.queries, p.keys, p.head_size, spec.variant));
      std::vector<float> got =
          floats(run(spec, inputs, {count * static_cast<size_t>(size_of(p.out_type))})[0], p.out_type);
      for (int64_t b = 0; b < p.batch; ++b)
        for (int64_t h = 0; h < p.heads; ++h)
          for (int64_t i = 0; i < p.queries; ++i) {
            std::vector<double> want = expected(p, in, b, h, i);
            for (int64_t e = 0; e < p.v_head_size; ++e) {
              float x = got[static_cast<size_t>(p.out.offset + b * p.out.batch + h * p.out.head + i * p.out.row + e)];
              // Weights are rounded to the type before they meet the values.
              ASSERT_NEAR(x, want[static_cast<size_t>(e)],
                          (4e-6 + 3 * unit_of(p.type)) * range + unit_of(p.out_type) * range)
                  << "sequence " << b << " head " << h << " query " << i << " element " << e;
            }
          }
    }
  }
};

constexpr Element kTypes[] = {Element::F32, Element::F16};

TEST_P(Attention, HeadSizes) {
  check(problem(1, 2, 40, 50, 32, Element::BF16));
  for (int64_t size : {64, 80, 128}) check(problem(1, 2, 40, 50, size, Element::F16));
  check(problem(1, 2, 40, 50, 80, Element::F32));
}
TEST_P(Attention, LargeHeads) {
  check(problem(1, 1, 20, 40, 160, Element::F32));
  check(problem(1, 1, 70, 70, 192, Element::F16));
  check(problem(1, 1, 20, 40, 256, Element::BF16));
}
TEST_P(Attention, SeveralSteps) {
  for (Element type : kTypes) check(problem(1, 1, 130, 200, 64, type), 3);
}
TEST_P(Attention, OneQuery) {
  check(problem(2, 2, 1, 1, 16, Element::F16));
  check(problem(2, 2, 1, 77, 64, Element::BF16));
  check(problem(1, 2, 1, 33, 8, Element::F32));
}
// Sizes that no vector divides.
TEST_P(Attention, RaggedHeads) {
  for (Element type : kTypes) {
    AttentionProblem p = problem(1, 2, 9, 11, 5, type);
    p.v_head_size = 21;
    p.v = in_buffer(outside(2, 11, 21), 2);
    p.out = outside(2, 9, 21);
    check(p);
  }
}
// Queries, keys and values are columns of one tensor; key heads are shared.
TEST_P(Attention, MergedAndGrouped) {
  const int64_t heads = 4, kv_heads = 2, rows = 35, size = 32, row = (heads + 2 * kv_heads) * size;
  for (Element type : kTypes) {
    AttentionProblem p = problem(2, heads, rows, rows, size, type);
    p.kv_heads = kv_heads;
    p.q = {0, 0, rows * row, size, row};
    p.k = {0, heads * size, rows * row, size, row};
    p.v = {0, (heads + kv_heads) * size, rows * row, size, row};
    p.out = inside(heads, rows, size);
    p.causal = true;
    check(p);
  }
}
TEST_P(Attention, AddedMasks) {
  for (int which = 0; which < 3; ++which) {
    Element type = which == 2 ? Element::F32 : which == 1 ? Element::F16 : Element::BF16;
    AttentionProblem p = problem(2, 2, 20, 72, 32, type);
    p.mask = {.kind = Kind::Add, .type = which == 1 ? Element::F32 : type, .buffer = 3, .keys = 72};
    if (which == 0) p.mask.batch = 72;                                                           // [2, 1, 1, 72]
    if (which == 1) p.mask.batch = 0, p.mask.head = 20 * 72, p.mask.row = 72;                    // [1, 2, 20, 72]
    if (which == 2) p.mask.batch = 20 * 50, p.mask.head = 0, p.mask.row = 50, p.mask.keys = 50;  // shorter
    mask = rounded(random_floats(2 * 20 * 72, -2, 2, 9), p.mask.type);
    for (size_t i = 0; i < mask.size(); i += 5) mask[i] = -INFINITY;
    check(p);
  }
}
TEST_P(Attention, BoolMaskAndClosedRows) {
  for (Element type : kTypes) {
    AttentionProblem p = problem(2, 1, 20, 40, 32, type);
    p.mask = {.kind = Kind::Bool, .buffer = 3, .batch = 20 * 40, .row = 40, .keys = 40};
    mask = random_floats(2 * 20 * 40, 0, 1, 5);
    for (float& m : mask) m = m < 0.5f;
    std::fill_n(mask.begin() + 3 * 40, 40, 0.f);
    check(p);
  }
}
// The lowest floats, as exporters write masks: a row of them only counts all keys alike.
TEST_P(Attention, LowestFloats) {
  AttentionProblem p = problem(1, 1, 4, 40, 32, Element::F32);
  p.mask = {.kind = Kind::Add, .type = Element::F32, .buffer = 3, .row = 40, .keys = 40};
  mask.assign(4 * 40, 0);
  std::fill_n(mask.begin(), 50, std::numeric_limits<float>::lowest());
  check(p);
}
TEST_P(Attention, Causal) {
  for (Element type : kTypes) {
    AttentionProblem p = problem(1, 2, 70, 90, 32, type);
    p.causal = true;
    p.past = 20;
    check(p);
    p.past = -10;  // the first queries see nothing
    check(p);
    p.past = 3, p.window = 17, p.ahead = 4;
    check(p);
  }
}
TEST_P(Attention, LengthsAndCap) {
  AttentionProblem p = problem(3, 2, 4, 50, 32, Element::BF16);
  p.lengths = 3, p.lengths_more = 1;
  lengths = {49, 10, 3};
  check(p);
  p.causal = true, p.softcap = 2, p.scale = 1;
  check(p);
}
TEST_P(Attention, ScaleBelowZero) {
  AttentionProblem p = problem(1, 1, 10, 40, 32, Element::F16);
  p.scale = -0.5f;
  check(p);
}
TEST_P(Attention, OtherOutputType) {
  AttentionProblem p = problem(1, 1, 10, 40, 64, Element::F16);
  p.out_type = Element::F32;
  check(p);
}

HF_ON_ALL_DEVICES(Attention);

TEST(AttentionSpec, OneTextForAllLengths) {
  AttentionProblem one = problem(1, 12, 128, 128, 64, Element::F16), two = problem(7, 12, 99, 55, 64, Element::F16);
  KernelSpec a = attention(one, {})[0], b = attention(two, {})[0];
  EXPECT_EQ(full_text(a), full_text(b));
  EXPECT_EQ(a.defines, b.defines);
}
TEST(AttentionSpec, TilesLeaveFewRowsEmpty) {
  const Target h200{.arch = "sm_90", .wave_size = 32, .lds_bytes = 232448, .compute_units = 132};
  for (int64_t queries : {1, 16, 50, 77, 128, 197, 1500})
    for (const KernelSpec& spec : attention(problem(1, 1, queries, queries, 64, Element::F16), h200)) {
      EXPECT_EQ(spec.block[0] % 32, 0u);
      EXPECT_LE(spec.block[0], 256u);
    }
  EXPECT_TRUE(attention(problem(64, 12, 77, 77, 64, Element::F16), h200)[0].variant.starts_with("80x"));
}
TEST(AttentionSpec, RefusesWhatDoesNotFit) {
  EXPECT_THROW(attention(problem(1, 1, 8, 8, 257, Element::F16), {}), Error);
  EXPECT_THROW(attention(problem(1, 1, 8, 8, 256, Element::F32), {.lds_bytes = 65536}), Error);
}

}  // namespace
}  // namespace hf::kernel
