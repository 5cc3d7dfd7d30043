// The formats of whole reports: what each contains, its bounds, and that no text of a model leaves its place.
#include "breakwatch/report/formats.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "breakwatch/core/text.h"
#include "hostile_sweep.h"

namespace breakwatch::report {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// B has one new site, one model fails, one is gone; the second site is allowed.
struct Judged {
  Judged() : before(SampleResults()), after(before) {
    after[0] = Captured("sample/whole", {Site("Dynamic control flow", "GB9002", 2, 11)});
    after[2].capture = Ended("sample/one-reason", Status::kCrashed, "signal 11").capture;
    after.erase(after.begin() + 3);
    compare::GateRules rules;
    rules.today = std::chrono::year(2026) / 11 / 23;
    AllowEntry entry;
    entry.of = AllowEntry::Of::kSite, entry.value = "site9", entry.owner = "team-a", entry.why = "known";
    entry.expires = std::chrono::year(2027) / 1 / 31;
    rules.allowed.entries.push_back(entry);
    gated = compare::CompareWithGate({"A", before}, {"B", after}, rules);
  }
  ComparisonReport Report() const {
    return {.comparison = gated.comparison, .gate = &gated.gate, .results = after, .made_at = At(100)};
  }
  std::string In(Format format) const { return RenderComparison(Report(), format); }

  std::vector<ModelResult> before, after;
  compare::Gated gated;
};

std::string Swept(Format format) { return RenderSweep({.sweep = SampleSweep(), .results = SampleResults()}, format); }
std::string Hostile(Format format) {
  return RenderSweep({.sweep = HostileSweep(), .results = HostileResults()}, format);
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(FormatsTest, EveryFormatHasANameAndRendersSweepsAndComparisons) {
  std::set<std::string_view> names;
  const Judged judged;
  for (const ReportFormat& format : ReportFormats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    EXPECT_EQ(ParseReportFormat(format.name), format.format);
    EXPECT_THAT(format.media_type, HasSubstr("/"));
    for (const std::string& text : {Swept(format.format), judged.In(format.format)}) {
      EXPECT_TRUE(text.ends_with('\n')) << format.name;
    }
  }
  EXPECT_EQ(ReportFormatNames(), "text, md, html, csv, json, junit, sarif, warnings-ng, github, mail");
  EXPECT_EQ(ParseReportFormat("xml"), std::nullopt);
}

TEST(FormatsTest, NoFormatContainsControlCharactersOrInvalidUtf8) {
  for (const ReportFormat& format : ReportFormats()) {
    const std::string text = Hostile(format.format);
    EXPECT_EQ(text, ToUtf8(text)) << format.name;
    const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 && c != '\n'; });
    EXPECT_FALSE(control) << format.name;
    for (const char* hidden : {"\xE2\x80\xAE", "\xC2\x9B"}) EXPECT_THAT(text, Not(HasSubstr(hidden))) << format.name;
  }
}

TEST(FormatsTest, JsonKeepsEveryCharacterAsAnEscape) {
  const json results = json::parse(Hostile(Format::kJson))["results"];
  const std::string bidi = "bidi \xE2\x80\xAE override and \xC2\x9B";
  EXPECT_TRUE(std::any_of(results.begin(), results.end(), [&](const json& r) { return r["model"] == bidi; }));
}

// Reasons are those of one mode, and groups of failures are not models.
TEST(FormatsTest, TitlesStateTheModeOfReasonsAndCountResults) {
  std::vector<ModelResult> results = {Captured("a/a", {}), Ended("a/b", Status::kTimeout, "slow"),
                                      Ended("a/c", Status::kTimeout, "slow")};
  const auto text = [&](Format format) { return RenderSweep({.sweep = SampleSweep(), .results = results}, format); };
  EXPECT_THAT(text(Format::kMarkdown), HasSubstr("## Top reasons\n"));
  EXPECT_THAT(text(Format::kMarkdown), HasSubstr("Models without numbers (2)"));
  EXPECT_THAT(text(Format::kHtml), HasSubstr("Models without numbers (2)"));
  results.push_back(Captured("a/a", {}));
  results.back().capture.mode = "train";
  EXPECT_THAT(text(Format::kMarkdown), HasSubstr("## Top reasons in mode eval\n"));
  EXPECT_THAT(text(Format::kMarkdown), HasSubstr("Results without numbers (2)"));
  EXPECT_THAT(text(Format::kText), HasSubstr("\nTop reasons in mode eval\n"));
}

