// Files that breakwatch writes into the shared cache, read by the real Python client, and the reverse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "cache.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

const std::string kPython = BREAKWATCH_SOURCE_DIR "/.venv/bin/python";
const std::string kSha(40, 'a');
const std::string kAbsentSha(40, 'b');

// Standard output of a Python program that gets the cache as its argument; runs offline.
std::string RunPython(const fakes::TemporaryDirectory& directory, const std::string& program) {
  directory.Write("program.py", program);
  const std::string command =
      "HF_HUB_OFFLINE=1 '" + kPython + "' -I '" + directory / "program.py" + "' '" + directory / "hub" + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  std::string out;
  char chunk[4096];
  for (std::size_t n; (n = fread(chunk, 1, sizeof chunk, pipe)) > 0;) out.append(chunk, n);
  pclose(pipe);
  return out;
}

bool HasClient() {
  fakes::TemporaryDirectory directory;
  return std::filesystem::exists(kPython) && RunPython(directory, "import huggingface_hub; print('ok')") == "ok\n";
}

TEST(PythonCacheTest, ThePythonClientFindsWhatWeWrote) {
  if (!HasClient()) GTEST_SKIP() << "no huggingface_hub in " << kPython;
  fakes::TemporaryDirectory directory;
  const HubCache cache(directory / "hub", 1 << 20);
  ASSERT_TRUE(cache.StoreConfig("org/name", kSha, "\"" + std::string(40, 'e') + "\"", "{\"a\": 1}").ok());
  ASSERT_TRUE(cache.StoreRef("org/name", "main", kSha).ok());
  ASSERT_TRUE(cache.StoreAbsent("org/name", kAbsentSha).ok());
  EXPECT_EQ(RunPython(directory, R"(
import sys
from huggingface_hub import hf_hub_download, scan_cache_dir, try_to_load_from_cache
from huggingface_hub.file_download import _CACHED_NO_EXIST
root = sys.argv[1]
print(open(try_to_load_from_cache("org/name", "config.json", cache_dir=root)).read())
print(open(hf_hub_download("org/name", "config.json", cache_dir=root)).read())
print(try_to_load_from_cache("org/name", "config.json", cache_dir=root, revision="b" * 40) is _CACHED_NO_EXIST)
report = scan_cache_dir(root)
print([repo.repo_id for repo in report.repos], len(report.warnings))
)"),
            "{\"a\": 1}\n{\"a\": 1}\nTrue\n['org/name'] 0\n");
}

TEST(PythonCacheTest, WeFindWhatThePythonClientMade) {
  if (!HasClient()) GTEST_SKIP() << "no huggingface_hub in " << kPython;
  fakes::TemporaryDirectory directory;
  const std::string said = RunPython(directory, R"(
import os, sys
from huggingface_hub import file_download as fd
root = sys.argv[1]
folder = os.path.join(root, fd.repo_folder_name(repo_id="org/name", repo_type="model"))
blob = os.path.join(folder, "blobs", "e" * 40)
pointer = fd._get_pointer_path(folder, "a" * 40, "config.json")
os.makedirs(os.path.dirname(blob)), os.makedirs(os.path.dirname(pointer))
open(blob, "w").write("{}")
fd._create_symlink(blob, pointer, new_blob=False)
fd._cache_commit_hash_for_specific_revision(folder, "main", "a" * 40)
print("done")
)");
  ASSERT_EQ(said, "done\n");
  const HubCache cache(directory / "hub", 1 << 20);
  ASSERT_EQ(cache.ReadRef("org/name", "main"), kSha);
  EXPECT_EQ(cache.ReadConfig("org/name", kSha), "{}");
  EXPECT_EQ(cache.Models().size(), 1u);
}

}  // namespace
}  // namespace breakwatch::hub
