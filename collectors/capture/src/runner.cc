// The process part of Runner: starts zygotes, waits for them and ends them.
#include "runner.h"

#include <poll.h>

#include <algorithm>
#include <csignal>

#include "breakwatch/core/text.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

// The longest timeout given to ppoll, so that sums of times do not overflow.
constexpr std::chrono::hours kLongestPoll{1};
// The time allowed for SIGKILL. Only an uninterruptible wait takes longer.
constexpr milliseconds kUnkillable{5'000};

timespec AsTimespec(nanoseconds time) {
  const auto seconds = duration_cast<std::chrono::seconds>(time);
  return {static_cast<time_t>(seconds.count()), static_cast<long>((time - seconds).count())};
}

// Waits until all have ended. Uses the system's clock, because processes end in real time.
bool WaitForEnds(std::vector<pollfd> exits, milliseconds limit) {
  const SteadyTime deadline = RealClock().Steady() + limit;
  for (;;) {
    const auto left = duration_cast<milliseconds>(deadline - RealClock().Steady()).count();
    const int ready = poll(exits.data(), exits.size(), static_cast<int>(std::max<std::int64_t>(0, left)));
    std::erase_if(exits, [](const pollfd& exit) { return exit.revents != 0; });
    if (exits.empty()) return true;
    if (ready == 0 && left <= 0) return false;
  }
}

}  // namespace

Runner::Runner(ZygoteOptions options, const Clock& clock)
    : options_(std::move(options)),
      clock_(clock),
      slots_(std::max<std::size_t>(1, options_.zygotes)),
      lock_(options_.lock_file) {
  toolchain_.name = options_.toolchain;
  if (!options_.scratch.empty()) RemoveAbandonedFolders(options_.scratch);
}

Runner::~Runner() { (void)StopAll(); }

std::size_t Runner::Capacity() const {
  const auto measures = [](const Slot& slot) { return slot.held && slot.held->IsMeasurement(); };
  if (std::any_of(slots_.begin(), slots_.end(), measures)) return 0;
  return static_cast<std::size_t>(
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.held; }));
}

Result<void> Runner::Start(const CaptureJob& job) {
  // Checks first whether captures of this kind are refused.
  if (const std::string& why = job.is_source ? options_.refuse_own : options_.refuse_library; !why.empty()) {
    Refuse(job, why);
    return {};
  }
  SteadyTime now = clock_.Steady();
  Poll(&now, now, -1);  // a zygote that died while idle must not receive the job
  if (refusal_ && now < not_before_ && !AnyReady()) return *refusal_;
  Slot* slot = BestFreeSlot();
  if (slot == nullptr) return Error{ErrorCode::kInternal, "no capacity for capture " + job.id, true};
  if (!slot->zygote && now >= not_before_) {
    const Result<void> launched = Launch(*slot, now);
    // While other zygotes work or may start soon, the job waits. Otherwise it is refused.
    if (!launched.ok() && (refusal_ || !(AnyReady() || launched.error().retryable))) return launched;
  }
  slot->held.emplace(Held{job, clock_.Now(), clock_.Steady(), false, "", "", {}});
  SendWaiting(clock_.Steady());
  return {};
}

// Returns the free slot that can start soonest. Order: ready, starting, empty, stopping.
Slot* Runner::BestFreeSlot() {
  const auto delay = [](const Slot& slot) {
    if (!slot.zygote) return 2;
    return slot.Ready() ? 0 : slot.zygote->stopping() ? 3 : 1;
  };
  Slot* best = nullptr;
  for (Slot& slot : slots_) {
    if (!slot.held && (best == nullptr || delay(slot) < delay(*best))) best = &slot;
  }
  return best;
}

bool Runner::AnyReady() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.Ready(); });
}

Result<void> Runner::Launch(Slot& slot, SteadyTime now) {
  Result<std::unique_ptr<Zygote>> zygote = Zygote::Start(options_, now);
  if (!zygote.ok()) {
    Error error = CannotStart(options_, zygote.error().message, "");
    error.retryable = zygote.error().retryable;
    OnFailedStart(error, now, false);
    return error;
  }
  ++counts_.started;
  slot.zygote = *std::move(zygote);
  return {};
}

