// SPDX-License-Identifier: Apache-2.0
// The packets of one link in their order: first those that wait in the queue, ahead of them those on the
// wire. A packet is copied in once and stays where it is until it is delivered.
//
// Storage is a chain of chunks from a pool that all links share, so memory follows the bytes that are
// really under way, and no packet costs an allocation.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "clock.hpp"
#include "core/header.hpp"

namespace clarion::emu {

// What packets are stored in: this record, then their bytes.
struct alignas(64) Chunk {
  Chunk* next;
  std::uint32_t used;

  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

// Grows by slabs up to its limit and keeps what it has; chunks are reused last in, first out (warm caches).
class ChunkPool {
 public:
  static constexpr std::size_t SLAB_BYTES = std::size_t{8} << 20;
  static constexpr std::size_t DEFAULT_LIMIT_BYTES = std::size_t{2} << 30;

  // Of each packet the first `snap_bytes` are kept.
  explicit ChunkPool(std::size_t limit_bytes = DEFAULT_LIMIT_BYTES, std::uint32_t snap_bytes = UINT32_MAX)
      : snap_bytes_(snap_bytes),
        chunk_bytes_(snap_bytes <= SMALL_SNAP_BYTES ? SMALL_CHUNK_BYTES : CHUNK_BYTES),
        slabs_left_(limit_bytes / SLAB_BYTES) {}
  ChunkPool(const ChunkPool&) = delete;
  ChunkPool& operator=(const ChunkPool&) = delete;
  ~ChunkPool() {
    for (void* slab : slabs_) munmap(slab, SLAB_BYTES);
  }

  std::uint32_t snap_bytes() const { return snap_bytes_; }

  // That packets of a chunk may take.
  std::size_t room_bytes() const { return chunk_bytes_ - sizeof(Chunk); }

  // Null at the memory limit.
  Chunk* take() {
    if (free_ == nullptr && !grow()) return nullptr;
    Chunk* chunk = free_;
    free_ = chunk->next;
    chunk->next = nullptr;
    chunk->used = 0;
    return chunk;
  }

  void give(Chunk* chunk) {
    chunk->next = free_;
    free_ = chunk;
  }

 private:
  // Of headers alone a page holds dozens, and the few that are under way on each of many links stay in the
  // caches. Whole frames need more, and go by in the order of memory.
  static constexpr std::size_t CHUNK_BYTES = 128 * 1024;
  static constexpr std::size_t SMALL_CHUNK_BYTES = 4096;
  static constexpr std::uint32_t SMALL_SNAP_BYTES = 256;

  bool grow() {
    if (slabs_left_ == 0) return false;
    void* slab = mmap(nullptr, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (slab == MAP_FAILED) return false;
    slabs_.push_back(slab);
    --slabs_left_;
    for (std::size_t at = SLAB_BYTES; at > 0;) {
      at -= chunk_bytes_;
      give(reinterpret_cast<Chunk*>(static_cast<std::uint8_t*>(slab) + at));
    }
    return true;
  }

  std::uint32_t snap_bytes_;
  std::size_t chunk_bytes_;
  std::size_t slabs_left_;
  std::vector<void*> slabs_;
  Chunk* free_ = nullptr;
};

// A packet at rest: this record, then its frame.
struct Packet {
  Nanoseconds arrival;  // when it comes out of the wire; set at departure
  std::uint32_t length;
  std::uint32_t stored;  // bytes of it that are kept
  bool lost;             // corrupted on the wire: to be dropped at `arrival`
  Meta meta;

  std::uint8_t* frame() { return reinterpret_cast<std::uint8_t*>(this + 1); }
  std::size_t footprint() const { return (sizeof(Packet) + stored + alignof(Packet) - 1) & -alignof(Packet); }
};

class PacketFifo {
 public:
  class Cursor {
   public:
    Packet* packet() const { return reinterpret_cast<Packet*>(chunk_->data() + offset_); }

