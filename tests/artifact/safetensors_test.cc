#include "safetensors.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "artifact/safetensors_text.h"

namespace breakwatch::artifact {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr char kTwo[] = R"({"__metadata__":{"format":"pt"},"0001":{"dtype":"I64","shape":[1],"data_offsets":[8,16]},)"
                        R"("0000":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})";

std::string WhyNot(const std::string& header, const std::string& data) {
  const auto parsed = ParseSafetensors(Safetensors(header, data));
  return parsed ? "" : parsed.error().message;
}

TEST(SafetensorsTest, ReadsTensorsInTheOrderOfTheirNames) {
  const std::string file = Safetensors(kTwo, BytesOf(1.5f, 2.5f, std::int64_t{7}));
  const auto tensors = ParseSafetensors(file);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "0000");
  EXPECT_EQ((*tensors)[0].tensor.dtype->torch_name, "float32");
  EXPECT_THAT((*tensors)[0].tensor.shape, ElementsAre(2, 1));
  EXPECT_EQ((*tensors)[0].tensor.bytes, BytesOf(1.5f, 2.5f));
  EXPECT_EQ((*tensors)[1].tensor.bytes, BytesOf(std::int64_t{7}));
}

TEST(SafetensorsTest, ReadsScalarsAndEmptyTensors) {
  const std::string file = Safetensors(
      R"({"0000":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"0001":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]}})",
      BytesOf(1.0f));
  const auto tensors = ParseSafetensors(file);
  ASSERT_TRUE(tensors.ok()) << tensors.error().message;
  EXPECT_THAT((*tensors)[0].tensor.shape, IsEmpty());
  EXPECT_EQ((*tensors)[1].tensor.bytes.size(), 0u);
}

TEST(SafetensorsTest, RefusesAHeaderThatDoesNotDescribeEveryByteOnce) {
  const std::string data = BytesOf(1.0f, 2.0f);
  EXPECT_THAT(WhyNot(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", data), HasSubstr("4 bytes after"));
  EXPECT_THAT(WhyNot(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", data), HasSubstr("tensor a"));
  EXPECT_THAT(WhyNot(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}})", data), HasSubstr("tensor a"));
  EXPECT_THAT(WhyNot(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                     R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                     data),
              HasSubstr("tensor b"));
}

TEST(SafetensorsTest, RefusesSizesThatDoNotFitTheShape) {
  const std::string data(8, 'x');
  for (const char* shape :
       {"[3]", "[4611686018427387904,4]", "[18446744073709551615]", "[-2]", "[2.0]", "2", "[[2]]"}) {
    const std::string header = std::string(R"({"a":{"dtype":"F32","shape":)") + shape + R"(,"data_offsets":[0,8]}})";
    EXPECT_THAT(WhyNot(header, data), HasSubstr("not a safetensors file")) << shape;
  }
}

TEST(SafetensorsTest, RefusesUnknownTypesAndOtherForms) {
  EXPECT_THAT(WhyNot(R"({"a":{"dtype":"F8_E4M3","shape":[8],"data_offsets":[0,8]}})", std::string(8, 'x')),
              HasSubstr("unknown dtype F8_E4M3"));
  for (const char* header : {"[]", "{}x", "", "{\"a\":1}", R"({"a":{"dtype":"F32","shape":[],"data_offsets":[4,0]}})",
                             R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"more":1}})"}) {
    EXPECT_NE(WhyNot(header, BytesOf(1.0f)), "") << header;
  }
}

TEST(SafetensorsTest, RefusesATruncatedFileAtEveryLength) {
  const std::string whole = Safetensors(kTwo, BytesOf(1.5f, 2.5f, std::int64_t{7}));
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(ParseSafetensors(whole.substr(0, length)).ok()) << length;
}

// The same entry point as the fuzzer's, on files with random changes.
TEST(SafetensorsTest, SurvivesRandomChangesOfAFile) {
  const std::string whole = Safetensors(kTwo, BytesOf(1.5f, 2.5f, std::int64_t{7}));
  std::mt19937 random(20261123);
  for (int round = 0; round < 20'000; ++round) {
    std::string changed = whole;
    for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random());
    const auto parsed = ParseSafetensors(changed);
    if (!parsed) {
      EXPECT_FALSE(parsed.error().message.empty());
      continue;
    }
    for (const NamedTensor& item : *parsed) EXPECT_LE(item.tensor.bytes.size(), changed.size());
  }
}

TEST(SafetensorsTest, AFileOfACallHasPositionsAsNames) {
  const std::string path = testing::TempDir() + "positions.safetensors";
  std::ofstream(path, std::ios::binary) << Safetensors(
      R"({"0000":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"0002":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
      BytesOf(1.0f, 2.0f));
  const auto file = TensorFile::Open(path);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("tensor 0002 instead of 0001"));
  std::filesystem::remove(path);
  EXPECT_EQ(TensorFile::Open(path).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace breakwatch::artifact
