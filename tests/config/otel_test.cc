// The variables of the OpenTelemetry specification.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/config/headers.h"
#include "breakwatch/config/show.h"
#include "config_fixture.h"

namespace breakwatch::config {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

using Environment = std::map<std::string, std::string>;

Loaded LoadWith(Environment environment, std::vector<std::pair<std::string, std::vector<std::string>>> flags = {}) {
  auto loaded = Load({.files = {}, .environment = std::move(environment), .flags = std::move(flags)});
  EXPECT_TRUE(loaded) << loaded.error().message;
  return *std::move(loaded);
}

TEST(OtelEnvironmentTest, SetsWhatItsVariablesMean) {
  const TemporaryDirectory folder;
  const std::string pem = folder.Write("a.pem", "x");
  const Loaded loaded = LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318/base/"},
                                  {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "https://logs/ingest"},
                                  {"OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"},
                                  {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x-team = ml"},
                                  {"OTEL_EXPORTER_OTLP_LOGS_HEADERS", "api-key=c"},
                                  {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
                                  {"OTEL_EXPORTER_OTLP_TIMEOUT", "15000"},
                                  {"OTEL_EXPORTER_OTLP_CERTIFICATE", pem},
                                  {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", pem},
                                  {"OTEL_EXPORTER_OTLP_CLIENT_KEY", pem},
                                  {"OTEL_METRIC_EXPORT_INTERVAL", "30000"},
                                  {"OTEL_SERVICE_NAME", "breaks"},
                                  {"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=prod,host.name=a%2Cb"}});
  const OtlpSettings& s = loaded.settings.exporters.otlp;
  EXPECT_EQ(OtlpMetricsUrl(s), "https://collector:4318/base/v1/metrics");
  EXPECT_EQ(OtlpLogsUrl(s), "https://logs/ingest");
  EXPECT_EQ(s.protocol, "http/json");
  EXPECT_THAT(*ReadHeaders(s.headers, ""), ElementsAre(Pair("api-key", "a b"), Pair("x-team", "ml")));
  EXPECT_EQ(s.logs_headers, "api-key=c");
  EXPECT_FALSE(s.gzip);
  EXPECT_EQ(s.timeout, milliseconds(15'000));
  EXPECT_EQ(s.interval, milliseconds(30'000));
  EXPECT_EQ(s.tls.ca_file + s.tls.cert_file + s.tls.key_file, pem + pem + pem);
  EXPECT_EQ(s.service_name, "breaks");
  EXPECT_THAT(s.resource, ElementsAre("deployment.environment.name=prod", "host.name=a,b"));
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(loaded.origins.at("exporters.otlp.endpoint").Text(), "environment OTEL_EXPORTER_OTLP_ENDPOINT");
  EXPECT_THAT(ShowText(loaded), AllOf(HasSubstr("environment OTEL_EXPORTER_OTLP_HEADERS"), Not(HasSubstr("x-team"))));
}

TEST(OtelEnvironmentTest, SendsNothingWithoutAnEndpoint) {
  const Loaded loaded = LoadWith({{"OTEL_SERVICE_NAME", "breaks"}});
  EXPECT_EQ(OtlpMetricsUrl(loaded.settings.exporters.otlp), "");
  EXPECT_EQ(OtlpLogsUrl(loaded.settings.exporters.otlp), "");
}

TEST(OtelEnvironmentTest, IsBelowTheSettingsOfThisProgram) {
  const Loaded loaded =
      LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://other"},
                {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://other/metrics"},
                {"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20x"},
                {"OTEL_EXPORTER_OTLP_TIMEOUT", "15000"},
                {"BREAKWATCH_EXPORTERS_OTLP_TIMEOUT", "20s"}},
               {{"exporters.otlp.logs_endpoint", {"http://mine/logs"}}, {"exporters.otlp.username", {"me"}}});
  const OtlpSettings& s = loaded.settings.exporters.otlp;
  EXPECT_EQ(OtlpMetricsUrl(s), "");  // not to another receiver than the one that was set
  EXPECT_EQ(OtlpLogsUrl(s), "http://mine/logs");
  EXPECT_EQ(s.headers, "");
  EXPECT_EQ(s.timeout, milliseconds(20'000));
  EXPECT_TRUE(s.required);
}

TEST(OtelEnvironmentTest, DoesNotMakeASweepDependOnItsEndpoint) {
  const Environment environment{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://other"}};
  const Loaded loaded = LoadWith(environment);
  EXPECT_FALSE(loaded.settings.exporters.otlp.required);
  EXPECT_EQ(loaded.origins.at("exporters.otlp.required").Text(), "default, as the endpoint is from an OTEL_* variable");
  EXPECT_TRUE(LoadWith(environment, {{"exporters.otlp.required", {"true"}}}).settings.exporters.otlp.required);
}

TEST(OtelEnvironmentTest, TurnsSignalsOff) {
  const auto otlp = [](const std::string& variable, const std::string& value) {
    return LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {variable, value}}).settings.exporters.otlp;
  };
  EXPECT_EQ(OtlpMetricsUrl(otlp("OTEL_METRICS_EXPORTER", "none")), "");
  EXPECT_NE(OtlpLogsUrl(otlp("OTEL_METRICS_EXPORTER", "none")), "");
  EXPECT_EQ(OtlpLogsUrl(otlp("OTEL_LOGS_EXPORTER", "console")), "");
  EXPECT_NE(OtlpLogsUrl(otlp("OTEL_LOGS_EXPORTER", "console,otlp")), "");
  EXPECT_EQ(OtlpLogsUrl(otlp("OTEL_SDK_DISABLED", "TRUE")), "");
  EXPECT_NE(OtlpLogsUrl(otlp("OTEL_SDK_DISABLED", "1")), "");
  const Loaded own = LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_SDK_DISABLED", "true"}},
                              {{"exporters.otlp.enabled", {"true"}}});
  EXPECT_NE(OtlpLogsUrl(own.settings.exporters.otlp), "");
}

TEST(OtelEnvironmentTest, IgnoresWhatItCannotUseWithAWarning) {
  const auto warning = [](Environment environment) {
    const Loaded loaded = LoadWith(std::move(environment));
    return loaded.warnings.size() == 1 ? loaded.warnings.front() : std::to_string(loaded.warnings.size());
  };
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317"}}),
              AllOf(HasSubstr("environment OTEL_EXPORTER_OTLP_ENDPOINT: expected a URL"), HasSubstr("; ignored")));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"}}), HasSubstr("expected milliseconds such as 10000"));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_COMPRESSION", "deflate"}}),
              HasSubstr("expected gzip or none, got \"deflate\""));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/xml"}}), HasSubstr("expected http/protobuf or http/json"));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_HEADERS", "Content-Length=3"}}), HasSubstr("its own content-length"));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_HEADERS", "secret"}}),
              AllOf(HasSubstr("expected headers as NAME=VALUE"), Not(HasSubstr("\"secret\""))));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such.pem"}}), HasSubstr("cannot be read; ignored"));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/dev/null"}}), HasSubstr("needed together; ignored"));
  EXPECT_THAT(warning({{"OTEL_RESOURCE_ATTRIBUTES", "novalue"}}), HasSubstr("percent-encoding; ignored"));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "1"}}),
              HasSubstr("expected milliseconds such as 10000, from 100 to a day, got \"1\""));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_LOGS_COMPRESSION", "zstd"}}), HasSubstr("expected gzip or none"));
  EXPECT_THAT(warning({{"OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY", "/dev/null"}}), HasSubstr("needed together; ignored"));
}