   private:
    friend class PacketFifo;
    Chunk* chunk_ = nullptr;
    std::size_t offset_ = 0;
  };

  explicit PacketFifo(ChunkPool& pool) : pool_(pool) {}
  PacketFifo(const PacketFifo&) = delete;
  PacketFifo& operator=(const PacketFifo&) = delete;
  ~PacketFifo() { release_all(); }

  // Copies a frame to the end of the queue; null when the pool is at its limit.
  Packet* push(const std::uint8_t* frame, std::uint32_t length, const Meta& meta) {
    const std::uint32_t kept = stored(length);
    const std::size_t needed_bytes = sizeof(Packet) + kept + alignof(Packet);
    if ((tail_ == nullptr || tail_->used + needed_bytes > pool_.room_bytes()) && !extend()) return nullptr;
    Packet* packet = new (tail_->data() + tail_->used) Packet{0, length, kept, false, meta};
    std::memcpy(packet->frame(), frame, kept);
    tail_->used += static_cast<std::uint32_t>(packet->footprint());
    ++queued_;
    return packet;
  }

  // How much of a frame is kept.
  std::uint32_t stored(std::uint32_t length) const { return std::min(length, pool_.snap_bytes()); }

  std::size_t queued() const { return queued_; }
  std::size_t flying() const { return flying_; }

  // First packet of the queue. Valid only if queued() > 0.
  Packet* queue_head() {
    settle(queue_);
    return queue_.packet();
  }

  // Moves the first packet of the queue onto the wire.
  void depart() {
    settle(queue_);
    step(queue_);
    --queued_;
    ++flying_;
  }

  // Oldest packet on the wire. Valid only if flying() > 0.
  Packet* wire_head() {
    settle(wire_);
    return wire_.packet();
  }

  // A walk along the wire without removing anything.
  Cursor wire_begin() {
    settle(wire_);
    return wire_;
  }
  void advance(Cursor& cursor) const {
    step(cursor);
    settle(cursor);
  }

  // Removes the oldest packet on the wire.
  void pop() {
    settle(wire_);
    Chunk* chunk = wire_.chunk_;
    step(wire_);
    --flying_;
    if (queued_ + flying_ == 0) return rewind();
    if (wire_.offset_ != chunk->used || chunk->next == nullptr) return;
    settle(queue_);
    settle(wire_);
    pool_.give(chunk);
  }

 private:
  static void step(Cursor& cursor) { cursor.offset_ += cursor.packet()->footprint(); }

  // A cursor at the end of a chunk that has a successor belongs at the successor's start.
  static void settle(Cursor& cursor) {
    if (cursor.offset_ == cursor.chunk_->used && cursor.chunk_->next != nullptr) {
      cursor.chunk_ = cursor.chunk_->next;
      cursor.offset_ = 0;
    }
  }

  bool extend() {
    Chunk* chunk = pool_.take();
    if (chunk == nullptr) return false;
    if (tail_ == nullptr) {
      wire_.chunk_ = queue_.chunk_ = chunk;
    } else {
      tail_->next = chunk;
    }
    tail_ = chunk;
    return true;
  }

  // Empty: start over in the same, still cached, chunk.
  void rewind() {
    Chunk* first = wire_.chunk_;
    while (first != tail_) {
      Chunk* next = first->next;
      pool_.give(first);
      first = next;
    }
    tail_->used = 0;
    wire_.chunk_ = queue_.chunk_ = tail_;
    wire_.offset_ = queue_.offset_ = 0;
  }

  void release_all() {
    for (Chunk* chunk = wire_.chunk_; chunk != nullptr;) {
      Chunk* next = chunk->next;
      pool_.give(chunk);
      chunk = next;
    }
  }

  ChunkPool& pool_;
  Chunk* tail_ = nullptr;
  Cursor wire_;   // oldest packet on the wire
  Cursor queue_;  // first packet still queued
  std::size_t queued_ = 0;
  std::size_t flying_ = 0;
};

}  // namespace clarion::emu
