#include "breakwatch/core/model_filter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace breakwatch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FilterSubject Whisper() {
  FilterSubject subject;
  subject.id = "openai/whisper-tiny";
  subject.family = Family::kAudio;
  subject.architectures = {"WhisperForConditionalGeneration"};
  subject.model_type = "whisper";
  subject.task = "automatic-speech-recognition";
  subject.library = "transformers";
  subject.mode = "eval";
  subject.owners = {"speech"};
  subject.reasons = {{"Data-dependent branching", "GB0170"}};
  subject.statuses = {Status::kGraphBreaks};
  return subject;
}

FilterSubject Llama() {
  FilterSubject subject;
  subject.id = "meta-llama/Llama-3.2-1B";
  subject.requested_id = "meta/Llama-3.2-1B";
  subject.family = Family::kNlp;
  subject.architectures = {"LlamaForCausalLM"};
  subject.model_type = "llama";
  subject.statuses = {Status::kTimeout};
  return subject;
}

Result<std::string> NoFile(const std::string&) { return Error{ErrorCode::kUsage, "cannot be read"}; }

ModelFilter Parsed(std::string_view text, const ModelFilter::ReadFile& read = NoFile) {
  auto filter = ModelFilter::Parse(text, read);
  EXPECT_TRUE(filter.ok()) << text << ": " << filter.error().message;
  return filter ? *filter : ModelFilter();
}

std::string ErrorOf(std::string_view text, const ModelFilter::ReadFile& read = NoFile) {
  const auto filter = ModelFilter::Parse(text, read);
  if (filter) return "accepted";
  EXPECT_EQ(filter.error().code, ErrorCode::kUsage) << text;
  return filter.error().message;
}

struct Case {
  const char* text;
  bool whisper, llama;
};

class ModelFilterTermsTest : public ::testing::TestWithParam<Case> {};

TEST_P(ModelFilterTermsTest, SelectsByFacts) {
  const ModelFilter filter = Parsed(GetParam().text);
  EXPECT_EQ(filter.Matches(Whisper()), GetParam().whisper) << GetParam().text;
  EXPECT_EQ(filter.Matches(Llama()), GetParam().llama) << GetParam().text;
}

TEST_P(ModelFilterTermsTest, MeansTheSameWhenExpanded) {
  const std::string expanded = Parsed(GetParam().text).Expanded();
  const ModelFilter filter = Parsed(expanded);
  EXPECT_EQ(filter.Matches(Whisper()), GetParam().whisper) << expanded;
  EXPECT_EQ(filter.Matches(Llama()), GetParam().llama) << expanded;
}

INSTANTIATE_TEST_SUITE_P(Terms, ModelFilterTermsTest,
                         ::testing::Values(Case{"openai/whisper-tiny", true, false},
                                           Case{"openai/whisper", false, false}, Case{"openai/*", true, false},
                                           Case{"*", true, true}, Case{"*/LLAMA-3.?-1b", false, true},
                                           Case{"meta/Llama-3.2-1B", false, true}, Case{"family:audio", true, false},
                                           Case{"FAMILY:Audio", true, false}, Case{"arch:*ForCausalLM", false, true},
                                           Case{"type:llama", false, true}, Case{"task:*speech*", true, false},
                                           Case{"library:transformers", true, false},
                                           Case{"reason:GB0170", true, false},
                                           Case{"reason:\"data-dependent branching\"", true, false},
                                           Case{"reason:data*", true, false}, Case{"reason:data", false, false},
                                           Case{"status:timeout", false, true}, Case{"status:failed", false, true},
                                           Case{"status:numbers", true, false}, Case{"status:graph_*", true, false},
                                           Case{"mode:eval", true, false}, Case{"owner:speech", true, false},
                                           Case{"not owner:*", false, true}, Case{"not library:*", false, true}));

