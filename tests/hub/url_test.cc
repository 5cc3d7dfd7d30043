#include "url.h"

#include <gtest/gtest.h>

#include "model_id.h"

namespace breakwatch::hub {
namespace {

TEST(HubUrlTest, OriginIsSchemeHostAndPort) {
  EXPECT_EQ(Origin("https://Hub.Example:443/a?b"), "https://hub.example");
  EXPECT_EQ(Origin("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
  EXPECT_EQ(Origin("https://huggingface.co@evil.example/x"), "https://evil.example");
  EXPECT_EQ(Origin("https://evil.example\\@huggingface.co/"), "");
  EXPECT_EQ(Origin("http://127.1:8080/"), "http://127.0.0.1:8080") << "the address that is connected to";
  EXPECT_EQ(Origin("ftp://x/"), "");
  EXPECT_EQ(Origin("/relative"), "");
}

TEST(HubUrlTest, ResolvesRedirectTargets) {
  const std::string base = "https://h.example/a/b/c?q=1";
  EXPECT_EQ(ResolveLocation(base, "/x?y=/z"), "https://h.example/x?y=/z");
  EXPECT_EQ(ResolveLocation(base, "d/e"), "https://h.example/a/b/d/e");
  EXPECT_EQ(ResolveLocation(base, "//cdn.example/f"), "https://cdn.example/f");
  EXPECT_EQ(ResolveLocation(base, "https://cdn.example/f:g"), "https://cdn.example/f:g");
  EXPECT_EQ(ResolveLocation("https://h.example", "d"), "https://h.example/d");
}

TEST(HubUrlTest, RefusesASchemeOfAnotherKindAndAStepDown) {
  for (const char* location : {"file:///etc/passwd", "javascript:x", "http://h.example/", ""}) {
    EXPECT_EQ(ResolveLocation("https://h.example/a", location), std::nullopt) << location;
  }
  EXPECT_NE(ResolveLocation("http://h.example/a", "http://other.example/"), std::nullopt);
}

TEST(HubUrlTest, BringsThePublicHubsAddressesToTheMirror) {
  const std::string mirror = "http://127.0.0.1:9/hf";
  EXPECT_EQ(AtEndpoint("https://huggingface.co/api/x?y", mirror), mirror + "/api/x?y");
  EXPECT_EQ(AtEndpoint("https://cdn.example/x", mirror), "https://cdn.example/x");
  EXPECT_EQ(AtEndpoint("https://huggingface.co/x", "https://huggingface.co"), "https://huggingface.co/x");
}

TEST(HubUrlTest, FindsTheNextLinkAmongOthers) {
  EXPECT_EQ(NextLink("<https://h/p?a=1&cursor=x%3D>; rel=\"next\""), "https://h/p?a=1&cursor=x%3D");
  EXPECT_EQ(NextLink("<https://h/1>; rel=\"prev\", <https://h/3>; title=\"a\"; rel=\"next\""), "https://h/3");
  EXPECT_EQ(NextLink("<https://h/1>; rel=\"xet-auth\""), std::nullopt);
  EXPECT_EQ(NextLink("<https://h/1"), std::nullopt);
  EXPECT_EQ(NextLink(""), std::nullopt);
}

TEST(HubUrlTest, TakesANextPageOfTheSameListingOnly) {
  const std::string page = "/api/models?sort=downloads";
  const std::string mirror = "https://mirror.example:8443/hf";
  for (const char* link :
       {"https://huggingface.co/api/models?cursor=2", "/hf/api/models?cursor=2", "/api/models?cursor=2",
        "https://mirror.example:8443/hf/api/models?cursor=2#top", "https://MIRROR.example:8443/hf/api/models?cursor=2",
        "?cursor=2", "https://mirror.example:8443/hf/x/../api/models?cursor=2"}) {
    EXPECT_EQ(NextPage(link, page, mirror), "/api/models?cursor=2") << link;
  }
  EXPECT_EQ(NextPage("/api/models?cursor=x%3D", page, "https://user:pass@mirror.example"), "/api/models?cursor=x%3D");
  for (const char* link : {"https://evil.example/api/models?cursor=2",
                           "https://evil.example/hf/api/models?cursor=2",
                           "//evil.example/api/models?cursor=2",
                           "///evil.example/api/models?cursor=2",
                           "\\\\evil.example/api/models?cursor=2",
                           "/\\evil.example/api/models?cursor=2",
                           "https://huggingface.co\\@evil.example/api/models?cursor=2",
                           "https://huggingface.co@evil.example/api/models?cursor=2",
                           "https://user:pass@huggingface.co/api/models?cursor=2",
                           "https://user@mirror.example:8443/hf/api/models?cursor=2",
                           "https://mirror.example/hf/api/models?cursor=2",
                           "https://mirror.example:8444/hf/api/models?cursor=2",
                           "http://mirror.example:8443/hf/api/models?cursor=2",
                           "http://huggingface.co/api/models?cursor=2",
                           "https://huggingface.co:8443/api/models?cursor=2",
                           "https://huggingface.co.evil.example/api/models?cursor=2",
                           "ftp://huggingface.co/api/models",
                           "file:///api/models?cursor=2",
                           "/hf/api/datasets?cursor=2",
                           "/hf/api/models/../../x",
                           "/hf/api/models ?a",
                           "https://mirror.example:8443/hf/api/models?\r\nHost: evil",
                           "",
                           "https://",
                           "https:///api/models?cursor=2"}) {
    EXPECT_EQ(NextPage(link, page, mirror), std::nullopt) << link;
  }
}

TEST(ModelIdTest, AcceptsWhatTheHubCallsAModel) {
  for (const char* id : {"gpt2", "org/name", "a/b--c.d_e", "0x/1"}) EXPECT_TRUE(IsModelId(id)) << id;
  for (const char* id : {"", "a/b/c", "a//b", "/a", "a/", "..", "a/..", "a b", "a@b", "ä/b"}) {
    EXPECT_FALSE(IsModelId(id)) << id;
  }
  EXPECT_FALSE(IsModelId(std::string(201, 'a')));
}

TEST(ModelIdTest, SplitsARevisionOff) {
  EXPECT_EQ(ParseNamedModel("a/b")->revision, "");
  EXPECT_EQ(ParseNamedModel("a/b@refs/pr/1")->revision, "refs/pr/1");
  EXPECT_EQ(ParseNamedModel("a/b@v1.0")->id, "a/b");
  for (const char* bad : {"a/b@", "a/b@../x", "@x", "a/b@c d", "a/b@c@d"}) EXPECT_FALSE(ParseNamedModel(bad)) << bad;
}

}  // namespace
}  // namespace breakwatch::hub
