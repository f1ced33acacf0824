// The code cache: what is damaged, foreign, contended or cannot be written costs a compile and never more.
#include "gpu/cache.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/log.h"
#include "gpu/process.h"

namespace hf::gpu {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  ~Cache() override { log::set_sink({}); }
  TemporaryFolder temporary;
  fs::path folder = temporary.path() / "a" / "b";
  CodeCache cache{folder, 1 << 20};
  const std::string key = "00112233445566778899aabbccddeeff", other = "ffeeddccbbaa99887766554433221100";
  fs::path file = folder / (key + ".hfco");

  std::vector<std::string> warnings;
  void listen() {
    log::set_sink([this](log::Level level, std::string_view, std::string_view text) {
      if (level == log::Level::Warn) warnings.emplace_back(text);
    });
  }
};

TEST_F(Cache, KeepsBytes) {
  EXPECT_FALSE(cache.find(key));
  std::string bytes("a\0b\xff", 4);
  cache.store(key, bytes);
  cache.store(other, "");
  EXPECT_EQ(cache.find(key), bytes);
  EXPECT_EQ(cache.find(other), "");
  EXPECT_EQ(CodeCache(folder, 1 << 20).find(key), bytes) << "another process";
  cache.store(key, "new");
  EXPECT_EQ(cache.find(key), "new");
}

TEST_F(Cache, AnyFlippedByteIsSeen) {
  cache.store(key, "the code of a kernel");
  std::string whole = read_file(file);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] ^= 0x10;
    write_file(file, damaged);
    EXPECT_FALSE(cache.find(key)) << "byte " << i;
  }
  cache.store(key, "made again");
  EXPECT_EQ(cache.find(key), "made again");
}

TEST_F(Cache, AnyCutIsSeen) {
  cache.store(key, "the code of a kernel");
  std::string whole = read_file(file);
  for (size_t n = 0; n < whole.size(); ++n) {
    write_file(file, whole.substr(0, n));
    EXPECT_FALSE(cache.find(key)) << n << " bytes";
  }
  write_file(file, whole + "x");
  EXPECT_FALSE(cache.find(key));
}

TEST_F(Cache, WhatIsNoEntryOfThisKeyIsForeign) {
  cache.store(key, "one");
  fs::copy_file(file, folder / (other + ".hfco"));
  EXPECT_FALSE(cache.find(other));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(Cache, WritersInManyProcessesLeaveOneWholeEntry) {
  std::vector<pid_t> children;
  for (int child = 0; child < 6; ++child) {
    pid_t pid = fork();
    if (pid == 0) {
      CodeCache own(folder, 1 << 20);
      bool ok = true;
      for (int i = 0; i < 50; ++i) {
        own.store(key, std::string(20000, static_cast<char>('a' + child)));
        std::optional<std::string> seen = own.find(key);
        ok = ok && seen && seen->size() == 20000 && *seen == std::string(20000, (*seen)[0]);
      }
      _exit(ok ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(cache.find(key));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "temporary files are left";
}

TEST_F(Cache, TheOldestGoFirst) {
  CodeCache small(folder, 10000);
  std::vector<std::string> keys;
  for (int i = 0; i < 9; ++i) {
    keys.push_back(fmt::format("{:032x}", i));
    small.store(keys.back(), std::string(1000, 'x'));
    fs::last_write_time(folder / (keys.back() + ".hfco"),
                        fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
  }
  EXPECT_TRUE(small.find(keys[0]));  // used now: no longer the oldest
  small.store(key, std::string(1500, 'y'));
  EXPECT_TRUE(small.find(keys[0]));
  EXPECT_FALSE(small.find(keys[1]));
  EXPECT_TRUE(small.find(keys[8]));
  EXPECT_TRUE(small.find(key));
}

TEST_F(Cache, AFolderThatCannotBeMadeIsOneWarning) {
  listen();
  write_file(temporary.path() / "plain", "a file");
  CodeCache blocked(temporary.path() / "plain" / "cache", 1 << 20);
  blocked.store(key, "x");
  blocked.store(key, "x");
  EXPECT_FALSE(blocked.find(key));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("plain/cache"), std::string::npos);
}

TEST_F(Cache, AReadOnlyFolderIsStillRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  listen();
  cache.store(key, "x");
  fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
  CodeCache read_only(folder, 1 << 20);
  read_only.store(other, "y");
  EXPECT_EQ(read_only.find(key), "x");
  EXPECT_FALSE(read_only.find(other));
  EXPECT_EQ(warnings.size(), 1u);
  fs::permissions(folder, fs::perms::owner_all);
}

// A limit on the size of files stands in for a full disk: both make write() fail half way.
TEST_F(Cache, AFullDiskIsOneWarning) {
  cache.store(other, "kept");
  pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int count = 0;
    log::set_sink([&](log::Level level, std::string_view, std::string_view) { count += level == log::Level::Warn; });
    cache.store(key, std::string(100000, 'x'));
    cache.store(key, std::string(100000, 'x'));
    _exit(count == 1 && !cache.find(key) && cache.find(other) == "kept" ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "a part of a file is left";
}

TEST_F(Cache, NoFolderMeansNoCache) {
  listen();
  CodeCache none("", 100);
  none.store(key, "x");
  EXPECT_FALSE(none.find(key));
  EXPECT_TRUE(warnings.empty());
}

TEST(CacheKey, DependsOnEveryPart) {
  Source s{.name = "k", .text = "text", .entries = {"a", "b"}, .defines = {"X=1"}};
  std::string key = cache_key(s, "gfx942", "clang 19");
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(cache_key(s, "gfx942", "clang 19"), key);
  EXPECT_NE(cache_key(s, "gfx90a", "clang 19"), key);
  EXPECT_NE(cache_key(s, "gfx942", "clang 20"), key);
  auto changed = [&](auto change) {
    Source t = s;
    change(t);
    return cache_key(t, "gfx942", "clang 19") != key;
  };
  EXPECT_TRUE(changed([](Source& t) { t.text += " "; }));
  EXPECT_TRUE(changed([](Source& t) { t.defines = {"X=2"}; }));
  EXPECT_TRUE(changed([](Source& t) { t.defines = {}; }));
  EXPECT_TRUE(changed([](Source& t) { t.entries = {"ab"}; }));
}

}  // namespace
}  // namespace hf::gpu
