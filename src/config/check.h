// SPDX-License-Identifier: Apache-2.0
// What is checked once all values are known: keys that this broker refuses or does not serve yet, and Kafka's rules
// between fields.
#pragma once

#include "config/config.h"

// Refused keys with a value other than their default: errors. Keys of features that are not built yet: warnings.
// Standalone, the keys of ZooKeeper are passed over in silence.
void config_check_effects(const struct config *c, struct config_report *report);
// Rules between fields. Every value must be good by itself.
void config_check_fields(const struct config *c, struct arena *a, struct config_report *report);
