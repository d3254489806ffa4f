// Merge: makes one watch of several, one for each namespace. Whoever watches sees one beginning,
// and SYNCED only when every part is complete. When a part begins anew, all of them do: the watcher
// forgets everything at a beginning. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "watch_flow.hpp"

namespace davit::cluster_kubernetes {

class Merge {
 public:
  // The namespaces of the parts; with one part everything passes as it is. `resumed`: the watch
  // goes on after a version, so its parts need no beginning.
  Merge(std::vector<std::string> parts, bool resumed);

  struct Out {
    std::optional<WatchFlow::Item> item;  // what the watcher hears
    bool restart_others = false;          // the other parts begin anew
  };
  Out take(size_t part, WatchFlow::Item item);

 private:
  struct Part {
    std::string ns;
    bool begun = false, complete = false;
    std::string version;  // of its SYNCED; empty: the resource is not installed
  };
  Out restarted(size_t part, WatchFlow::Item item);
  std::string synced_object() const;

  std::vector<Part> parts_;
};

}  // namespace davit::cluster_kubernetes
