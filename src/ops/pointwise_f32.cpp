// The elementwise rows computed in float.
#include "ops/pointwise_rows.h"

namespace hf::ops {

template <>
RowFn<float> row_function<float>(size_t row) {
  return math::rows::functions<float>[row];
}

}  // namespace hf::ops
