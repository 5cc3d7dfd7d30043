#include "hub.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_recording.h"

namespace breakwatch::hub_replay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class ManualClock : public Clock {
 public:
  SystemTime Now() const override { return SystemTime(std::chrono::seconds(1'700'000'000)); }
  SteadyTime Steady() const override { return steady; }
  SteadyTime steady{};
};

class HubTest : public ::testing::Test {
 protected:
  HubTest() {
    files_.Add(Body("org/model", "01", {{"downloads", 3}})).Add(Body("org/other", "02", {{"downloads", 2}}));
    files_.Add(Body("old", "03")).Add(Body("org/a--b", "04", {{"downloads", nullptr}}));
    files_.File("org/model", kSha, "config.json", "{\"model_type\": \"bert\"}")
        .File("org/model", kOldSha, "config.json", "{}");
    files_.File("org/model", kSha, "sub/deep/x.txt", "x").File("org/model", kSha, "model.safetensors", "0123456789");
    files_.File("org/a--b", kSha, "config.json", "{}").File("old", kSha, "config.json", "{}");
    files_.Write("redirects.json", R"({"legacy": "org/model", "gone/org": "org/model"})");
  }

  Hub& hub() {
    if (!hub_) {
      auto recording = Recording::Load(files_.dir());
      EXPECT_TRUE(recording.ok()) << recording.error().message;
      hub_ = std::make_unique<Hub>(*std::move(recording), "https://huggingface.co", clock_);
    }
    return *hub_;
  }

  Answer Ask(const std::string& target, Pairs headers = {}, const std::string& method = "GET", std::string body = "") {
    return hub().Handle({method, target, std::move(headers), std::move(body), "127.0.0.1"});
  }
  Answer AskAs(const std::string& token, const std::string& target) {
    return Ask(target, {{"authorization", "Bearer " + token}});
  }

  static std::string Of(const Answer& answer, const std::string& name) {
    for (const auto& [key, value] : answer.headers) {
      if (key == name) return value;
    }
    return "(absent)";
  }

  SmallRecording files_;
  ManualClock clock_;
  std::unique_ptr<Hub> hub_;
};

constexpr const char* kConfig = "/org/model/resolve/main/config.json";

TEST_F(HubTest, LinksTheNextPageAbsolutelyAtAForeignHostAndEchoesTheQuery) {
  const Answer answer = Ask("/api/models?limit=1&sort=downloads&direction=-1&full=false");
  EXPECT_THAT(Of(answer, "Link"),
              StartsWith("<https://huggingface.co/api/models?limit=1&sort=downloads&direction=-1&full=false&cursor="));
  EXPECT_THAT(Of(answer, "Link"), testing::EndsWith(">; rel=\"next\""));
  EXPECT_EQ(Of(Ask("/api/models?limit=50"), "Link"), "(absent)");
}

TEST_F(HubTest, FollowsItsOwnLinksToTheEnd) {
  std::string target = "/api/models?limit=1&sort=downloads", ids;
  for (int page = 0; page < 10; ++page) {
    const Answer answer = Ask(target);
    for (const Json& model : Json::parse(answer.body)) ids += model["id"].get<std::string>() + " ";
    const std::string link = Of(answer, "Link");
    if (link == "(absent)") break;
    target = link.substr(link.find("/api/"), link.find('>') - link.find("/api/"));
  }
  EXPECT_EQ(ids, "org/model org/other old org/a--b ");
}

TEST_F(HubTest, ReturnsAnEmptyListWithoutALink) {
  const Answer answer = Ask("/api/models?search=nothing-like-it");
  EXPECT_EQ(answer.body, "[]");
  EXPECT_EQ(Of(answer, "Link"), "(absent)");
}

TEST_F(HubTest, RedirectsRenamedLegacyAndWrongCaseIdsWithTailAndQuery) {
  Answer answer = Ask("/api/models/legacy?expand[]=sha");
  EXPECT_EQ(answer.status, 307);
  EXPECT_EQ(Of(answer, "Location"), "/api/models/org/model?expand[]=sha");
  EXPECT_EQ(answer.body, "Temporary Redirect. Redirecting to /api/models/org/model?expand[]=sha");
  EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(Of(answer, "Vary"), "Origin, Accept");
  EXPECT_EQ(Of(Ask("/api/models/legacy/commits/main?limit=1"), "Location"),
            "/api/models/org/model/commits/main?limit=1");
  EXPECT_EQ(Of(Ask("/api/models/ORG/Model"), "Location"), "/api/models/org/model");
  EXPECT_EQ(Of(Ask("/gone/org/resolve/main/config.json"), "Location"), "/org/model/resolve/main/config.json");
  EXPECT_EQ(Of(Ask("/legacy/resolve/main/config.json"), "Location"), "/org/model/resolve/main/config.json");
}

TEST_F(HubTest, ServesIdsOfOnePartAndIdsWithTwoDashes) {
  EXPECT_EQ(Json::parse(Ask("/api/models/old").body)["id"], "old");
  EXPECT_EQ(Ask("/old/resolve/main/config.json").status, 307);
  EXPECT_EQ(Json::parse(Ask("/api/models/org/a--b/tree/main").body).size(), 1u);
}

TEST_F(HubTest, AnswersAlikeForMissingAndPrivateWithoutAToken) {
  files_.Write("faults.json", R"({"models": {"org/other": "private"}})");
  for (const char* target : {"/api/models/org/none", "/api/models/org/other", "/org/none/resolve/main/config.json"}) {
    const Answer answer = Ask(target);
    EXPECT_EQ(answer.status, 401) << target;
    EXPECT_EQ(Of(answer, "X-Error-Code"), "(absent)");
    EXPECT_EQ(Of(answer, "X-Error-Message"), "Invalid username or password.");
    EXPECT_EQ(Of(answer, "WWW-Authenticate"), "Bearer realm=\"Authentication required\"");
    EXPECT_EQ(answer.body, R"({"error":"Invalid username or password."})");
  }
  const Answer with_token = AskAs("hf_any", "/api/models/org/none");
  EXPECT_EQ(with_token.status, 404);
  EXPECT_EQ(Of(with_token, "X-Error-Code"), "RepoNotFound");
  EXPECT_THAT(Ask("/api/models").body, Not(HasSubstr("org/other")));
}

TEST_F(HubTest, ListsAModelThatIsMissingWhenRequested) {
  files_.Write("faults.json", R"({"models": {"org/other": "missing"}})");
  EXPECT_THAT(Ask("/api/models").body, HasSubstr("org/other"));
  EXPECT_EQ(Ask("/api/models/org/other").status, 401);
}

TEST_F(HubTest, GuardsTheBytesOfGatedModelsButNotTheirInfo) {
  files_.Write("faults.json", R"({"models": {"org/model": "gated"}, "tokens": {"in": ["org/model"], "out": []}})");
  EXPECT_EQ(Json::parse(Ask("/api/models/org/model").body)["gated"], "manual");
  EXPECT_EQ(Ask("/api/models/org/model/tree/main").status, 200);
  for (const char* target : {kConfig, "/api/models/org/model/commits/main"}) {
    const Answer anonymous = Ask(target), stranger = AskAs("out", target);
    EXPECT_EQ(anonymous.status, 401);
    EXPECT_EQ(Of(anonymous, "X-Error-Code"), "GatedRepo");
    EXPECT_THAT(Of(anonymous, "X-Error-Message"), StartsWith("Access to model org/model is restricted. You must have"));
    EXPECT_EQ(stranger.status, 403);
    EXPECT_EQ(Of(stranger, "X-Error-Code"), "GatedRepo");
    EXPECT_THAT(Of(stranger, "X-Error-Message"), HasSubstr("you are not in the authorized list. Visit "));
  }
  EXPECT_EQ(AskAs("in", kConfig).status, 307);
}

TEST_F(HubTest, RejectsAnInvalidToken) {
  files_.Write("faults.json", R"({"tokens": {"good": []}})");
  const Answer answer = AskAs("bad", "/api/models");
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(Of(answer, "X-Error-Message"), "Invalid credentials in Authorization header");
  EXPECT_EQ(AskAs("good", "/api/models").status, 200);
}

TEST_F(HubTest, ListsDisabledModelsButServesNoFiles) {
  files_.Write("faults.json", R"({"models": {"org/model": "disabled"}})");
  EXPECT_EQ(Json::parse(Ask("/api/models/org/model").body)["disabled"], true);
  const Answer answer = Ask(kConfig);
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(Of(answer, "X-Error-Message"), "Access to this resource is disabled.");
  EXPECT_EQ(Of(answer, "X-Error-Code"), "(absent)");
}

TEST_F(HubTest, NamesTheRevisionThatIsNotThere) {
  const Answer api = Ask("/api/models/org/model/revision/no%2Fsuch"), file = Ask("/org/model/resolve/none/config.json");
  EXPECT_EQ(api.status, 404);
  EXPECT_EQ(Of(api, "X-Error-Code"), "RevisionNotFound");
  EXPECT_EQ(api.body, R"({"error":"Invalid rev id: no/such"})");
  EXPECT_EQ(file.status, 404);
  EXPECT_EQ(file.body, "Invalid rev id: none");
}

TEST_F(HubTest, NamesTheCommitOfAMissingFile) {
  const Answer answer = Ask("/org/model/resolve/main/none.json");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(Of(answer, "X-Error-Code"), "EntryNotFound");
  EXPECT_EQ(Of(answer, "X-Repo-Commit"), kSha);
  EXPECT_EQ(answer.body, "Entry not found");
  EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
}

TEST_F(HubTest, ServesASmallFileThroughARelativeRedirect) {
  const Answer first = Ask(kConfig);
  EXPECT_EQ(first.status, 307);
  EXPECT_EQ(Of(first, "X-Repo-Commit"), kSha);
  ASSERT_THAT(Of(first, "Location"),
              StartsWith("/api/resolve-cache/models/org/model/" + std::string(kSha) + "/config.json?"));
  const Answer second = Ask(Of(first, "Location"));
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, "{\"model_type\": \"bert\"}");
  EXPECT_EQ(Of(second, "X-Repo-Commit"), kSha);
  EXPECT_EQ(Of(second, "ETag"), "\"46332c50668921e90868a1d44a2550bb60ffdb1d\"") << "the git blob's sha1";
  EXPECT_EQ(Ask(Of(first, "Location"), {{"If-None-Match", Of(second, "ETag")}}).status, 304);
}

TEST_F(HubTest, AnswersRanges) {
  const std::string target = "/api/resolve-cache/models/org/model/" + std::string(kSha) + "/config.json";
  const auto part = [&](const char* range) { return Ask(target, {{"Range", range}}); };
  EXPECT_EQ(part("bytes=0-4").body, "{\"mod");
  EXPECT_EQ(part("bytes=0-4").status, 206);
  EXPECT_EQ(Of(part("bytes=0-4"), "Content-Range"), "bytes 0-4/22");
  EXPECT_EQ(part("bytes=-2").body, "\"}");
  EXPECT_EQ(Of(part("bytes=20-900"), "Content-Range"), "bytes 20-21/22");
  EXPECT_EQ(part("bytes=22-").status, 416);
  EXPECT_EQ(Of(part("bytes=22-"), "Content-Range"), "bytes */22");
  for (const char* none : {"bytes=5-2", "bytes=a-b", "lines=0-1", "bytes=0-1,3-4", "bytes=-"}) {
    EXPECT_EQ(part(none).status, 200) << none;
  }
}

TEST_F(HubTest, SendsLargeFilesElsewhereWithTheirSizeAndDigest) {
  const Answer answer = Ask("/org/model/resolve/main/model.safetensors", {{"Host", "127.0.0.1:9"}});
  EXPECT_EQ(answer.status, 302);
  EXPECT_EQ(Of(answer, "X-Linked-Size"), "10");
  EXPECT_EQ(Of(answer, "X-Linked-ETag"), "\"84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882\"");
  const std::string location = Of(answer, "Location");
  ASSERT_THAT(location, StartsWith("http://127.0.0.1:9/lfs/org/model/"));
  const Answer bytes = Ask(location.substr(location.find("/lfs")));
  EXPECT_EQ(bytes.body, "0123456789");
  EXPECT_NE(Of(bytes, "ETag"), Of(answer, "X-Linked-ETag"));
}

TEST_F(HubTest, NeverLeavesTheFolderOfACommit) {
  for (const char* path :
       {"../../../recording.json", "%2e%2e/%2e%2e/%2e%2e/recording.json", "..%2F..%2F..%2Frecording.json",
        "config.json%00", "sub//deep/x.txt/..", "%2Fetc%2Fpasswd"}) {
    EXPECT_EQ(Ask("/org/model/resolve/main/" + std::string(path)).status, 404) << path;
  }
}

TEST_F(HubTest, ListsTreesFlatDeepAndInPages) {
  const auto paths = [&](const std::string& tail) {
    std::string all;
    for (const Json& entry : Json::parse(Ask("/api/models/org/model/tree/main" + tail).body)) {
      all += entry["path"].get<std::string>() + (entry["type"] == "file" ? " " : "/ ");
    }
    return all;
  };
  EXPECT_EQ(paths(""), "config.json model.safetensors sub/ ");
  EXPECT_EQ(paths("?recursive=True"), "config.json model.safetensors sub/ sub/deep/ sub/deep/x.txt ");
  EXPECT_EQ(paths("/sub/deep"), "sub/deep/x.txt ");
  const Answer page = Ask("/api/models/org/model/tree/main?limit=1&recursive=true");
  const std::string link = Of(page, "Link");
  ASSERT_THAT(link, StartsWith("<https://huggingface.co/api/models/org/model/tree/"));
  EXPECT_THAT(Ask(link.substr(link.find("/api/"), link.find('>') - link.find("/api/"))).body,
              HasSubstr("model.safetensors"));
  EXPECT_EQ(Of(Ask("/api/models/org/model/tree/main/none"), "X-Error-Code"), "EntryNotFound");
}

TEST_F(HubTest, ReturnsInfoOfPathsAndOmitsMissingOnes) {
  const Answer answer =
      Ask("/api/models/org/model/paths-info/main", {}, "POST", "paths=config.json&paths=none&paths=sub");
  const Json list = Json::parse(answer.body);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["oid"], "46332c50668921e90868a1d44a2550bb60ffdb1d");
  EXPECT_EQ(list[1]["type"], "directory");
}

TEST_F(HubTest, CountsAndPagesCommits) {
  const Answer answer = Ask("/api/models/org/model/commits/main?limit=1");
  EXPECT_EQ(Of(answer, "X-Total-Count"), "2");
  EXPECT_THAT(Of(answer, "Link"), HasSubstr("/commits/main?p=1&limit=1>; rel=\"next\""));
  EXPECT_EQ(Json::parse(Ask("/api/models/org/model/commits/main?limit=1&p=1").body)[0]["id"], kOldSha);
  EXPECT_EQ(Json::parse(Ask("/api/models/org/model/refs").body)["branches"][0]["targetCommit"], kSha);
}

TEST_F(HubTest, PinsInfoToAnOlderCommit) {
  const Json body = Json::parse(Ask("/api/models/org/model/revision/" + std::string(kOldSha) + "?blobs=true").body);
  EXPECT_EQ(body["sha"], kOldSha);
  EXPECT_EQ(
      body["siblings"],
      Json::parse(R"([{"rfilename":"config.json","size":2,"blobId":"9e26dfeeb6e641a33dae4961196235bdb965b21b"}])"));
}

TEST_F(HubTest, CountsRequestsPerWindowBucketAndAddress) {
  files_.Write("faults.json", R"({"rate_limit": {"api": 2, "window_s": 60}})");
  EXPECT_EQ(Of(Ask("/api/models"), "RateLimit"), "\"api\";r=1;t=60");
  clock_.steady += std::chrono::seconds(20);
  const Answer last = Ask("/api/models/org/none"), refused = Ask("/api/models");
  EXPECT_EQ(Of(last, "RateLimit"), "\"api\";r=0;t=40") << "errors count";
  EXPECT_EQ(Of(last, "RateLimit-Policy"), "\"fixed window\";\"api\";q=2;w=60");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(Of(refused, "RateLimit"), "\"api\";r=0;t=40");
  EXPECT_THAT(refused.content_type, StartsWith("text/html"));
  EXPECT_THAT(Of(Ask(kConfig), "RateLimit"), StartsWith("\"resolvers\";"));
  EXPECT_EQ(hub().Handle({"GET", "/api/models", {}, "", "127.0.0.2"}).status, 200) << "another address";
  clock_.steady += std::chrono::seconds(40);
  EXPECT_EQ(Ask("/api/models").status, 200);
}

TEST_F(HubTest, FailsListPagesAndFilesAsRecorded) {
  files_.Write("faults.json", R"({"list": {"status": 504, "after": 1, "times": 1, "retry_after_s": 2},
                                  "resolve": {"status": 503, "times": 1}})");
  EXPECT_EQ(Ask("/api/models").status, 200);
  const Answer failed = Ask("/api/models");
  EXPECT_EQ(failed.status, 504);
  EXPECT_EQ(Of(failed, "Retry-After"), "2");
  EXPECT_EQ(Ask("/api/models").status, 200);
  EXPECT_EQ(Ask(kConfig).status, 503);
  EXPECT_EQ(Ask(kConfig).status, 307);
}

