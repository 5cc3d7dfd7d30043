#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_fixture.h"

namespace breakwatch::store {
namespace {

std::string Model(int number) { return "org/model-" + std::to_string(number); }

// Runs in its own process: appends without end, and reports over the pipe what the store has acknowledged.
[[noreturn]] void AppendForEver(const std::string& url, int first, int acknowledged) {
  fakes::FakeClock clock;
  auto store = Store::Open({url, false}, clock);
  if (!store) ::_exit(1);
  for (int i = first;; ++i) {
    const std::vector<Event> events(3, SampleEvent("graph_break", Model(i)));
    CurrentChange change;
    change.upserts = {SampleTracked(Model(i))};
    if (!AppendOne(**store, SampleResult("s1", Model(i)), events, change)) ::_exit(2);
    if (::write(acknowledged, &i, sizeof i) != sizeof i) ::_exit(3);
  }
}

TEST_P(StoreTest, KeepsEveryAcknowledgedRowWhenKilledInTheMiddle) {
  Begin("s1", {});
  store_.reset();
  int acknowledged = 0;  // results 0 .. acknowledged - 1
  for (const int survive : {1, 2, 5, 17, 40}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      AppendForEver(url_, acknowledged, ends[1]);
    }
    ::close(ends[1]);
    int number = -1;
    for (int i = 0; i < survive; ++i) ASSERT_EQ(::read(ends[0], &number, sizeof number), ssize_t{sizeof number});
    ::kill(child, SIGKILL);
    while (::read(ends[0], &number, sizeof number) == ssize_t{sizeof number}) continue;
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "it ended by itself, with " << WEXITSTATUS(status);

    const auto store = Open();
    EXPECT_OK(store->Check());
    const auto results = store->Results("s1");
    ASSERT_OK(results);
    const int stored = static_cast<int>(results->size());
    EXPECT_GE(stored, number + 1) << "acknowledged and lost";
    EXPECT_LE(stored, number + 2) << "stored twice";
    EXPECT_EQ(*store->NewestEventId(), 3 * stored) << "events of half a step";
    EXPECT_EQ(store->LoadCurrent()->models.size(), results->size());
    acknowledged = stored;
  }
  EXPECT_EQ((*Open()->NewestUnfinished())->id, "s1");
}

}  // namespace
}  // namespace breakwatch::store
