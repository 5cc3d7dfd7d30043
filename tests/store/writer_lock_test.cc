#include "breakwatch/store/writer_lock.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "store_fixture.h"

namespace breakwatch::store {
namespace {

TEST(WriterLockTest, MakesTheStateDirectoryAndWritesItsHolder) {
  const TemporaryFolder folder;
  const auto lock = WriterLock::Take((folder.path() / "var/state").string());
  ASSERT_OK(lock);
  std::string holder;
  std::ifstream(folder.path() / "var/state/writer.lock") >> holder;
  EXPECT_EQ(holder, std::to_string(::getpid()));
}

TEST(WriterLockTest, RefusesASecondHolderAndNamesTheFirst) {
  const TemporaryFolder folder;
  std::optional<Result<WriterLock>> first = WriterLock::Take(folder.path().string());
  ASSERT_OK(*first);
  const auto second = WriterLock::Take(folder.path().string());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kStore);
  EXPECT_TRUE(second.error().retryable);
  EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid())), std::string::npos);
  first.reset();
  EXPECT_OK(WriterLock::Take(folder.path().string()));
}

TEST(WriterLockTest, FreesTheDirectoryOfAKilledHolder) {
  const TemporaryFolder folder;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = WriterLock::Take(folder.path().string());
    const char answer = lock.ok() ? 'y' : 'n';
    if (::write(ends[1], &answer, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char answer = 0;
  ASSERT_EQ(::read(ends[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_FALSE(WriterLock::Take(folder.path().string()).ok());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_OK(WriterLock::Take(folder.path().string()));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(WriterLockTest, HoldsAlthoughItsFileIsRemoved) {
  const TemporaryFolder folder;
  const auto lock = WriterLock::Take(folder.path().string());
  ASSERT_OK(lock);
  std::filesystem::remove(folder.path() / "writer.lock");
  EXPECT_OK(lock->Held());
  const auto second = WriterLock::Take(folder.path().string());
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("in use"), std::string::npos) << second.error().message;
}

TEST(WriterLockTest, IsLostWithItsDirectory) {
  const TemporaryFolder folder;
  const auto state = folder.path() / "state";
  const auto lock = WriterLock::Take(state.string());
  ASSERT_OK(lock);
  pollfd watched{lock->WatchFd(), POLLIN, 0};
  ASSERT_GE(watched.fd, 0);
  EXPECT_EQ(::poll(&watched, 1, 0), 0);
  std::filesystem::rename(state, folder.path() / "moved");
  EXPECT_EQ(::poll(&watched, 1, 10'000), 1);
  lock->TakeChanges();
  EXPECT_EQ(::poll(&watched, 1, 0), 0);
  const auto moved = lock->Held();
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code, ErrorCode::kStore);
  EXPECT_NE(moved.error().message.find("removed or moved"), std::string::npos);
  std::filesystem::create_directory(state);
  EXPECT_EQ(::poll(&watched, 1, 0), 0);
  EXPECT_NE(lock->Held().error().message.find("replaced"), std::string::npos);
  std::filesystem::remove_all(state);
  std::filesystem::rename(folder.path() / "moved", state);
  EXPECT_OK(lock->Held());
}

TEST(WriterLockTest, NamesADirectoryThatCannotBeMade) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  const auto lock = WriterLock::Take((folder.path() / "file").string());
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.error().code, ErrorCode::kStore);
  EXPECT_NE(lock.error().message.find("--state-dir"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::store
