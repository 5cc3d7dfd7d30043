#include "breakwatch/core/package.h"

#include <gtest/gtest.h>

#include "breakwatch/core/text.h"
#include "fakes/sample_package.h"
#include "fakes/temporary_directory.h"

namespace breakwatch {
namespace {

using fakes::SampleFiles;
using fakes::SampleManifest;
using fakes::WriteSamplePackage;

// The message of the refusal; empty: it was accepted.
std::string Refusal(const fakes::TemporaryDirectory& folder) {
  const auto verified = VerifyPackage(folder.path());
  EXPECT_TRUE(verified.ok() || verified.error().code == ErrorCode::kInvalid) << verified.error().message;
  return verified ? "" : verified.error().message;
}

TEST(VerifyPackageTest, AcceptsWhatItsManifestListsAndNamesItByTheManifestsDigest) {
  const fakes::TemporaryDirectory folder;
  const std::string id = WriteSamplePackage(folder.path());
  const auto package = VerifyPackage(folder.path());
  ASSERT_TRUE(package.ok()) << package.error().message;
  EXPECT_EQ(package->id, id);
  EXPECT_EQ(package->manifest.model, "org/name");
  EXPECT_EQ(package->manifest.tolerance_json, R"({"float32":{"atol":1e-05,"rtol":0.0001}})");
  EXPECT_GT(package->Bytes(), 21);
}

TEST(VerifyPackageTest, RefusesEachFileThatIsNotAsTheManifestSays) {
  const fakes::TemporaryDirectory folder;
  WriteSamplePackage(folder.path());
  folder.Write("package.pt2", "compiles");  // of the same length
  EXPECT_NE(Refusal(folder).find("it was changed"), std::string::npos);
  folder.Write("package.pt2", "compile");
  EXPECT_NE(Refusal(folder).find("has 7 bytes, the manifest says 8"), std::string::npos);
  std::filesystem::remove(folder / "package.pt2");
  EXPECT_NE(Refusal(folder).find("package.pt2 is missing"), std::string::npos);
  folder.Write("elsewhere", "compiled");
  std::filesystem::create_symlink(folder / "elsewhere", folder / "package.pt2");
  EXPECT_NE(Refusal(folder).find("not a plain file"), std::string::npos);
  std::filesystem::remove(folder / "package.pt2");
  folder.Write("package.pt2", "compiled");
  EXPECT_NE(Refusal(folder).find("elsewhere is not in the manifest"), std::string::npos);
  std::filesystem::remove(folder / "elsewhere");
  EXPECT_EQ(Refusal(folder), "");
}

TEST(ReadPackageTest, RefusesManifestsThatNameOtherPlacesOrOtherVersions) {
  for (const char* name : {"../secret", "/etc/passwd", "a/b", "", ".hidden", "manifest.json"}) {
    const fakes::TemporaryDirectory folder;
    nlohmann::json manifest = SampleManifest();
    manifest["files"][0]["path"] = name;
    WriteSamplePackage(folder.path(), SampleFiles(), manifest);
    EXPECT_NE(Refusal(folder).find("invalid entry"), std::string::npos) << name;
  }
  const fakes::TemporaryDirectory folder;
  nlohmann::json manifest = SampleManifest();
  manifest["schema"] = 2;
  WriteSamplePackage(folder.path(), SampleFiles(), manifest);
  EXPECT_NE(Refusal(folder).find("schema 2"), std::string::npos);
}

TEST(ReadPackageTest, ReportsAFolderWithoutAManifestAsNoPackage) {
  const fakes::TemporaryDirectory folder;
  const auto package = ReadPackage(folder.path());
  ASSERT_FALSE(package.ok());
  EXPECT_EQ(package.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace breakwatch
