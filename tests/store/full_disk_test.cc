#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "store_fixture.h"

namespace breakwatch::store {
namespace {

// A file system of four megabytes, unmounted at the end; needs root.
class SmallDisk {
 public:
  SmallDisk() {
    if (::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=4m") == 0) return;
    unavailable_ = std::string("no small file system can be mounted: ") + std::strerror(errno);
  }
  ~SmallDisk() {
    if (unavailable_.empty()) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  const std::string& unavailable() const { return unavailable_; }
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  std::string unavailable_;
};

ModelResult Large(int number) {
  ModelResult result = SampleResult("s1", "org/model-" + std::to_string(number));
  result.rebuild_reason = std::string(100'000, 'x');
  return result;
}

TEST(FullDiskTest, FailsTheStepKeepsTheRestAndContinuesWhenThereIsSpace) {
  const SmallDisk disk;
  if (!disk.unavailable().empty()) GTEST_SKIP() << disk.unavailable();
  const std::string ballast = (disk.path() / "ballast").string();
  std::ofstream(ballast) << std::string(1'500'000, 'b');
  fakes::FakeClock clock;
  const std::string url = "sqlite:" + (disk.path() / "breakwatch.db").string();
  auto store = Store::Open({url, false}, clock);
  ASSERT_OK(store);
  ASSERT_OK((*store)->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {}), {}, {}, {}));
  const std::vector<Event> events{SampleEvent("model_captured")};
  int stored = 0;
  Result<void> appended;
  while (stored < 100 && (appended = AppendOne(**store, Large(stored), events)).ok()) ++stored;
  ASSERT_FALSE(appended.ok());
  EXPECT_EQ(appended.error().code, ErrorCode::kStore);
  EXPECT_TRUE(appended.error().retryable);
  EXPECT_NE(appended.error().message.find("disk is full"), std::string::npos) << appended.error().message;
  EXPECT_NE(appended.error().message.find("breakwatch.db"), std::string::npos);

  EXPECT_EQ((*store)->Results("s1")->size(), static_cast<std::size_t>(stored));
  EXPECT_EQ(*(*store)->NewestEventId(), stored);
  std::filesystem::remove(ballast);
  EXPECT_OK(AppendOne(**store, Large(stored), events));
  EXPECT_OK((*store)->Check());
}

// Runs in its own process, whose files cannot exceed the limit. Returns its exit status.
int AppendUnderAFileSizeLimit(const std::string& url) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    fakes::FakeClock clock;
    auto store = Store::Open({url, false}, clock);
    if (!store || !(*store)->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {}), {}, {}, {})) ::_exit(10);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Result<void> appended;
    for (int i = 0; i < 100 && appended.ok(); ++i) appended = AppendOne(**store, Large(i));
    if (appended.ok()) ::_exit(11);
    ::_exit(appended.error().code == ErrorCode::kStore && appended.error().retryable ? 0 : 12);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(FullDiskTest, ReportsALimitOnTheSizeOfItsFile) {
  const TemporaryFolder folder;
  const std::string url = "sqlite:" + (folder.path() / "breakwatch.db").string();
  EXPECT_EQ(AppendUnderAFileSizeLimit(url), 0);
  fakes::FakeClock clock;
  const auto store = Store::Open({url, false}, clock);
  ASSERT_OK(store);
  EXPECT_OK((*store)->Check());
  EXPECT_FALSE((*store)->Results("s1")->empty());
}

}  // namespace
}  // namespace breakwatch::store
