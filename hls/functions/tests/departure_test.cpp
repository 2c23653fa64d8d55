// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>

#include "hls/functions/tests/called.hpp"
#include "hls/functions/tests/random.hpp"

namespace clarion::block {
namespace {

struct Departing {
  Meta meta;
  std::uint8_t field = 0;
  std::uint16_t length = 0;
};

Departing any_packet(Random& random) {
  Departing packet;
  packet.meta.kind = Kind::data;
  packet.meta.rtt = random.chance(8) ? 0 : random.word() & RTT_MASK;
  packet.meta.x = random.word();
  packet.meta.delta_throughput = random.signed_word();
  packet.meta.flags = static_cast<std::uint8_t>(random.below(256));
  packet.field = static_cast<std::uint8_t>(random.below(8));
  packet.length = static_cast<std::uint16_t>(66 + random.below(9535));
  return packet;
}

Gain any_gain(Random& random) {
  return Gain{random.word(),
              static_cast<std::uint32_t>(random.chance(4) ? random.bits(6) : 20 + random.below(20))};
}

// What the shell keeps of a port's departures.
class Port {
 public:
  void refill(const Shares& shares, const MaxMinGains& gains) {
    shares_ = shares;
    gains_ = gains;
    const std::uint8_t carry = pools.carry;
    pools = Pools{shares.pos, shares.neg, 0, carry, false, false};
    own = OwnSums{};
  }

  Grant step(const Departing& packet, bool maxmin) {
    const OfferResults offered = called(offer, offer_of(packet, maxmin));
    if (maxmin) count(packet, offered);
    std::int32_t granted = offered.reply;
    if (offered.pays) {
      const GrantResults results =
          called(block::grant, GrantArguments{pools, maxmin, packet.meta.delta_throughput, offered.claim});
      pools = results.pools;
      granted = results.granted;
    }
    const std::uint8_t field =
        maxmin ? field_after(packet.meta, packet.field, offered.pays, granted) : packet.field;
    return Grant{granted, field};
  }

  Pools pools;
  OwnSums own;

 private:
  OfferArguments offer_of(const Departing& packet, bool maxmin) const {
    OfferArguments arguments;
    arguments.maxmin = maxmin;
    arguments.cp = maxmin && pools.pos_spent ? Gain{} : shares_.cp;
    arguments.cn = maxmin && pools.neg_spent ? Gain{} : shares_.cn;
    arguments.gains = gains_;
    arguments.rtt = packet.meta.rtt;
    arguments.x = packet.meta.x;
    arguments.delta_throughput = packet.meta.delta_throughput;
    arguments.length = packet.length;
    arguments.flags = packet.meta.flags;
    arguments.field = packet.field;
    return arguments;
  }

  void count(const Departing& packet, const OfferResults& offered) {
    const Meta& meta = packet.meta;
    own = called(block::own, OwnArguments{own, packet.length, meta.rtt, meta.x, meta.delta_throughput,
                                          offered.own, offered.poor, offered.limited})
              .sums;
  }

  Shares shares_;
  MaxMinGains gains_;
};

void expect_equal(const Port& got, const MaxMinDeparture& wanted) {
  ASSERT_EQ(got.pools.pos, wanted.left().pos);
  ASSERT_EQ(got.pools.neg, wanted.left().neg);
  ASSERT_EQ(got.pools.bank, wanted.bank_q8());
  ASSERT_EQ(got.pools.carry, wanted.carry_q8());
  ASSERT_EQ(got.own.input, wanted.sums().input);
  ASSERT_EQ(got.own.sum_x, wanted.sums().sum_x);
  ASSERT_EQ(got.own.sum_x_poor, wanted.sums().sum_x_poor);
  ASSERT_EQ(got.own.limited, wanted.sums().limited);
  ASSERT_EQ(got.own.max_rtt, wanted.sums().max_rtt);
}

TEST(Grant, IsThatOfTheCoreInBothGenerations) {
  Random random(1);
  Port port;
  MaxMinDeparture departure;
  unsigned generation = 2;
  for (unsigned i = 0; i < 500'000; ++i) {
    if (random.chance(200)) {
      const Shares shares{random.bits(48), random.bits(48), any_gain(random), any_gain(random)};
      const MaxMinGains gains{any_gain(random), any_gain(random), any_gain(random)};
      departure.take();
      departure.refill(shares, gains);
      port.refill(shares, gains);
    }
    if (random.chance(100)) generation = 3 - generation;
    const Departing packet = any_packet(random);
    const Grant got = port.step(packet, generation == 2);
    if (generation == 2) {
      const Grant wanted = departure.step_maxmin(packet.meta, packet.field, packet.length);
      ASSERT_EQ(got.delta_throughput, wanted.delta_throughput);
      ASSERT_EQ(got.field, wanted.field);
    } else {
      ASSERT_EQ(got.delta_throughput, departure.step(packet.meta, packet.length));
    }
    expect_equal(port, departure);
  }
}

TEST(Patch, WritesWhatTheCoreWrites) {
  Random random(2);
  for (unsigned i = 0; i < 100'000; ++i) {
    PatchArguments arguments;
    arguments.kind = static_cast<std::uint8_t>(random.below(4));
    arguments.numbered = random.chance(2);
    arguments.link_seq = static_cast<std::uint16_t>(random.bits(16));
    arguments.corrupt = static_cast<std::uint16_t>(random.bits(16));
    arguments.congest = static_cast<std::uint16_t>(random.bits(16));
    arguments.regulated = random.chance(2);
    arguments.maxmin = random.chance(2);
    arguments.pays = random.chance(2);
    arguments.rtt = random.word() & RTT_MASK;
    arguments.requested = random.signed_word();
    arguments.granted = random.signed_word();
    arguments.flags = static_cast<std::uint8_t>(random.bits(8));
    arguments.field = static_cast<std::uint8_t>(random.bits(3));

    std::uint8_t before[DATA_BYTES];
    for (std::uint8_t& byte : before) byte = static_cast<std::uint8_t>(random.below(256));
    std::uint8_t wanted[DATA_BYTES];
    std::memcpy(wanted, before, DATA_BYTES);
    Meta meta;
    meta.kind = static_cast<Kind>(arguments.kind);
    meta.corrupt = arguments.corrupt;
    meta.congest = arguments.congest;
    meta.rtt = arguments.rtt;
    meta.flags = arguments.flags;
    meta.delta_throughput = arguments.requested;
    if (carries_tags(meta.kind)) write_totals(wanted, meta);
    if (carries_tags(meta.kind) && arguments.numbered) write_link_seq(wanted, meta, arguments.link_seq);
    if (meta.kind == Kind::data && arguments.regulated) {
      write_delta_throughput(wanted, meta, arguments.granted);
      write_hop(wanted, meta);
      if (arguments.maxmin) {
        write_field(wanted, meta, field_after(meta, arguments.field, arguments.pays, arguments.granted));
      }
    }

    const PatchResults got = called(patch, arguments);
    for (unsigned byte = 0; byte < DATA_BYTES; ++byte) {
      const auto value = static_cast<std::uint8_t>(got.data[byte / 8] >> (8 * (byte % 8)));
      const bool enabled = got.enable >> byte & 1;
      ASSERT_EQ(enabled ? value : before[byte], wanted[byte]) << "byte " << byte;
      if (!enabled) {
        ASSERT_EQ(value, 0u);
      }
    }
  }
}

}  // namespace
}  // namespace clarion::block
