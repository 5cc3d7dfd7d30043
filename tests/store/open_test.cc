#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <fstream>

#include "store_fixture.h"

namespace breakwatch::store {
namespace {

class OpenTest : public ::testing::Test {
 protected:
  Result<std::unique_ptr<Store>> Open(const std::string& path, bool read_only = false) {
    return Store::Open({"sqlite:" + path, read_only}, clock_);
  }
  std::string At(const std::string& name) const { return (folder_.path() / name).string(); }

  const TemporaryFolder folder_;
  fakes::FakeClock clock_;
};

TEST_F(OpenTest, MakesTheFoldersOfItsFile) {
  EXPECT_OK(Open(At("a/b/c/breakwatch.db")));
  EXPECT_TRUE(std::filesystem::exists(At("a/b/c/breakwatch.db")));
}

TEST_F(OpenTest, TakesPathsWithBlanksAndEqualSigns) {
  for (const std::string name : {"with blank.db", "with=sign.db", "quote\"and'quote.db", "percent%20.db", "ünï.db"}) {
    EXPECT_OK(Open(At(name)));
    EXPECT_TRUE(std::filesystem::exists(At(name))) << name;
  }
}

TEST_F(OpenTest, KeepsItsFileInWalMode) {
  ASSERT_OK(Open(At("breakwatch.db")));
  soci::session sql(soci::sqlite3, At("breakwatch.db"));
  std::string mode;
  sql << "PRAGMA journal_mode", soci::into(mode);
  EXPECT_EQ(mode, "wal");
}

TEST_F(OpenTest, ReadsAnAbsentFileAsNotFoundAndMakesNone) {
  const auto opened = Open(At("absent.db"), /*read_only=*/true);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
  EXPECT_NE(opened.error().message.find("absent.db"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(At("absent.db")));
}

TEST_F(OpenTest, NamesThePathThatCannotBeOpened) {
  std::ofstream(At("file")) << "not a folder";
  for (const std::string& path : {At("file/breakwatch.db"), folder_.path().string()}) {
    const auto opened = Open(path);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kStore);
    EXPECT_NE(opened.error().message.find(folder_.path().string()), std::string::npos) << opened.error().message;
    EXPECT_NE(opened.error().message.find("--state-dir"), std::string::npos) << opened.error().message;
  }
}

TEST_F(OpenTest, RejectsAFileThatIsNotADatabase) {
  std::ofstream(At("text.db")) << std::string(5'000, 'x');
  for (const bool read_only : {false, true}) {
    const auto opened = Open(At("text.db"), read_only);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kStore);
    EXPECT_NE(opened.error().message.find("damaged"), std::string::npos) << opened.error().message;
  }
}

TEST_F(OpenTest, RefusesADatabaseOfAnotherProgram) {
  {
    soci::session sql(soci::sqlite3, At("other.db"));
    sql << "CREATE TABLE bookmarks (url TEXT)";
  }
  const auto opened = Open(At("other.db"));
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kStore);
  EXPECT_NE(opened.error().message.find("tables of another program"), std::string::npos) << opened.error().message;
}

TEST_F(OpenTest, RefusesAUrlOfNoKnownKindWithoutRepeatingSecrets) {
  for (const std::string url : {"", "/just/a/path", "mysql://user:secret@host/db",
                                "sqlite:", "postgresql://user:secret@host/db?unknown_option=1"}) {
    const auto opened = Store::Open({url, false}, clock_);
    ASSERT_FALSE(opened.ok()) << url;
    EXPECT_EQ(opened.error().code, ErrorCode::kConfig) << opened.error().message;
    EXPECT_EQ(opened.error().message.find("secret"), std::string::npos) << opened.error().message;
  }
}

TEST_F(OpenTest, NamesAnUnavailableServerWithoutItsPassword) {
  const auto opened =
      Store::Open({"postgresql://user:secret@/db?host=" + folder_.path().string() + "&port=1", false}, clock_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kStore);
  EXPECT_EQ(opened.error().message.find("secret"), std::string::npos) << opened.error().message;
  EXPECT_NE(opened.error().message.find(folder_.path().string()), std::string::npos) << opened.error().message;
}

TEST_F(OpenTest, FindsDamageInsideAFile) {
  {
    auto store = Open(At("damaged.db"));
    ASSERT_OK(store);
    std::vector<std::string> models;
    for (int i = 0; i < 200; ++i) models.push_back("org/model-" + std::to_string(i));
    ASSERT_OK((*store)->BeginSweep(SampleSweep("s1"), SamplePlan("s1", models), {}, {}, {}));
  }
  std::fstream file(At("damaged.db"), std::ios::in | std::ios::out | std::ios::binary);
  for (const auto page : {10, 20, 30, 40}) file.seekp(page * 4096).write(std::string(4096, '\x7f').data(), 4096);
  file.close();
  auto store = Open(At("damaged.db"));
  if (store.ok()) {
    const auto checked = (*store)->Check();
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, ErrorCode::kStore);
  } else {
    EXPECT_EQ(store.error().code, ErrorCode::kStore);
  }
}

TEST_F(OpenTest, RefusesToWriteIntoADatabaseThatWasRemovedOrReplaced) {
  const std::filesystem::path path = At("breakwatch.db");
  auto store = Open(path.string());
  ASSERT_OK(store);
  std::filesystem::rename(path, At("aside"));
  for (int i = 0; i < 2; ++i) {
    const auto written = (*store)->SetCursor("loki", 1);
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code, ErrorCode::kStore);
    EXPECT_FALSE(written.error().retryable);
    EXPECT_NE(written.error().message.find("removed or replaced"), std::string::npos) << written.error().message;
    EXPECT_FALSE((*store)->StillThere().ok());
    std::ofstream(path) << "another";
  }
  std::filesystem::rename(At("aside"), path);
  EXPECT_OK((*store)->SetCursor("loki", 1));
}

}  // namespace
}  // namespace breakwatch::store
