// A registry of OCI distribution 1.1: blobs first, then the manifest under a tag for its package id, then the tag that
// was asked for. A reader of any of them sees a complete package.
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "json_at.h"
#include "oci_name.h"
#include "registries.h"
#include "registry_http.h"

namespace breakwatch::exporters {
namespace {

using nlohmann::json;

constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* kEmptyType = "application/vnd.oci.empty.v1+json";
constexpr const char* kPackageType = "application/vnd.breakwatch.package.v1";
constexpr const char* kTitle = "org.opencontainers.image.title";
constexpr const char* kPackageId = "breakwatch.package_id";
constexpr std::string_view kEmpty = "{}", kIdTag = "package-", kDefaultTag = "latest";
constexpr std::size_t kMaxManifestBytes = 4u << 20, kMaxLayers = 128;
constexpr int kMaxManifestDepth = 16;

struct Image {
  std::string digest;  // of the manifest
  PublishedPackage package;
  std::vector<PackageFile> files;
};

// The manifest has no time of its own, so a package has one manifest, and publishing it again changes nothing.
std::string ManifestOf(const Package& package, const std::vector<PackageFile>& files) {
  json layers = json::array();
  for (const PackageFile& file : files) {
    layers.push_back({{"mediaType", "application/octet-stream"},
                      {"digest", std::string(kDigestPrefix) + file.sha256},
                      {"size", file.bytes},
                      {"annotations", {{kTitle, file.path}}}});
  }
  const Manifest& m = package.manifest;
  return JsonText(json{{"schemaVersion", 2},
                       {"mediaType", kManifestType},
                       {"artifactType", kPackageType},
                       {"config",
                        {{"mediaType", kEmptyType},
                         {"digest", std::string(kDigestPrefix) + Sha256Hex(kEmpty)},
                         {"size", kEmpty.size()}}},
                       {"layers", std::move(layers)},
                       {"annotations",
                        {{kPackageId, package.id},
                         {"breakwatch.model", m.model},
                         {"breakwatch.revision", m.revision},
                         {"breakwatch.target", m.target},
                         {"org.opencontainers.image.created", m.built_at}}}});
}

// Error: kInvalid, it is no package of ours.
Result<Image> ReadImage(const std::string& text) {
  const Error invalid{ErrorCode::kInvalid, "the image is no package of breakwatch"};
  if (!CheckJson(text, kMaxManifestBytes, kMaxManifestDepth)) return invalid;
  const json in = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (TextOf(in, "artifactType") != kPackageType || !in["layers"].is_array() || in["layers"].size() > kMaxLayers)
    return invalid;
  const json annotations = in.value("annotations", json::object());
  Image image;
  image.digest = Sha256Hex(text);
  image.package = {TextOf(annotations, kPackageId),
                   TextOf(annotations, "breakwatch.model"),
                   TextOf(annotations, "breakwatch.revision"),
                   TextOf(annotations, "breakwatch.target"),
                   "",
                   TextOf(annotations, "org.opencontainers.image.created")};
  for (const json& layer : in["layers"]) {
    if (!layer.is_object()) return invalid;
    const std::string digest = TextOf(layer, "digest");
    const json size = layer.value("size", json());
    PackageFile file{TextOf(layer.value("annotations", json::object()), kTitle), "",
                     size.is_number_integer() ? size.get<std::int64_t>() : -1};
    if (digest.starts_with(kDigestPrefix)) file.sha256 = digest.substr(kDigestPrefix.size());
    if (!IsPlainName(file.path) || !IsSha256(file.sha256) || file.bytes < 0) return invalid;
    image.files.push_back(std::move(file));
  }
  return image;
}

class OciRegistry final : public ArtifactRegistry {
 public:
  // `digest`: of the manifest that a reference names; empty: the tag decides.
  OciRegistry(OciName name, std::string digest, RegistryOptions options)
      : name_(std::move(name)), digest_(std::move(digest)), http_(std::move(options), name_.base) {}

  std::string Place() const override {
    return "oci:" + name_.host + "/" + name_.repository + (name_.tag.empty() ? "" : ":" + name_.tag);
  }

