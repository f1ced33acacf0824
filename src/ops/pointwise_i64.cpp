// The elementwise rows computed in int64_t.
#include "ops/pointwise_rows.h"

namespace hf::ops {

template <>
RowFn<int64_t> row_function<int64_t>(size_t row) {
  return math::rows::functions<int64_t>[row];
}

}  // namespace hf::ops
