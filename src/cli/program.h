// The hipforge program: its commands, and what is common to them.
#pragma once
#include "cli/options.h"

namespace hf::cli {

/// Runs the command that the arguments (without the program's name) ask for. Returns the exit status; throws as the
/// library does.
int run_program(const Arguments& arguments);

// The commands, one file each.
int run_model(const Command& command, const Arguments& arguments);
int test_models(const Command& command, const Arguments& arguments);
int inspect_model(const Command& command, const Arguments& arguments);
int bench_model(const Command& command, const Arguments& arguments);
int compile(const Command& command, const Arguments& arguments);
int list_operators(const Command& command, const Arguments& arguments);
int list_settings(const Command& command, const Arguments& arguments);

}  // namespace hf::cli