  Result<std::string> Publish(const Package& package, const std::vector<PackageFile>& files) override {
    for (const PackageFile& file : files) {
      if (auto pushed = PushFile(package.folder, file); !pushed) return pushed.error();
    }
    const PackageFile empty{"the empty config", Sha256Hex(kEmpty), static_cast<std::int64_t>(kEmpty.size())};
    if (auto pushed = Push(empty, [](std::int64_t, std::size_t) { return std::string(kEmpty); }); !pushed)
      return pushed.error();
    const std::string manifest = ManifestOf(package, files);
    for (const std::string& tag : {IdTag(package.id), TagOrDefault()}) {
      if (auto put = PutManifest(tag, manifest); !put) return put.error();
    }
    const auto stored = FindImage(TagOrDefault());
    if (!stored) return stored.error();
    if (stored->digest != Sha256Hex(manifest))
      return Error{ErrorCode::kInvalid, Place() + " returns another manifest than was pushed"};
    return ReferenceOf(stored->digest);
  }

  Result<void> Pull(const PackageQuery& query, const std::string& folder) override {
    const auto image = Select(query);
    if (!image) return image.error();
    for (const PackageFile& file : image->files) {
      const std::string to = folder + "/" + file.path;
      if (auto fetched = http_.Download(BlobUrl(file), to, file.bytes); !fetched) return fetched;
      if (auto checked = CheckFetched(to, file, Place()); !checked) return checked;
    }
    return {};
  }

  Result<std::vector<PublishedPackage>> List() override {
    auto images = Images();
    if (!images) return images.error();
    std::vector<PublishedPackage> packages;
    for (Image& image : *images) {
      packages.push_back(std::move(image.package));
      packages.back().reference = ReferenceOf(image.digest);
    }
    return packages;
  }

 private:
  std::string Url(const std::string& rest) const { return "/v2/" + name_.repository + rest; }
  std::string BlobUrl(const PackageFile& file) const {
    return Url("/blobs/" + std::string(kDigestPrefix) + file.sha256);
  }
  std::string TagOrDefault() const { return name_.tag.empty() ? std::string(kDefaultTag) : name_.tag; }
  static std::string IdTag(const std::string& id) { return std::string(kIdTag) + id; }
  std::string ReferenceOf(const std::string& digest) const {
    return "oci:" + name_.host + "/" + name_.repository + "@" + std::string(kDigestPrefix) + digest;
  }
  std::string Cannot(const std::string& what) const { return "cannot " + what + " " + Place(); }

  Result<void> PushFile(const std::string& folder, const PackageFile& file) {
    std::ifstream in(folder + "/" + file.path, std::ios::binary);
    return Push(file, [&](std::int64_t from, std::size_t bytes) {
      std::string text(bytes, '\0');
      in.clear(), in.seekg(from), in.read(text.data(), static_cast<std::streamsize>(bytes));
      text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
      return text;
    });
  }

  // `read`: bytes of the content at an offset. A blob appears in the registry only when its last request has its
  // digest.
  template <class Read>
  Result<void> Push(const PackageFile& file, const Read& read) {
    net::HttpRequest head;
    head.method = "HEAD", head.url = BlobUrl(file);
    const auto there = http_.Send(head);
    if (!there) return there.error();
    if (there->status == 200) return {};
    net::HttpRequest start;
    start.method = "POST", start.url = Url("/blobs/uploads/");
    const auto started = http_.Send(start);
    if (!started) return started.error();
    if (started->status != 202) return Unexpected(*started, Cannot("upload " + file.path + " to"));
    auto location = LocationOf(*started, http_.base() + start.url);
    const auto chunk = static_cast<std::int64_t>(http_.options().chunk_bytes);
    for (std::int64_t done = 0; location && file.bytes > chunk && done < file.bytes; done += chunk)
      location =
          PushChunk(*location, done, read(done, static_cast<std::size_t>(std::min(chunk, file.bytes - done))), file);
    if (!location) return location.error();
    net::HttpRequest finish;
    finish.method = "PUT";
    finish.url = *location + (location->find('?') == std::string::npos ? "?" : "&") +
                 "digest=" + net::PercentEncode(std::string(kDigestPrefix) + file.sha256);
    finish.headers = {{"Content-Type", "application/octet-stream"}};
    if (file.bytes <= chunk) finish.body = read(0, static_cast<std::size_t>(file.bytes));
    const auto finished = http_.Send(finish);
    if (!finished) return finished.error();
    if (finished->status != 201) return Unexpected(*finished, Cannot("upload " + file.path + " to"));
    return {};
  }

