// Lines that a worker may send: the seeds of the mutation test and of the fuzzer's corpus.
#pragma once

#include <string>
#include <vector>

namespace breakwatch::capture {

inline std::vector<std::string> MessageCorpus() {
  return {
      R"({"type":"hello","protocol":1,"worker":"1","torch":"2.0","transformers":"5","python":"3.11","device":"cpu","pid":7})",
      R"({"type":"heartbeat","job":"a"})",
      R"({"type":"heartbeat"})",
      R"({"type":"phase","job":"a","phase":"eager"})",
      R"({"type":"error","message":"what?"})",
      R"({"type":"result","job":"a","status":"failed_eager","detail":"d","phase":"eager","error":"Traceback\n  x"})",
      R"({"type":"result","job":"a","status":"graph_breaks","detail":"2 breaks","phase":"done","architecture":"A",)"
      R"("model_type":"a","params":12,"mode":"eval","device":"cpu","dtype":"float32","depth":"reduced",)"
      R"("depth_mismatch":null,"graphs":3,"breaks":2,"break_sites":1,"dynamo_counter_breaks":2,"explain_breaks":2,)"
      R"("unique_reasons":1,"ops_captured":40,"frames_total":2,"frames_fallback":0,"recompiles":0,)"
      R"("unexplained_events":0,"flaky":false,"sites":[{"site_id":"s","reason":"a reason","gb_id":"GB0001",)"
      R"("fixability":"user_error","explanation":"e","context":"c","hints":["h"],"file":"f.py","line":3,"function":"g",)"
      R"("source_line":"x = y","frame":"library","wrapped_in":"","compile_id":"0/0",)"
      R"("module_path":"encoder.layer.0","occurrences":2}],"segments":[{"index":0,"compile_id":"0/0","file":"f.py",)"
      R"("line":1,"function":"g","ops":{"call_function":3},"ops_total":3,"top_ops":{"add":2,"relu":1},"inputs":2,)"
      R"("guards":9,"ended_by":"s"},{"index":1,"compile_id":"1/0","ops":{},"ended_by":""}],)"
      R"("mode_detail":{"first_error":{"reason":"a reason"},"shapes":[[2,8],[3,8]]},)"
      R"("phase_s":{"create":0.5,"capture":1.5},"capture_s":2.0,"cpu_s":1.9,"peak_rss_mb":300.5,)"
      R"("inputs":{"input_ids":{"shape":[2,8],"dtype":"int64"}},"inputs_digest":"ab","output_tail":"",)"
      R"("toolchain":{"torch":"2.0","transformers":"5","python":"3.11","worker":"1","device":"cpu"}})",
  };
}

}  // namespace breakwatch::capture
