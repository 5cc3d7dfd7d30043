#include "breakwatch/engine/artifact_stages.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/support.h"
#include "fakes/sample_package.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A worker that writes the package of its job, unless the test says otherwise.
class FakeBuilder : public CaptureRunner {
 public:
  explicit FakeBuilder(const std::function<json(const CaptureJob&, const json&)>& build) : build_(build) {}
  std::size_t Capacity() const override { return 1; }
  Result<void> Start(const CaptureJob& job) override {
    const json options = json::parse(job.build_json);
    const json answer = build_(job, options);
    result_ = CaptureResult();
    result_.job_id = job.id;
    result_.status = Status::kFullGraph;
    result_.detail = "as scripted";
    result_.output_tail = "the model says hello";
    result_.mode_detail_json = json{{"targets", {{options["targets"][0], answer}}}}.dump();
    return {};
  }
  Waited Wait(SteadyTime, int) override { return {result_, false}; }
  std::vector<std::string> StopAll() override { return {}; }

 private:
  const std::function<json(const CaptureJob&, const json&)>& build_;
  CaptureResult result_;
};

class FakeChecker : public PackageChecker {
 public:
  explicit FakeChecker(const std::function<Result<PackageVerdict>()>& check) : check_(check) {}
  Result<PackageVerdict> Check(const std::string&) override { return check_(); }

 private:
  const std::function<Result<PackageVerdict>()>& check_;
};

class FakeRegistry : public ArtifactRegistry {
 public:
  std::string Place() const override { return place; }
  Result<std::string> Publish(const Package& package, const std::vector<PackageFile>& files) override {
    for (const PackageFile& file : files) {
      if (holds == room) return Error{ErrorCode::kUnavailable, place + " went away", true, {}};
      ++holds;
      sent.push_back(file.path);
    }
    return references.emplace_back(place + "@sha256:" + package.id);
  }
  Result<void> Pull(const PackageQuery&, const std::string&) override { return {}; }
  Result<std::vector<PublishedPackage>> List() override { return std::vector<PublishedPackage>(); }

  std::string place = "dir:/srv";
  int holds = 0, room = 1'000;
  std::vector<std::string> sent, references;
};

class ArtifactStagesTest : public ::testing::Test {
 protected:
  ArtifactStagesTest() {
    request_.model = "org/name";
    request_.revision = std::string(40, 'a');
    request_.target = "aot_inductor";
    request_.structure = "s";
    request_.toolchain = TestToolchain();
    input_.job.config_json = "{}";
    publish_.card = [](const Package& package) { return "# " + package.manifest.model + "\n"; };
  }

  ArtifactStages Stages() {
    return ArtifactStages({*store_, clock_, folder_ / "artifacts",
                           [this](const BuildFolders&) -> Result<std::unique_ptr<CaptureRunner>> {
                             ++builders_;
                             return std::unique_ptr<CaptureRunner>(std::make_unique<FakeBuilder>(build_));
                           },
                           [this]() -> Result<std::unique_ptr<PackageChecker>> {
                             ++checkers_;
                             return std::unique_ptr<PackageChecker>(std::make_unique<FakeChecker>(check_));
                           },
                           [this](const ArtifactRequest&) { return weights_(); },
                           [this](std::string_view note) { notes_.emplace_back(note); }});
  }
  // The artifact after its stages up to `last`.
  Artifact Run(Stage last = Stage::kCheck) {
    auto ran = Stages().RunUntil(last, request_, input_);
    EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().message);
    return ran.ok() ? *std::move(ran) : Artifact();
  }
  Error ErrorOf(Stage last = Stage::kCheck) {
    const auto ran = Stages().RunUntil(last, request_, input_);
    EXPECT_FALSE(ran.ok());
    return ran.ok() ? Error() : ran.error();
  }
  std::string Key() const { return BuildKey(request_); }
  fs::path Folder() const { return folder_.path() / "artifacts" / Key(); }
  std::vector<std::string> Work() const {
    std::vector<std::string> left;
    for (const auto& entry : fs::directory_iterator(Folder())) {
      if (entry.path().filename().string().starts_with("work-")) left.push_back(entry.path());
    }
    return left;
  }
  static json Written(const json& options, const std::map<std::string, std::string>& files = fakes::SampleFiles()) {
    const std::string target = options["targets"][0];
    json manifest = fakes::SampleManifest(files);
    manifest["target"] = target;
    fakes::WriteSamplePackage(fs::path(options["folder"].get<std::string>()) / target, files, manifest);
    return {{"status", "built"}, {"manifest", target + "/manifest.json"}};
  }

  fakes::TemporaryDirectory folder_;
  TempFolder database_;
  fakes::FakeClock clock_;
  std::unique_ptr<store::Store> store_ = OpenStoreAt(database_.Url(), clock_);
  ArtifactRequest request_;
  BuildInput input_;
  PublishInput publish_;
  std::function<json(const CaptureJob&, const json&)> build_ = [this](const CaptureJob&, const json& options) {
    clock_.Advance(std::chrono::seconds(90));
    return Written(options);
  };
  std::function<Result<PackageVerdict>()> check_ = [] { return PackageVerdict{"ok", "", R"({"status":"ok"})"}; };
  std::function<Result<std::string>()> weights_ = [this]() -> Result<std::string> { return folder_ / "weights"; };
  int builders_ = 0, checkers_ = 0;
  std::vector<std::string> notes_;
};

