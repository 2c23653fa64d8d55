// SPDX-License-Identifier: Apache-2.0
// All switches of the process and the links between them, in virtual time.
//
// Everything that happens to a packet happens at its scheduled time and in time order, however late the
// process woke up: advance(t) first carries out what was due before t. Only the hand-over to a network
// device is as late as the wake-up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "captures.hpp"
#include "event_log.hpp"
#include "forwarding_table.hpp"
#include "lldp.hpp"
#include "options.hpp"
#include "packet_fifo.hpp"
#include "port.hpp"
#include "programmed_forwarding.hpp"
#include "schedule.hpp"
#include "subscription.hpp"
#include "truth_log.hpp"

namespace clarion::emu {

struct Switch {
  std::string name;
  std::string quoted_name;  // as JSON
  std::string chassis_id;   // of LLDP
  std::vector<Port*> ports;
  ForwardingTable table;
  ProgrammedForwarding programmed;
  Listeners listeners;
  Nanoseconds down_until = 0;  // after a restart
  std::string note;  // a controller's agent keeps here what it needs to know again when it starts again

  Port* numbered(std::uint64_t number) const {
    for (Port* port : ports) {
      if (port->options.number == number) return port;
    }
    return nullptr;
  }
};

// Where the frames of a fabric come from and go to.
struct Surroundings {
  bool netdevs = true;                    // else ports have a FrameSink, or nothing
  Nanoseconds start = now_ns();           // of its clock
  std::uint32_t snap_bytes = UINT32_MAX;  // of each frame that are kept
};

class Fabric {
 public:
  // `make_path` makes what each port does to packets. Throws Fault.
  Fabric(const Options& options, const PathFactory& make_path, const Surroundings& surroundings = {});
  ~Fabric();

  Nanoseconds now() const { return now_; }

  // How long in all what was due has waited for the process, as whoever calls advance() has found.
  Nanoseconds late() const { return late_; }
  void add_late(Nanoseconds waited) { late_ += waited; }

  // Carries out everything that is due up to and including `time`.
  void advance(Nanoseconds time);

  // A frame came in from the port's netdev at `time`; an earlier time than now() counts as now().
  void receive(Port& port, Nanoseconds time, const std::uint8_t* frame, std::uint32_t length);

  // The same now, also for a FrameSink that has just been given a frame.
  void accept(Port& port, const std::uint8_t* frame, std::uint32_t length);

  // Hands to the netdevs what has come out of the outgoing wires.
  void transmit();

  // The earliest time at which advance() or transmit() has something to do.
  Nanoseconds next_time();

  // The earliest at which advance() has; without netdevs that is all.
  Nanoseconds next_event() const;

  // Changes a port while it runs. The options must be valid.
  void reconfigure(Port& port, const PortOptions& options);

  // Work to be done at a time, between what is due before and what is due after.
  void at(Nanoseconds time, std::function<void()> work);

  // As after a power cut of the switch: its queues and its state are lost, its entries come back with it.
  // Frames that come in within `down_ns` are lost too. Fault: a path that cannot.
  void restart(Switch& sw, Nanoseconds down_ns);

  // The same in the data plane's own integers, epochs included.
  void enter(Port& port, const PortEntries& entries);

  // A frame from a controller: to one port, or, if that is null, forwarded like one that came in by a port of
  // its own.
  void inject(Switch& sw, Port* to, const std::uint8_t* frame, std::uint32_t length);

  // A frame for the controller, if one listens; `from` null: it came in by no port.
  void tell_controller(const Switch& sw, const Port* from, const std::uint8_t* frame, std::uint32_t length);

  // Tells the neighbours that the process ends.
  void farewell() { lldp_.farewell(now_); }

  Port* find(const std::string& switch_and_port);
  Switch* find_switch(const std::string& name);
  std::vector<std::unique_ptr<Port>>& ports() { return ports_; }
  const std::vector<std::unique_ptr<Switch>>& switches() const { return switches_; }
  // Writes out what logs have held back for a second.
  void tick(Nanoseconds now) {
    truth_.tick(now);
    captures_.tick(now);
  }
  void flush_logs() {
    truth_.flush();
    captures_.flush();
  }
  EventLog& events() { return events_; }
  const Lldp& lldp() const { return lldp_; }

  // Of the switches' clock: microseconds since they started.
  std::uint64_t switch_time_us(Nanoseconds time) const { return (time - born_) / 1000; }

 private:
  class Observer;  // of a port whose queue has a discipline

  void open_netdev(Port& port);
  void set_discipline(Port& port);
  void apply(Port& port, const PortOptions& options);
  void run(Port& port);
  void reschedule(Port& port);
  void arrive(Port& port, const std::uint8_t* frame, std::uint32_t length);
  void forward(Switch& sw, Port* from, const std::uint8_t* frame, std::uint32_t length, const Meta& meta);
  void forward_programmed(Switch& sw, Port* from, const std::uint8_t* frame, std::uint32_t length,
                          const Meta& meta);
  void deliver(Switch& sw, Port* from, Port* to, const std::uint8_t* frame, std::uint32_t length,
               const Meta& meta);
  void close_measurement(Port& port);
  void note_queue(Port& port);
  void hold(Port& port);
  void drop(Port& port, const std::uint8_t* frame, std::uint32_t length);
  void enqueue(Port& port, const std::uint8_t* frame, std::uint32_t length, const Meta& meta);
  void serve(Port& port);
  void depart(Port& port);
  void enter_hazards(Port& port, Packet& packet, Nanoseconds sent);
  void note_hazard(Port& port, TruthLog::Cause cause, const FrameBytes& frame);
  void lose(const Port& port, TruthLog::Direction direction, TruthLog::Cause cause, const std::uint8_t* frame,
            std::uint32_t length);
  std::uint32_t stored(std::uint32_t length) const { return std::min(length, pool_.snap_bytes()); }
  void lose_queue(Port& port);
  void deliver_inside(Port& port);
  void hand_on(Port& port, const std::uint8_t* frame, std::uint32_t stored, std::uint32_t length);
  void run_work();
  void deliver_incoming(Port& port);
  void transmit(Port& port);
  void hand_over(Port& port, Packet& packet);
  void log(const Port& port, TruthLog::Direction direction, TruthLog::Cause cause, const std::uint8_t* frame,
           std::uint32_t length);

  ChunkPool pool_;
  TruthLog truth_;
  Captures captures_;
  EventLog events_;
  std::vector<std::unique_ptr<Switch>> switches_;
  std::vector<std::unique_ptr<Observer>> observers_;
  std::vector<std::unique_ptr<Port>> ports_;
  Schedule schedule_;
  std::multimap<Nanoseconds, std::function<void()>> work_;
  FrameBytes marked_;  // a frame with its mark, on its way into a queue
  Nanoseconds now_ = 0;
  Nanoseconds born_ = 0;
  Nanoseconds late_ = 0;
  std::uint64_t seed_;
  std::uint8_t protocol_;
  Lldp lldp_;
};

}  // namespace clarion::emu
