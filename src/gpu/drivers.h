// The drivers' makers; driver() of driver.h is what others call. Each throws NotFound with every place tried.
#pragma once
#include "gpu/driver.h"

namespace hf::gpu {

std::unique_ptr<Driver> make_hip_driver();
std::unique_ptr<Driver> make_cuda_driver();
std::unique_ptr<Driver> make_emu_driver();

}  // namespace hf::gpu
