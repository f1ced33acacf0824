// Broadcast's construction, and copying a tensor to a shape that it broadcasts to.
#include "ops/broadcast.h"

#include "ops/pointwise.h"

namespace hf::ops {

Broadcast::Broadcast(const Dims& from, const Dims& to) {
  const int skip = to.rank() - from.rank();
  const Dims strides = from.strides();
  bool fits = skip >= 0;
  for (int i = 0; fits && i < to.rank(); ++i) {
    const int64_t have = i < skip ? 1 : from[i - skip];
    fits = have == to[i] || have == 1;
    if (to[i] == 1) continue;
    const int64_t stride = have == 1 ? 0 : strides[i - skip];
    if (rank_ && stride_[rank_ - 1] == stride * to[i]) {
      extent_[rank_ - 1] *= to[i];
      stride_[rank_ - 1] = stride;
    } else {
      extent_[rank_] = to[i];
      stride_[rank_++] = stride;
    }
  }
  if (!fits) fail(Code::InvalidArgument, "shape {} does not broadcast to {}", from.text(), to.text());
}

namespace {

constexpr int64_t kBlock = 4096;

template <class T>
void copy_as(const T* from, T* to, const Broadcast& map, int64_t count) {
  parallel_for((count + kBlock - 1) / kBlock, kBlock * 0.5, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      int64_t at = b * kBlock, n = std::min(kBlock, count - at), stride = 1;
      const T* block = map.block(from, at, n, to + at, &stride);
      if (stride == 0)
        std::fill_n(to + at, n, *block);
      else if (block != to + at)
        std::copy_n(block, n, to + at);
    }
  });
}

// Elements narrower than a byte have no address; float holds all of them exactly.
void copy_sub_byte(const Tensor& from, Tensor& out, const Broadcast& map) {
  ReadAs<float> in(from);
  WriteAs<float> to(out);
  copy_as(in.data(), to.data(), map, out.size());
  to.commit();
}

}  // namespace

void broadcast_copy(const Tensor& from, Tensor& out) {
  check(from.dtype() == out.dtype(), "a broadcast keeps the dtype");
  Broadcast map(from.dims(), out.dims());
  const int64_t n = out.size();
  if (n == 0) return;
  if (from.dtype() == DType::String) return copy_as(from.strings().data(), out.strings().data(), map, n);
  switch (bits(from.dtype())) {
    case 8: return copy_as(from.data<uint8_t>(), out.data<uint8_t>(), map, n);
    case 16: return copy_as(from.data<uint16_t>(), out.data<uint16_t>(), map, n);
    case 32: return copy_as(from.data<uint32_t>(), out.data<uint32_t>(), map, n);
    case 64: return copy_as(from.data<uint64_t>(), out.data<uint64_t>(), map, n);
    case 128: return copy_as(from.data<Wide>(), out.data<Wide>(), map, n);
    default: return copy_sub_byte(from, out, map);
  }
}

}  // namespace hf::ops