TEST(FormatsTest, AnEmptySweepHasEveryFormat) {
  Sweep sweep;
  sweep.id = "20260921T141320Z-abc123";
  for (const ReportFormat& format : ReportFormats()) {
    EXPECT_FALSE(RenderSweep({.sweep = sweep, .results = {}}, format.format).empty()) << format.name;
  }
}

// --- Markdown

TEST(MarkdownTest, StaysBelowItsLimitAndCountsWhatIsNotShown) {
  std::vector<ModelResult> many;
  for (int i = 0; i < 5'000; ++i) {
    many.push_back(Captured("sample/model-" + std::to_string(i), {Site("Reason " + std::to_string(i), "", 1, i)}));
  }
  const std::string text = RenderSweep({.sweep = SampleSweep(), .results = many}, Format::kMarkdown);
  EXPECT_LE(text.size(), 60'000u);
  EXPECT_GE(text.size(), 30'000u) << "the room is used";
  EXPECT_THAT(text, HasSubstr(" of 5000 rows"));
  EXPECT_THAT(text, HasSubstr("## Top reasons"));
}

TEST(MarkdownTest, FoldsDetailsAndClosesThem) {
  for (const std::string& text :
       {Swept(Format::kMarkdown), Hostile(Format::kMarkdown), Judged().In(Format::kMarkdown)}) {
    std::size_t open = 0, most = 0, folds = 0;
    for (const std::string& line : LinesOf(text)) {
      if (line == "<details>") most = std::max(most, ++open), ++folds;
      if (line == "</details>") --open;
    }
    EXPECT_EQ(open, 0u);
    EXPECT_EQ(most, 1u);
    EXPECT_GE(folds, 2u);
  }
}

TEST(MarkdownTest, TextsOfModelsAreNoMarkup) {
  const std::string text = Hostile(Format::kMarkdown);
  for (const std::string& line : LinesOf(text)) {
    const bool ours = line.starts_with("<details>") || line.starts_with("</details>") || line.starts_with("<summary>");
    EXPECT_TRUE(ours || line.find('<') == std::string::npos) << line;
    EXPECT_THAT(line, Not(StartsWith("# heading")));
  }
  EXPECT_THAT(text, Not(HasSubstr("@team")));
  EXPECT_THAT(text, Not(HasSubstr("[x](")));
}

TEST(MarkdownTest, TheGatesDecisionComesFirst) {
  const std::string text = Judged().In(Format::kMarkdown);
  EXPECT_LT(text.find("**Gate: failed"), text.find("## Changed models"));
  EXPECT_THAT(text, HasSubstr("sample/whole"));
}

// --- HTML

struct Page : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node& node) override {
    if (node.type() == pugi::node_element) elements.insert(node.name());
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      attributes.insert(attribute.name());
      if (std::string_view(attribute.name()) == "href") links.insert(attribute.value());
    }
    if (node.type() == pugi::node_pcdata) text += node.value();
    return true;
  }
  std::set<std::string> elements, attributes, links;
  std::string text;
};

Page PageOf(const std::string& html) {
  const auto begin = html.find("<body>"), end = html.find("</body>");
  pugi::xml_document xml;
  const std::string body = html.substr(begin, end + 7 - begin);
  EXPECT_TRUE(xml.load_buffer(body.data(), body.size())) << "the body is a well-formed tree";
  Page page;
  xml.traverse(page);
  return page;
}

TEST(HtmlTest, HasNoElementOrAttributeOfAModel) {
  const std::set<std::string> elements = {"body",    "main",    "h1",    "h2",    "p",     "ul",     "li",   "dl",
                                          "dt",      "dd",      "div",   "a",     "th",    "td",     "tr",   "section",
                                          "details", "summary", "table", "thead", "tbody", "strong", "code", "article"};
  const std::set<std::string> attributes = {"class",           "id",    "tabindex", "role",
                                            "aria-labelledby", "scope", "href",     "rel"};
  const Page page = PageOf(Hostile(Format::kHtml));
  EXPECT_TRUE(std::includes(elements.begin(), elements.end(), page.elements.begin(), page.elements.end()))
      << testing::PrintToString(page.elements);
  EXPECT_TRUE(std::includes(attributes.begin(), attributes.end(), page.attributes.begin(), page.attributes.end()))
      << testing::PrintToString(page.attributes);
  EXPECT_TRUE(page.links.empty()) << testing::PrintToString(page.links);
  EXPECT_THAT(page.text, HasSubstr("<script>alert(1)</script>")) << "the text itself is shown";
}

