#include "breakwatch/core/gzip.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace breakwatch {
namespace {

// Compresses badly, so that its member has many pieces.
std::string Noise(std::size_t size) {
  std::mt19937 random(7);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

TEST(GzipTest, ExpandsToWhatWasCompressed) {
  for (const std::size_t size : {0u, 1u, 65'535u, 65'536u, 65'537u, 1'000'000u}) {
    const std::string text = Noise(size);
    const auto packed = Gzip(text);
    ASSERT_TRUE(packed) << size;
    const auto expanded = Gunzip(*packed, size);
    ASSERT_TRUE(expanded) << size << ": " << expanded.error().message;
    EXPECT_EQ(*expanded, text) << size;
  }
}

TEST(GzipTest, WritesAndReadsInPiecesOfBoundedSize) {
  const std::string text = Noise(300'000);
  std::vector<std::string> pieces;
  GzipWriter writer([&](std::string_view piece) { pieces.emplace_back(piece); });
  for (std::size_t at = 0; at < text.size(); at += 1'000) writer.Write(std::string_view(text).substr(at, 1'000));
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(writer.read_bytes(), text.size());
  EXPECT_GT(pieces.size(), 3u);

  std::size_t next = 0;
  GzipReader reader([&] { return next < pieces.size() ? std::string_view(pieces[next++]) : std::string_view(); });
  std::string expanded;
  while (true) {
    const auto piece = reader.Next();
    ASSERT_TRUE(piece) << piece.error().message;
    if (piece->empty()) break;
    EXPECT_LE(piece->size(), 64u * 1024);
    expanded += *piece;
  }
  EXPECT_EQ(expanded, text);
}

TEST(GzipTest, RefusesWhatIsDamagedCutOrTooLong) {
  const std::string text = Noise(100'000), packed = *Gzip(text);
  EXPECT_FALSE(Gunzip("no gzip at all", 100));
  EXPECT_FALSE(Gunzip("", 100));
  EXPECT_FALSE(Gunzip(std::string_view(packed).substr(0, packed.size() - 1), text.size()));
  std::string damaged = packed;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  EXPECT_FALSE(Gunzip(damaged, text.size()));
  EXPECT_FALSE(Gunzip(packed, text.size() - 1));
}

}  // namespace
}  // namespace breakwatch
