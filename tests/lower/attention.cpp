// Attention in its several forms on a device.
#include "lower/on_device.h"
#include "ops/strided_attention.h"

namespace hf::lower {
namespace {

OpCase strided(std::string name, const ops::StridedAttention& a, std::vector<Tensor> inputs, float tolerance = 2e-5f) {
  return {.name = std::move(name),
          .op = "StridedAttention",
          .domain = "hipforge",
          .attrs = a.attrs(),
          .inputs = std::move(inputs),
          .expected = {Tensor()},
          .tolerance = tolerance};
}

// Merged rows [2, 20, 3 * 2 * 16] to [2, 20, 2, 16].
ops::StridedAttention merged() {
  return {.batch = 2,
          .heads = 2,
          .kv_heads = 2,
          .queries = 20,
          .keys = 20,
          .head_size = 16,
          .v_head_size = 16,
          .q = {0, 1920, 16, 96},
          .k = {32, 1920, 16, 96},
          .v = {64, 1920, 16, 96},
          .out = {0, 640, 16, 32},
          .scale = 0.25f,
          .dims = {2, 20, 2, 16}};
}

TEST(StridedAttention, MergedRows) {
  Tensor x = random_tensor({2, 20, 96}, -2, 2);
  check_on_device(strided("float32", merged(), {x, x, x}));
  check_on_device(strided("float16", merged(), {x, x, x}, 5e-3f), {.precision = DType::F16});
  check_on_device(strided("bfloat16", merged(), {x, x, x}, 4e-2f), {.precision = DType::BF16});
}
TEST(StridedAttention, Masks) {
  Tensor x = random_tensor({2, 20, 96}, -2, 2);
  ops::StridedAttention a = merged();
  a.mask = {0, 20, 0, 0};
  check_on_device(strided("of sequences", a, {x, x, x, random_tensor({2, 1, 1, 20}, -3, 3, 2)}));
  a.mask = {0, 0, 400, 20};
  check_on_device(strided("of heads and queries", a, {x, x, x, random_tensor({2, 20, 20}, -3, 3, 3)}, 5e-3f),
                  {.precision = DType::F16});
  Tensor open(DType::Bool, {20, 20});
  for (int64_t i = 0; i < open.size(); ++i) open.data<bool>()[i] = i % 20 <= i / 20 && i >= 40;  // two rows closed
  a.mask = {0, 0, 0, 20};
  check_on_device(strided("bools", a, {x, x, x, open}));
}

// A case with as many outputs as asked for, all compared with the reference.
OpCase attention(std::string name, std::string op, ir::Attrs attrs, std::vector<Tensor> inputs, size_t outputs = 1) {
  return {.name = std::move(name),
          .op = std::move(op),
          .attrs = std::move(attrs),
          .inputs = std::move(inputs),
          .expected = std::vector<Tensor>(outputs),
          .tolerance = 2e-5f};
}
OpCase microsoft(OpCase c) {
  c.domain = "com.microsoft";
  return c;
}

TEST(Attention, HeadsOutside) {
  Tensor q = random_tensor({2, 4, 9, 16}, -2, 2), k = random_tensor({2, 2, 11, 16}, -2, 2, 2),
         v = random_tensor({2, 2, 11, 8}, -2, 2, 3);
  check_on_device(attention("plain", "Attention", {}, {q, k, v}));
  check_on_device(
      attention("causal", "Attention", {{"is_causal", int64_t{1}}, {"scale", 0.5f}, {"softcap", 2.0f}}, {q, k, v}));
  check_on_device(attention("windows", "Attention",
                            {{"left_window_size", int64_t{2}}, {"right_window_size", int64_t{1}}}, {q, k, v}));
  check_on_device(attention("mask", "Attention", {}, {q, k, v, random_tensor({4, 9, 11}, -2, 2, 4)}));
  check_on_device(attention("short mask", "Attention", {}, {q, k, v, random_tensor({2, 1, 1, 7}, -2, 2, 4)}));
  OpCase half = attention("float16", "Attention", {}, {q, k, v});
  half.tolerance = 5e-3f;
  check_on_device(half, {.precision = DType::F16});
}
TEST(Attention, PastAndPresent) {
  Tensor q = random_tensor({2, 3, 32}, -2, 2), k = random_tensor({2, 3, 16}, -2, 2, 2),
         v = random_tensor({2, 3, 16}, -2, 2, 3);
  ir::Attrs attrs = {{"is_causal", int64_t{1}}, {"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}};
  std::vector<Tensor> inputs = {
      q, k, v, Tensor(), random_tensor({2, 2, 5, 8}, -2, 2, 4), random_tensor({2, 2, 5, 8}, -2, 2, 5)};
  check_on_device(attention("present", "Attention", attrs, inputs, 3));
  check_on_device(attention("present without past", "Attention", attrs, {q, k, v}, 3));
  check_on_device(attention("past in the workspace", "Attention", attrs, inputs));
}
TEST(Attention, Lengths) {
  Tensor q = random_tensor({3, 2, 4, 8}, -2, 2), k = random_tensor({3, 2, 10, 8}, -2, 2, 2);
  Tensor lengths = Tensor::of<int64_t>({3}, {10, 2, 5});
  check_on_device(attention("lengths", "Attention", {}, {q, k, k, Tensor(), Tensor(), Tensor(), lengths}));
  check_on_device(attention("causal lengths", "Attention", {{"is_causal", int64_t{1}}},
                            {q, k, k, Tensor(), Tensor(), Tensor(), lengths}));
}

TEST(MultiHeadAttention, Forms) {
  ir::Attrs attrs = {{"num_heads", int64_t{2}}};
  Tensor q = random_tensor({2, 5, 16}, -2, 2), k = random_tensor({2, 7, 16}, -2, 2, 2),
         v = random_tensor({2, 7, 24}, -2, 2, 3);
  check_on_device(microsoft(attention("plain", "MultiHeadAttention", attrs, {q, k, v})));
  check_on_device(microsoft(attention("bias of scores", "MultiHeadAttention", attrs,
                                      {q, k, v, Tensor(), Tensor(), random_tensor({1, 2, 5, 7}, -2, 2, 4)})));
  check_on_device(microsoft(attention("all in one", "MultiHeadAttention",
                                      {{"num_heads", int64_t{2}}, {"unidirectional", int64_t{1}}},
                                      {random_tensor({2, 5, 2, 3, 8}, -2, 2)})));
  check_on_device(microsoft(
      attention("keys and values in one", "MultiHeadAttention", attrs, {q, random_tensor({2, 7, 2, 2, 8}, -2, 2, 2)})));
  check_on_device(
      microsoft(attention("a cache", "MultiHeadAttention", attrs,
                          {q, random_tensor({2, 2, 7, 8}, -2, 2, 2), random_tensor({2, 2, 7, 8}, -2, 2, 3)})));
  check_on_device(microsoft(attention("past", "MultiHeadAttention", attrs,
                                      {q, q, q, Tensor(), Tensor(), Tensor(), random_tensor({2, 2, 3, 8}, -2, 2, 6),
                                       random_tensor({2, 2, 3, 8}, -2, 2, 7)},
                                      3)));
}

TEST(RotaryEmbedding, Forms) {
  Tensor x = random_tensor({2, 3, 4, 8}, -2, 2), packed = random_tensor({2, 4, 24}, -2, 2),
         cos = random_tensor({10, 4}, -1, 1, 2), sin = random_tensor({10, 4}, -1, 1, 3);
  Tensor positions = Tensor::of<int64_t>({2, 4}, {0, 3, 9, 1, 2, 2, 5, 8});
  check_on_device(attention("halves", "RotaryEmbedding", {}, {x, cos, sin, positions}));
  check_on_device(attention("interleaved", "RotaryEmbedding", {{"interleaved", int64_t{1}}, {"num_heads", int64_t{3}}},
                            {packed, cos, sin, positions}));
  check_on_device(attention("a part, by rows", "RotaryEmbedding", {{"rotary_embedding_dim", int64_t{4}}},
                            {x, random_tensor({2, 4, 2}, -1, 1, 2), random_tensor({2, 4, 2}, -1, 1, 3)}));
  check_on_device(
      microsoft(attention("from a start", "RotaryEmbedding", {}, {x, Tensor::of<int64_t>({1}, {5}), cos, sin})));
}

TEST(GroupQueryAttention, Decoding) {
  ir::Attrs attrs = {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"do_rotary", int64_t{1}}};
  Tensor cos = random_tensor({20, 4}, -1, 1, 8), sin = random_tensor({20, 4}, -1, 1, 9);
  Tensor total = Tensor::of<int32_t>({1}, {9});
  auto inputs = [&](int64_t rows, std::initializer_list<int32_t> last, int64_t held) {
    std::vector<Tensor> in = {random_tensor({2, rows, 32}, -2, 2), random_tensor({2, rows, 16}, -2, 2, 2),
                              random_tensor({2, rows, 16}, -2, 2, 3)};
    in.push_back(held ? random_tensor({2, 2, held, 8}, -2, 2, 4) : Tensor());
    in.push_back(held ? random_tensor({2, 2, held, 8}, -2, 2, 5) : Tensor());
    in.push_back(Tensor::of<int32_t>({2}, last));
    in.push_back(total), in.push_back(cos), in.push_back(sin);
    return in;
  };
  auto check = [&](const char* name, const ir::Attrs& a, std::vector<Tensor> in) {
    check_on_device(microsoft(attention(name, "GroupQueryAttention", a, std::move(in), 3)), {.constants = {6}});
  };
  check("one token", attrs, inputs(1, {8, 4}, 9));
  check("a prompt", attrs, inputs(9, {8, 4}, 0));
  check("a chunk", attrs, inputs(3, {8, 5}, 8));
  attrs["rotary_interleaved"] = int64_t{1}, attrs["local_window_size"] = int64_t{3}, attrs["softcap"] = 3.0f;
  check("a window", attrs, inputs(2, {8, 4}, 9));
  std::vector<Tensor> merged = inputs(2, {8, 4}, 9);
  merged[0] = random_tensor({2, 2, 64}, -2, 2);
  merged[1] = merged[2] = Tensor();
  check("merged", {{"num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}, {"scale", 0.3f}}, merged);
}

}  // namespace
}  // namespace hf::lower
