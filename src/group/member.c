// SPDX-License-Identifier: Apache-2.0
#include "group/member.h"
#include <stdlib.h>

enum { MEMBER_OVERHEAD_BYTES = sizeof(struct group_member) + 128 };

size_t protocols_size(const struct group_protocol *protocols, int32_t count) {
    size_t size = 0;
    for (int32_t i = 0; i < count; i++)
        size += sizeof protocols[i] + 32 + protocols[i].name.size + protocols[i].metadata.size;
    return size;
}

size_t member_size(struct str id, struct str client_id, const struct group_protocol *protocols, int32_t count) {
    return MEMBER_OVERHEAD_BYTES + id.size + client_id.size + protocols_size(protocols, count);
}

static void member_count(struct group_member *m) {
    size_t size = member_size(m->id, m->client_id, m->protocols, m->protocol_count) + m->instance_id.size +
                  m->client_host.size + m->assignment.size + m->next_assignment.size;
    group_memory_give(m->memory, m->counted_bytes);
    group_memory_take(m->memory, size);
    m->counted_bytes = size;
}

struct group_member *member_create(struct group_memory *memory, struct str id, struct str instance_id,
                                   struct str client_id, struct str client_host) {
    struct group_member *m = calloc(1, sizeof *m);
    ASSERT(m != NULL && id.data != NULL);
    m->memory = memory;
    list_init(&m->link);
    m->id = str_duplicate(id);
    m->instance_id = str_duplicate(instance_id);
    m->client_id = str_duplicate(client_id);
    m->client_host = str_duplicate(client_host);
    m->assignment = bytes_duplicate((struct bytes){(const uint8_t *)"", 0});
    member_count(m);
    return m;
}

void protocols_free(struct group_protocol *protocols, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        str_free(&protocols[i].name);
        bytes_free(&protocols[i].metadata);
    }
    free(protocols);
}

void member_free(struct group_member *m) {
    ASSERT(!list_is_linked(&m->link));
    ASSERT(m->join_request == NULL && m->sync_request == NULL);
    group_memory_give(m->memory, m->counted_bytes);
    str_free(&m->id);
    str_free(&m->instance_id);
    str_free(&m->client_id);
    str_free(&m->client_host);
    protocols_free(m->protocols, m->protocol_count);
    bytes_free(&m->assignment);
    bytes_free(&m->next_assignment);
    free(m);
}

void member_set_id(struct group_member *m, struct str id) {
    struct str copy = str_duplicate(id); // `id` may be a view of the old one
    str_free(&m->id);
    m->id = copy;
    member_count(m);
}

void member_exchange_protocols(struct group_member *m, struct group_protocol **protocols, int32_t *count) {
    struct group_protocol *old = m->protocols;
    int32_t old_count = m->protocol_count;
    m->protocols = *protocols;
    m->protocol_count = *count;
    *protocols = old;
    *count = old_count;
    member_count(m);
}

void member_set_protocols(struct group_member *m, const struct group_protocol *protocols, int32_t count) {
    struct group_protocol *copy = calloc((size_t)count + 1, sizeof *copy);
    ASSERT(copy != NULL);
    for (int32_t i = 0; i < count; i++)
        copy[i] = (struct group_protocol){str_duplicate(protocols[i].name), bytes_duplicate(protocols[i].metadata)};
    member_exchange_protocols(m, &copy, &count);
    protocols_free(copy, count);
}

void member_set_assignment(struct group_member *m, struct bytes assignment) {
    bytes_free(&m->assignment);
    m->assignment = bytes_duplicate(assignment);
    member_count(m);
}
void member_set_next_assignment(struct group_member *m, struct bytes assignment) {
    bytes_free(&m->next_assignment);
    m->next_assignment = bytes_duplicate(assignment);
    member_count(m);
}
void member_adopt_next_assignment(struct group_member *m) {
    bytes_free(&m->assignment);
    m->assignment =
        m->next_assignment.data ? m->next_assignment : bytes_duplicate((struct bytes){(const uint8_t *)"", 0});
    m->next_assignment = (struct bytes){0};
    member_count(m);
}

const struct group_protocol *member_protocol(const struct group_member *m, struct str name) {
    for (int32_t i = 0; i < m->protocol_count; i++) {
        if (str_equal(m->protocols[i].name, name)) return &m->protocols[i];
    }
    return NULL;
}

bool member_matches(const struct group_member *m, const struct group_protocol *protocols, int32_t count) {
    if (count != m->protocol_count) return false;
    for (int32_t i = 0; i < count; i++) {
        const struct group_protocol *a = &m->protocols[i], *b = &protocols[i];
        if (!str_equal(a->name, b->name) || a->metadata.size != b->metadata.size) return false;
        if (a->metadata.size > 0 && memcmp(a->metadata.data, b->metadata.data, a->metadata.size) != 0) return false;
    }
    return true;
}
