#include <cstdlib>
#include <filesystem>
#include <utility>

#include "breakwatch/core/printable.h"
#include "breakwatch/hub/hub_lister.h"
#include "breakwatch/hub/weights.h"
#include "breakwatch/hub_replay/record.h"
#include "breakwatch/hub_replay/replay_server.h"
#include "breakwatch/net/http.h"
#include "breakwatch/wiring/wiring.h"
#include "data_dir.h"
#include "hub_options.h"

namespace breakwatch::wiring {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kListingTimeout{10};

Result<std::unique_ptr<ModelLister>> MakeUnselectedLister(const App& app, const Settings& settings) {
  const auto options = HubOptionsOf(settings);
  const std::string& source = settings.hub.source;
  if (source == "snapshot") return hub::MakeSnapshotLister(ConfiguredFile(settings.hub.snapshot_dir), options);
  if (source == "directory") return hub::MakeDirectoryLister(settings.hub.path, options);
  auto live = hub::MakeHubLister(options, *app.clock);
  if (source == "file") return hub::MakeFileLister(settings.hub.path, std::move(live));
  return live;
}

}  // namespace

hub::HubOptions HubOptionsOf(const Settings& settings) {
  auto options = hub::HubOptionsFromEnvironment([](const char* name) { return std::getenv(name); }, kUserAgent);
  if (!settings.hub.endpoint.empty()) options.endpoint = settings.hub.endpoint;
  if (!settings.hub.cache_dir.empty()) options.cache_dir = settings.hub.cache_dir;
  options.offline = options.offline || settings.hub.offline;
  options.concurrency = settings.hub.concurrency;
  options.tries = settings.hub.retries + 1;
  // If it is not set, each request has the timeout of HF_HUB_DOWNLOAD_TIMEOUT.
  options.listing_timeout = settings.hub.timeout.value_or(kListingTimeout);
  if (settings.hub.timeout) options.timeout = options.list_timeout = *settings.hub.timeout;
  options.max_params = settings.hub.list.max_params;
  return options;
}

Result<std::unique_ptr<ModelLister>> MakeLister(const App& app, const Settings& settings) {
  auto others = MakeUnselectedLister(app, settings);
  if (!others) return others;
  std::error_code ignored;
  hub::SelectorOptions options{settings.capture.allow_factories, fs::current_path(ignored).string(), PythonPath()};
  return hub::MakeSelectorLister(std::move(options), std::move(*others));
}

Result<std::unique_ptr<WeightsFetcher>> MakeWeights(const App& app, const Settings& settings) {
  return hub::MakeWeightsFetcher(HubOptionsOf(settings), settings.artifact.max_weight_bytes, *app.clock);
}

std::string HubCacheDir(const Settings& settings) { return HubOptionsOf(settings).cache_dir; }

std::string HubEndpoint(const Settings& settings) {
  const auto hub = HubOptionsOf(settings);
  return hub.offline ? std::string() : hub.endpoint;
}

int RecordHub(App& app, const commands::HubRecordOptions& o) {
  const Settings& settings = app.settings();
  const auto hub = HubOptionsOf(settings);
  ListRequest request = settings.hub.list;
  request.ids = o.models;
  hub_replay::RecordOptions options = hub_replay::RecordOptionsOf(request);
  options.endpoint = hub.endpoint;
  options.token = hub.token;
  options.note = o.note;
  const auto pool = net::MakeHttpPool(kUserAgent, static_cast<std::size_t>(settings.hub.concurrency));
  const auto progress = [&](std::size_t done, std::size_t total) {
    std::fprintf(app.err, "\r%zu/%zu", done, total);
    if (done == total) std::fputc('\n', app.err);
  };
  const auto summary = hub_replay::Record(options, *pool, o.dir, {}, progress, *app.clock);
  if (!summary) return commands::Fail(app, summary.error());
  std::fprintf(app.out, "%zu models, %zu files in %s\n", summary->models, summary->files, Printable(o.dir).c_str());
  for (const std::string& left : summary->left_out) std::fprintf(app.err, "skipped: %s\n", Printable(left).c_str());
  return commands::kExitOk;
}

int ServeHub(App& app, const commands::HubServeOptions& o) {
  hub_replay::ReplayOptions options;
  options.dir = o.dir;
  options.host = o.host;
  options.port = o.port;
  if (o.link_to_self) options.link_endpoint = "self";
  (void)app;
  return hub_replay::ServeMain(options);
}

}  // namespace breakwatch::wiring
