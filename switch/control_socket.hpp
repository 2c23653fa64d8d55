// SPDX-License-Identifier: Apache-2.0
// The unix stream socket on which others ask and command: one line in, one line out.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "event_log.hpp"
#include "subscription.hpp"

namespace clarion::emu {

class ControlSocket {
 public:
  using Handler = std::function<std::string(const std::string& line, Subscription& subscription)>;

  // A socket file without a listener is replaced. Throws Fault. All descriptors join
  // `epoll`, with their number as data.
  ControlSocket(std::string path, int epoll, Handler handler);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();  // removes the socket file

  // Handles readiness of one of its descriptors; false if it is not one of them.
  bool handle(int fd);

  // Sends the events to all subscribers and empties the log. A subscriber that does not read loses events,
  // and gets their number.
  void publish(EventLog& events);

 private:
  static constexpr std::size_t MAX_LINE_BYTES = 1 << 20;
  static constexpr std::size_t MAX_UNREAD_BYTES = 16 << 20;  // replies that a client does not fetch

  static constexpr std::size_t MAX_EVENTS_BYTES = 4 << 20;  // events that a subscriber does not fetch

  struct Client {
    std::string input;
    std::string output;
    Subscription subscription;
    std::uint64_t lost = 0;  // events not sent since the last report of losses
  };

  void accept_client();
  bool receive(int fd, Client& client);  // false: the client is gone or misbehaves
  bool answer(int fd, Client& client);
  bool send_output(int fd, Client& client);
  void drop(int fd);
  void watch(int fd, int operation, bool for_writing);

  std::string path_;
  int epoll_;
  Handler handler_;
  int listener_ = -1;
  std::map<int, Client> clients_;
};

}  // namespace clarion::emu
