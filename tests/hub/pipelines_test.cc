// Repositories of diffusers: one model with several configurations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fakes/temporary_directory.h"
#include "hub/scripted_hub.h"

namespace breakwatch::hub {
namespace {

using namespace breakwatch::testing;
using fakes::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kIndex = R"({"_class_name": "TinyPipeline", "_diffusers_version": "0.1.0",
  "unet": ["diffusers", "UNet2DModel"], "vae": ["diffusers", "VQModel"], "scheduler": ["diffusers", "DDIMScheduler"],
  "tokenizer": ["transformers", "CLIPTokenizer"], "feature_extractor": ["transformers", "CLIPImageProcessor"],
  "safety_checker": [null, null], "../evil": ["diffusers", "UNet2DModel"], "requires_safety_checker": true})";
const std::string kUnet = R"({"_class_name": "UNet2DModel", "shift": NaN})";
const std::string kVae = R"({"_class_name": "VQModel"})";
const std::string kDiffusers = R"("library_name":"diffusers","pipeline_tag":"text-to-image")";

std::string FilePath(const std::string& file) { return "/a/tiny/resolve/" + kCommitA + "/" + file; }

// A file as the last redirect target of the Hub serves it.
Reply File(const std::string& text) { return {200, {{"X-Repo-Commit", kCommitA}, {"ETag", "\"x\""}}, text}; }
Reply NoFile() {
  Reply reply = Refusal(404, "EntryNotFound", "Entry not found");
  reply.headers.emplace_back("X-Repo-Commit", kCommitA);
  return reply;
}

void OnPipeline(ScriptedHub& hub) {
  hub.OnPages({Entry("a/tiny", kCommitA, kDiffusers)});
  hub.On("/api/models/a/tiny", Json(Entry("a/tiny", kCommitA, kDiffusers)));
  hub.On(FilePath("model_index.json"), File(kIndex));
  hub.On(FilePath("unet/config.json"), File(kUnet));
  hub.On(FilePath("vae/config.json"), File(kVae));
}

TEST(PipelinesTest, MakesOneDocumentOfAllConfigurationsOfAPipeline) {
  ScriptedHub hub;
  OnPipeline(hub);
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_THAT(list->models, SizeIs(1));
  const RankedModel& model = list->models[0];
  ASSERT_FALSE(model.excluded) << model.detail;
  EXPECT_EQ(model.info.architectures, std::vector<std::string>{"TinyPipeline"});
  EXPECT_EQ(model.info.family, Family::kVision);
  EXPECT_EQ(model.info.config_source, "hub");
  EXPECT_EQ(model.config_json,
            "{\"model_index\": " + kIndex +
                R"(, "components": {"unet": {"_class_name": "UNet2DModel", "shift": {"__float__": "NaN"}}, "vae": )" +
                kVae + "}}");
  // Neither settings, nor a vocabulary, nor an invalid folder name.
  EXPECT_THAT(hub.Requests("/a/tiny/resolve"), SizeIs(3));
}

TEST(PipelinesTest, LeavesOutAComponentThatHasNoConfiguration) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/tiny", kCommitA, kDiffusers)});
  hub.On(FilePath("model_index.json"), File(kIndex));
  hub.On(FilePath("unet/config.json"), File(R"({"_class_name": "UNet2DModel"})"));
  hub.On(FilePath("vae/config.json"), NoFile());
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  ASSERT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
  EXPECT_THAT(list->models[0].config_json, HasSubstr(R"("components": {"unet": {"_class_name": "UNet2DModel"}}})"));
}

TEST(PipelinesTest, ReadsARepositoryWithoutAnIndexAsASingleModel) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/tiny", kCommitA, kDiffusers)});
  hub.On(FilePath("model_index.json"), NoFile());
  hub.On(FilePath("config.json"), File(kVae));
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models.at(0).excluded);
  EXPECT_EQ(list->models[0].config_json, kVae);
}