TEST(HtmlTest, LoadsNothing) {
  for (const std::string& html : {Swept(Format::kHtml), Hostile(Format::kHtml), Judged().In(Format::kHtml)}) {
    EXPECT_THAT(html, HasSubstr("default-src 'none'; style-src 'sha256-"));
    const std::string head = html.substr(0, html.find("<body>"));
    for (const char* loading : {"<link", "<script", "url(", "@import", "src="}) {
      EXPECT_THAT(head, Not(HasSubstr(loading)));
    }
  }
}

TEST(HtmlTest, LinksReasonsToTheirPagesAndCountsRowsThatAreNotShown) {
  std::vector<ModelResult> many;
  for (int i = 0; i < 5'100; ++i) many.push_back(Captured("sample/" + std::to_string(i), {}));
  many.push_back(Captured("sample/broken", {Site("Data-dependent branching", "GB0170", 1, 7)}));
  const std::string html = RenderSweep({.sweep = SampleSweep(), .results = many}, Format::kHtml);
  EXPECT_THAT(html, HasSubstr("Not shown: 101 of 5101 rows"));
  const Page page = PageOf(html);
  ASSERT_EQ(page.links.size(), 1u);
  EXPECT_THAT(*page.links.begin(), StartsWith("https://"));
}

TEST(HtmlTest, ComparisonsNameNewSitesAndThoseThatAreGone) {
  Judged judged;
  judged.after[1] = Captured("sample/broken", {Site("Data-dependent branching", "GB9001", 3, 7)});
  judged.gated = compare::CompareWithGate({"A", judged.before}, {"B", judged.after}, {});
  const Page page = PageOf(judged.In(Format::kHtml));
  EXPECT_THAT(page.text, HasSubstr("New: 2 breaks in sample/whole"));
  EXPECT_THAT(page.text, HasSubstr("no breaks any more in sample/broken"));
}

// --- JUnit

pugi::xml_document JUnitOf(const std::string& text) {
  pugi::xml_document xml;
  EXPECT_TRUE(xml.load_buffer(text.data(), text.size())) << text;
  return xml;
}

TEST(JUnitTest, FamilyAndModelAreTheClassAndTheModeIsTheName) {
  const auto xml = JUnitOf(Swept(Format::kJunit));
  std::vector<std::string> cases;
  for (const auto& found : xml.select_nodes("/testsuites/testsuite/testcase")) {
    const pugi::xml_node node = found.node();
    cases.push_back(std::string(node.attribute("classname").value()) + " " + node.attribute("name").value());
  }
  ASSERT_EQ(cases.size(), 7u);
  EXPECT_EQ(cases[0], "nlp.sample__whole eval");
  EXPECT_THAT(cases, testing::Contains("vision.sample__one-reason eval"));
}

TEST(JUnitTest, CountsAreThoseOfTheCases) {
  for (const std::string& text : {Swept(Format::kJunit), Hostile(Format::kJunit), Judged().In(Format::kJunit)}) {
    const auto xml = JUnitOf(text);
    for (const auto& found : xml.select_nodes("//testsuite")) {
      const pugi::xml_node suite = found.node();
      EXPECT_EQ(suite.attribute("tests").as_uint(), suite.select_nodes("testcase").size());
      EXPECT_EQ(suite.attribute("failures").as_uint(), suite.select_nodes("testcase/failure").size());
      EXPECT_EQ(suite.attribute("errors").as_uint(), suite.select_nodes("testcase/error").size());
      EXPECT_EQ(suite.attribute("skipped").as_uint(), suite.select_nodes("testcase/skipped").size());
    }
  }
}

TEST(JUnitTest, WithAGateOnlyItsFindingsFail) {
  const auto xml = JUnitOf(Judged().In(Format::kJunit));
  std::vector<std::string> failed;
  for (const auto& found : xml.select_nodes("//testcase[failure]")) {
    failed.push_back(found.node().attribute("classname").value());
  }
  EXPECT_THAT(failed,
              testing::UnorderedElementsAre("nlp.sample__whole", "vision.sample__one-reason", "gone.sample__known"));
}

TEST(JUnitTest, WithoutAGateAModelWithoutNumbersFailsAndABreakDoesNot) {
  const auto xml = JUnitOf(Swept(Format::kJunit));
  EXPECT_EQ(xml.select_nodes("//testcase/failure").size(), 2u);
  EXPECT_EQ(xml.select_nodes("//testcase/skipped").size(), 1u);
}

// --- SARIF

json SarifOf(const std::string& text) { return json::parse(text)["runs"][0]; }

TEST(SarifTest, ASiteIsOneResultWhateverTheNumberOfItsModels) {
  const json run = SarifOf(Swept(Format::kSarif));
  ASSERT_EQ(run["results"].size(), 2u);
  EXPECT_EQ(run["results"][0]["partialFingerprints"]["siteId/v1"], "site7");
  EXPECT_EQ(run["results"][0]["properties"]["models"], json({"sample/broken", "sample/one-reason"}));
  EXPECT_EQ(run["results"][0]["occurrenceCount"], 4);
  EXPECT_EQ(run["results"][0]["level"], "warning");
  const json& rule = run["tool"]["driver"]["rules"][run["results"][0]["ruleIndex"].get<std::size_t>()];
  EXPECT_EQ(rule["id"], run["results"][0]["ruleId"]);
  EXPECT_THAT(rule["help"]["text"].get<std::string>(), HasSubstr("- Write it as torch.where."));
}

TEST(SarifTest, AModelIsCountedOnceWhateverTheNumberOfItsModes) {
  std::vector<ModelResult> results(2, Captured("sample/a", {Site("Reason", "GB9001", 1, 7)}));
  results[1].capture.mode = "train";
  const json run = SarifOf(RenderSweep({.sweep = SampleSweep(), .results = results}, Format::kSarif));
  EXPECT_EQ(run["results"][0]["properties"]["modelCount"], 1);
  EXPECT_EQ(run["results"][0]["properties"]["models"].size(), 2u);
}

TEST(SarifTest, AModelThatLostASiteIsNotAmongThoseThatHaveIt) {
  const BreakSite site = Site("Reason", "GB9001", 2, 7);
  const std::vector<ModelResult> before = {Captured("sample/fixed", {site}), Captured("sample/kept", {site})};
  const std::vector<ModelResult> after = {Captured("sample/fixed", {}), Captured("sample/kept", {site})};
  const compare::Comparison comparison = compare::Compare({"A", before}, {"B", after});
  const json run = SarifOf(RenderComparison({.comparison = comparison, .results = after}, Format::kSarif));
  const json& result = run["results"][0];
  EXPECT_EQ(result["message"]["text"], "Reason [GB9001]: 2 breaks in sample/kept");
  EXPECT_EQ(result["properties"]["models"], json({"sample/kept"}));
  EXPECT_EQ(result["baselineState"], "updated") << "a model lost it";
}

TEST(SarifTest, TheGateDecidesTheLevelsAndTheComparisonTheStates) {
  const json run = SarifOf(Judged().In(Format::kSarif));
  std::map<std::string, json> by_site;
  for (const json& result : run["results"]) by_site[result["partialFingerprints"]["siteId/v1"]] = result;
  EXPECT_EQ(by_site["site11"]["level"], "error");
  EXPECT_EQ(by_site["site11"]["baselineState"], "new");
  EXPECT_EQ(by_site["site7"]["level"], "warning");
  EXPECT_EQ(by_site["site9"]["level"], "note");
  EXPECT_THAT(by_site["site9"]["suppressions"][0]["justification"].get<std::string>(), HasSubstr("team-a"));
}

TEST(SarifTest, RulesLinkToTheirPages) {
  const std::vector<ModelResult> results = {Captured("sample/a", {Site("Data-dependent branching", "GB0170", 1, 7)})};
  const json run = SarifOf(RenderSweep({.sweep = SampleSweep(), .results = results}, Format::kSarif));
  EXPECT_THAT(run["tool"]["driver"]["rules"][0]["helpUri"].get<std::string>(), HasSubstr("gb0170"));
}

TEST(SarifTest, AddressesOfFilesHaveNoCharacterOfAModelThatIsNotQuoted) {
  const json run = SarifOf(Hostile(Format::kSarif));
  for (const json& result : run["results"]) {
    if (!result.contains("locations")) continue;
    const json& place = result["locations"][0]["physicalLocation"]["artifactLocation"];
    const auto uri = place["uri"].get<std::string>();
    EXPECT_EQ(uri.find_first_of(" <>\"|\n:"), std::string::npos) << uri;
  }
}

// --- warnings-ng

TEST(WarningsNgTest, HasOnlyFieldsThatThePluginReads) {
  const std::set<std::string> known = {"fileName", "lineStart",   "lineEnd",    "severity",    "category",   "type",
                                       "message",  "packageName", "moduleName", "description", "fingerprint"};
  const std::set<std::string> severities = {"ERROR", "HIGH", "NORMAL", "LOW"};
  for (const std::string& text :
       {Swept(Format::kWarningsNg), Hostile(Format::kWarningsNg), Judged().In(Format::kWarningsNg)}) {
    const json document = json::parse(text);
    EXPECT_EQ(document["size"], document["issues"].size());
    std::set<std::string> fingerprints;
    for (const json& issue : document["issues"]) {
      for (const auto& [name, value] : issue.items()) EXPECT_TRUE(known.contains(name)) << name;
      EXPECT_TRUE(severities.contains(issue["severity"])) << issue;
      EXPECT_TRUE(fingerprints.insert(issue["fingerprint"]).second) << issue;
      EXPECT_EQ(issue["message"].get<std::string>().find('<'), std::string::npos) << issue;
    }
  }
}

TEST(WarningsNgTest, ANewSiteIsAnErrorAndAnAllowedOneIsLow) {
  std::map<std::string, std::string> severities;
  const json document = json::parse(Judged().In(Format::kWarningsNg));
  for (const json& issue : document["issues"]) {
    severities[issue["fingerprint"]] = issue["severity"];
  }
  EXPECT_EQ(severities["site11/eval/sample/whole"], "ERROR");
  EXPECT_EQ(severities["site7/eval/sample/broken"], "NORMAL");
  EXPECT_EQ(severities["site9/eval/sample/broken"], "LOW");
}

// --- GitHub

TEST(GithubTest, EveryAnnotationIsOneCommandOfAKnownKind) {
  const GithubOutput output =
      ForGithub(SweepReport{.sweep = HostileSweep(), .results = HostileResults()}, kGithubSummaryBytes);
  std::map<std::string, int> kinds;
  for (const std::string& line : LinesOf(output.annotations)) {
    ASSERT_THAT(line, StartsWith("::"));
    ++kinds[line.substr(2, line.find_first_of(" :", 2) - 2)];
  }
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"notice", 1}, {"warning", 10}})) << "GitHub shows ten of each kind";
  EXPECT_THAT(output.annotations, Not(HasSubstr("%0A::error"))) << "a percent sign of a text is escaped";
}

