#include "remote_write/fake_receiver.h"

#include <snappy.h>

#include <algorithm>
#include <bit>
#include <protozero/pbf_reader.hpp>
#include <stdexcept>

namespace breakwatch::fakes {
namespace {

using protozero::pbf_reader;

constexpr std::uint64_t kMarker = 0x7ff0000000000002;

std::pair<std::string, std::string> ReadLabel(pbf_reader label) {
  std::pair<std::string, std::string> out;
  while (label.next()) {
    switch (label.tag()) {
      case 1:
        out.first = label.get_string();
        break;
      case 2:
        out.second = label.get_string();
        break;
      default:
        throw std::runtime_error("unknown field of a label");
    }
  }
  return out;
}

void ReadSample(pbf_reader sample, WrittenSample& out) {
  while (sample.next()) {
    switch (sample.tag()) {
      case 1:
        out.value = sample.get_double();
        break;
      case 2:
        out.time_ms = sample.get_int64();
        break;
      default:
        throw std::runtime_error("unknown field of a sample");
    }
  }
}

WrittenSample ReadSeries(pbf_reader series) {
  WrittenSample out;
  std::string last;
  int samples = 0;
  while (series.next()) {
    if (series.tag() == 1) {
      auto [name, value] = ReadLabel(series.get_message());
      if (name <= last) throw std::runtime_error("labels are not sorted: " + name + " after " + last);
      if (value.empty()) throw std::runtime_error("empty label " + name);
      last = name;
      out.labels.emplace(std::move(name), std::move(value));
    } else if (series.tag() == 2) {
      ReadSample(series.get_message(), out);
      ++samples;
    } else {
      throw std::runtime_error("unknown field of a series");
    }
  }
  if (!out.labels.contains("__name__")) throw std::runtime_error("series without a name");
  if (samples != 1) throw std::runtime_error("not one sample");
  return out;
}

WrittenMetadata ReadMetadata(pbf_reader metadata) {
  WrittenMetadata out;
  while (metadata.next()) {
    switch (metadata.tag()) {
      case 1:
        out.type = metadata.get_enum();
        break;
      case 2:
        out.name = metadata.get_string();
        break;
      case 4:
        out.help = metadata.get_string();
        break;
      default:
        throw std::runtime_error("unknown field of metadata");
    }
  }
  return out;
}

class Sender : public net::HttpSender {
 public:
  explicit Sender(FakeReceiver& receiver) : receiver_(receiver) {}
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override { return receiver_.Receive(request); }

 private:
  FakeReceiver& receiver_;
};

}  // namespace

bool WrittenSample::IsMarker() const { return std::bit_cast<std::uint64_t>(value) == kMarker; }

WriteBody WriteBody::Read(const std::string& compressed) {
  std::string bytes;
  if (!snappy::Uncompress(compressed.data(), compressed.size(), &bytes)) throw std::runtime_error("not snappy");
  WriteBody body;
  pbf_reader request(bytes);
  while (request.next()) {
    switch (request.tag()) {
      case 1:
        body.samples.push_back(ReadSeries(request.get_message()));
        break;
      case 3:
        body.metadata.push_back(ReadMetadata(request.get_message()));
        break;
      default:
        throw std::runtime_error("unknown field of a request");
    }
  }
  return body;
}

std::unique_ptr<net::HttpSender> FakeReceiver::MakeSender() { return std::make_unique<Sender>(*this); }

Result<net::HttpResponse> FakeReceiver::Receive(const net::HttpRequest& request) {
  writes_.push_back({request, WriteBody::Read(request.body)});
  if (decide) {
    if (const auto decided = decide(writes_.back())) return *decided;
  }
  if (!answers_.empty()) {
    auto answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }
  net::HttpResponse stored = Store(writes_.back().body);
  if (std::exchange(lose_answer_, false))
    return Error{ErrorCode::kUnavailable, "http://receiver: no complete answer within 30000 ms", true, {}};
  return stored;
}

net::HttpResponse FakeReceiver::Store(const WriteBody& body) {
  const auto bits = [](const WrittenSample& sample) { return std::bit_cast<std::uint64_t>(sample.value); };
  for (const WrittenSample& sample : body.samples) {
    const auto known = newest_.find(sample.labels);
    if (known == newest_.end()) continue;
    if (sample.time_ms < known->second.time_ms) return {400, {}, "out of order sample\n"};
    if (sample.time_ms == known->second.time_ms && bits(sample) != bits(known->second))
      return {400, {}, "duplicate sample for timestamp\n"};
  }
  for (const WrittenSample& sample : body.samples) newest_.insert_or_assign(sample.labels, sample);
  return {204, {}, ""};
}

std::map<SeriesKey, double> FakeReceiver::Visible() const {
  std::map<SeriesKey, double> visible;
  for (const auto& [labels, sample] : newest_) {
    if (!sample.IsMarker()) visible.emplace(labels, sample.value);
  }
  return visible;
}

std::size_t FakeReceiver::VisibleOf(const std::string& model) const {
  const auto visible = Visible();
  return static_cast<std::size_t>(std::ranges::count_if(visible, [&](const auto& series) {
    const auto label = series.first.find("model");
    return label != series.first.end() && label->second == model;
  }));
}

}  // namespace breakwatch::fakes
