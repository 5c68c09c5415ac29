// The rights of a user: whose they are, and a thread that has them for the rest of its life.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace hostwire {

// What the kernel judges access to a file by.
struct UserRights {
  std::uint32_t uid;
  std::uint32_t gid;
  std::vector<std::uint32_t> groups;  // the supplementary ones
};

// The rights of the program that listens at the other end of a connected Unix socket, as they were when it
// began to listen. The kernel keeps them: nothing that this program sends can change them, and no name
// service is asked. Nothing for any other socket.
std::optional<UserRights> rightsOfPeer(int socket);

// This thread has the rights of a user, without any capability, from the construction on until it ends: do
// not construct one on a thread that goes on to other work. Other threads keep their rights. Only the
// effective ids change, so the user can neither signal nor trace the process.
class UserThread {
 public:
  // Where the thread has this user's id already it keeps its groups, and root keeps its capabilities. Throws
  // HostError when the thread may not take the rights, or when the kernel did not change all of them.
  explicit UserThread(const UserRights& user);
  UserThread(const UserThread&) = delete;
  UserThread& operator=(const UserThread&) = delete;

 private:
  // Permits core dumps again at the end, which the kernel forbids to a process that changes its ids.
  struct Dumps {
    Dumps();
    ~Dumps();
    Dumps(const Dumps&) = delete;
    Dumps& operator=(const Dumps&) = delete;
  };
  Dumps dumps_;
};

}  // namespace hostwire
