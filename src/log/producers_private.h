// SPDX-License-Identifier: Apache-2.0
// What producers.c and producers_codec.c share. Not for other files, but for producer_snapshot_entry (inspection).
#pragma once

#include "log/producers.h"

// No open transaction, and idle for expiration_ms or longer.
bool producer_is_expired(const struct producer *producer, int64_t now_ms, int64_t expiration_ms);
// Takes the values of `producer` (its links and node are not looked at) under its id, replacing what is there.
void producers_put(struct producers *p, const struct producer *producer);
// Reads one entry of a snapshot. False: its values are not possible (they are filled in all the same).
bool producer_snapshot_entry(const uint8_t *at, struct producer *producer);
