// A program that does the same as `breakwatch sandbox-exec`.
#include "breakwatch/capture/confine.h"

int main(int argc, char** argv) { return breakwatch::capture::ConfineAndExec({argv + 1, argv + argc}); }
