// The rights of a user, and a thread that has them for the rest of its life.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hostwire {

// The ids by which the kernel judges access to a file.
struct UserRights {
  std::uint32_t uid;
  std::uint32_t gid;
  std::vector<std::uint32_t> groups;  // supplementary groups
};

// Returns the rights of the program that listens at the other end of a connected Unix socket, as they were
// when it began to listen. The kernel keeps them: nothing that this program sends can change them, and no
// name service is asked. Returns nothing for any other socket.
std::optional<UserRights> rightsOfPeer(int socket);

// Gives this thread the rights of a user, without any capability, from construction until it ends: do not
// construct one on a thread that continues with other work. Other threads keep their rights. Only the
// effective ids change, so the user can neither signal nor trace the process.
class UserThread {
 public:
  // If the thread already has this user's id, it keeps its groups, and root keeps its capabilities. Throws
  // HostError when the thread may not take the rights, or when the kernel did not change all of them.
  explicit UserThread(const UserRights& user);
  UserThread(const UserThread&) = delete;
  UserThread& operator=(const UserThread&) = delete;

 private:
  // Permits core dumps again at the end, because the kernel forbids them for a process that changes its ids.
  struct Dumps {
    Dumps();
    ~Dumps();
    Dumps(const Dumps&) = delete;
    Dumps& operator=(const Dumps&) = delete;
  };
  Dumps dumps_;
};

}  // namespace hostwire