TEST_F(ArtifactStagesTest, RecordsStatusTimeLogAndDirectoryOfEachStage) {
  const Artifact artifact = Run();
  ASSERT_EQ(artifact.stages.size(), 3u);
  EXPECT_EQ(artifact.State(), "checked");
  for (const StageRecord& record : artifact.stages) {
    EXPECT_TRUE(record.ok());
    EXPECT_FALSE(record.detail.empty());
    EXPECT_TRUE(fs::is_directory(record.directory)) << record.directory;
    EXPECT_NE(record.started_at, SystemTime{});
  }
  const StageRecord& build = artifact.stages[1];
  EXPECT_EQ(build.seconds, 90);
  EXPECT_EQ(build.package_id, VerifyPackage(Folder() / "package")->id);
  EXPECT_THAT(folder_.Read("artifacts/" + Key() + "/build.log"), HasSubstr("the model says hello"));
  EXPECT_EQ(artifact.stages[2].package_id, build.package_id);
  EXPECT_EQ(folder_.Read("artifacts/" + Key() + "/check.json"), "{\"status\":\"ok\"}\n");
  EXPECT_THAT(Work(), IsEmpty());
}

TEST_F(ArtifactStagesTest, RunsAgainOnlyWhatIsNotDone) {
  EXPECT_EQ(Run(Stage::kFetch).State(), "fetched");
  EXPECT_EQ(builders_, 0);
  EXPECT_EQ(Run(Stage::kBuild).State(), "built");
  EXPECT_EQ(checkers_, 0);
  const std::string package = Run().PackageId();
  EXPECT_EQ(Run().PackageId(), package);
  EXPECT_EQ(builders_, 1);
  EXPECT_EQ(checkers_, 1);
  input_.rebuild = Rebuild::kAlways;
  EXPECT_EQ(Run().State(), "checked");
  EXPECT_EQ(builders_, 2);
  EXPECT_EQ(checkers_, 2);
}

TEST_F(ArtifactStagesTest, RepeatsACheckAndAPublishAlone) {
  Run();
  check_ = [] { return PackageVerdict{"wrong_result", "outputs[0] differs", "{}"}; };
  EXPECT_EQ(Stages().Check(Key())->status, "wrong_result");
  FakeRegistry registry;
  EXPECT_THAT(Stages().Publish(Key(), registry, publish_).error().message, HasSubstr("outputs[0] differs"));
  check_ = [] { return PackageVerdict{"ok", "", "{}"}; };
  EXPECT_EQ(Stages().Check(Key())->status, kStageOk);
  const auto first = Stages().Publish(Key(), registry, publish_), again = Stages().Publish(Key(), registry, publish_);
  EXPECT_EQ(first->reference, registry.references[0]);
  EXPECT_EQ(again->reference, registry.references[0]);
  EXPECT_EQ(builders_, 1);
  EXPECT_EQ(store_->FindArtifact(Key())->stages.size(), 4u) << "one publish for each registry";
}