  // Returns where the next chunk goes. After a fault, the registry may have the chunk already.
  Result<std::string> PushChunk(const std::string& location, std::int64_t from, std::string body,
                                const PackageFile& file) {
    net::HttpRequest patch;
    patch.method = "PATCH", patch.url = location;
    const std::int64_t last = from + static_cast<std::int64_t>(body.size()) - 1;
    patch.headers = {{"Content-Type", "application/octet-stream"},
                     {"Content-Range", std::to_string(from) + "-" + std::to_string(last)}};
    patch.body = std::move(body);
    auto answer = http_.Send(patch);
    if (!answer) return answer.error();
    if (answer->status == 416) {
      answer = http_.Get(location);
      if (!answer) return answer.error();
      if (answer->Header("range").value_or("") != "0-" + std::to_string(last))
        return Unexpected(*answer, Cannot("continue the upload of " + file.path + " to"));
    } else if (answer->status != 202) {
      return Unexpected(*answer, Cannot("upload " + file.path + " to"));
    }
    return LocationOf(*answer, location);
  }

  Result<std::string> LocationOf(const net::HttpResponse& answer, const std::string& base) const {
    const auto url = net::ResolveUrl(base, answer.Header("location").value_or(""));
    if (!url) return Error{ErrorCode::kInvalid, Place() + " gave no place to upload to"};
    return *url;
  }

  Result<void> PutManifest(const std::string& tag, const std::string& manifest) {
    net::HttpRequest put;
    put.method = "PUT", put.url = Url("/manifests/" + tag);
    put.headers = {{"Content-Type", kManifestType}};
    put.body = manifest;
    const auto answer = http_.Send(put);
    if (!answer) return answer.error();
    return answer->status == 201 ? Result<void>() : Unexpected(*answer, Cannot("push the manifest to"));
  }

  // By tag, or "sha256:..." of the manifest.
  Result<Image> FindImage(const std::string& reference) {
    const auto answer = http_.Get(Url("/manifests/" + reference), {{"Accept", kManifestType}});
    if (!answer) return answer.error();
    if (answer->status == 404) return NoSuchPackage(Place() + " (" + reference + ")");
    if (answer->status != 200) return Unexpected(*answer, Cannot("read"));
    auto image = ReadImage(answer->body);
    if (!image) return image.error().Within(Place());
    if (reference.starts_with(kDigestPrefix) && reference.substr(kDigestPrefix.size()) != image->digest)
      return Error{ErrorCode::kInvalid, Place() + ": the manifest has digest " + image->digest + ", not " + reference};
    return image;
  }

  // Of all packages of the repository, by the tags for package ids.
  Result<std::vector<Image>> Images() {
    const auto answer = http_.Get(Url("/tags/list?n=" + std::to_string(kMaxListed)));
    if (!answer) return answer.error();
    if (answer->status == 404) return std::vector<Image>();
    if (answer->status != 200) return Unexpected(*answer, Cannot("list"));
    const json list = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
    std::vector<Image> images;
    if (!list.is_object() || !list.contains("tags") || !list["tags"].is_array()) return images;
    for (const json& tag : list["tags"]) {
      if (!tag.is_string() || !tag.get_ref<const std::string&>().starts_with(kIdTag)) continue;
      auto image = FindImage(tag.get<std::string>());
      if (!image && image.error().code == ErrorCode::kUnavailable) return image.error();
      if (image) images.push_back(*std::move(image));
    }
    std::sort(images.begin(), images.end(),
              [](const Image& a, const Image& b) { return a.package.published_at > b.package.published_at; });
    return images;
  }

  Result<Image> Select(const PackageQuery& query) {
    if (!digest_.empty()) return FindImage(std::string(kDigestPrefix) + digest_);
    if (query.package_id.size() == 64) return FindImage(IdTag(query.package_id));
    if (query.package_id.empty() && query.model.empty() && query.target.empty()) return FindImage(TagOrDefault());
    auto images = Images();
    if (!images) return images.error();
    for (Image& image : *images) {
      if (Matches(image.package, query)) return std::move(image);
    }
    return NoSuchPackage(Place());
  }

  const OciName name_;
  const std::string digest_;
  RegistryHttp http_;
};

}  // namespace

Result<std::unique_ptr<ArtifactRegistry>> MakeOciRegistry(const std::string& text, RegistryOptions options) {
  const std::size_t at = text.find('@');
  auto name = ParseOciName(text.substr(0, at));
  if (!name) return name.error();
  std::string digest = at == std::string::npos ? "" : text.substr(at + 1);
  if (!digest.empty()) {
    if (!digest.starts_with(kDigestPrefix) || !IsSha256(digest.substr(kDigestPrefix.size())))
      return Error{ErrorCode::kUsage, "\"" + text + "\": expected @sha256: and 64 hex digits"};
    digest.erase(0, kDigestPrefix.size());
  }
  return std::unique_ptr<ArtifactRegistry>(
      std::make_unique<OciRegistry>(*std::move(name), std::move(digest), std::move(options)));
}

}  // namespace breakwatch::exporters
