// The elementwise rows computed in uint64_t.
#include "ops/pointwise_rows.h"

namespace hf::ops {

template <>
RowFn<uint64_t> row_function<uint64_t>(size_t row) {
  return math::rows::functions<uint64_t>[row];
}

}  // namespace hf::ops