INSTANTIATE_TEST_SUITE_P(Operators, ModelFilterTermsTest,
                         ::testing::Values(Case{"not family:audio", false, true},
                                           Case{"not not family:audio", true, false},
                                           Case{"family:audio or type:llama", true, true},
                                           Case{"family:audio and type:llama", false, false},
                                           Case{"family:audio or type:llama and status:crashed", true, false},
                                           Case{"(family:audio or type:llama) and status:timeout", false, true},
                                           Case{"not (family:audio or type:llama)", false, false},
                                           Case{"not family:audio or status:numbers", true, true},
                                           Case{"NOT family:audio", false, true}, Case{"(((openai/*)))", true, false},
                                           Case{"\"not\"", false, false}, Case{"'openai/whisper-tiny'", true, false}));

TEST(ModelFilterTest, MatchesEverythingWithoutAnExpression) {
  EXPECT_TRUE(ModelFilter().MatchesEverything());
  EXPECT_TRUE(ModelFilter().Matches(Llama()));
  EXPECT_TRUE(ModelFilter().CheckSelects({}).ok());
}

TEST(ModelFilterTest, SplitsModelsIntoShardsByTheirIdsAlone) {
  int models[3] = {};
  for (int i = 0; i < 600; ++i) {
    FilterSubject subject;
    subject.id = "org/model-" + std::to_string(i);
    int shards = 0;
    for (int shard = 0; shard < 3; ++shard) {
      if (!Parsed("shard:" + std::to_string(shard + 1) + "/3").Matches(subject)) continue;
      ++shards, ++models[shard];
    }
    EXPECT_EQ(shards, 1) << subject.id;
  }
  for (const int count : models) EXPECT_NEAR(count, 200, 60);
  EXPECT_TRUE(Parsed("shard:1/1").Matches(Llama()));
  EXPECT_FALSE(Parsed("not shard:1/1").Matches(Llama()));
  // Fixed: machines of several versions must split alike.
  EXPECT_TRUE(Parsed("shard:3/4").Matches(Llama()));
}

TEST(ModelFilterTest, RefusesWhatIsNoShard) {
  for (const char* text : {"0/4", "5/4", "1/0", "1/65", "1", "1/", "/4", "a/b", "1/4/4", "-1/4", "*"})
    EXPECT_THAT(ErrorOf(std::string("shard:") + text), HasSubstr("expected I/N, such as 2/4")) << text;
}

TEST(ModelFilterTest, NamesTheNearestKnownName) {
  EXPECT_THAT(ErrorOf("famly:audio"), HasSubstr("unknown key \"famly\"; did you mean \"family\"?"));
  EXPECT_THAT(ErrorOf("colour:red"), HasSubstr("unknown key \"colour\". Keys: family, arch, type, task"));
  EXPECT_THAT(ErrorOf("family:audoi"), HasSubstr("unknown family \"audoi\"; did you mean \"audio\"?"));
  EXPECT_THAT(ErrorOf("status:timout"), HasSubstr("did you mean \"timeout\"?"));
  EXPECT_THAT(ErrorOf("status:fail"), HasSubstr("did you mean \"failed\"?"));
  EXPECT_THAT(ErrorOf("mode:evall"), HasSubstr("did you mean \"eval\"?"));
  EXPECT_THAT(ErrorOf("status:zz*"), HasSubstr("unknown status \"zz*\": expected one of "));
}

TEST(ModelFilterTest, ReportsWhatIsWrongWithTheExpression) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("  "), HasSubstr("is empty"));
  EXPECT_THAT(ErrorOf("family:"), HasSubstr("family: expects a value"));
  EXPECT_THAT(ErrorOf("a b"), HasSubstr("expected and, or, or the end instead of \"b\""));
  EXPECT_THAT(ErrorOf("a and"), HasSubstr("at the end"));
  EXPECT_THAT(ErrorOf("or a"), HasSubstr("instead of \"or\""));
  EXPECT_THAT(ErrorOf("(a"), HasSubstr("a parenthesis is not closed"));
  EXPECT_THAT(ErrorOf("a)"), HasSubstr("instead of \")\""));
  EXPECT_THAT(ErrorOf("()"), HasSubstr("instead of \")\""));
  EXPECT_THAT(ErrorOf("reason:\"x"), HasSubstr("a quote is not closed"));
  EXPECT_THAT(ErrorOf("\"\""), HasSubstr("an id is empty"));
  EXPECT_THAT(ErrorOf("org/name@abcd"), HasSubstr("every revision"));
}

