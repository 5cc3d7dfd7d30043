// Plays breakwatch-runner in a sandbox: answers with the paths of a short list that it can see.
#include <unistd.h>

#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  std::string seen;
  for (const char* path :
       {"/usr/bin/python3", "/usr/bin/sh", "/usr/bin/g++", "/etc/passwd", "/usr/share", "/root", "/home"}) {
    if (access(path, F_OK) == 0) seen += std::string(" ") + path;
  }
  // The second argument is the package's folder.
  if (argc > 2 && access((std::string(argv[2]) + "/manifest.json").c_str(), R_OK) == 0) seen += " manifest.json";
  if (argc > 2 && access(argv[2], W_OK) == 0) seen += " writable";
  std::printf("{\"status\":\"ok\",\"detail\":\"%s\"}\n", seen.c_str());
}
