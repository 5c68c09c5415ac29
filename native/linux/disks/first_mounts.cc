// The mount table of the machine's first process.
#include "linux/disks/first_mounts.h"

#include "linux/disks/select_mounts.h"

namespace hostwire {

void FirstMounts::correct(std::string_view ownText, std::vector<Mount>& own) {
  if (!file_) return;
  const std::string_view text = file_->readIfPresent(buffer_);
  // Mount ids are unique in the whole kernel: equal texts are the same table.
  if (text == ownText) {
    file_.reset();
    buffer_ = {};
  } else {
    adoptReadOnly(own, parseMountinfo(text));
  }
}

}  // namespace hostwire
