// SPDX-License-Identifier: Apache-2.0
#include "api/fetch_rows.h"
#include <stdlib.h>

// By partition, then place in the request.
static int row_order(const void *a, const void *b) {
    const struct fetch_row *x = *(struct fetch_row *const *)a, *y = *(struct fetch_row *const *)b;
    int32_t i = x->asked->partition, j = y->asked->partition;
    int order = (i > j) - (i < j);
    if (order == 0) order = memcmp(x->topic_id.bytes, y->topic_id.bytes, sizeof x->topic_id.bytes);
    if (order == 0) order = str_compare(x->topic, y->topic);
    return order != 0 ? order : (x > y) - (x < y);
}

static bool same_partition(const struct fetch_row *a, const struct fetch_row *b) {
    return a->asked->partition == b->asked->partition && uuid_equal(a->topic_id, b->topic_id) &&
           str_equal(a->topic, b->topic);
}

static bool rows_merge(struct api_call *call, struct fetch_row *rows, uint32_t *count) {
    if (*count < 2) return true;
    struct fetch_row **sorted = call_alloc_array(call, (int32_t)*count, sizeof(struct fetch_row *));
    if (!sorted) return false;
    for (uint32_t i = 0; i < *count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, *count, sizeof(struct fetch_row *), row_order);
    struct fetch_row *first = sorted[0];
    for (uint32_t i = 1; i < *count; i++) {
        if (!same_partition(first, sorted[i])) {
            first = sorted[i];
            continue;
        }
        first->asked = sorted[i]->asked;
        sorted[i]->asked = NULL;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++)
        if (rows[i].asked) rows[kept++] = rows[i];
    *count = kept;
    return true;
}

bool fetch_rows_from_request(struct api_call *call, const struct fetch_request *request, struct fetch_row **rows,
                             uint32_t *count) {
    uint32_t n = 0;
    for (int32_t t = 0; t < request->topics_count; t++)
        n += (uint32_t)max_i64(request->topics[t].partitions_count, 0);
    *count = 0;
    *rows = call_alloc_array(call, (int32_t)n, sizeof **rows);
    if (!*rows) return false;
    for (int32_t t = 0; t < request->topics_count; t++) {
        const struct fetch_request_topic *topic = &request->topics[t];
        for (int32_t i = 0; i < topic->partitions_count; i++) {
            (*rows)[(*count)++] =
                (struct fetch_row){.topic = topic->topic, .topic_id = topic->topic_id, .asked = &topic->partitions[i]};
        }
    }
    return rows_merge(call, *rows, count);
}

bool fetch_rows_from_session(struct api_call *call, const struct fetch_session *session, struct fetch_row **rows,
                             uint32_t *count) {
    *count = 0;
    *rows = call_alloc_array(call, (int32_t)session->partition_count, sizeof **rows);
    if (!*rows) return false;
    LIST_FOREACH (link, &session->order) {
        struct fetch_session_partition *p = container_of(link, struct fetch_session_partition, link);
        (*rows)[(*count)++] =
            (struct fetch_row){.topic = p->topic, .topic_id = p->topic_id, .asked = &p->asked, .cached = p};
    }
    return true;
}