TEST(GithubTest, AWorseModelIsAnErrorAtItsNewSite) {
  const GithubOutput output = ForGithub(Judged().Report(), kGithubSummaryBytes);
  EXPECT_THAT(output.annotations,
              HasSubstr("::error file=sample/models/alpha.py,line=11,title=sample/whole%3A worse::"));
  EXPECT_THAT(output.annotations, HasSubstr("::notice file=sample/models/alpha.py,line=9,"));
  EXPECT_THAT(output.summary, HasSubstr("**Gate: failed"));
}

TEST(GithubTest, WithoutAGateAWorseModelIsAWarningAtItsNewSite) {
  const Judged judged;
  ComparisonReport report = judged.Report();
  report.is_gate = false;
  const GithubOutput output = ForGithub(report, kGithubSummaryBytes);
  EXPECT_THAT(output.annotations,
              HasSubstr("::warning file=sample/models/alpha.py,line=11,title=sample/whole%3A worse"));
  EXPECT_THAT(output.annotations, Not(HasSubstr("::error")));
}

TEST(GithubTest, TheSummaryKeepsToWhatTheStepHasLeft) {
  const GithubOutput output = ForGithub(SweepReport{.sweep = SampleSweep(), .results = SampleResults()}, 1'000);
  EXPECT_LE(output.summary.size(), 1'000u);
  EXPECT_THAT(output.summary, StartsWith("# Where torch.compile breaks"));
}

// --- Mail

TEST(MailTest, HasItsOwnHeadersOnly) {
  for (const std::string& text : {Swept(Format::kMail), Hostile(Format::kMail), Judged().In(Format::kMail)}) {
    std::vector<std::string> names;
    for (const std::string& line : LinesOf(text.substr(0, text.find("\n\n")))) {
      EXPECT_LE(line.size(), 78u) << line;
      if (!line.starts_with(' ')) names.push_back(line.substr(0, line.find(':')));
    }
    EXPECT_THAT(names, ElementsAre("Subject", "Date", "MIME-Version", "Auto-Submitted", "Content-Type"));
  }
}

TEST(MailTest, LinesOfTheBodyAreShort) {
  for (const std::string& line : LinesOf(Hostile(Format::kMail))) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace breakwatch::report
