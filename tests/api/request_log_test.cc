#include "breakwatch/api/request_log.h"

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

namespace breakwatch::api {
namespace {

using nlohmann::json;
using Kind = RequestLog::Kind;

class RequestLogTest : public testing::Test {
 protected:
  json Ask(const std::string& id) const {
    const auto document = log_->Find(id);
    return document ? json::parse(*document) : json();
  }
  // Waits until the log's thread has finished the request.
  json Ended(const std::string& id) const {
    while (Ask(id)["finished_at"].is_null()) std::this_thread::yield();
    return Ask(id);
  }
  static Sweep SweepOf(const std::string& id) {
    Sweep sweep;
    sweep.id = id;
    return sweep;
  }

  std::function<std::vector<std::string>(const std::stop_token&)> drain_ = [](const std::stop_token&) {
    return std::vector<std::string>{};
  };
  // In short form: sweeps, exporters behind, an error, by name.
  std::unique_ptr<RequestLog> log_ = std::make_unique<RequestLog>(
      RealClock(), [this](const std::stop_token& stop) { return drain_(stop); },
      [](const Followed& outcome, bool by_name) {
        return static_cast<int>(outcome.sweeps.size() * 1000 + outcome.behind.size() * 100) + (outcome.error ? 10 : 0) +
               (by_name ? 1 : 0);
      });
};

TEST_F(RequestLogTest, FollowsARequestUntilTheExportersAreDone) {
  std::promise<void> drained;
  drain_ = [&](const std::stop_token&) {
    drained.get_future().wait();
    return std::vector<std::string>{"loki"};
  };
  const std::string id = log_->Add(Kind::kSweep, /*by_name=*/true).value();
  EXPECT_EQ(Ask(id)["state"], "queued");
  EXPECT_TRUE(Ask(id)["sweep_id"].is_null());
  log_->OnFinished(SweepOf("of-somebody-else"));
  log_->OnAccepted(id, "s1");
  EXPECT_EQ(Ask(id)["state"], "running");
  EXPECT_EQ(Ask(id)["sweep_id"], "s1");
  log_->OnFinished(SweepOf("s1"));
  log_->OnFinished(SweepOf("s2"));  // by a further toolchain
  log_->OnServed(id, nullptr);
  EXPECT_EQ(Ask(id)["state"], "running");
  EXPECT_TRUE(Ask(id)["exit_code"].is_null());
  drained.set_value();
  const json done = Ended(id);
  EXPECT_EQ(done["state"], "done");
  EXPECT_EQ(done["sweeps"], (json{"s1", "s2"}));
  EXPECT_EQ(done["exporters_behind"], json{"loki"});
  EXPECT_EQ(done["exit_code"], 2101);
}

TEST_F(RequestLogTest, ReportsWhyASweepThatBeganDidNotEnd) {
  const std::string id = log_->Add(Kind::kSweep, false).value();
  log_->OnAccepted(id, "s1");
  const Error error{ErrorCode::kUnavailable, "the Hub is away"};
  log_->OnServed(id, &error);
  const json failed = Ask(id);
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["exit_code"], 10);
  EXPECT_EQ(failed["error"]["code"], "unavailable");
  EXPECT_EQ(failed["error"]["message"], "the Hub is away");
}

TEST_F(RequestLogTest, WhatIsRefusedOrReloadedHasEndedToo) {
  const std::string refused = log_->Add(Kind::kSweep, false).value();
  const Error error{ErrorCode::kUsage, "no toolchain other"};
  log_->OnRefused(refused, error);
  log_->OnServed(refused, &error);
  EXPECT_EQ(Ask(refused)["state"], "failed");
  const std::string reload = log_->Add(Kind::kReload, false).value();
  log_->OnServed(reload, nullptr);
  EXPECT_EQ(Ask(reload)["kind"], "reload");
  EXPECT_EQ(Ask(reload)["state"], "done");
  EXPECT_EQ(Ask(reload)["exit_code"], 0);
}

TEST_F(RequestLogTest, KeepsTheNewestAndNeverForgetsOneThatIsUnderWay) {
  const std::string first = log_->Add(Kind::kSweep, false).value();
  const std::string second = log_->Add(Kind::kReload, false).value();
  log_->OnServed(second, nullptr);
  for (std::size_t i = 2; i < RequestLog::kMax + 1; ++i) ASSERT_TRUE(log_->Add(Kind::kSweep, false));
  EXPECT_EQ(Ask(first)["state"], "queued");
  EXPECT_TRUE(Ask(second).is_null());
  EXPECT_FALSE(log_->Add(Kind::kSweep, false)) << "all of them wait";
  EXPECT_EQ(json::parse(log_->List())["requests"].size(), RequestLog::kMax);
  log_->Withdraw(first);
  EXPECT_TRUE(log_->Add(Kind::kSweep, false));
}

TEST_F(RequestLogTest, EndsDuringAWaitForExporters) {
  std::promise<void> waiting;
  drain_ = [&](const std::stop_token& stop) {
    std::promise<void> stopped;
    const std::stop_callback tell(stop, [&] { stopped.set_value(); });
    waiting.set_value();
    stopped.get_future().wait();
    return std::vector<std::string>{};
  };
  const std::string id = log_->Add(Kind::kSweep, false).value();
  log_->OnAccepted(id, "s1");
  log_->OnFinished(SweepOf("s1"));
  log_->OnServed(id, nullptr);
  waiting.get_future().wait();
  log_.reset();
}

}  // namespace
}  // namespace breakwatch::api