TEST_F(ArtifactStagesTest, SkipsNoStage) {
  FakeRegistry registry;
  Run(Stage::kFetch);
  EXPECT_THAT(Stages().Check(Key()).error().message, HasSubstr("not built"));
  EXPECT_EQ(checkers_, 0);
  EXPECT_THAT(Stages().Publish(Key(), registry, publish_).error().message, HasSubstr("not built"));
  Run(Stage::kBuild);
  EXPECT_THAT(Stages().Publish(Key(), registry, publish_).error().message, HasSubstr("not checked"));
  EXPECT_THAT(registry.sent, IsEmpty());
}

TEST_F(ArtifactStagesTest, LeavesNoPackageOfABuildThatFails) {
  build_ = [](const CaptureJob&, const json&) -> json {
    return {{"status", "failed"}, {"cause", "unsupported_operator"}, {"detail", "no aten::x"}};
  };
  const Artifact failed = Run();
  EXPECT_EQ(failed.State(), "failed_build");
  EXPECT_EQ(failed.stages.back().cause, "unsupported_operator");
  EXPECT_EQ(checkers_, 0);
  EXPECT_FALSE(fs::exists(Folder() / "package"));
  EXPECT_THAT(Work(), IsEmpty());
}

TEST_F(ArtifactStagesTest, BelievesNoWorkerThatBuiltSomethingElse) {
  build_ = [](const CaptureJob&, const json& options) {
    json answer = Written(options);
    const fs::path folder = fs::path(options["folder"].get<std::string>()) / "aot_inductor";
    fakes::WriteSamplePackage(folder, fakes::SampleFiles(), [] {
      json manifest = fakes::SampleManifest();
      manifest["model"] = "org/other";
      return manifest;
    }());
    return answer;
  };
  EXPECT_THAT(Run().stages.back().detail, HasSubstr("org/other"));
  build_ = [](const CaptureJob&, const json&) { return json{{"status", "built"}}; };
  EXPECT_EQ(Run().State(), "failed_build") << "there are no files";
  EXPECT_FALSE(fs::exists(Folder() / "package"));
}

TEST_F(ArtifactStagesTest, TakesTheWorkersComparisonOfAnOnnxPackage) {
  request_.target = "onnx";
  std::string compared = "wrong_result";
  build_ = [&](const CaptureJob&, const json& options) {
    json answer = Written(options);
    if (!compared.empty()) answer["check"] = {{"status", compared}, {"detail", "outputs[0] differs by 0.5"}};
    return answer;
  };
  EXPECT_EQ(Run().State(), "wrong_result");
  FakeRegistry registry;
  const auto refused = Stages().Publish(Key(), registry, publish_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("outputs[0] differs by 0.5"));
  EXPECT_THAT(registry.sent, IsEmpty());
  EXPECT_EQ(Stages().Check(Key())->status, "wrong_result") << "again";
  compared = "";
  input_.rebuild = Rebuild::kAlways;
  EXPECT_EQ(Run().State(), "failed_check") << "nothing was compared";
  compared = "ok";
  EXPECT_EQ(Run().State(), "checked");
  EXPECT_EQ(checkers_, 0) << "no program of ours loads it";
}

TEST_F(ArtifactStagesTest, PublishesNothingThatTheWorkerFoundWrong) {
  for (const char* status : {"built", "failed", "wrong_result"}) {
    build_ = [&](const CaptureJob&, const json& options) {
      json answer = Written(options);
      answer["status"] = status;
      answer["check"] = {{"status", "wrong_result"}, {"detail", "outputs[0] differs"}};
      return answer;
    };
    input_.rebuild = Rebuild::kAlways;
    EXPECT_EQ(Run().State(), "wrong_result") << status;
    FakeRegistry registry;
    EXPECT_FALSE(Stages().Publish(Key(), registry, publish_).ok()) << status;
    EXPECT_EQ(checkers_, 0) << status;
  }
}

