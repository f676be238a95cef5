// SPDX-License-Identifier: Apache-2.0
#include "net/gate.h"
#include "config/value.h"
#include <stdlib.h>
#include <string.h>

struct gate_address {
    struct hash_node node; // in the gate's table
    char text[64];
    uint32_t count; // of connections
};

void net_gate_init(struct net_gate *gate, struct core *core, struct net_gate_limits (*limits)(struct core *core)) {
    *gate = (struct net_gate){.core = core, .limits = limits};
    hashmap_init(&gate->by_address);
    list_init(&gate->waiting);
}

void net_gate_free(struct net_gate *gate) {
    for (struct hash_node *node = hashmap_next(&gate->by_address, NULL), *next; node; node = next) {
        next = hashmap_next(&gate->by_address, node);
        free(container_of(node, struct gate_address, node));
    }
    hashmap_free(&gate->by_address);
}

bool net_gate_has_room(struct net_gate *gate, struct gate_wait *wait, struct flow *flow) {
    if (gate->count < gate->limits(gate->core).connections_max) return true;
    wait->flow = flow;
    if (!list_is_linked(&wait->link)) list_push_back(&gate->waiting, &wait->link);
    return false;
}

void gate_wait_end(struct gate_wait *wait) {
    if (list_is_linked(&wait->link)) list_remove(&wait->link);
}

// A dual-stack listener sees IPv4 peers as mapped addresses; limits are written without that.
static struct str address_plain(const char *text) {
    struct str address = str_of(text);
    static const char mapped[] = "::ffff:";
    const size_t size = sizeof mapped - 1;
    bool is_mapped = address.size > size && memcmp(address.data, mapped, size) == 0 && strchr(text, '.') != NULL;
    return is_mapped ? (struct str){address.data + size, address.size - size} : address;
}

// Numeric addresses, and the one name that needs nobody to resolve it.
static bool host_is(struct str host, struct str address) {
    if (str_is(host, "localhost")) return str_is(address, "127.0.0.1") || str_is(address, "::1");
    return str_equal(host, address);
}

static uint32_t address_limit(struct net_gate_limits limits, struct str address) {
    struct str rest = config_list_begin(limits.per_ip_overrides), entry, host;
    uint32_t count;
    while (config_list_next(&rest, &entry)) {
        if (config_host_count(entry, &host, &count) && host_is(host, address)) return count;
    }
    return limits.connections_per_ip_max;
}

static bool address_equal(const struct hash_node *node, const void *key) {
    return str_equal(str_of(container_of(node, struct gate_address, node)->text), *(const struct str *)key);
}

static struct gate_address *address_add(struct net_gate *gate, struct str text, uint64_t hash) {
    struct gate_address *address = calloc(1, sizeof *address);
    ASSERT(address != NULL && text.size < sizeof address->text);
    memcpy(address->text, text.data, text.size);
    hashmap_insert(&gate->by_address, &address->node, hash);
    return address;
}

struct admission *net_gate_enter(struct net_gate *gate, const struct os_address *peer, uint32_t *limit) {
    struct str text = address_plain(peer->text);
    uint64_t hash = hash_str(gate->core->hash_seed, text);
    struct hash_node *node = hashmap_find(&gate->by_address, hash, address_equal, &text);
    struct gate_address *address = node ? container_of(node, struct gate_address, node) : NULL;
    *limit = address_limit(gate->limits(gate->core), text);
    if ((address ? address->count : 0) >= *limit) return NULL;
    if (!address) address = address_add(gate, text, hash);
    address->count++;
    gate->count++;
    struct admission *admission = calloc(1, sizeof *admission);
    ASSERT(admission != NULL);
    admission->gate = gate;
    admission->address = address;
    admission->peer = *peer;
    return admission;
}

static void admission_ends(struct core *core, struct message *message) {
    struct admission *admission = container_of(message, struct admission, message);
    struct net_gate *gate = admission->gate;
    ASSERT(gate->core == core && gate->count > 0 && admission->address->count > 0);
    gate->count--;
    if (--admission->address->count == 0) {
        hashmap_remove(&gate->by_address, &admission->address->node);
        free(admission->address);
    }
    free(admission);
    LIST_FOREACH_SAFE (link, &gate->waiting) {
        struct gate_wait *wait = container_of(link, struct gate_wait, link);
        gate_wait_end(wait);
        flow_wake(wait->flow);
    }
}

void net_gate_leave(struct core *core, struct admission *admission) {
    struct core *home = admission->gate->core;
    if (home == core) return admission_ends(core, &admission->message);
    core_send(core, home->id, &admission->message, admission_ends);
}
