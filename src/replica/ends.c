// SPDX-License-Identifier: Apache-2.0
#include "replica/ends.h"
#include "replica/replica.h"
#include <stdlib.h>

void ends_add_values(struct ends_list *list, const char *topic, const struct partition_ends *values) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? list->capacity * 2 : 64;
        list->entries = realloc(list->entries, list->capacity * sizeof *list->entries);
        ASSERT(list->entries != NULL);
    }
    struct partition_ends *e = &list->entries[list->count++];
    *e = *values;
    e->topic = strdup(topic);
    ASSERT(e->topic != NULL);
}

struct partition_ends ends_of(const struct partition *p) {
    struct partition_ends values = {.partition = p->index,
                                    .dir = p->dir,
                                    .recovery_point = p->kept_recovery_point,
                                    .log_start_offset = p->kept_log_start,
                                    .high_watermark = p->kept_high_watermark};
    if (p->log) {
        values.recovery_point = log_recovery_point(p->log);
        values.log_start_offset = log_start_offset(p->log);
        values.high_watermark = log_high_watermark(p->log);
        ASSERT(!p->durable || values.high_watermark <= log_flushed_end(p->log)); // trap 53
    }
    return values;
}

void ends_add(struct ends_list *list, const struct partition *p) {
    const struct partition_ends values = ends_of(p);
    ends_add_values(list, p->topic, &values);
}

void ends_free(struct ends_list *list) {
    for (size_t i = 0; i < list->count; i++)
        free(list->entries[i].topic);
    free(list->entries);
    *list = (struct ends_list){0};
}

void ends_move(struct ends_list *into, struct ends_list *from) {
    size_t count = into->count + from->count;
    if (from->count > 0) {
        into->entries = realloc(into->entries, count * sizeof *into->entries);
        ASSERT(into->entries != NULL);
        memcpy(into->entries + into->count, from->entries, from->count * sizeof *from->entries);
    }
    into->count = into->capacity = count;
    free(from->entries);
    *from = (struct ends_list){0};
}

static void ends_return(struct core *core, struct message *message) {
    (void)core;
    struct ends_request *request = container_of(message, struct ends_request, message);
    request->done(request);
}

static void ends_take(struct core *core, struct message *message) {
    struct ends_request *request = container_of(message, struct ends_request, message);
    LIST_FOREACH (link, &replicas_of(core)->all)
        ends_add(&request->ends, container_of(link, struct partition, all_link));
    core_send(core, request->from, message, ends_return);
}

void ends_send(struct core *core, int to, struct ends_request *request) {
    request->from = core->id;
    request->ends = (struct ends_list){0};
    core_send(core, to, &request->message, ends_take);
}