TEST(OtelEnvironmentTest, LeavesAnEndpointForGrpcToOthers) {
  const Loaded loaded =
      LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}});
  EXPECT_EQ(OtlpMetricsUrl(loaded.settings.exporters.otlp), "");
  EXPECT_THAT(loaded.warnings,
              ElementsAre(AllOf(HasSubstr("\"grpc\" is not supported"), HasSubstr("no metrics and logs"))));
  EXPECT_THAT(LoadWith({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}).warnings, IsEmpty());
}

TEST(OtelEnvironmentTest, SetsWhatItsVariablesMeanForOneSignal) {
  const TemporaryDirectory folder;
  const std::string pem = folder.Write("a.pem", "x");
  const Loaded loaded = LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318"},
                                  {"OTEL_EXPORTER_OTLP_TIMEOUT", "15000"},
                                  {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"},
                                  {"OTEL_EXPORTER_OTLP_METRICS_COMPRESSION", "none"},
                                  {"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "20000"},
                                  {"OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE", pem},
                                  {"OTEL_EXPORTER_OTLP_LOGS_CLIENT_CERTIFICATE", pem},
                                  {"OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY", pem}});
  const OtlpSettings& s = loaded.settings.exporters.otlp;
  EXPECT_THAT(loaded.warnings, IsEmpty());
  EXPECT_EQ(s.of_metrics.protocol, "http/json");
  EXPECT_EQ(s.of_metrics.compression, "none");
  EXPECT_EQ(s.of_metrics.timeout, milliseconds(20'000));
  EXPECT_EQ(s.of_metrics.ca_file, pem);
  EXPECT_EQ(s.of_logs.cert_file + s.of_logs.key_file, pem + pem);
  EXPECT_EQ(s.of_logs.protocol + s.of_logs.compression, "");
  EXPECT_EQ(s.of_logs.timeout, std::nullopt);
  EXPECT_EQ(s.protocol, "http/protobuf");
  EXPECT_EQ(s.timeout, milliseconds(15'000));
}

TEST(OtelEnvironmentTest, ChangesNoSignalOfWhatIsSetForThisProgram) {
  const Loaded loaded =
      LoadWith({{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json"}, {"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "15000"}},
               {{"exporters.otlp.protocol", {"http/protobuf"}}, {"exporters.otlp.timeout", {"20s"}}});
  EXPECT_EQ(loaded.settings.exporters.otlp.of_metrics.protocol, "");
  EXPECT_EQ(loaded.settings.exporters.otlp.of_logs.timeout, std::nullopt);
}

TEST(OtelEnvironmentTest, ReadsNamesInAnyCase) {
  const OtlpSettings otlp = LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                                      {"OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/JSON"},
                                      {"OTEL_EXPORTER_OTLP_COMPRESSION", "None"}})
                                .settings.exporters.otlp;
  EXPECT_EQ(otlp.protocol, "http/json");
  EXPECT_FALSE(otlp.gzip);
}

TEST(OtelEnvironmentTest, NeverStopsThisProgram) {
  const Loaded loaded =
      LoadWith({{"OTEL_EXPORTER_OTLP_TIMEOUT", "3000"}}, {{"exporters.otlp.connect_timeout", {"7s"}}});
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("shorter than exporters.otlp.connect_timeout; ignored")));
  EXPECT_EQ(loaded.settings.exporters.otlp.timeout, milliseconds(30'000));
}

TEST(OtelEnvironmentTest, LeavesTheProtocolToThisProgram) {
  const Loaded loaded = LoadWith({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}},
                                 {{"exporters.otlp.protocol", {"http/json"}}});
  EXPECT_EQ(OtlpMetricsUrl(loaded.settings.exporters.otlp), "http://c/v1/metrics");
  EXPECT_THAT(loaded.warnings, IsEmpty());
}

TEST(OtelEnvironmentTest, SendsOnlyTheSignalWhoseProtocolIsSupported) {
  for (const Environment& environment :
       {Environment{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"}},
        Environment{{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                    {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                    {"OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf"}}}) {
    const Loaded loaded = LoadWith(environment);
    EXPECT_EQ(OtlpMetricsUrl(loaded.settings.exporters.otlp), "");
    EXPECT_EQ(OtlpLogsUrl(loaded.settings.exporters.otlp), "http://c/v1/logs");
    EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("so no metrics are sent")));
    const Loaded own = LoadWith(environment, {{"exporters.otlp.endpoint", {"http://mine"}}});
    EXPECT_EQ(OtlpMetricsUrl(own.settings.exporters.otlp), "http://mine/v1/metrics");
  }
}

TEST(ReadHeadersTest, ReadsALineForEach) {
  const TemporaryDirectory folder;
  const std::string file = folder.Write("headers", "# of the vendor\nAuthorization: Basic a=b:c\n\nX-Empty:\n");
  EXPECT_THAT(*ReadHeaders("", file), ElementsAre(Pair("Authorization", "Basic a=b:c"), Pair("X-Empty", "")));
  EXPECT_THAT(*ReadHeaders("", ""), IsEmpty());
}

TEST(ReadHeadersTest, NamesTheLineThatIsNone) {
  const TemporaryDirectory folder;
  for (const char* line : {"Authorization Basic", "a b: c", ": c", "a: \x01"}) {
    const std::string file = folder.Write("headers", std::string("X-Ok: 1\n") + line + "\n");
    const auto read = ReadHeaders("", file);
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.error().message, file + ":2: expected a header as NAME: VALUE");
  }
}

TEST(OtlpSettingsTest, RefuseHeadersFromTwoPlaces) {
  const TemporaryDirectory folder;
  EXPECT_THAT(ErrorOf({.files = {},
                       .environment = {{"BREAKWATCH_EXPORTERS_OTLP_HEADERS", "a=b"}},
                       .flags = {{"exporters.otlp.headers_file", {folder.Write("headers", "a: b")}}}}),
              HasSubstr("headers and its file are both set"));
}

}  // namespace
}  // namespace breakwatch::config