TEST(PipelinesTest, ReportsWhatIsMissingIfThereIsNeitherFile) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/tiny", kCommitA, kDiffusers)});
  hub.On(FilePath("model_index.json"), NoFile());
  hub.On(FilePath("config.json"), NoFile());
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->models.at(0).excluded, Status::kSkippedNoConfig);
}

TEST(PipelinesTest, AComponentThatIsRefusedEndsTheModelOnceWithItsName) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/tiny", kCommitA, kDiffusers)});
  hub.On(FilePath("model_index.json"), File(kIndex));
  hub.On(FilePath("unet/config.json"), Refusal(403, "GatedRepo", "Access is restricted"));
  hub.On(FilePath("vae/config.json"), Refusal(403, "GatedRepo", "Access is restricted"));
  int last_done = 0;
  const auto list = MakeHubLister(hub.Options(), RealClock())->List({}, {}, [&](int done, int) { last_done = done; });
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->models.at(0).excluded, Status::kSkippedGated);
  EXPECT_THAT(list->models[0].detail, HasSubstr("/config.json: gated"));
  EXPECT_EQ(last_done, 1);
}

TEST(PipelinesTest, ADamagedIndexIsReported) {
  for (const std::string broken : {"{\"unet\":", "[]", "7"}) {
    ScriptedHub hub;
    hub.OnPages({Entry("a/tiny", kCommitA, kDiffusers)});
    hub.On(FilePath("model_index.json"), File(broken));
    const auto list = List(hub.Options(), {});
    ASSERT_TRUE(list.ok());
    EXPECT_EQ(list->models.at(0).excluded, Status::kFailedResolve) << broken;
    EXPECT_THAT(list->models[0].detail, HasSubstr("model_index.json")) << broken;
  }
}

TEST(PipelinesTest, RequestsNothingTwiceAndWorksOfflineFromTheCache) {
  const TemporaryDirectory folder;
  ScriptedHub hub;
  OnPipeline(hub);
  HubOptions options = hub.Options();
  options.cache_dir = folder.path().string();
  const auto first = List(options, {});
  ASSERT_TRUE(first.ok());
  const auto second = List(options, {});
  ASSERT_TRUE(second.ok());
  EXPECT_THAT(hub.Requests("/a/tiny/resolve"), SizeIs(3));
  EXPECT_EQ(second->models.at(0).config_json, first->models.at(0).config_json);
  EXPECT_EQ(second->models[0].info.config_source, "cache");
  // The Python client's layout: a link to the blob, relative to its own place.
  const auto unet = folder.path() / "models--a--tiny/snapshots" / kCommitA / "unet/config.json";
  EXPECT_EQ(std::filesystem::read_symlink(unet).parent_path(), "../../../blobs");
  std::ifstream file(unet);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), kUnet);

  ASSERT_TRUE(ListNamed(options, {"a/tiny"}).ok());
  options.offline = true;
  const auto offline = ListNamed(options, {"a/tiny@" + kCommitA});
  ASSERT_TRUE(offline.ok()) << offline.error().message;
  EXPECT_EQ(offline->models.at(0).config_json, first->models[0].config_json);
}

TEST(PipelinesTest, AFolderWithAnIndexIsAPipelineOfTheDirectory) {
  const TemporaryDirectory folder;
  std::filesystem::create_directories(folder.path() / "tiny/unet");
  std::ofstream(folder.path() / "tiny/model_index.json") << R"({"_class_name":"P","unet":["diffusers","UNet2DModel"]})";
  std::ofstream(folder.path() / "tiny/unet/config.json") << R"({"_class_name":"UNet2DModel"})";
  const auto list = MakeDirectoryLister(folder.path().string())->List({}, {}, nullptr);
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_THAT(list->models, SizeIs(1));
  EXPECT_EQ(list->models[0].info.id, "tiny");
  EXPECT_EQ(list->models[0].info.library, "diffusers");
  EXPECT_EQ(list->models[0].config_json, R"({"model_index": {"_class_name":"P","unet":["diffusers","UNet2DModel"]}, )"
                                         R"("components": {"unet": {"_class_name":"UNet2DModel"}}})");
}

}  // namespace
}  // namespace breakwatch::hub
