// SPDX-License-Identifier: Apache-2.0
// Messages between cores: a struct embedded in what is lent to the other core.
// Each ordered pair of cores has a queue of its own, so two messages from one
// core to another arrive in the order in which they were sent. Whoever sent a
// struct does not touch it until it comes back.
#pragma once

#include "base/assert.h"
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct core;
struct message {
    struct message *next; // in the sender's overflow list
    void (*deliver)(struct core *core,
                    struct message *message); // runs on the receiving core
};

// Single producer, single consumer. Full: the producer keeps the rest in its
// own list and tries again in its next turn.
enum { CORE_QUEUE_SLOTS = 1024 };
struct core_queue {
    _Alignas(64) _Atomic uint32_t head;       // next to take; written by the consumer
    _Alignas(64) _Atomic uint32_t tail;       // next free; written by the producer
    struct message *overflow, *overflow_last; // the producer's
    _Alignas(64) struct message *slots[CORE_QUEUE_SLOTS];
};