void Runner::LaunchDue(SteadyTime now) {
  for (Slot& slot : slots_) {
    if (slot.held && !slot.zygote && now >= not_before_) (void)Launch(slot, now);
  }
}

CaptureRunner::Waited Runner::Wait(SteadyTime until, int wake_fd) {
  SteadyTime now = clock_.Steady();
  const std::string waiting = waiting_;
  for (;;) {
    LaunchDue(now);
    const bool due = !finished_.empty();
    Waited waited;
    waited.woken = Poll(&now, due ? now : std::min(until, NextDeadline()), wake_fd);
    if (!finished_.empty()) {
      waited.finished = std::move(finished_.front());
      finished_.pop_front();
    }
    if (waited.finished || waited.woken || now >= until || waiting_ != waiting) return waited;
  }
}

// Waits until `until` for events, then handles all of them. True if `wake_fd` is readable.
bool Runner::Poll(SteadyTime* now, SteadyTime until, int wake_fd) {
  std::vector<pollfd> polled{{wake_fd, POLLIN, 0}};
  for (const Slot& slot : slots_) {
    if (slot.zygote) slot.zygote->AppendPolled(&polled);
  }
  const SteadyTime limit = std::min(until, *now + kLongestPoll);
  const timespec timeout = AsTimespec(std::max(nanoseconds{0}, nanoseconds{limit - *now}));
  const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
  *now = std::max(*now, clock_.Steady());
  // A test's clock may not advance during the wait. The wait is over, so time is at least `limit`.
  if (ready == 0) *now = std::max(*now, limit);
  for (Slot& slot : slots_) Service(slot, *now);
  SendWaiting(*now);
  return wake_fd >= 0 && ready > 0 && polled.front().revents != 0;
}

void Runner::Service(Slot& slot, SteadyTime now) {
  if (!slot.zygote) return;
  // Messages that arrived just before its end also count.
  for (const Message& message : slot.zygote->Pump(now)) On(slot, message, now);
  EndOverdue(slot, now);
  slot.zygote->CheckDeadlines(now);
  if (slot.zygote->ended()) OnEnd(slot, now);
}

SteadyTime Runner::NextDeadline() const {
  SteadyTime first = SteadyTime::max();
  for (const Slot& slot : slots_) {
    if (slot.zygote) first = std::min(first, slot.zygote->NextDeadline());
    if (!slot.zygote && slot.held) first = std::min(first, not_before_);
    if (slot.held && slot.held->sent) first = std::min(first, slot.held->deadline.Next());
    if (slot.Ready() && slot.held && !slot.held->sent && !waiting_.empty()) first = std::min(first, lock_retry_at_);
  }
  return first;
}

std::vector<std::string> Runner::StopAll() {
  std::vector<std::string> ids;
  for (Slot& slot : slots_) {
    if (slot.held) ids.push_back(slot.held->job.id);
    slot.held.reset();
  }
  KillZygotes();
  lock_.Release();
  waiting_.clear();
  return ids;
}

void Runner::KillZygotes() {
  std::vector<pollfd> exits;
  std::vector<std::string> marks;
  for (Slot& slot : slots_) {
    if (!slot.zygote) continue;
    slot.zygote->Stop("was stopped", true, clock_.Steady());
    exits.push_back({slot.zygote->process().exit_fd(), POLLIN, 0});
    marks.push_back(slot.zygote->mark());
  }
  if (exits.empty()) return;
  if (!WaitForEnds(exits, options_.kill_grace)) {
    for (Slot& slot : slots_) {
      if (slot.zygote) slot.zygote->process().SignalGroup(SIGKILL);
    }
    WaitForEnds(exits, kUnkillable);
  }
  KillMarked(marks);
  for (Slot& slot : slots_) {
    if (slot.zygote) slot.zygote->Forget();
    slot.zygote.reset();
  }
}

void Runner::Log(const std::string& line) const {
  if (options_.log) options_.log(line);
}

std::unique_ptr<CaptureRunner> MakeZygoteRunner(ZygoteOptions options, const Clock& clock) {
  return std::make_unique<Runner>(std::move(options), clock);
}

}  // namespace breakwatch::capture