TEST_F(HubTest, RefusesOtherMethods) {
  for (const char* method : {"PUT", "DELETE", "PATCH", "OPTIONS"})
    EXPECT_EQ(Ask(kConfig, {}, method).status, 405) << method;
  EXPECT_EQ(Ask("/api/models", {}, "POST").status, 405);
  EXPECT_EQ(Ask("/api/models/org/model/tree/main", {}, "POST").status, 405);
  EXPECT_EQ(Ask("/api/models/org/model/paths-info/main").status, 405);
  EXPECT_EQ(Of(Ask(kConfig, {}, "PUT"), "Allow"), "GET, HEAD");
}

TEST_F(HubTest, KeepsControlCharactersOfARequestOutOfHeaders) {
  const Answer answer = Ask("/org/model/resolve/a%0D%0ASet-Cookie:%20x/config.json");
  EXPECT_EQ(Of(answer, "X-Error-Message"), "Invalid rev id: a  Set-Cookie: x");
}

TEST_F(HubTest, EchoesTheClientsRequestId) {
  EXPECT_THAT(Of(Ask("/api/models", {{"X-Amzn-Trace-Id", "mine"}}), "X-Request-Id"), testing::EndsWith(";mine"));
}

TEST(RecordingTest, NamesTheLineThatItCannotUnderstand) {
  const std::pair<std::string, std::string> kBad[] = {
      {"{", "models.jsonl:1"},
      {"[]", "not an object"},
      {R"({"_id":"1","id":"a/b/c","sha":"1111111111111111111111111111111111111111"})", "id: not a model id"},
      {R"({"_id":"1","id":"../b","sha":"1111111111111111111111111111111111111111"})", "id: not a model id"},
      {R"({"_id":"1","id":"a/b","sha":"main"})", "sha: not 40 hex digits"},
      {R"({"id":"a/b","sha":"1111111111111111111111111111111111111111"})", "_id: missing"},
      {std::string(200, '[') + std::string(200, ']'), "models.jsonl:1"}};
  for (const auto& [line, message] : kBad) {
    SmallRecording files;
    files.Write("models.jsonl", line + "\n");
    const auto recording = Recording::Load(files.dir());
    ASSERT_FALSE(recording.ok()) << line;
    EXPECT_THAT(recording.error().message, HasSubstr(message));
    EXPECT_EQ(recording.error().code, ErrorCode::kInvalid);
  }
}

TEST(RecordingTest, RejectsWhatIsNotARecordingOrHasAnotherFormat) {
  SmallRecording files;
  EXPECT_EQ(Recording::Load(files.dir() / "none").error().code, ErrorCode::kNotFound);
  files.Write("recording.json", R"({"format": 2})");
  EXPECT_THAT(Recording::Load(files.dir()).error().message, HasSubstr("format: expected 1"));
}

TEST(RecordingTest, RefusesFaultsItDoesNotKnow) {
  for (const char* text :
       {R"({"modles": {}})", R"({"models": {"a/b": "sleepy"}})", R"({"models": {"a/b": "gated"}})",
        R"({"rate_limit": {"api": -1}})", R"({"list": {"status": 200}})", R"({"tokens": {"x": "y"}})", "[]"}) {
    SmallRecording files;
    files.Write("faults.json", text);
    const auto recording = Recording::Load(files.dir());
    ASSERT_FALSE(recording.ok()) << text;
    EXPECT_THAT(recording.error().message, HasSubstr("faults.json"));
  }
}

}  // namespace
}  // namespace breakwatch::hub_replay
