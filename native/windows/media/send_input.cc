// Windows' own keyboard.
#include "windows/media/send_input.h"

namespace hostwire {

UINT sendInput(std::span<INPUT> inputs) {
  return SendInput(static_cast<UINT>(inputs.size()), inputs.data(), sizeof(INPUT));
}

}  // namespace hostwire
