#include "handlers.h"

namespace breakwatch::api {

std::span<const Binding> Bindings() {
  static constexpr Binding kBindings[] = {
      {"getStatus", GetStatus},
      {"getEvents", GetEvents},
      {"listSweeps", ListSweeps},
      {"requestSweep", RequestSweep},
      {"getSweep", GetSweep},
      {"listResultsOfSweep", ListResultsOfSweep},
      {"listReasonsOfSweep", ListReasonsOfSweep},
      {"listFailuresOfSweep", ListFailuresOfSweep},
      {"getPlanOfSweep", GetPlanOfSweep},
      {"getPlan", GetPlan},
      {"listModels", ListModels},
      {"getModel", GetModel},
      {"getHistory", GetHistory},
      {"listResults", ListResults},
      {"listModelIds", ListModelIds},
      {"listSites", ListSites},
      {"getSite", GetSite},
      {"listReasons", ListReasons},
      {"getReason", GetReason},
      {"listFamilies", ListFamilies},
      {"getCapture", GetCapture},
      {"compare", Compare},
      {"listTrends", ListTrends},
      {"listQuarantine", ListQuarantine},
      {"listDeadLetters", ListDeadLetters},
      {"listExporters", ListExporters},
      {"listSettings", ListSettings},
      {"getVersion", GetVersion},
      {"listRequests", ListRequests},
      {"getRequest", GetRequest},
      {"cancelRequest", CancelRequest},
      {"getOpenApi", GetOpenApi},
      {"reload", Reload},
      {"isHealthy", IsHealthy},
      {"isReady", IsReady},
      {"getMetrics", GetMetrics},
      {"getModelMetrics", GetModelMetrics},
  };
  return kBindings;
}

}  // namespace breakwatch::api
