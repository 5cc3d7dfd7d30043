// A sender that keeps requests and gives the answers that a test sets.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

struct SenderRecord {
  std::vector<net::HttpRequest> requests;
  std::deque<Result<net::HttpResponse>> answers;  // one each, in order; with none left, 200 without a body

  void AnswerNext(int status, std::string body = "", std::string type = "application/json", net::Headers more = {}) {
    more.emplace_back("content-type", std::move(type));
    answers.emplace_back(net::HttpResponse{status, std::move(more), std::move(body)});
  }
  nlohmann::json Json(std::size_t request) const { return nlohmann::json::parse(requests.at(request).body); }
};

class FakeSender : public net::HttpSender {
 public:
  explicit FakeSender(std::shared_ptr<SenderRecord> record) : record_(std::move(record)) {}
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    record_->requests.push_back(request);
    if (record_->answers.empty()) return net::HttpResponse{200, {}, ""};
    auto answer = std::move(record_->answers.front());
    record_->answers.pop_front();
    return answer;
  }

 private:
  const std::shared_ptr<SenderRecord> record_;
};

// "name=text" or "name=number" of OTLP's list of attributes in JSON, in its order.
inline std::vector<std::string> AttributesOf(const nlohmann::json& list) {
  std::vector<std::string> out;
  for (const auto& attribute : list) {
    const auto& value = attribute.at("value").items().begin().value();
    out.push_back(attribute.at("key").get<std::string>() + "=" + value.get<std::string>());
  }
  return out;
}

}  // namespace breakwatch::exporters
