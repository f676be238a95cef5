// SPDX-License-Identifier: Apache-2.0
// NAME://host:port entries. A name is made upper case and looked up in the protocol map; without a map the names of the
// four protocols stand for themselves. Failure modes are all bad text, and are answered with the entry and the rule.
#include "config/listener.h"
#include "base/assert.h"
#include "base/bits.h"

const char *security_protocol_name(enum security_protocol protocol) {
    switch (protocol) {
    case SECURITY_PLAINTEXT: return "PLAINTEXT";
    case SECURITY_SSL: return "SSL";
    case SECURITY_SASL_PLAINTEXT: return "SASL_PLAINTEXT";
    case SECURITY_SASL_SSL: return "SASL_SSL";
    }
    UNREACHABLE();
}

static struct str upper_case(struct arena *a, struct str s) {
    char *out = arena_alloc(a, s.size + 1);
    for (size_t i = 0; out && i < s.size; i++) {
        out[i] = s.data[i] >= 'a' && s.data[i] <= 'z' ? (char)(s.data[i] - 'a' + 'A') : s.data[i];
    }
    return (struct str){out, out ? s.size : 0};
}

static bool find_protocol(struct str name, enum security_protocol *protocol) {
    for (int i = SECURITY_PLAINTEXT; i <= SECURITY_SASL_SSL; i++) {
        if (!str_is(name, security_protocol_name((enum security_protocol)i))) continue;
        *protocol = (enum security_protocol)i;
        return true;
    }
    return false;
}

static void add_quoted(struct text *t, struct str s) {
    text_addf(t, "'");
    text_add_escaped(t, (struct str){s.data, min_size(s.size, 200)});
    text_addf(t, "'");
}

// Looks a listener name (upper case) up in listener.security.protocol.map.
static bool map_protocol(const struct config *c, struct arena *a, struct str name, enum security_protocol *protocol,
                         struct text *reason) {
    struct str rest = config_list_begin(config_str(c, CONFIG_LISTENER_SECURITY_PROTOCOL_MAP)), entry;
    while (config_list_next(&rest, &entry)) {
        const char *colon = entry.size > 0 ? memrchr(entry.data, ':', entry.size) : NULL;
        if (!colon) continue; // config_check_listeners complains about it
        size_t size = (size_t)(colon - entry.data);
        if (!str_equal(upper_case(a, config_trim((struct str){entry.data, size})), name)) continue;
        struct str text = config_trim((struct str){colon + 1, entry.size - size - 1});
        if (find_protocol(upper_case(a, text), protocol)) return true;
        add_quoted(reason, text);
        text_addf(reason, " is no security protocol: PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL");
        return false;
    }
    text_addf(reason, "no security protocol for listener ");
    add_quoted(reason, name);
    text_addf(reason, ": add it to listener.security.protocol.map");
    return false;
}

static bool is_host(struct str host) {
    for (size_t i = 0; i < host.size; i++) {
        char h = host.data[i];
        bool is_letter = (h | 0x20) >= 'a' && (h | 0x20) <= 'z';
        if (!is_letter && !(h >= '0' && h <= '9') && !memchr("-%._:", h, 5)) return false;
    }
    return true;
}

// NAME://host:port, NAME://[v6]:port
static bool split_entry(struct str entry, struct str *name, struct str *host, int32_t *port) {
    const char *slashes = entry.size > 0 ? memmem(entry.data, entry.size, "://", 3) : NULL;
    if (!slashes || slashes == entry.data) return false;
    *name = config_trim((struct str){entry.data, (size_t)(slashes - entry.data)});
    struct str address = {slashes + 3, entry.size - (size_t)(slashes + 3 - entry.data)};
    const char *colon = address.size > 0 ? memrchr(address.data, ':', address.size) : NULL;
    if (!colon) return false;
    *host = (struct str){address.data, (size_t)(colon - address.data)};
    int64_t number;
    if (!parse_i64((struct str){colon + 1, address.size - host->size - 1}, 0, UINT16_MAX, &number)) return false;
    *port = (int32_t)number;
    if (host->size >= 2 && host->data[0] == '[' && host->data[host->size - 1] == ']') host->data++, host->size -= 2;
    return is_host(*host);
}