// What kill -9 leaves behind: files and rows as they were when the process ended.
TEST_F(ArtifactStagesTest, ContinuesAfterAKillInEachStage) {
  Run(Stage::kFetch);
  fs::create_directories(Folder() / "work-1/aot_inductor");
  std::ofstream(Folder() / "work-1/aot_inductor/package.pt2") << "half";
  EXPECT_EQ(Run(Stage::kBuild).State(), "built") << "killed while it compiled";
  EXPECT_THAT(Work(), IsEmpty());

  const std::string package = store_->FindArtifact(Key())->PackageId();
  ASSERT_TRUE(store_->RemoveArtifact(Key()).ok());
  const Artifact found = Run();
  EXPECT_EQ(found.State(), "checked") << "killed between the rename and the record";
  EXPECT_EQ(found.PackageId(), package);
  EXPECT_THAT(found.stages[1].detail, HasSubstr("interrupted"));
  EXPECT_EQ(builders_, 1);

  FakeRegistry registry;
  registry.room = 2;
  EXPECT_EQ(Stages().Publish(Key(), registry, publish_).error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(registry.references, IsEmpty());
  EXPECT_EQ(store_->FindArtifact(Key())->State(), "failed_publish");
  registry.room = 1'000;
  EXPECT_EQ(Stages().Publish(Key(), registry, publish_)->status, kStageOk) << "killed, or away, while it published";
  EXPECT_EQ(registry.references.size(), 1u);
  EXPECT_EQ(store_->FindArtifact(Key())->State(), "published");
}

TEST_F(ArtifactStagesTest, RecordsAPackageThatWasBuiltOutsideItsRecordOnlyIfItIsTheRequestedOne) {
  Run(Stage::kFetch);
  json manifest = fakes::SampleManifest();
  manifest["revision"] = std::string(40, 'b');
  fakes::WriteSamplePackage(Folder() / "package", fakes::SampleFiles(), manifest);
  EXPECT_EQ(Run().State(), "checked");
  EXPECT_EQ(builders_, 1) << "it was of another commit";
  // With a record, another package is not taken either: someone put it there.
  fs::remove_all(Folder() / "package");
  fakes::WriteSamplePackage(Folder() / "package", {{"package.pt2", "tampered"}});
  EXPECT_EQ(Run().State(), "checked");
  EXPECT_EQ(builders_, 2);
}

TEST_F(ArtifactStagesTest, TwoBuildersAtOnceBuildOnePackage) {
  std::atomic<bool> second_waits = false;
  build_ = [&](const CaptureJob&, const json& options) {
    while (!second_waits) std::this_thread::yield();
    return Written(options);
  };
  Artifact artifacts[2];
  std::thread first([&] { artifacts[0] = Run(); });
  while (!fs::exists(Folder() / "lock") || ArtifactLock::TryTake(Folder()).ok()) std::this_thread::yield();
  auto store = OpenStoreAt(database_.Url(), clock_);
  ArtifactStages stages({*store,
                         clock_,
                         folder_ / "artifacts",
                         [](const BuildFolders&) -> Result<std::unique_ptr<CaptureRunner>> {
                           return Error{ErrorCode::kInternal, "the second one builds too"};
                         },
                         [this]() -> Result<std::unique_ptr<PackageChecker>> {
                           return std::unique_ptr<PackageChecker>(std::make_unique<FakeChecker>(check_));
                         },
                         {},
                         [&](std::string_view note) {
                           EXPECT_THAT(std::string(note), HasSubstr("works on this artifact"));
                           second_waits = true;
                         }});
  const auto second = stages.RunUntil(Stage::kCheck, request_, input_);
  first.join();
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(second->PackageId(), artifacts[0].PackageId());
  EXPECT_TRUE(second->IsChecked());
}

// A folder in the place of the file that a stage writes: as on a full disk, the write fails.
TEST_F(ArtifactStagesTest, AStageThatCannotWriteNamesTheFileAndCanBeRepeated) {
  const auto block = [&](const char* name) { fs::create_directories(Folder() / name / "in the way"); };
  const auto unblock = [&](const char* name) { fs::remove_all(Folder() / name); };
  block("config.json");
  Error error = ErrorOf();
  EXPECT_EQ(error.code, ErrorCode::kStore);
  EXPECT_THAT(error.message, HasSubstr(Folder() / "config.json"));
  unblock("config.json");

  block("build.log");
  error = ErrorOf();
  EXPECT_EQ(error.code, ErrorCode::kStore);
  EXPECT_THAT(error.message, HasSubstr(Folder() / "build.log"));
  EXPECT_EQ(store_->FindArtifact(Key())->State(), "fetched");
  EXPECT_THAT(Work(), IsEmpty());
  unblock("build.log");

  block("check.json");
  error = ErrorOf();
  EXPECT_EQ(error.code, ErrorCode::kStore);
  EXPECT_THAT(error.message, HasSubstr(Folder() / "check.json"));
  EXPECT_EQ(store_->FindArtifact(Key())->State(), "built");
  unblock("check.json");

  Run();
  block("package/README.md");
  FakeRegistry registry;
  const auto published = Stages().Publish(Key(), registry, publish_);
  ASSERT_FALSE(published.ok());
  EXPECT_THAT(registry.sent, IsEmpty());
  unblock("package/README.md");
  std::ofstream(Folder() / "package/README.md.4711") << "of a publish that was killed";
  const auto again = Stages().Publish(Key(), registry, publish_);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->status, kStageOk);
}

