// What the program says to wrong calls, and its help.
#include <algorithm>

#include "cli/program.h"

namespace hf::cli {

struct BadCall {
  std::string arguments;  // MODEL stands for a small model
  int status;
  std::string word;  // in the one line on stderr
};

const BadCall kBadCalls[] = {
    {"nosuch", 2, "no command 'nosuch'"},
    {"--nosuch", 2, "no option '--nosuch'"},
    {"--log", 2, "level"},
    {"--log loud env", 2, "'loud'"},
    {"run", 2, "MODEL is required; see 'hipforge run --help'"},
    {"run MODEL --nosuch", 2, "--nosuch"},
    {"run MODEL extra", 2, "extra"},
    {"run nosuch.onnx", 5, "'nosuch.onnx'"},
    {"run /", 6, "folder"},
    {"run MODEL --shape input=1xq", 2, "'q' should be a whole number"},
    {"run MODEL --shape input=1x-3x32x32", 2, "'-3'"},
    {"run MODEL --shape input", 2, "NAME=VALUE"},
    {"run MODEL --shape input=1x3x32", 2, "does not fit the declared"},
    {"run MODEL --shape N=1 --shape N=2", 2, "twice"},
    {"run MODEL --shape nosuch=1", 5, "'nosuch'"},
    {"run MODEL --threads -1", 2, "'-1'"},
    {"run MODEL --threads 1.5", 2, "'1.5'"},
    {"run MODEL --threads 4097", 2, "at most 4096"},
    {"run MODEL --seed 18446744073709551616", 2, "'18446744073709551616'"},
    {"run MODEL --seed 0x10", 2, "'0x10'"},
    {"run MODEL --top 0", 2, "at least 1"},
    {"run MODEL --seed -1", 2, "'-1'"},
    {"run MODEL --repeat", 2, "--repeat"},
    {"run MODEL --input nofile", 2, "NAME=VALUE"},
    {"run MODEL --input input=nofile.npy", 5, "'nofile.npy'"},
    {"run MODEL --input input=MODEL", 2, "invalid argument"},
    {"run MODEL --image nofile.jpg", 5, "nofile.jpg"},
    {"run MODEL --image MODEL", 2, "neither JPEG nor PNG"},
    {"run MODEL --image x.jpg --preprocess nosuch", 2, "'nosuch'"},
    {"run MODEL --image x.jpg --labels nofile.txt", 5, "nofile.txt"},
    {"run MODEL --optimize some", 2, "none of all, none"},
    {"run MODEL --disable nosuch", 2, "no pass 'nosuch'"},
    {"run MODEL --dump graph /tmp", 2, "'graph'"},
    {"run MODEL --dump plan", 2, "--dump"},
    {"run MODEL --device nosuch", 2, "'nosuch'"},
    {"run MODEL --device emu:x", 5, "'x'"},
    {"run MODEL --output-dir MODEL", 6, "cannot be made"},
    {"run MODEL --log loud", 2, "'loud'"},
    {"bench MODEL --batch 0", 2, "at least 1"},
    {"bench MODEL --batch 1,x", 2, "'x'"},
    {"bench MODEL --time 0", 2, "at least"},
    {"bench MODEL --time inf", 2, "'inf'"},
    {"bench MODEL --precision fp16", 4, "fp16"},
    {"bench MODEL --json --csv", 2, "exclude"},
    {"test", 2, "DIR is required"},
    {"test /nosuch", 5, "'/nosuch'"},
    {"test MODEL --known-failures nofile", 5, "'nofile'"},
    {"test MODEL --jobs -1", 2, "'-1'"},
    {"inspect", 2, "MODEL is required"},
    {"run MODEL --device target:gfx942", 4, "without a device"},
    {"inspect MODEL --device target:mi300", 4, "'mi300'"},
    {"compile MODEL -o x.hfp", 2, "--target is required"},
    {"compile MODEL --target gfx942", 2, "nothing to do"},
    {"compile MODEL --target gfx942,gfx942 --report", 2, "twice"},
    {"compile MODEL --target gfx9zz --report", 4, "'gfx9zz'"},
    {"compile MODEL --target gfx942, --report", 4, "''"},
    {"compile MODEL --target gfx942 --batch x --report", 2, "'x'"},
    {"compile nosuch.onnx --target gfx942 --report", 5, "'nosuch.onnx'"},
};

TEST(Usage, WrongCallsEndWithOneLineAndTheirStatus) {
  for (const BadCall& call : kBadCalls) {
    std::string arguments = call.arguments;
    for (size_t at; (at = arguments.find("MODEL")) != std::string::npos;) arguments.replace(at, 5, kResnet);
    Result r = hipforge(arguments);
    EXPECT_EQ(r.status, call.status) << call.arguments << "\n" << r.err;
    EXPECT_TRUE(r.err.starts_with("hipforge: ")) << call.arguments << "\n" << r.err;
    EXPECT_NE(r.err.find(call.word), std::string::npos) << call.arguments << "\n" << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << call.arguments << "\n" << r.err;
    EXPECT_EQ(r.out, "") << call.arguments;
  }
}

TEST(Usage, HelpNamesTheCommandsAndTheirOptions) {
  for (const char* arguments : {"", "--help", "-h"}) {
    Result r = hipforge(arguments);
    EXPECT_EQ(r.status, 0);
    for (const char* word : {"run", "test", "inspect", "bench", "compile", "Usage"})
      EXPECT_NE(r.out.find(word), std::string::npos);
  }
  for (const char* command : {"run", "test", "inspect", "bench", "compile", "operators", "env"}) {
    Result r = hipforge(std::string(command) + " --help");
    EXPECT_EQ(r.status, 0);
    EXPECT_NE(r.out.find("--json"), std::string::npos) << command;
    EXPECT_EQ(r.err, "");
  }
  EXPECT_TRUE(hipforge("--version").out.starts_with("hipforge 0."));
}

TEST(Usage, AFullOutputIsAnIoError) {
  EXPECT_EQ(hipforge("--help >/dev/full").status, 6);
  EXPECT_EQ(hipforge("inspect " + kResnet + " >/dev/full").status, 6);
}

TEST(Usage, AClosedOrFullStderrChangesNoStatus) {
  for (const char* where : {"2>&-", "2>/dev/full"})
    EXPECT_EQ(hipforge(std::string("run nosuch.onnx ") + where + " || exit $?; true").status, 5) << where;
}

TEST(Usage, NoFileIsTakenForAClosedStream) {
  TempFolder t;
  hipforge("run " + kResnet + " --repeat 0 --output-dir " + t.string() + " <&- >&- 2>&- ; true");
  EXPECT_EQ(fs::file_size(t / "logits.npy"), 168u);  // 128 of header, 10 floats
}

TEST(Usage, NumbersAreDecimal) {
  EXPECT_NE(hipforge("run " + kResnet + " --repeat 011").out.find("median of 11;"), std::string::npos);
}

TEST(Usage, TheLogGoesWhereItIsAsked) {
  EXPECT_EQ(hipforge("inspect " + kResnet + " --log error").err, "");
  EXPECT_NE(hipforge("--log debug inspect " + kResnet).err.find("hipforge: "), std::string::npos);
}

TEST(Usage, TheListOfOperatorsInTheDocsIsCurrent) {
  EXPECT_EQ(hipforge("operators --markdown").out, read_file(kSource / "docs/operators.md"))
      << "run: hipforge operators --markdown > docs/operators.md";
}

}  // namespace hf::cli
