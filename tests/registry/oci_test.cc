// The OCI registry against a scripted one: uploads in parts, faults between them, credentials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "breakwatch/core/package.h"
#include "breakwatch/core/text.h"
#include "breakwatch/exporters/registry.h"
#include "fakes/fake_clock.h"
#include "fakes/sample_package.h"
#include "fakes/temporary_directory.h"
#include "net/scripted_server.h"

namespace breakwatch::exporters {
namespace {

using ::breakwatch::testing::Reply;
using ::breakwatch::testing::ScriptedServer;
using ::breakwatch::testing::SeenRequest;
using ::testing::HasSubstr;

// Blobs, uploads and tags as distribution keeps them.
class Registry {
 public:
  Reply Answer(const SeenRequest& request) {
    if (const auto fault = on_request ? on_request(request) : std::nullopt) return *fault;
    const std::string path = request.Path(), name = path.substr(path.rfind('/') + 1);
    if (path.find("/manifests/") != std::string::npos) {
      const std::string digest = "sha256:" + Sha256Hex(request.body);
      if (request.method == "PUT") return manifests[digest] = request.body, tags[name] = digest, Reply{.status = 201};
      const std::string wanted = tags.contains(name) ? tags[name] : name;
      return manifests.contains(wanted) ? Reply{.body = manifests[wanted]} : Reply{.status = 404};
    }
    if (request.method == "HEAD" || (request.method == "GET" && path.find("/uploads/") == std::string::npos)) {
      if (!blobs.contains(name)) return {.status = 404};
      return Part(request, blobs[name]);
    }
    if (request.method == "POST") return {.status = 202, .headers = {{"Location", path + "one?state=0"}}};
    if (request.method == "GET") return {.status = 204, .headers = Place(path)};
    if (request.method == "PATCH") return Append(request, path);
    const std::string content = upload + request.body;
    upload.clear();
    if ("sha256:" + Sha256Hex(content) != request.Query("digest").front()) return {.status = 400};
    return blobs[request.Query("digest").front()] = content, Reply{.status = 201};
  }

  std::function<std::optional<Reply>(const SeenRequest&)> on_request;
  std::map<std::string, std::string> blobs, manifests, tags;
  std::string upload;

 private:
  std::vector<std::pair<std::string, std::string>> Place(const std::string& path) const {
    return {{"Location", path + "?state=" + std::to_string(upload.size())},
            {"Range", "0-" + std::to_string(upload.size() - 1)}};
  }
  Reply Append(const SeenRequest& request, const std::string& path) {
    if (!request.Header("content-range").starts_with(std::to_string(upload.size()) + "-")) return {.status = 416};
    upload += request.body;
    return {.status = 202, .headers = Place(path)};
  }
  static Reply Part(const SeenRequest& request, const std::string& content) {
    const std::string range = request.Header("range");
    if (range.empty()) return {.body = content};
    const std::size_t first = std::stoul(range.substr(6)), last = std::stoul(range.substr(range.find('-') + 1));
    return {.status = 206,
            .headers = {{"Content-Range", "bytes " + range.substr(6) + "/" + std::to_string(content.size())}},
            .body = content.substr(first, last - first + 1)};
  }
};

class OciTest : public ::testing::Test {
 protected:
  OciTest() {
    const auto files = std::map<std::string, std::string>{{"package.pt2", "0123456789abcdefghij"}, {"empty", ""}};
    fakes::WriteSamplePackage(folder_ / "package", files);
    package_ = *VerifyPackage(folder_ / "package");
    files_ = *AllFilesOf(package_);
  }
  std::unique_ptr<ArtifactRegistry> Make(const std::string& rest = "/team/models") {
    RegistryOptions options;
    options.chunk_bytes = 8;
    options.timeout = std::chrono::seconds(1);
    options.pause = std::chrono::milliseconds(1);
    options.user = "me", options.password = "secret";
    options.make_sender = [] { return net::MakeHttpSender("test"); };
    auto made = MakeRegistry("oci:" + server_.Authority() + rest, std::move(options), clock_);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return *std::move(made);
  }
  std::string Pull(ArtifactRegistry& registry, const PackageQuery& query = {}) {
    std::filesystem::remove_all(folder_ / "pulled");
    std::filesystem::create_directory(folder_ / "pulled");
    const auto pulled = registry.Pull(query, folder_ / "pulled");
    if (!pulled) return pulled.error().message;
    const auto verified = VerifyPackage(folder_ / "pulled");
    return verified ? verified->id : verified.error().message;
  }

