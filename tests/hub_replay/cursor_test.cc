#include "cursor.h"

#include <gtest/gtest.h>

#include "digests.h"

namespace breakwatch::hub_replay {
namespace {

// A real cursor of the Hub, and its meaning.
constexpr const char* kRecorded =
    "eyIkb3IiOlt7ImRvd25sb2FkcyI6MiwiX2lkIjp7IiRndCI6IjYzOTBkOWYzM2RlNzZkNjAyOTlhY2JlMCJ9fSx7ImRvd25sb2FkcyI6eyIkbHQi"
    "OjJ9fSx7ImRvd25sb2FkcyI6bnVsbH1dfQ==";

Cursor After(Json value, const std::string& id) { return {"downloads", std::move(value), id, false, ""}; }

TEST(CursorTest, ReadsACursorOfTheHub) {
  const auto cursor = DecodeCursor(kRecorded, "downloads", "");
  ASSERT_TRUE(cursor.ok());
  EXPECT_EQ(cursor->value, 2);
  EXPECT_EQ(cursor->last_id, "6390d9f33de76d60299acbe0");
}

TEST(CursorTest, ReadsTheOneSidedCursorOfCreatedAt) {
  const auto cursor = DecodeCursor(Base64(R"({"_id":{"$lt":"6a0e3141f27e4e44e999a28a"}})"), "createdAt", "");
  ASSERT_TRUE(cursor.ok());
  EXPECT_TRUE(cursor->Selects(nullptr, "6a0e3141f27e4e44e999a289"));
  EXPECT_FALSE(cursor->Selects(nullptr, "6a0e3141f27e4e44e999a28a"));
}

TEST(CursorTest, SelectsLowerValuesThenHigherIdsThenModelsWithoutValue) {
  const Cursor cursor = After(5, "b");
  EXPECT_TRUE(cursor.Selects(4, "a"));
  EXPECT_TRUE(cursor.Selects(5, "c"));
  EXPECT_TRUE(cursor.Selects(nullptr, "a"));
  EXPECT_FALSE(cursor.Selects(5, "b"));
  EXPECT_FALSE(cursor.Selects(6, "c"));
}

TEST(CursorTest, SelectsOnlyModelsWithoutValueOnceThoseAreReached) {
  const Cursor cursor = After(nullptr, "b");
  EXPECT_TRUE(cursor.Selects(nullptr, "c"));
  EXPECT_FALSE(cursor.Selects(nullptr, "a"));
  EXPECT_FALSE(cursor.Selects(1, "c"));
}

TEST(CursorTest, SurvivesEncodingWithFloatNullAndInclusivePlaces) {
  for (const Json& value : {Json(0.7000000000000001), Json(nullptr), Json("2025-01-01")}) {
    for (const bool inclusive : {false, true}) {
      const Cursor cursor{"trendingScore", value, "b", inclusive, ""};
      const auto read = DecodeCursor(EncodeCursor(cursor), "trendingScore", "");
      ASSERT_TRUE(read.ok());
      EXPECT_EQ(read->value, value);
      EXPECT_EQ(read->last_id, "b");
      EXPECT_EQ(read->inclusive, inclusive);
    }
  }
}

TEST(CursorTest, IsBoundToItsSortKeyAndItsSearch) {
  const Cursor cursor{"downloads", 2, "b", false, "qwen\n"};
  EXPECT_TRUE(DecodeCursor(EncodeCursor(cursor), "downloads", "qwen\n").ok());
  EXPECT_FALSE(DecodeCursor(EncodeCursor(cursor), "likes", "qwen\n").ok());
  EXPECT_FALSE(DecodeCursor(EncodeCursor(cursor), "downloads", "llama\n").ok());
  EXPECT_FALSE(DecodeCursor(kRecorded, "downloads", "qwen\n").ok()) << "a search has a token that clients cannot make";
}

TEST(CursorTest, RejectsInvalidCursors) {
  const std::string nested = std::string(2000, '[') + std::string(2000, ']');
  for (const std::string& text :
       {std::string("?"), std::string("AAAA"), Base64("[]"), Base64("{}"), Base64("null"), Base64(R"({"$or":[1,2,3]})"),
        Base64(R"({"_id":{"$gt":"a"}})"), Base64(R"({"$or":{"downloads":2}})"),
        Base64(R"({"downloads":2,"_id":{"$gt":5}})"), Base64(nested), std::string(8000, 'A')}) {
    const auto cursor = DecodeCursor(text, "downloads", "");
    ASSERT_FALSE(cursor.ok()) << text;
    EXPECT_EQ(cursor.error().message, "Invalid cursor");
  }
}

}  // namespace
}  // namespace breakwatch::hub_replay
