// What `breakwatch sandbox-exec` does, as a program of its own.
#include "breakwatch/capture/confine.h"

int main(int argc, char** argv) { return breakwatch::capture::ConfineAndExec({argv + 1, argv + argc}); }
