#include "breakwatch/config/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "config_fixture.h"

namespace breakwatch::config {
namespace {

using testing::ElementsAre;

TEST(KeysTest, HaveOneNameVariableAndFieldEach) {
  std::set<std::string> names, variables;
  std::set<const void*> fields;
  Settings settings;
  for (const Key& key : Keys()) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name;
    EXPECT_TRUE(variables.insert(EnvironmentName(key)).second) << key.name;
    const void* address = std::visit([&](auto field) -> const void* { return &field(settings); }, key.field);
    EXPECT_TRUE(fields.insert(address).second) << key.name << " shares its field";
  }
}

TEST(KeysTest, HaveADocOfOneSentence) {
  for (const Key& key : Keys()) {
    EXPECT_TRUE(key.doc.ends_with(".")) << key.name;
    EXPECT_EQ(key.doc.find('\n'), std::string::npos) << key.name;
  }
}

TEST(KeysTest, NoneIsAlsoASection) {
  for (const Key& key : Keys()) {
    for (const Key& other : Keys()) EXPECT_FALSE(other.name.starts_with(key.name + ".")) << key.name;
  }
}

// If a default were not accepted as it is printed, the example file and `config show` would be wrong.
TEST(KeysTest, EveryDefaultIsAcceptedAsItIsWritten) {
  const TemporaryDirectory folder;
  for (const Key& key : Keys()) {
    if (key.is_secret) continue;
    const std::string file = folder.Write("one.yaml", key.name + ": " + ValueText(key, Settings{}) + "\n");
    const auto loaded = Load({.files = {file}, .environment = {}, .flags = {}});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_THAT(ChangedKeys(loaded->settings, Settings{}), ElementsAre()) << key.name;
  }
}

TEST(FlagsTest, NameEverySettingButSecrets) {
  const auto flags = Flags();
  std::set<std::string> names;
  for (const Flag& flag : flags) {
    EXPECT_FALSE(FindKey(flag.key)->is_secret);
    for (const std::string& name : flag.names) EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_TRUE(names.contains("--state-dir"));
  EXPECT_TRUE(names.contains("--exporters.pushgateway.url"));
  EXPECT_FALSE(names.contains("--web.token"));
}

TEST(FlagsTest, DistinguishListsAndBooleans) {
  for (const Flag& flag : Flags()) {
    EXPECT_EQ(flag.is_list, flag.default_text.starts_with("[")) << flag.key;
    EXPECT_EQ(flag.is_bool, flag.type == "true or false") << flag.key;
  }
}

TEST(EnvironmentNameTest, IsTheKeyInCapitals) {
  EXPECT_EQ(EnvironmentName(*FindKey("exporters.pushgateway.url")), "BREAKWATCH_EXPORTERS_PUSHGATEWAY_URL");
}

}  // namespace
}  // namespace breakwatch::config
