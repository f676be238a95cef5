// SPDX-License-Identifier: Apache-2.0
// The releases that inter.broker.protocol.version and message.format.version may name.
#pragma once

#include "base/slice.h"

// "2.8-IV1", or a release whose first two numbers (three below 1.0) name one: "2.8", "2.8.1", "0.10.2.1".
bool kafka_version_is_known(struct str version);
