#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/hub/hub_lister.h"
#include "fakes/fake_model_lister.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FileListerTest : public ::testing::Test {
 protected:
  // The request that the file's lister passes to the lister behind it.
  Result<RankedList> List(const std::string& text, const ListRequest& request = {}) {
    directory_.Write("models.txt", text);
    auto by_name = std::make_unique<fakes::FakeModelLister>();
    by_name_ = by_name.get();
    by_name->Answer(RankedList{.source = "hub", .ranked = true, .models = {}, .warnings = {}});
    lister_ = MakeFileLister(directory_ / "models.txt", std::move(by_name));
    return lister_->List(request, {}, nullptr);
  }
  std::vector<std::string> Asked() const { return by_name_->Requests().at(0).ids; }

  fakes::TemporaryDirectory directory_;
  std::unique_ptr<ModelLister> lister_;
  fakes::FakeModelLister* by_name_ = nullptr;
};

TEST_F(FileListerTest, ReadsIdsRevisionsAndComments) {
  const auto list = List("\xEF\xBB\xBF# ours\n\n  gpt2 \r\norg/name@refs/pr/2  # why\n\torg/last@main");
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_THAT(Asked(), ElementsAre("gpt2", "org/name@refs/pr/2", "org/last@main"));
  EXPECT_THAT(list->source, HasSubstr("file "));
  EXPECT_FALSE(list->ranked);
}

TEST_F(FileListerTest, NamesEveryBadLine) {
  const auto list = List("gpt2\nnot an id\n\n../x\na/b/c\n1 1\n2 2\n3 3\n");
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kConfig);
  EXPECT_THAT(list.error().message, AllOf(HasSubstr("line 2: \"not an id\""), HasSubstr("line 4"), HasSubstr("line 5"),
                                          HasSubstr("and 1 more")));
}

TEST_F(FileListerTest, ASelectionKeepsLinesOfTheFile) {
  ListRequest request;
  request.ids = {"b/b"};
  ASSERT_TRUE(List("a/a\nb/b@v1\n", request).ok());
  EXPECT_THAT(Asked(), ElementsAre("b/b@v1"));
  request.ids = {"c/c"};
  EXPECT_EQ(List("a/a\n", request).error().code, ErrorCode::kNotFound);
}

TEST_F(FileListerTest, RefusesAnEmptyOrAbsentFile) {
  EXPECT_EQ(List("# nothing\n").error().code, ErrorCode::kConfig);
  auto lister = MakeFileLister(directory_ / "absent", std::make_unique<fakes::FakeModelLister>());
  EXPECT_THAT(lister->List({}, {}, nullptr).error().message, HasSubstr("absent"));
}

}  // namespace
}  // namespace breakwatch::hub
