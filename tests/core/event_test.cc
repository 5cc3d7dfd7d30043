#include "breakwatch/core/event.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace breakwatch {
namespace {

using nlohmann::json;

Event GraphBreak(std::string fields) {
  return {"graph_break", Level::kInfo, "s1", "org/name", "0123456789abcdef0123456789abcdef01234567", std::move(fields)};
}

TEST(ComposeLineTest, PutsTheCommonFieldsBeforeTheEventsOwn) {
  EXPECT_EQ(ComposeLine(GraphBreak(R"({"reason":"print","line":3})"), 7, 1),
            R"({"ts":"1970-01-01T00:00:00.000000001Z","level":"info","msg":"graph_break","schema":1,"event_id":7,)"
            R"("sweep_id":"s1","model":"org/name","commit":"0123456789abcdef0123456789abcdef01234567",)"
            R"("reason":"print","line":3})");
}

StoredEvent Stored(std::string line) {
  StoredEvent event;
  event.line = std::move(line);
  return event;
}

TEST(NameOfTest, IsTheNameThatTheLineWasComposedWith) {
  const Event event = GraphBreak(R"({"capture":{"msg":"delivery_failed"},"detail":"\"msg\":\"delivery_failed\""})");
  EXPECT_EQ(NameOf(Stored(ComposeLine(event, 7, 1))), "graph_break");
}

TEST(NameOfTest, IsEmptyForALineWithoutAName) {
  for (const char* line : {"", "{", "[]", "{}", R"({"msg":1})"}) EXPECT_EQ(NameOf(Stored(line)), "") << line;
}

TEST(ComposeLineTest, IsTheSameBytesEveryTime) {
  const Event event = GraphBreak(R"({"b":1,"a":2})");
  EXPECT_EQ(ComposeLine(event, 1, 2), ComposeLine(event, 1, 2));
}

TEST(ComposeLineTest, NeverLetsAFieldReplaceACommonOne) {
  const json line = json::parse(ComposeLine(GraphBreak(R"({"event_id":99,"msg":"forged"})"), 7, 1));
  EXPECT_EQ(line["event_id"], 7);
  EXPECT_EQ(line["msg"], "graph_break");
}

TEST(ComposeLineTest, CutsTheLongestTextsToStayWithinTheBound) {
  const json fields = {
      {"detail", std::string(300'000, 'x')}, {"hints", {std::string(100'000, 'y')}}, {"reason", "short"}};
  const std::string text = ComposeLine(GraphBreak(fields.dump()), 7, 1);
  EXPECT_LE(text.size(), kMaxLineBytes);
  const json line = json::parse(text);
  EXPECT_EQ(line["reason"], "short");
  EXPECT_TRUE(line["truncated"]);
  EXPECT_TRUE(line["detail"].get<std::string>().ends_with("…"));
}

TEST(ComposeLineTest, KeepsTheHeadWhenTheFieldsAreTooMany) {
  json fields;
  for (int i = 0; i < 20'000; ++i) fields["f" + std::to_string(i)] = i;
  const json line = json::parse(ComposeLine(GraphBreak(fields.dump()), 7, 1));
  EXPECT_EQ(line["msg"], "graph_break");
  EXPECT_FALSE(line.contains("f1"));
}

TEST(ComposeLineTest, CutsListsOfThousandsAtOnce) {
  const json fields = {{"hints", std::vector<std::string>(2000, std::string(1000, 'h'))}, {"reason", "short"}};
  const std::string text = ComposeLine(GraphBreak(fields.dump()), 7, 1);
  EXPECT_LE(text.size(), kMaxLineBytes);
  EXPECT_TRUE(json::parse(text)["truncated"]);
}

TEST(ComposeLineTest, StaysOneLineOfValidUtf8) {
  const std::string text = ComposeLine(GraphBreak("{\"detail\":\"a\\nb\"}"), 7, 1);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  Event broken = GraphBreak("");
  broken.model = "org/\xFF\n";
  EXPECT_TRUE(json::accept(ComposeLine(broken, 7, 1)));
}

}  // namespace
}  // namespace breakwatch
