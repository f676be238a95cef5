// SPDX-License-Identifier: Apache-2.0
// The listeners of a broker: what listeners, advertised.listeners and listener.security.protocol.map say together.
#pragma once

#include "config/config.h"

enum { CONFIG_LISTENERS_MAX = 16 };
// Numbers of Kafka's SecurityProtocol, as UpdateMetadata has them.
enum security_protocol {
    SECURITY_PLAINTEXT = 0,
    SECURITY_SSL = 1,
    SECURITY_SASL_PLAINTEXT = 2,
    SECURITY_SASL_SSL = 3,
};
const char *security_protocol_name(enum security_protocol protocol);

struct listener {
    struct str name; // in upper case
    enum security_protocol protocol;
    struct str host; // without brackets; empty: every interface (listeners), this host's name (advertised)
    int32_t port;    // 0: chosen by the kernel
};
struct listener_list {
    struct listener items[CONFIG_LISTENERS_MAX];
    size_t count;
};

// Addresses to listen on, and addresses to tell (those of listeners if advertised.listeners is not set). The image has
// been checked: these cannot fail on one that config_parse returned. False: *reason.
bool config_listeners(const struct config *c, struct arena *a, struct listener_list *out, struct text *reason);
bool config_advertised_listeners(const struct config *c, struct arena *a, struct listener_list *out,
                                 struct text *reason);
// The name of the listener over which brokers talk to each other, in upper case. False: *reason.
bool config_inter_broker_listener(const struct config *c, struct arena *a, struct str *name, struct text *reason);
// The listener of a name, or NULL.
const struct listener *listener_find(const struct listener_list *list, struct str name);

// Kafka's rules about the four keys together; protocols that are not built yet.
void config_check_listeners(const struct config *c, struct arena *a, struct config_report *report);
