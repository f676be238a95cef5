// SPDX-License-Identifier: Apache-2.0
// Incremental fetch sessions (KIP-227): a client names its partitions once, then sends only what changed, and is
// answered only what changed. One cache for each core; a client that comes back on another core gets
// FETCH_SESSION_ID_NOT_FOUND and starts again with a full fetch.
#pragma once

#include "base/hashmap.h"
#include "core/core.h"
#include "protocol/messages/fetch.h"
#include "tailrace/error.h"

struct fetch_session_partition {
    struct hash_node node;                    // in the session's partitions
    struct list link;                         // in the session's order
    struct str topic;                         // below v13; null above. The session's memory
    struct uuid topic_id;                     // from v13 on
    struct str known_name;                    // malloc: of the topic that the id named (trap 17); null: of none yet
    struct fetch_request_partition asked;     // as last sent
    int64_t high_watermark, log_start_offset; // as last answered; -1: not yet, or an error since
};
struct fetch_session {
    struct hash_node node;
    struct list use_link; // in the cache: longest unused first
    int32_t id;
    int32_t epoch; // that the next request must carry
    bool uses_topic_ids;
    bool closed; // out of the cache, freed when not in use any more
    bool in_use; // a request works with it
    uint64_t used_ms;
    struct hashmap partitions;
    struct list order; // of fetch_session_partition: the order in which they are read
    uint32_t partition_count;
};
struct fetch_sessions {
    struct core *core;
    struct hashmap by_id;
    struct list by_use;
    uint32_t count, count_max;
};
void fetch_sessions_init(struct fetch_sessions *sessions, struct core *core);

// What a request means for its session. error: the whole answer is that code, with session id 0 and no rows. Else
// session is NULL (a full fetch without a session) or held by the request until fetch_session_end; `incremental` tells
// whether unchanged partitions are left out. The request's changes have been applied: read the partitions in
// session->order.
struct fetch_session_use {
    int16_t error;
    bool incremental;
    struct fetch_session *session;
};
struct fetch_session_use fetch_session_begin(struct fetch_sessions *sessions, const struct fetch_request *request,
                                             int16_t version, uint32_t count_max);
// The id that the answer carries: 0 without a session, or if it has just become empty.
int32_t fetch_session_answer_id(const struct fetch_session_use *use);
// Whether the row must be in the answer, and notes what is answered. Rows with records, an error or a diverging epoch
// always are.
bool fetch_session_must_answer(struct fetch_session_partition *partition,
                               const struct fetch_response_partition *answer);
// The partition, asked for by id, is of the topic of this name.
void fetch_session_know_name(struct fetch_session_partition *partition, struct str name);
// Partitions that were answered with records go to the end, so that the others get their turn.
void fetch_session_rotate(struct fetch_session *session, struct fetch_session_partition *partition);
void fetch_session_end(struct fetch_sessions *sessions, struct fetch_session_use *use);
