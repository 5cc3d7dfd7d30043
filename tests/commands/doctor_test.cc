// `breakwatch doctor`: each check, and the fix that it prints.
#include "commands/command_fixture.h"

namespace breakwatch::commands {
namespace {

class DoctorTest : public CommandTest {
 protected:
  DoctorTest() {
    answer_ = [this](const net::HttpRequest& request) -> Result<net::HttpResponse> {
      requests_.push_back(request);
      if (request.url.starts_with(away_) && !away_.empty()) {
        return Error{ErrorCode::kUnavailable, request.url + ": connection refused", true, {}};
      }
      return net::HttpResponse{status_, {}, ""};
    };
  }
  nlohmann::json CheckOf(const std::string& name, const std::string& flags = "", int code = kExitOk) {
    const auto checked = RunJson("doctor " + flags, code);
    for (const auto& check : checked["checks"]) {
      if (check["check"] == name) return check;
    }
    ADD_FAILURE() << name;
    return {};
  }

  std::vector<net::HttpRequest> requests_;
  std::string away_;  // the URL of a server that does not answer
  int status_ = 200;
};

TEST_F(DoctorTest, SucceedsIfNothingIsWrong) {
  const Ran ran = Run("doctor");
  EXPECT_THAT(ran, Prints("ok       worker       default torch 2.15.0"));
  EXPECT_THAT(ran, Prints("http://hub.test responds"));
  EXPECT_THAT(ran, Prints("the first sweep creates sqlite:" + StateDir()));
}

TEST_F(DoctorTest, PrintsTheSameAsJson) {
  std::set<std::string> names;
  const auto checked = RunJson("doctor");
  for (const auto& check : checked["checks"]) names.insert(check["check"]);
  EXPECT_EQ(names, (std::set<std::string>{"packages", "worker", "hub", "pushgateway", "store", "disk"}));
}

TEST_F(DoctorTest, FailsWithAFixIfAPartOfTheWorkerIsMissing) {
  toolchain_checks_ = {{"sandbox", Check::State::kFailed, "bubblewrap does not run here", "install bubblewrap"}};
  const Ran ran = Run("doctor");
  EXPECT_THAT(ran, EndsWith(kExitFailure));
  EXPECT_THAT(ran.out, HasSubstr("failed   sandbox      bubblewrap does not run here"));
  EXPECT_THAT(ran.out, HasSubstr("-> install bubblewrap"));
}

TEST_F(DoctorTest, SucceedsWithAWarning) {
  toolchain_checks_ = {{"torch", Check::State::kWarning, "breakwatch-runner is not built", "run `make build`"}};
  EXPECT_THAT(Run("doctor"), Prints("warning  torch"));
}

TEST_F(DoctorTest, AsksTheHubThatASweepWouldAsk) {
  away_ = "http://hub.test";
  EXPECT_EQ(CheckOf("hub", "", kExitFailure)["state"], "failed");
  EXPECT_EQ(requests_.back().url, "http://hub.test/api/models?limit=1");
  EXPECT_EQ(CheckOf("hub", "--hub.source snapshot")["state"], "ok");
  hub_endpoint_ = "";
  EXPECT_THAT(CheckOf("hub")["found"].get<std::string>(), HasSubstr("offline"));
}

TEST_F(DoctorTest, FailsIfAServerAnswersWithAnError) {
  status_ = 503;
  EXPECT_THAT(CheckOf("hub", "", kExitFailure)["found"].get<std::string>(), HasSubstr("503"));
}

TEST_F(DoctorTest, AsksTheExportersWithTheirCredentials) {
  folder_.Write("password", "hush\n");
  const std::string loki =
      "--exporters.loki.url http://loki.test --exporters.loki.username me "
      "--exporters.loki.password_file " +
      (folder_ / "password");
  EXPECT_EQ(CheckOf("loki", loki)["state"], "ok");
  EXPECT_EQ(requests_.back().url, "http://loki.test/ready");
  EXPECT_EQ(requests_.back().user, "me");
  EXPECT_EQ(requests_.back().password, "hush");
  away_ = "http://gateway.test";
  const auto gateway = CheckOf("pushgateway", "--exporters.pushgateway.url http://gateway.test", kExitFailure);
  EXPECT_THAT(gateway["fix"].get<std::string>(), HasSubstr("exporters.pushgateway.url"));
}

TEST_F(DoctorTest, WritesARequestWithoutSeriesToAReceiver) {
  folder_.Write("token", "hush\n");
  folder_.Write("site.yaml",
                "exporters: {remote_write: {url: 'http://receiver.test/api/v1/write', tenant: ml, "
                "headers: ['X-Group: a'], bearer_token_file: " +
                    (folder_ / "token") + "}}\n");
  const std::string receiver = "--config.file " + (folder_ / "site.yaml");
  EXPECT_EQ(CheckOf("remote_write", receiver)["state"], "ok");
  const net::HttpRequest& request = requests_.back();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, "http://receiver.test/api/v1/write");
  EXPECT_EQ(request.body, std::string(1, '\0'));
  EXPECT_EQ(request.bearer_token, "hush");
  EXPECT_THAT(request.headers,
              testing::IsSupersetOf({std::pair<std::string, std::string>("X-Scope-OrgID", "ml"),
                                     std::pair<std::string, std::string>("X-Group", "a"),
                                     std::pair<std::string, std::string>("Content-Encoding", "snappy")}));
  status_ = 204;
  EXPECT_EQ(CheckOf("remote_write", receiver)["state"], "ok");
  status_ = 404;
  EXPECT_THAT(CheckOf("remote_write", receiver, kExitFailure)["fix"].get<std::string>(),
              HasSubstr("exporters.remote_write.url"));
}

TEST_F(DoctorTest, NamesADamagedStore) {
  HubLists({FakeModel("org/a", 1, Config(1))});
  ASSERT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(CheckOf("store")["state"], "ok");
  Sql("UPDATE results SET document = '{'");
  EXPECT_THAT(CheckOf("store", "", kExitFailure)["fix"].get<std::string>(), HasSubstr("breakwatch store check"));
}

TEST_F(DoctorTest, NamesAnExporterThatIsPausedOrWasRefused) {
  HubLists({FakeModel("org/a", 1, Config(1))});
  ASSERT_THAT(Run("sweep"), Succeeds());
  const std::string loki = "--exporters.loki.url http://loki.test";
  const auto event = Store()->EventsAfter(0, 1, 1)->at(0);
  ASSERT_TRUE(Store()->BuryEvent("loki", event, "400 entry too far behind").ok());
  EXPECT_THAT(CheckOf("events", loki)["fix"].get<std::string>(), HasSubstr("dead-letters list"));
  ASSERT_TRUE(Store()->SetPaused("loki", "400 disallowed").ok());
  EXPECT_THAT(CheckOf("events", loki, kExitFailure)["found"].get<std::string>(), HasSubstr("400 disallowed"));
  EXPECT_THAT(Run("doctor"), Succeeds()) << "of an exporter that is not configured nothing is expected";
}

}  // namespace
}  // namespace breakwatch::commands
