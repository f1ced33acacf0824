// What a kernel compiled for the host and the emulator that runs it agree on. It is written once, as a macro: here it
// is compiled into the emulator, and as text it goes in front of the kernel's source (device_header.h).
//
// A compiled kernel library exports
//   const int hf_emu_abi, hf_emu_wave             kEmuAbi; the wave size that it was compiled for
//   HfEmuThread** hf_emu_self()                   where this thread of the host keeps the running kernel thread
//   void hf_emu_entry_NAME(void** args)           kernel NAME, one pointer an argument
//   unsigned hf_emu_args_NAME(unsigned* sizes)    the number of its arguments; their sizes in bytes go to `sizes`
//   unless null
#pragma once
#include <string_view>

// clang-format off
#define HF_EMU_ABI                                                                            \
  struct HfEmuThread {                                                                        \
    unsigned thread[3], block[3], block_dim[3], grid_dim[3];                                  \
    unsigned lane;                                                                            \
    unsigned char* lds;                                                                       \
    void (*barrier)(void);                                                                    \
    unsigned (*shuffle)(unsigned value, unsigned from_lane);                                  \
  };
// clang-format on
#define HF_TEXT_OF(...) #__VA_ARGS__
#define HF_TEXT(...) HF_TEXT_OF(__VA_ARGS__)

namespace hf::kernel {

HF_EMU_ABI
inline constexpr std::string_view kEmuAbiText = HF_TEXT(HF_EMU_ABI);
/// Changes whenever HF_EMU_ABI or the exports do.
inline constexpr int kEmuAbi = 1;

}  // namespace hf::kernel
