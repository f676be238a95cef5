// SPDX-License-Identifier: Apache-2.0
// The message tables as JSON, with the keys of Kafka's published message definitions, so that the two can be compared.
#pragma once

#include <stddef.h>

// Calls write() with pieces of {"messages": [...]}.
void protocol_print_json(void (*write)(void *context, const char *data, size_t size_bytes), void *context);
