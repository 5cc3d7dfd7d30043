// FakeLoki: the push and the query API of a Loki (loki_store.h) on a loopback port, with faults on request.
//
// The same program serves end-to-end tests (fake_loki_main.cc): POST /control sets limits and faults.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "loki/loki_store.h"
#include "net/scripted_server.h"

namespace breakwatch::fakes {

// Thread: any.
class FakeLoki {
 public:
  explicit FakeLoki(LokiLimits limits);

  std::string Url() const { return server_.Url(); }
  std::vector<testing::SeenRequest> Requests() const { return server_.Requests(); }
  std::size_t Pushes() const;
  // Entries of one stream in order of arrival; its key is the labels as JSON.
  std::map<std::string, std::vector<LokiEntry>> Streams() const;
  std::vector<LokiEntry> Entries() const;  // of all streams
  void AnswerNext(testing::Reply reply);   // does not read the next push
  void LoseNext(testing::Reply reply);     // handles the next push, but answers with this
  template <class Change>
  void With(const Change& change) {  // of its store and limits
    const std::lock_guard lock(mutex_);
    change(store_);
  }

 private:
  struct Fault {
    testing::Reply reply;
    bool handles = false;
  };
  testing::Reply Answer(const testing::SeenRequest& request);
  testing::Reply Push(const testing::SeenRequest& request);
  testing::Reply Query(const testing::SeenRequest& request);
  testing::Reply Control(const testing::SeenRequest& request);

  mutable std::mutex mutex_;
  LokiStore store_;
  std::deque<Fault> faults_;
  std::size_t pushes_ = 0;
  testing::ScriptedServer server_;  // last: it calls Answer until it is destroyed
};

}  // namespace breakwatch::fakes
