#include "contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "contract_data.h"
#include "handlers.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const Operation& OperationOf(const std::string& id) {
  for (const Operation& operation : Contract::Get().operations()) {
    if (operation.id == id) return operation;
  }
  throw std::out_of_range(id);
}

std::string MessageOf(const std::string& operation, const std::multimap<std::string, std::string>& query) {
  const auto checked = CheckArguments(OperationOf(operation), {}, query);
  return checked ? "" : checked.error().message;
}

TEST(ContractTest, EveryOperationHasAHandlerAndEveryHandlerAnOperation) {
  std::set<std::string> documented, bound;
  for (const Operation& operation : Contract::Get().operations())
    EXPECT_TRUE(documented.insert(operation.id).second) << operation.id << " is there twice";
  for (const Binding& binding : Bindings()) EXPECT_TRUE(bound.emplace(binding.operation).second) << binding.operation;
  EXPECT_EQ(documented, bound);
}

TEST(ContractTest, EveryReferenceOfTheDocumentExists) {
  const json document = json::parse(kOpenApi);
  const std::function<void(const json&)> check = [&](const json& node) {
    if (node.is_object() && node.contains("$ref")) {
      const std::string reference = node["$ref"];
      EXPECT_TRUE(document.contains(json::json_pointer(reference.substr(1)))) << reference;
    }
    if (node.is_structured())
      for (const json& child : node) check(child);
  };
  check(document);
}

TEST(ContractTest, WhatChangesSomethingNeedsTheToken) {
  for (const Operation& operation : Contract::Get().operations())
    EXPECT_EQ(operation.needs_token, operation.method == "POST") << operation.id;
}

TEST(ContractTest, FindsTheOperationOfAPath) {
  const auto found = [](const std::string& method, const std::string& path) {
    const auto match = Contract::Get().Find(method, path);
    return match.operation == nullptr ? "allow " + match.allow : match.operation->id;
  };
  EXPECT_EQ(found("GET", "/api/v1/sweeps"), "listSweeps");
  EXPECT_EQ(found("HEAD", "/api/v1/sweeps/s1/results"), "listResultsOfSweep");
  EXPECT_EQ(found("POST", "/api/v1/requests/r/cancel"), "cancelRequest");
  EXPECT_EQ(found("PUT", "/api/v1/sweeps"), "allow GET, HEAD, POST");
  EXPECT_EQ(found("GET", "/api/v1/sweeps/s1/nothing"), "allow ");
  EXPECT_EQ(found("GET", "/api/v1/sweeps/"), "getSweep") << "whose empty id is refused";
  EXPECT_EQ(Contract::Get().Find("GET", "/api/v1/models/org/name").path.at("model"), "org/name");
}

TEST(ContractTest, ParametersAreCheckedByTheDocument) {
  EXPECT_EQ(MessageOf("listModels", {{"limit", "5"}, {"sort", "-rank"}}), "");
  EXPECT_EQ(CheckArguments(OperationOf("listModels"), {}, {})->at("limit"), "100");
  EXPECT_EQ(MessageOf("listModels", {{"limit", "0"}}), "limit must be an integer from 1 to 1000, not \"0\"");
  EXPECT_THAT(MessageOf("listModels", {{"limit", "many"}}), HasSubstr("integer"));
  EXPECT_THAT(MessageOf("listModels", {{"sort", "age"}}), HasSubstr("rank"));
  EXPECT_THAT(MessageOf("listModels", {{"familly", "nlp"}}), HasSubstr("did you mean \"family\"?"));
  EXPECT_EQ(MessageOf("listModels", {{"limit", "5"}, {"limit", "6"}}), "limit is given more than once");
  EXPECT_THAT(MessageOf("listModels", {{"cursor", "a b"}}), HasSubstr("not valid"));
  EXPECT_THAT(MessageOf("listModels", {{"reason", std::string(121, 'x')}}), HasSubstr("longer than 120"));
  EXPECT_THAT(MessageOf("compare", {{"a", "s1"}}), HasSubstr("\"b\" is required"));
  EXPECT_EQ(MessageOf("compare", {{"a", "s1"}, {"b", "s2"}, {"all", "yes"}}), "all must be true or false, not \"yes\"");
}

}  // namespace
}  // namespace breakwatch::api