TEST_F(ArtifactStagesTest, AFullDiskInTheWorkerIsNoFaultOfTheModel) {
  build_ = [](const CaptureJob&, const json&) -> json {
    return {{"status", "failed"}, {"cause", "compiler"}, {"detail", "[Errno 28] No space left on device"}};
  };
  const Error error = ErrorOf();
  EXPECT_EQ(error.code, ErrorCode::kStore);
  EXPECT_THAT(error.message, HasSubstr(Folder().string()));
  EXPECT_EQ(store_->FindArtifact(Key())->State(), "fetched");
}

TEST_F(ArtifactStagesTest, ADiskThatIsFullInThePlaceOfTheWeightsIsNamed) {
  request_.weights = kHubWeights;
  weights_ = []() -> Result<std::string> {
    return Error{ErrorCode::kStore, "/cache/blobs/x: No space left on device"};
  };
  EXPECT_THAT(ErrorOf().message, HasSubstr("/cache/blobs/x"));
  weights_ = []() -> Result<std::string> { return Error{ErrorCode::kInvalid, "model.safetensors has digest y"}; };
  const Artifact failed = Run();
  EXPECT_EQ(failed.State(), "failed_resolve");
  EXPECT_EQ(failed.stages[0].cause, "weights");
  EXPECT_EQ(builders_, 0);
  weights_ = [this]() -> Result<std::string> { return folder_ / "weights"; };
  EXPECT_EQ(Run().stages[0].directory, folder_ / "weights");
}

TEST_F(ArtifactStagesTest, SignsWhatIsPublishedAndSendsNothingWithoutTheSignature) {
  Run();
  FakeRegistry registry;
  publish_.sign = [](const Package&) -> Result<std::string> { return Error{ErrorCode::kConfig, "key.pem is no key"}; };
  EXPECT_EQ(Stages().Publish(Key(), registry, publish_).error().code, ErrorCode::kConfig);
  EXPECT_THAT(registry.sent, IsEmpty());
  publish_.sign = [](const Package& package) -> Result<std::string> { return "by me: " + package.id; };
  ASSERT_TRUE(Stages().Publish(Key(), registry, publish_).ok());
  EXPECT_THAT(registry.sent, ::testing::IsSupersetOf({"manifest.json", "manifest.json.sig", "README.md"}));
}

TEST_F(ArtifactStagesTest, CollectsNothingThatAProcessWorksOn) {
  const std::string package = Run().PackageId();
  const auto collect = [&] { return *CollectArtifacts(*store_, folder_ / "artifacts", {.max_bytes = 1}); };
  {
    const auto lock = ArtifactLock::TryTake(Folder());
    ASSERT_TRUE(lock.ok());
    const Collected kept = collect();
    EXPECT_THAT(kept.removed, IsEmpty());
    EXPECT_THAT(kept.skipped, ElementsAre(Key()));
    EXPECT_EQ(VerifyPackage(Folder() / "package")->id, package);
  }
  EXPECT_EQ(collect().removed.size(), 1u);
  EXPECT_FALSE(fs::exists(Folder()));
  EXPECT_EQ(store_->FindArtifact(Key()).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace breakwatch::engine