  fakes::TemporaryDirectory folder_;
  fakes::FakeClock clock_;
  Registry registry_;
  ScriptedServer server_{[this](const SeenRequest& request) { return registry_.Answer(request); }};
  Package package_;
  std::vector<PackageFile> files_;
};

TEST_F(OciTest, SendsAndFetchesLargeFilesInParts) {
  const auto registry = Make();
  const auto reference = registry->Publish(package_, files_);
  ASSERT_TRUE(reference.ok()) << reference.error().message;
  EXPECT_EQ(registry_.blobs["sha256:" + Sha256Hex("0123456789abcdefghij")], "0123456789abcdefghij");
  EXPECT_EQ(registry_.tags.size(), 2u) << "latest, and one for the package";
  EXPECT_EQ(Pull(*registry), package_.id);
  EXPECT_EQ(Pull(*Make(reference->substr(reference->find("/team")))), package_.id);
  EXPECT_EQ(Pull(*registry, {.package_id = package_.id}), package_.id);
}

TEST_F(OciTest, ContinuesAfterAPartThatArrivedWithoutItsAnswer) {
  bool cut = false;
  registry_.on_request = [&](const SeenRequest& request) -> std::optional<Reply> {
    if (request.method != "PATCH" || cut) return std::nullopt;
    cut = true;
    registry_.upload += request.body;
    return Reply{.hang_up = true};
  };
  ASSERT_TRUE(Make()->Publish(package_, files_).ok());
  EXPECT_TRUE(cut);
  EXPECT_EQ(Pull(*Make()), package_.id);
}

TEST_F(OciTest, WritesNoReferenceIfABlobIsMissing) {
  registry_.on_request = [&](const SeenRequest& request) -> std::optional<Reply> {
    if (request.method == "PUT" && request.Path().find("/uploads/") != std::string::npos) return Reply{.status = 507};
    return std::nullopt;
  };
  const auto published = Make()->Publish(package_, files_);
  ASSERT_FALSE(published.ok());
  EXPECT_EQ(published.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(registry_.tags.empty());
}

TEST_F(OciTest, RefusesAPartOtherThanTheOneItAskedFor) {
  const auto registry = Make();
  ASSERT_TRUE(registry->Publish(package_, files_).ok());
  registry_.on_request = [&](const SeenRequest& request) -> std::optional<Reply> {
    if (request.Header("range") != "bytes=8-15") return std::nullopt;
    return Reply{.status = 206, .headers = {{"Content-Range", "bytes 0-7/20"}}, .body = "01234567"};
  };
  EXPECT_THAT(Pull(*registry), HasSubstr("asked for bytes 8-15, got bytes 0-7/20"));
}

TEST_F(OciTest, GivesUpOnARegistryThatSaysNothing) {
  registry_.on_request = [](const SeenRequest&) { return Reply{.hang = true}; };
  const auto began = std::chrono::steady_clock::now();
  const auto published = Make()->Publish(package_, files_);
  ASSERT_FALSE(published.ok());
  EXPECT_EQ(published.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(published.error().message, HasSubstr(server_.Authority()));
  EXPECT_EQ(server_.Requests().size(), 2u) << "tried again once";
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST_F(OciTest, ExchangesAChallengeForATokenAndSendsTheUserNowhereElse) {
  registry_.on_request = [&](const SeenRequest& request) -> std::optional<Reply> {
    const std::string authorization = request.Header("authorization");
    if (request.Path() == "/token") {
      EXPECT_TRUE(authorization.starts_with("Basic ")) << authorization;
      return Reply{.body = R"({"token":"t0ken"})"};
    }
    if (authorization == "Bearer t0ken") return std::nullopt;
    return Reply{
        .status = 401,
        .headers = {{"WWW-Authenticate", "Bearer realm=\"" + server_.Url() + "/token\",service=\"s\",scope=\"x\""}}};
  };
  ASSERT_TRUE(Make()->Publish(package_, files_).ok());
  EXPECT_EQ(Pull(*Make()), package_.id);
  // Another host gets no credentials, also by a redirect.
  ScriptedServer other([&](const SeenRequest& request) {
    EXPECT_EQ(request.Header("authorization"), "");
    SeenRequest same = request;
    registry_.on_request = nullptr;
    return registry_.Answer(same);
  });
  registry_.on_request = [&](const SeenRequest& request) -> std::optional<Reply> {
    if (request.Path().find("/blobs/") == std::string::npos) return std::nullopt;
    return Reply{.status = 307, .headers = {{"Location", other.Url() + request.target}}};
  };
  EXPECT_EQ(Pull(*Make()), package_.id);
}

}  // namespace
}  // namespace breakwatch::exporters