TEST(ModelFilterTest, BoundsLengthAndDepth) {
  EXPECT_THAT(ErrorOf(std::string(kMaxFilterBytes + 1, 'a')), HasSubstr("longer than 64 KiB"));
  EXPECT_THAT(ErrorOf(std::string(10'000, '(') + "a"), HasSubstr("levels deep"));
  std::string nots;
  for (int i = 0; i < 10'000; ++i) nots += "not ";
  EXPECT_THAT(ErrorOf(nots + "a"), HasSubstr("levels deep"));
  EXPECT_TRUE(Parsed(std::string(30, '(') + "*" + std::string(30, ')')).Matches(Llama()));
}

TEST(ModelFilterTest, OwnModelsAreIds) {
  FilterSubject own;
  own.id = "python:package.nets:Make";
  EXPECT_TRUE(Parsed("python:package.*").Matches(own));
  own.id = "script:train.py::ab12 -- --epochs 1";
  EXPECT_TRUE(Parsed("\"script:train.py::ab12 -- --epochs 1\"").Matches(own));
  EXPECT_FALSE(IsModelFilter(own.id));
}

TEST(ModelFilterTest, KnowsAnIdFromAnExpression) {
  for (const char* id : {"gpt2", "org/name", "org/name@0123abcd", "python:a:b"}) EXPECT_FALSE(IsModelFilter(id)) << id;
  for (const char* text : {"org/*", "family:audio", "@models.txt", "a or b", "(a)", "org/?"}) {
    EXPECT_TRUE(IsModelFilter(text)) << text;
  }
}

const ModelFilter::ReadFile kFiles = [](const std::string& path) -> Result<std::string> {
  static const std::map<std::string, std::string> files = {
      {"Mine.txt",
       "# the models of the team\nopenai/whisper-tiny\r\n\n  org/*  # all\nfamily:tabular and not type:x\n"},
      {"nested.txt", "org/a\n@mine.txt\n"},
      {"bad.txt", "org/a\nfamly:audio\n"},
      {"empty.txt", "# nothing\n"},
      {"mark.txt", "\xEF\xBB\xBFopenai/whisper-tiny\n"},
      {"utf16.txt", std::string("\xFF\xFE"
                                "a\0",
                                4)},
      {"large.txt", std::string(kMaxFilterFileBytes + 1, '\n')}};
  const auto found = files.find(path);
  if (found == files.end()) return Error{ErrorCode::kUsage, "cannot be read: No such file or directory"};
  return found->second;
};

TEST(ModelFilterTest, ReadsAFileOfExpressions) {
  const ModelFilter filter = Parsed("@Mine.txt", kFiles);
  EXPECT_TRUE(filter.Matches(Whisper()));
  EXPECT_FALSE(filter.Matches(Llama()));
  EXPECT_TRUE(Parsed("not @Mine.txt and status:timeout", kFiles).Matches(Llama()));
  FilterSubject other;
  other.id = "org/b";
  EXPECT_TRUE(filter.Matches(other));
  EXPECT_TRUE(Parsed(filter.Expanded()).Matches(other)) << filter.Expanded();
  EXPECT_TRUE(Parsed(filter.Expanded()).Matches(Whisper()));
}

TEST(ModelFilterTest, ReadsTextFilesOfEveryEditorInUtf8) {
  EXPECT_TRUE(Parsed("@mark.txt", kFiles).Matches(Whisper()));
  EXPECT_THAT(ErrorOf("@utf16.txt", kFiles), HasSubstr("utf16.txt: is not UTF-8 text"));
}

TEST(ModelFilterTest, AnExpansionIsNoDeeperThanTheExpression) {
  std::string nots;
  for (int i = 0; i < kMaxFilterDepth - 1; ++i) nots += "not ";
  EXPECT_EQ(Parsed(nots + "*").Expanded(), nots + "\"*\"");
  EXPECT_EQ(Parsed("(a or b) and not (c or not d and e)").Expanded(),
            "(\"a\" or \"b\") and not (\"c\" or not \"d\" and \"e\")");
}

TEST(ModelFilterTest, ReportsTheLineOfAFile) {
  EXPECT_THAT(ErrorOf("@bad.txt", kFiles), HasSubstr("bad.txt:2: unknown key \"famly\""));
  EXPECT_THAT(ErrorOf("@nested.txt", kFiles), HasSubstr("nested.txt:2: @mine.txt: a file cannot include another one"));
  EXPECT_THAT(ErrorOf("@empty.txt", kFiles), HasSubstr("empty.txt names no model"));
  EXPECT_THAT(ErrorOf("@large.txt", kFiles), HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(ErrorOf("@none.txt", kFiles), HasSubstr("none.txt: cannot be read: No such file"));
  EXPECT_THAT(ErrorOf("@", kFiles), HasSubstr("expects the path"));
}

TEST(ModelFilterTest, RefusesFilesWithoutAReader) {
  const auto filter = ModelFilter::Parse("@/etc/passwd");
  ASSERT_FALSE(filter.ok());
  EXPECT_THAT(filter.error().message, HasSubstr("for the command line only"));
}

TEST(ModelFilterTest, SuggestsTheNearestNameIfNothingIsSelected) {
  const std::vector<FilterSubject> all = {Whisper(), Llama()};
  const auto message = [&](const char* text) {
    const auto checked = Parsed(text).CheckSelects(all);
    return checked ? std::string("ok") : checked.error().message;
  };
  EXPECT_EQ(message("family:audio"), "ok");
  EXPECT_EQ(message("openai/wisper-tiny"),
            "\"openai/wisper-tiny\" matches no model; did you mean "
            "\"openai/whisper-tiny\"?");
  EXPECT_EQ(message("type:lama"), "\"type:lama\" matches no model; did you mean \"llama\"?");
  EXPECT_EQ(message("3.2"), "\"3.2\" matches no model; did you mean \"*3.2*\"?");
  EXPECT_EQ(message("family:audio and status:timeout"), "\"family:audio and status:timeout\" matches none of 2 models");
  EXPECT_THAT(message("family:audio or openai/wisper-tiny"), HasSubstr("\"openai/wisper-tiny\" matches no model"))
      << "an id that is included is checked even if another term selects";
  EXPECT_EQ(message("not org/other"), "ok") << "an excluded model need not exist";
  EXPECT_EQ(message("family:audio or status:crashed"), "ok") << "only ids are expected to exist";
}

TEST(ModelFilterTest, CountsModelsAndNotTheirResults) {
  std::vector<FilterSubject> two_modes = {Whisper(), Whisper()};
  two_modes[1].mode = "train";
  EXPECT_THAT(Parsed("mode:eval and mode:train").CheckSelects(two_modes).error().message,
              HasSubstr("matches none of 1 model"));
}

TEST(ModelFilterTest, ChecksTheNamesOfOwners) {
  const std::vector<std::string> owners = {"speech", "vision-team"};
  EXPECT_TRUE(Parsed("owner:speech and not owner:*").CheckOwners(owners).ok());
  EXPECT_THAT(Parsed("owner:speach").CheckOwners(owners).error().message, HasSubstr("did you mean \"speech\"?"));
  EXPECT_THAT(Parsed("not owner:x").CheckOwners({}).error().message, HasSubstr("models.file names no owners"));
}

TEST(ModelFilterTest, ListsTheKeysThatItUses) {
  const ModelFilter filter = Parsed("not (org/* or reason:GB0170)");
  EXPECT_TRUE(filter.Uses(FilterKey::kId));
  EXPECT_TRUE(filter.Uses(FilterKey::kReason));
  EXPECT_FALSE(filter.Uses(FilterKey::kStatus));
}

TEST(ModelFilterTest, JoinsSeveralWithOr) {
  const std::vector<ModelFilter> filters = {Parsed("family:audio"), Parsed("type:llama and status:crashed")};
  const ModelFilter any = ModelFilter::AnyOf(filters);
  EXPECT_TRUE(any.Matches(Whisper()));
  EXPECT_FALSE(any.Matches(Llama()));
  EXPECT_EQ(any.text(), "(family:audio) or (type:llama and status:crashed)");
}

TEST(ModelFilterTest, NarrowsWithAnd) {
  EXPECT_TRUE(ModelFilter::AllOf({}).MatchesEverything());
  const std::vector<ModelFilter> filters = {ModelFilter(), Parsed("family:audio or type:llama"),
                                            ModelFilter::OfOwner("Speech")};
  const ModelFilter all = ModelFilter::AllOf(filters);
  EXPECT_TRUE(all.Matches(Whisper()));
  EXPECT_FALSE(all.Matches(Llama()));
  EXPECT_TRUE(Parsed(all.Expanded()).Matches(Whisper()));
}

TEST(ModelFilterTest, TakesAnOwnersNameAsItIs) {
  const ModelFilter hostile = ModelFilter::OfOwner("x\" or *");
  EXPECT_FALSE(hostile.Matches(Llama()));
  EXPECT_FALSE(Parsed(hostile.Expanded()).Matches(Llama())) << hostile.Expanded();
}

// Every prefix and every changed byte of sound expressions: refused or accepted, and then equal to its expansion.
TEST(ModelFilterTest, SurvivesEveryMutationOfSoundExpressions) {
  const std::string sound[] = {"(family:audio or not \"a \\\" b\") and 'x':y", "reason:'a b' or org/*?",
                               "@Mine.txt and not *"};
  const std::string bytes("\0\n\t \"'\\:@*?()#\x80\xFFz", 17);
  for (const std::string& text : sound) {
    for (std::size_t at = 0; at <= text.size(); ++at) {
      for (const char byte : bytes) {
        std::string mutated = text;
        at < text.size() ? (void)(mutated[at] = byte) : (void)(mutated += byte);
        for (const std::string& tried : {mutated, text.substr(0, at) + byte}) {
          const auto filter = ModelFilter::Parse(tried, kFiles);
          if (!filter) continue;
          const auto again = ModelFilter::Parse(filter->Expanded());
          ASSERT_TRUE(again.ok()) << tried << " -> " << filter->Expanded() << ": " << again.error().message;
          EXPECT_EQ(again->Matches(Whisper()), filter->Matches(Whisper())) << tried;
          EXPECT_EQ(again->Matches(Llama()), filter->Matches(Llama())) << tried;
        }
      }
    }
  }
}

TEST(ModelFilterTest, MatchesManyStarsWithoutBacktracking) {
  std::string stars;
  for (int i = 0; i < 1'000; ++i) stars += "*a";
  FilterSubject subject = Llama();
  subject.id = std::string(2'000, 'a');
  EXPECT_FALSE(Parsed(stars + "b").Matches(subject));
  EXPECT_TRUE(Parsed(stars).Matches(subject));
}

TEST(ModelFilterTest, AQuestionMarkIsOneCharacter) {
  FilterSubject subject = Llama();
  subject.id = "org/na\xC3\xAFve";
  EXPECT_TRUE(Parsed("org/na?ve").Matches(subject));
  EXPECT_FALSE(Parsed("org/na??ve").Matches(subject));
}

}  // namespace
}  // namespace breakwatch
