// SPDX-License-Identifier: Apache-2.0
// What AlterConfigs and IncrementalAlterConfigs do to settings: the list operations, and which broker settings may
// change at run time.
#pragma once

#include "config/config.h"

// Numbers of IncrementalAlterConfigs.
enum config_operation { CONFIG_SET = 0, CONFIG_DELETE = 1, CONFIG_APPEND = 2, CONFIG_SUBTRACT = 3 };

enum config_alter_result {
    CONFIG_ALTERED,
    CONFIG_ALTER_INVALID_CONFIG,  // INVALID_CONFIG (40)
    CONFIG_ALTER_INVALID_REQUEST, // INVALID_REQUEST (42)
    CONFIG_ALTER_UNKNOWN_KEY,     // append to or subtract from a key that is in no table: UNKNOWN_SERVER_ERROR (-1)
};

// The new value of one topic or broker setting after an operation on the present one (null: not set). *out null: the
// setting is to be removed. `operand` is ignored by DELETE and may not be null otherwise. Append and subtract need a
// list: they start from the default where nothing is set, append adds what is not there yet, subtract of the last entry
// leaves "".
enum config_alter_result config_alter_topic(struct arena *a, enum config_operation operation, struct str key,
                                            struct str present, struct str operand, struct str *out,
                                            struct text *reason);
enum config_alter_result config_alter_broker(struct arena *a, enum config_operation operation, struct str key,
                                             struct str present, struct str operand, struct str *out,
                                             struct text *reason);

// Whether these may be all dynamic settings of this broker (per_broker) or of all brokers: no static key, no value that
// its key does not allow, none that only makes sense for one broker among those of all, key stores only for one
// listener. Unknown names pass. The answer to false is INVALID_REQUEST (42).
bool config_validate_dynamic(struct arena *scratch, const struct config *c, bool per_broker, struct config_map settings,
                             struct text *reason);
