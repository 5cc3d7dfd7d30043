// A stand-in for a remote write receiver: reads requests strictly, keeps the newest sample of each series as Prometheus
// does, and answers as scripted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/net/http.h"

namespace breakwatch::fakes {

using SeriesKey = std::map<std::string, std::string>;  // labels, with __name__

struct WrittenSample {
  SeriesKey labels;
  double value = 0;
  std::int64_t time_ms = 0;
  bool IsMarker() const;
};

struct WrittenMetadata {
  int type = 0;
  std::string name, help;
};

struct WriteBody {
  std::vector<WrittenSample> samples;
  std::vector<WrittenMetadata> metadata;

  // Throws std::runtime_error on what receivers reject: labels out of order, double or empty, no name, no sample.
  static WriteBody Read(const std::string& compressed);
};

struct ReceivedWrite {
  net::HttpRequest request;
  WriteBody body;
};

class FakeReceiver {
 public:
  // For the exporter; this outlives it.
  std::unique_ptr<net::HttpSender> MakeSender();

  // The next requests get these answers, one each, before anything is stored. Afterwards every request is accepted or,
  // if it is out of order, refused completely.
  void AnswerNext(Result<net::HttpResponse> answer) { answers_.push_back(std::move(answer)); }
  // Stores the next request, and its answer gets lost.
  void LoseNextAnswer() { lose_answer_ = true; }
  // Decides before all else; nothing: go on.
  std::function<std::optional<net::HttpResponse>(const ReceivedWrite&)> decide;

  Result<net::HttpResponse> Receive(const net::HttpRequest& request);

  // The newest samples of the series that a query shows: those whose newest sample is no marker.
  std::map<SeriesKey, double> Visible() const;
  std::size_t VisibleOf(const std::string& model) const;
  const std::vector<ReceivedWrite>& Writes() const { return writes_; }
  void Forget() { writes_.clear(); }

 private:
  net::HttpResponse Store(const WriteBody& body);

  std::deque<Result<net::HttpResponse>> answers_;
  bool lose_answer_ = false;
  std::map<SeriesKey, WrittenSample> newest_;
  std::vector<ReceivedWrite> writes_;
};

}  // namespace breakwatch::fakes
