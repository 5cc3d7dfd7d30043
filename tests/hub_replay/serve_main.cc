// The replayed Hub as a program, for the tests with the Python client:
//
// hub_replay_server DIR [self]
#include "breakwatch/hub_replay/replay_server.h"

int main(int argc, char** argv) {
  breakwatch::hub_replay::ReplayOptions options;
  if (argc > 1) options.dir = argv[1];
  if (argc > 2) options.link_endpoint = argv[2];
  return breakwatch::hub_replay::ServeMain(options);
}
