// SPDX-License-Identifier: Apache-2.0
#include "api/group_calls.h"

// As Java prints an address: "/127.0.0.1".
static struct str client_host(struct api_call *call) {
    const char *address = request_peer(call->request)->text;
    static const char mapped[] = "::ffff:";
    if (strncmp(address, mapped, sizeof mapped - 1) == 0) address += sizeof mapped - 1;
    size_t size = strlen(address);
    char *host = call_alloc(call, size + 2);
    if (!host) return (struct str){0};
    host[0] = '/';
    memcpy(host + 1, address, size + 1);
    return (struct str){host, size + 1};
}

struct group_call *call_group_begin(struct api_call *call, enum group_call_kind kind, int32_t item_count) {
    struct group_call *g = call_alloc(call, sizeof *g);
    if (!g) return NULL;
    g->kind = kind;
    g->version = call->version;
    g->arena = &call->request->arena;
    g->request = call->body;
    g->client_id = str_is_null(call->request->client_id) ? str_of("") : call->request->client_id;
    g->client_host = client_host(call);
    if (str_is_null(g->client_host)) return NULL;
    g->context = call;
    g->item_count = item_count > 0 ? item_count : 0;
    g->items = call_alloc_array(call, item_count, sizeof *g->items);
    if (!g->items) return NULL;
    for (int32_t i = 0; i < g->item_count; i++)
        g->items[i].instance_id = (struct str){0};
    return g;
}

void call_group_send(struct group_call *g, void (*done)(struct group_call *g)) {
    struct api_call *call = g->context;
    g->done = done;
    call->request->flow = &g->flow;
    group_call_start(call->core, g);
}

struct api_call *call_group_end(struct group_call *g) {
    struct api_call *call = g->context;
    call->request->flow = NULL;
    if (!g->out_of_memory) return call;
    respond_close(call, "request needs too much memory");
    return NULL;
}
