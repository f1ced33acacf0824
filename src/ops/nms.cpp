// NonMaxSuppression: the best boxes of each class that do not overlap a better one too much.
#include <algorithm>
#include <array>
#include <numeric>

#include "ops/extents.h"

namespace hf::ops {
namespace {

constexpr AttrDef attrs[] = {int_attr("center_point_box", 0)};

void infer(Infer& in) {
  const Shape &boxes = in.shape(0), &scores = in.shape(1);
  in.require(in.node.i("center_point_box") == 0 || in.node.i("center_point_box") == 1, "center_point_box is {}",
             in.node.i("center_point_box"));
  if (boxes.ranked() && scores.ranked()) {
    in.require(boxes.rank() == 3 && scores.rank() == 3, "boxes {} and scores {}, wanted 3 axes each", boxes.text(),
               scores.text());
    ir::merge(boxes, Shape({scores[0], scores[2], Dim(4)}));
  }
  for (int i = 2; i < 5; ++i)
    in.require(!in.constant(i) || in.constant(i)->size() == 1, "input {} has not one element", i);
  in.set(0, DType::I64, Shape({Dim(), Dim(3)}));
}

struct Box {
  float y1, x1, y2, x2, area;
};

Box box_of(const float* v, bool centred) {
  Box b{};
  if (centred) {  // x and y of the centre, width, height
    b = {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2, 0};
  } else {
    b = {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3]), 0};
  }
  b.area = (b.y2 - b.y1) * (b.x2 - b.x1);
  return b;
}

bool overlap(const Box& a, const Box& b, float threshold) {
  const float height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1), width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
  if (!(height > 0) || !(width > 0)) return false;
  const float both = height * width, either = a.area + b.area - both;
  return either > 0 && both / either > threshold;
}

struct Limits {
  int64_t most;
  float iou;
  bool by_score;
  float score;
};

// Positions of the boxes kept of one class, best first; of equal scores the earlier box first.
std::vector<int64_t> select(const std::vector<Box>& boxes, const float* scores, const Limits& limits) {
  std::vector<int64_t> order, kept;
  for (size_t i = 0; i < boxes.size(); ++i)
    if (scores[i] == scores[i] && (!limits.by_score || scores[i] > limits.score))
      order.push_back(static_cast<int64_t>(i));
  std::sort(order.begin(), order.end(),
            [&](int64_t i, int64_t j) { return scores[i] != scores[j] ? scores[i] > scores[j] : i < j; });
  for (int64_t i : order) {
    if (static_cast<int64_t>(kept.size()) >= limits.most) break;
    const Box& box = boxes[static_cast<size_t>(i)];
    const bool suppressed = std::any_of(
        kept.begin(), kept.end(), [&](int64_t k) { return overlap(boxes[static_cast<size_t>(k)], box, limits.iou); });
    if (!suppressed) kept.push_back(i);
  }
  return kept;
}

Limits limits_of(const Eval& e) {
  Limits l{e.has(2) ? to_int(e.in(2)) : 0, e.has(3) ? static_cast<float>(to_number(e.in(3))) : 0, e.has(4),
           e.has(4) ? static_cast<float>(to_number(e.in(4))) : 0};
  if (!(l.iou >= 0 && l.iou <= 1)) fail(Code::InvalidArgument, "iou_threshold {} is outside [0, 1]", l.iou);
  return l;
}

void reference(Eval& e) {
  const ReadAs<float> boxes(e.in(0)), scores(e.in(1));
  const Limits limits = limits_of(e);
  const int64_t batches = e.in(1).dims()[0], classes = e.in(1).dims()[1], count = e.in(1).dims()[2];
  const bool centred = e.node.i("center_point_box") == 1;
  std::vector<std::vector<Box>> by_batch(static_cast<size_t>(batches));
  for (int64_t b = 0; b < batches; ++b)
    for (int64_t i = 0; i < count; ++i)
      by_batch[static_cast<size_t>(b)].push_back(box_of(boxes.data() + (b * count + i) * 4, centred));
  std::vector<std::vector<int64_t>> kept(static_cast<size_t>(batches * classes));
  if (limits.most > 0)
    parallel_for(batches * classes, static_cast<double>(count) * 50, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c)
        kept[static_cast<size_t>(c)] =
            select(by_batch[static_cast<size_t>(c / classes)], scores.data() + c * count, limits);
    });
  std::vector<std::array<int64_t, 3>> rows;
  for (int64_t c = 0; c < batches * classes; ++c)
    for (int64_t i : kept[static_cast<size_t>(c)]) rows.push_back({c / classes, c % classes, i});
  Tensor out(DType::I64, {static_cast<int64_t>(rows.size()), 3});
  for (size_t i = 0; i < rows.size(); ++i) std::copy(rows[i].begin(), rows[i].end(), out.data<int64_t>() + 3 * i);
  e.out() = std::move(out);
}

constexpr OpDef defs[] = {{.name = "NonMaxSuppression",
                           .since = 10,
                           .min_inputs = 2,
                           .max_inputs = 5,
                           .attrs = attrs,
                           .infer = infer,
                           .reference = reference}};

}  // namespace

std::span<const OpDef> nms_ops() { return defs; }

}  // namespace hf::ops
