#include "commands/davit.hpp"

int main(int argc, char** argv) {
  return davit::host::run_davit({argv + 1, argv + argc});
}
