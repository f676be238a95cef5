// SPDX-License-Identifier: Apache-2.0
// The partitions of a Fetch request that has no session, or those of its session. fetch.c's own.
#pragma once

#include "api/api.h"
#include "api/fetch_session.h"
#include "replica/fetch_share.h"

struct fetch_row {
    struct str topic;     // below v13
    struct uuid topic_id; // from v13 on
    const struct fetch_request_partition *asked;
    struct fetch_session_partition *cached; // NULL without a session
    int16_t error;                          // refused before reading
    struct fetch_part *part;                // its place in a share; NULL if refused
};
// In the order of the request. A partition that is named more than once is one row, at its first place, as it was named
// last. False: out of memory, the connection is being closed.
bool fetch_rows_from_request(struct api_call *call, const struct fetch_request *request, struct fetch_row **rows,
                             uint32_t *count);
// In the order of the session.
bool fetch_rows_from_session(struct api_call *call, const struct fetch_session *session, struct fetch_row **rows,
                             uint32_t *count);
