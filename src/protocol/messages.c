// SPDX-License-Identifier: Apache-2.0
// The tables of all messages, from the lists in messages/ (schema.h says how to read them). Constant data only.
#include "protocol/messages.h"
#include "protocol/schema_define.h"

PROTOCOL_STRUCTS(SCHEMA_DEFINE_NESTED, SCHEMA_DEFINE_MESSAGE)
