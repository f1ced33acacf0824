// RotaryEmbedding of the default domain and of com.microsoft.
#include "ops/rotary.h"

#include "ops/op.h"
#include "ops/scaled_attention.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {
    int_attr("interleaved", 0),
    int_attr("num_heads", 0),
    int_attr("rotary_embedding_dim", 0),
};
constexpr AttrDef microsoft_attrs[] = {
    int_attr("interleaved", 0), int_attr("is_packed_batching", 0),
    int_attr("num_heads", 0),   int_attr("rotary_embedding_dim", 0),
    float_attr("scale", 1),
};

enum Inputs { kX, kCos, kSin, kPositions };

// com.microsoft has the positions second, and one position may stand for a sequence that starts there.
void upgrade_microsoft(ir::Graph& g, Node& n, int) {
  if (n.i("is_packed_batching")) fail(Code::Unsupported, "is_packed_batching");
  ir::Value* positions = n.input(1);
  g.remove_input(&n, 1);
  g.insert_input(&n, kPositions, positions);
}

struct Layout {
  int64_t batch, heads, rows, size, dim;
  bool packed;
};

// `cache` is the number of angles a position.
Layout layout_of(const Node& n, const Dims& x, int64_t cache) {
  Layout l{x[0], 0, 0, 0, n.i("rotary_embedding_dim"), x.rank() == 3};
  if (!l.packed) {
    l.heads = x[1], l.rows = x[2], l.size = x[3];
  } else {
    l.rows = x[1], l.heads = n.i("num_heads");
    if (l.heads == 0 && n.domain == "com.microsoft" && cache > 0) l.heads = x[2] / (l.dim > 0 ? l.dim : 2 * cache);
    if (l.heads <= 0 || x[2] % l.heads) fail(Code::InvalidModel, "num_heads is {}, X has {} features", l.heads, x[2]);
    l.size = x[2] / l.heads;
  }
  if (l.dim == 0) l.dim = l.size;
  if (l.dim < 0 || l.dim > l.size || l.dim % 2)
    fail(Code::InvalidModel, "{} elements to rotate of a head of {}, wanted an even number", l.dim, l.size);
  if (cache != l.dim / 2) fail(Code::InvalidModel, "the caches have {} angles, wanted {}", cache, l.dim / 2);
  return l;
}

void infer(Infer& in) {
  in.require(is_float(in.dtype(kX)), "X is {}, wanted a float type", name(in.dtype(kX)));
  infer_same(in);
  const Shape &x = in.shape(kX), &cos = in.shape(kCos);
  if (x.ranked()) in.require(x.rank() == 3 || x.rank() == 4, "X has rank {}, wanted 3 or 4", x.rank());
  ir::merge(cos, in.shape(kSin));
  int rank = in.has(kPositions) ? 2 : 3;
  if (cos.ranked()) in.require(cos.rank() == rank, "the caches have rank {}, wanted {}", cos.rank(), rank);
  if (!x.is_static() || !cos.is_static()) return;
  Layout l = layout_of(in.node, x.get(), cos.get().back());
  if (!in.has(kPositions)) {
    ir::merge(cos, Shape(Dims{l.batch, l.rows, l.dim / 2}));
  } else if (in.shape(kPositions).is_static()) {
    Dims p = in.shape(kPositions).get();
    bool start = in.node.domain == "com.microsoft" && p == Dims{1};
    in.require(start || p == Dims{l.batch, l.rows}, "position_ids {}, wanted [{}, {}]", p.text(), l.batch, l.rows);
  }
}

// Which row of the caches belongs to each row of the batch.
std::vector<int64_t> cache_rows(Eval& e, const Layout& l) {
  std::vector<int64_t> rows(static_cast<size_t>(l.batch * l.rows));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  if (!e.has(kPositions)) return rows;
  std::vector<int64_t> given = to_ints(e.in(kPositions));
  int64_t count = e.in(kCos).dims()[0];
  for (size_t i = 0; i < rows.size(); ++i) {
    bool start = e.in(kPositions).rank() != 2;
    int64_t position = given[start ? 0 : i], after = start ? static_cast<int64_t>(i) % l.rows : 0;
    if (position < 0 || position >= count - after)
      fail(Code::InvalidArgument, "position {}, wanted 0 to {}", position, count - after - 1);
    rows[i] = position + after;
  }
  return rows;
}

void reference(Eval& e) {
  const Tensor& x = e.in(kX);
  if (x.size() == 0) return;
  Layout l = layout_of(e.node, x.dims(), e.in(kCos).dims().back());
  std::vector<int64_t> rows = cache_rows(e, l);
  bool interleaved = e.node.i("interleaved") != 0;
  dispatch_float(x.dtype(), [&]<class T>(T) {
    ReadAs<T> in(x), cos(e.in(kCos)), sin(e.in(kSin));
    WriteAs<T> out(e.out());
    auto view = [&](auto* data) {
      return l.packed ? heads_inside(data, l.heads, l.rows, l.size) : heads_outside(data, l.heads, l.rows, l.size);
    };
    auto from = view(in.data());
    auto to = view(out.data());
    parallel_for(l.batch * l.rows, static_cast<double>(l.heads * l.size), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t b = r / l.rows, i = r % l.rows, at = rows[static_cast<size_t>(r)] * (l.dim / 2);
        for (int64_t h = 0; h < l.heads; ++h)
          rotate_row(from.at(b, h, i), cos.data() + at, sin.data() + at, l.size, l.dim, interleaved, to.at(b, h, i));
      }
    });
    out.commit();
  });
}

constexpr OpDef defs[] = {
    {.name = "RotaryEmbedding",
     .since = 23,
     .min_inputs = 3,
     .max_inputs = 4,
     .attrs = attrs,
     .infer = infer,
     .reference = reference},
    {.name = "RotaryEmbedding",
     .domain = "com.microsoft",
     .min_inputs = 4,
     .max_inputs = 4,
     .attrs = microsoft_attrs,
     .upgrade = upgrade_microsoft,
     .infer = infer,
     .reference = reference},
};

}  // namespace

std::span<const OpDef> rotary_ops() { return defs; }

}  // namespace hf::ops