const struct listener *listener_find(const struct listener_list *list, struct str name) {
    for (size_t i = 0; i < list->count; i++) {
        if (str_equal(list->items[i].name, name)) return &list->items[i];
    }
    return NULL;
}

static bool is_v6(struct str host) {
    return host.size > 0 && memchr(host.data, ':', host.size) != NULL;
}
static bool is_v4(struct str host) {
    if (host.size == 0) return false;
    for (size_t i = 0; i < host.size; i++) {
        if (host.data[i] != '.' && (host.data[i] < '0' || host.data[i] > '9')) return false;
    }
    return true;
}

// Two listeners may share a port only if one has an IPv4 and the other an IPv6 address.
static bool ports_are_distinct(const struct listener_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        for (size_t j = 0; j < i; j++) {
            const struct listener *x = &list->items[i], *y = &list->items[j];
            if (x->port == 0 || x->port != y->port) continue;
            if (!(is_v4(x->host) && is_v6(y->host)) && !(is_v6(x->host) && is_v4(y->host))) return false;
        }
    }
    return true;
}

static bool parse_listeners(const struct config *c, struct arena *a, struct str text, struct listener_list *out,
                            struct text *reason) {
    out->count = 0;
    struct str rest = config_list_begin(text), entry, name;
    while (config_list_next(&rest, &entry)) {
        if (entry.size == 0) continue;
        if (out->count == CONFIG_LISTENERS_MAX) {
            text_addf(reason, "more than %d listeners", CONFIG_LISTENERS_MAX);
            return false;
        }
        struct listener *listener = &out->items[out->count];
        if (!split_entry(entry, &name, &listener->host, &listener->port)) {
            add_quoted(reason, entry);
            text_addf(reason, " is not NAME://host:port (port 0 to 65535, IPv6 addresses in brackets, an empty host "
                              "for every interface)");
            return false;
        }
        listener->name = upper_case(a, name);
        if (!map_protocol(c, a, listener->name, &listener->protocol, reason)) return false;
        if (listener_find(out, listener->name)) {
            text_addf(reason, "listener ");
            add_quoted(reason, listener->name);
            text_addf(reason, " is there twice");
            return false;
        }
        out->count++;
    }
    if (out->count == 0) text_addf(reason, "at least one listener is needed");
    return out->count > 0;
}

bool config_listeners(const struct config *c, struct arena *a, struct listener_list *out, struct text *reason) {
    if (!parse_listeners(c, a, config_str(c, CONFIG_LISTENERS), out, reason)) return false;
    if (ports_are_distinct(out)) return true;
    text_addf(reason, "two listeners have the same port; only one IPv4 and one IPv6 address may");
    return false;
}

bool config_advertised_listeners(const struct config *c, struct arena *a, struct listener_list *out,
                                 struct text *reason) {
    if (!config_has(c, CONFIG_ADVERTISED_LISTENERS)) return config_listeners(c, a, out, reason);
    return parse_listeners(c, a, config_str(c, CONFIG_ADVERTISED_LISTENERS), out, reason);
}

bool config_inter_broker_listener(const struct config *c, struct arena *a, struct str *name, struct text *reason) {
    if (!config_has(c, CONFIG_INTER_BROKER_LISTENER_NAME)) {
        *name = config_str(c, CONFIG_SECURITY_INTER_BROKER_PROTOCOL);
        return true;
    }
    if (config_is_set(c, CONFIG_SECURITY_INTER_BROKER_PROTOCOL)) {
        text_addf(reason, "only one of inter.broker.listener.name and security.inter.broker.protocol may be set");
        return false;
    }
    *name = upper_case(a, config_str(c, CONFIG_INTER_BROKER_LISTENER_NAME));
    enum security_protocol protocol;
    return map_protocol(c, a, *name, &protocol, reason);
}

static void fail(struct config_report *report, const struct config *c, enum config_key key, const char *message) {
    char memory[900];
    struct text t = TEXT_IN(memory);
    struct str value = config_str(c, key);
    text_addf(&t, "%s=", config_key_info(key)->name);
    text_add_escaped(&t, (struct str){value.data, min_size(value.size, 200)});
    text_addf(&t, ": %s", message);
    config_report_add(report, true, c->settings[key].line, &t);
}

