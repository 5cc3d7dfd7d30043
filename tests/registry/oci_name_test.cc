#include "oci_name.h"

#include <gtest/gtest.h>

namespace breakwatch::exporters {
namespace {

TEST(OciNameTest, ReadsHostRepositoryAndTag) {
  const auto name = ParseOciName("registry.example:5000/team/models:v1");
  ASSERT_TRUE(name.ok()) << name.error().message;
  EXPECT_EQ(name->base, "https://registry.example:5000");
  EXPECT_EQ(name->repository, "team/models");
  EXPECT_EQ(name->tag, "v1");
  EXPECT_EQ(ParseOciName("127.0.0.1:5000/models")->base, "http://127.0.0.1:5000");
  EXPECT_EQ(ParseOciName("http://registry.example/models")->base, "http://registry.example");
}

TEST(OciNameTest, RefusesWhatARegistryWouldRefuseOrAnotherHostWouldGet) {
  for (const char* text : {"", "host", "host/", "/models", "host/UPPER", "host/a//b", "host/../x", "user@host/models",
                           "host/models:", "host/models:a b", "ftp://host/models", "host/models?x", "host /models"})
    EXPECT_EQ(ParseOciName(text).error().code, ErrorCode::kUsage) << text;
}

}  // namespace
}  // namespace breakwatch::exporters
