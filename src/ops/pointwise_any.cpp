// Where and Equal on elements of any type: they move and compare bits, so no arithmetic type has to hold them.
#include "ops/broadcast.h"
#include "ops/pointwise_run.h"

namespace hf::ops {
namespace {

constexpr int64_t kBlock = 1024;

// f(x, y, z) for each element of the broadcast of three arrays, z's place being also taken by y for two.
template <class X, class Y, class To, class F>
void for_each(const Tensor& like, const X* x, const Dims& x_dims, const Y* y, const Dims& y_dims, const Y* z,
              const Dims& z_dims, To* to, F f) {
  const Broadcast bx(x_dims, like.dims()), by(y_dims, like.dims()), bz(z_dims, like.dims());
  const int64_t count = like.size();
  parallel_for((count + kBlock - 1) / kBlock, kBlock * 2, [&](int64_t begin, int64_t end) {
    auto sx = std::make_unique<X[]>(kBlock);
    auto sy = std::make_unique<Y[]>(kBlock), sz = std::make_unique<Y[]>(kBlock);
    for (int64_t b = begin; b < end; ++b) {
      int64_t at = b * kBlock, n = std::min(kBlock, count - at), ix, iy, iz;
      const X* px = bx.block(x, at, n, sx.get(), &ix);
      const Y *py = by.block(y, at, n, sy.get(), &iy), *pz = bz.block(z, at, n, sz.get(), &iz);
      for (int64_t i = 0; i < n; ++i) to[at + i] = f(px[i * ix], py[i * iy], pz[i * iz]);
    }
  });
}

template <class T>
void where_as(Eval& e, const T* x, const T* y, T* out) {
  for_each(e.out(), e.in(0).data<uint8_t>(), e.in(0).dims(), x, e.in(1).dims(), y, e.in(2).dims(), out,
           [](uint8_t c, const T& a, const T& b) { return c ? a : b; });
}

}  // namespace

void where_reference(Eval& e) {
  const Tensor &x = e.in(1), &y = e.in(2);
  if (x.dtype() == DType::String) return where_as(e, x.strings().data(), y.strings().data(), e.out().strings().data());
  auto move = [&]<class T>(T) { where_as(e, x.data<T>(), y.data<T>(), e.out().data<T>()); };
  switch (bits(x.dtype())) {
    case 8: return move(uint8_t{});
    case 16: return move(uint16_t{});
    case 32: return move(uint32_t{});
    case 64: return move(uint64_t{});
    case 128: return move(Wide{});
    default: break;
  }
  // Narrower than a byte: float holds all of them exactly.
  ReadAs<float> a(x), b(y);
  WriteAs<float> out(e.out());
  where_as(e, a.data(), b.data(), out.data());
  out.commit();
}

void equal_reference(Eval& e) {
  const Tensor &x = e.in(0), &y = e.in(1);
  if (x.dtype() == DType::String) {
    const std::string *a = x.strings().data(), *b = y.strings().data();
    return for_each(e.out(), a, x.dims(), b, y.dims(), b, y.dims(), e.out().data<uint8_t>(),
                    [](const std::string& p, const std::string& q, const std::string&) { return p == q; });
  }
  const ir::Program equal{2, {{"Equal", {0, 1}, {}}}};
  const Tensor* inputs[] = {&x, &y};
  dispatch_number(x.dtype(), [&]<class T>(T) { run_program_as<T>(equal, inputs, e.out()); });
}

}  // namespace hf::ops