static void check_map(const struct config *c, struct config_report *report) {
    struct str rest = config_list_begin(config_str(c, CONFIG_LISTENER_SECURITY_PROTOCOL_MAP)), entry;
    while (config_list_next(&rest, &entry)) {
        if (entry.size > 0 && memchr(entry.data, ':', entry.size)) continue;
        fail(report, c, CONFIG_LISTENER_SECURITY_PROTOCOL_MAP, "must be NAME:PROTOCOL entries, comma separated");
        return;
    }
}

static void check_protocols(const struct config *c, const struct listener_list *listeners,
                            struct config_report *report) {
    for (size_t i = 0; i < listeners->count; i++) {
        if (listeners->items[i].protocol == SECURITY_PLAINTEXT) continue;
        char memory[300];
        struct text t = TEXT_IN(memory);
        text_addf(&t, "refused: listener ");
        add_quoted(&t, listeners->items[i].name);
        text_addf(&t, " has protocol %s, but TLS and SASL are not built yet: use PLAINTEXT",
                  security_protocol_name(listeners->items[i].protocol));
        fail(report, c, CONFIG_LISTENERS, t.data);
    }
}

static void check_advertised(const struct config *c, const struct listener_list *listeners,
                             const struct listener_list *advertised, struct config_report *report) {
    enum config_key key = config_has(c, CONFIG_ADVERTISED_LISTENERS) ? CONFIG_ADVERTISED_LISTENERS : CONFIG_LISTENERS;
    for (size_t i = 0; i < advertised->count; i++) {
        if (!listener_find(listeners, advertised->items[i].name)) {
            fail(report, c, key, "names a listener that listeners does not have");
        }
        if (str_is(advertised->items[i].host, "0.0.0.0")) {
            fail(report, c, key,
                 "nobody can connect to 0.0.0.0: set advertised.listeners to an address that clients can reach, or "
                 "leave the host empty");
        }
    }
}

static void check_inter_broker(const struct config *c, struct arena *a, const struct listener_list *advertised,
                               struct config_report *report) {
    char memory[600];
    struct text reason = TEXT_IN(memory);
    struct str inter_broker;
    if (!config_inter_broker_listener(c, a, &inter_broker, &reason)) {
        fail(report, c, CONFIG_INTER_BROKER_LISTENER_NAME, reason.data);
        return;
    }
    if (!listener_find(advertised, inter_broker)) {
        bool by_name = config_has(c, CONFIG_INTER_BROKER_LISTENER_NAME);
        fail(report, c, by_name ? CONFIG_INTER_BROKER_LISTENER_NAME : CONFIG_SECURITY_INTER_BROKER_PROTOCOL,
             "no such listener is advertised: set inter.broker.listener.name to one of the names in listeners");
    }
    if (!config_has(c, CONFIG_CONTROL_PLANE_LISTENER_NAME)) return;
    struct str control_plane = upper_case(a, config_str(c, CONFIG_CONTROL_PLANE_LISTENER_NAME));
    if (!listener_find(advertised, control_plane) || str_equal(control_plane, inter_broker)) {
        fail(report, c, CONFIG_CONTROL_PLANE_LISTENER_NAME,
             "must be an advertised listener other than the one between brokers");
    }
}

static void check_early_start(const struct config *c, const struct listener_list *listeners,
                              struct config_report *report) {
    struct str rest = config_list_begin(config_str(c, CONFIG_EARLY_START_LISTENERS)), name;
    while (config_list_next(&rest, &name)) {
        if (name.size == 0 || listener_find(listeners, name)) continue;
        fail(report, c, CONFIG_EARLY_START_LISTENERS, "names a listener that listeners does not have");
        return;
    }
}

void config_check_listeners(const struct config *c, struct arena *a, struct config_report *report) {
    char memory[600];
    struct text reason = TEXT_IN(memory);
    struct listener_list listeners, advertised;
    check_map(c, report);
    if (!config_listeners(c, a, &listeners, &reason)) {
        fail(report, c, CONFIG_LISTENERS, reason.data);
        return;
    }
    check_protocols(c, &listeners, report);
    check_early_start(c, &listeners, report);
    if (!config_advertised_listeners(c, a, &advertised, &reason)) {
        fail(report, c, CONFIG_ADVERTISED_LISTENERS, reason.data);
        return;
    }
    check_advertised(c, &listeners, &advertised, report);
    check_inter_broker(c, a, &advertised, report);
}
