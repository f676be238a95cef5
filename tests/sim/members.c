// SPDX-License-Identifier: Apache-2.0
// One flow a member. Whatever goes wrong (a lost answer, a broker that loads, a rebalance) leads back to joining.
#include "members_parts.h"
#include "protocol/message.h"
#include "protocol/messages/consumer_protocol.h"
#include "protocol/messages/find_coordinator.h"
#include "protocol/messages/heartbeat.h"
#include "protocol/messages/leave_group.h"
#include "protocol/messages/offset_commit.h"
#include "protocol/messages/offset_fetch.h"
#include "protocol/messages/sync_group.h"
#include <stdio.h>
#include <stdlib.h>

enum { PAUSE_MS = 40, SESSION_TIMEOUT_MS = 6000, REBALANCE_TIMEOUT_MS = 8000 };

#define MEMBER_STEPS(STEP)                                                                                             \
    STEP(member, find)                                                                                                 \
    STEP(member, found)                                                                                                \
    STEP(member, join)                                                                                                 \
    STEP(member, joined)                                                                                               \
    STEP(member, sync)                                                                                                 \
    STEP(member, synced)                                                                                               \
    STEP(member, ask)                                                                                                  \
    STEP(member, told)                                                                                                 \
    STEP(member, commit)                                                                                               \
    STEP(member, committed)                                                                                            \
    STEP(member, beat)                                                                                                 \
    STEP(member, beaten) STEP(member, leave) STEP(member, left) STEP(member, pause) STEP(member, release)
FLOW_DEFINE(member, MEMBER_STEPS)

static bool is_static(const struct member *member) {
    return member->instance[0] != 0;
}
static struct str instance_of(const struct member *member) {
    return is_static(member) ? str_of(member->instance) : (struct str){0};
}
static void *member_call(struct member *member, int16_t key, int16_t low, int16_t high) {
    const int16_t version = (int16_t)sim_range(SIM_WORKLOAD, (uint64_t)low, (uint64_t)high);
    client_call_init(&member->call, api_by_key(key), version, &member->flow);
    member->call.timeout_ms = 30000; // a join may wait for the others
    return client_request(&member->call);
}

// static_low: the first version that knows group.instance.id.
static void *member_call_static(struct member *member, int16_t key, int16_t low, int16_t static_low, int16_t high) {
    return member_call(member, key, is_static(member) ? static_low : low, high);
}

// What a member may be told at any time; everything else is a wrong answer.
static void check_expected(struct member *member, int16_t error, const char *what) {
    switch (error) {
    case KAFKA_ERROR_NONE:
    case KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS:
    case KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE:
    case KAFKA_ERROR_NOT_COORDINATOR:
    case KAFKA_ERROR_REBALANCE_IN_PROGRESS:
    case KAFKA_ERROR_ILLEGAL_GENERATION:
    case KAFKA_ERROR_UNKNOWN_MEMBER_ID:
    case KAFKA_ERROR_MEMBER_ID_REQUIRED:
    case KAFKA_ERROR_REQUEST_TIMED_OUT: break;
    // A join whose answer was lost has given the instance another member id.
    case KAFKA_ERROR_FENCED_INSTANCE_ID:
        SIM_CHECK(is_static(member), "member %d: %s answered FENCED_INSTANCE_ID", member->number, what);
        member->id[0] = 0;
        break;
    default: sim_fail("member %d: %s answered %s", member->number, what, kafka_error_name(error));
    }
    if (error == KAFKA_ERROR_UNKNOWN_MEMBER_ID) member->id[0] = 0;
}

// ---- the coordinator: who asks for it first makes the topic of offsets
static flow_next member_step_find(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct find_coordinator_request *request = member_call(member, API_KEY_FIND_COORDINATOR, 0, 6);
    struct str key = str_of(member->group->group);
    if (member->call.version >= 4) {
        request->coordinator_keys = &key;
        request->coordinator_keys_count = 1;
    } else {
        request->key = key;
    }
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}
static flow_next member_step_found(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (member->call.outcome == CLIENT_OK) {
        const struct find_coordinator_response *response = member->call.response;
        bool many = member->call.version >= 4;
        SIM_CHECK(!many || response->coordinators_count == 1, "FindCoordinator: wrong rows");
        error = many ? response->coordinators[0].error_code : response->error_code;
        check_expected(member, error, "FindCoordinator");
        const struct str host = many && error == 0 ? response->coordinators[0].host : response->host;
        SIM_CHECK(error != 0 || str_is(host, member->group->broker), "FindCoordinator: another host");
    }
    client_call_end(&member->call);
    return error == 0 ? FLOW_NEXT : FLOW_GOTO(member, pause);
}

// ---- joining
static flow_next member_step_join(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct join_group_request *request = member_call_static(member, API_KEY_JOIN_GROUP, 0, 5, 9);
    const struct consumer_protocol_subscription subscription = {
        .topics = &(struct str){member->group->topic, strlen(member->group->topic)},
        .topics_count = 1,
        .generation_id = -1};
    uint8_t metadata[128];
    size_t size = 0;
    bool good = message_size(&consumer_protocol_subscription_schema, 0, &subscription, &size, NULL);
    ASSERT(good && size + 2 <= sizeof metadata);
    store_be16(metadata, 0);
    message_encode(&consumer_protocol_subscription_schema, 0, &subscription, metadata + 2, size);
    struct join_group_request_protocol protocol = {.name = str_of("range"), .metadata = {metadata, size + 2}};
    request->group_id = str_of(member->group->group);
    request->session_timeout_ms = SESSION_TIMEOUT_MS;
    if (member->call.version >= 1) request->rebalance_timeout_ms = REBALANCE_TIMEOUT_MS;
    request->member_id = str_of(member->id);
    request->group_instance_id = instance_of(member);
    request->protocol_type = str_of("consumer");
    request->protocols = &protocol;
    request->protocols_count = 1;
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}

static flow_next member_step_joined(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (member->call.outcome == CLIENT_OK) {
        const struct join_group_response *response = member->call.response;
        error = response->error_code;
        check_expected(member, error, "JoinGroup");
        if (error == 0 || error == KAFKA_ERROR_MEMBER_ID_REQUIRED) {
            SIM_CHECK(response->member_id.size > 0 && response->member_id.size < MEMBER_ID_MAX,
                      "JoinGroup: bad member id");
            memcpy(member->id, response->member_id.data, response->member_id.size);
            member->id[response->member_id.size] = 0;
        }
        if (error == 0) {
            member->generation = response->generation_id;
            member->leads = str_equal(response->leader, response->member_id) && !response->skip_assignment;
            SIM_CHECK(str_is(response->protocol_name, "range"), "JoinGroup: another protocol");
            if (member->leads) member_take_members(member, response);
        }
    }
    client_call_end(&member->call);
    if (error == KAFKA_ERROR_MEMBER_ID_REQUIRED) return FLOW_GOTO(member, join);
    return error == 0 ? FLOW_NEXT : FLOW_GOTO(member, pause);
}

// ---- synchronizing: the leader deals the partitions out
static flow_next member_step_sync(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct sync_group_request *request = member_call_static(member, API_KEY_SYNC_GROUP, 0, 3, 5);
    struct sync_group_request_assignment rows[MEMBERS_MAX * 2];
    uint8_t memory[MEMBERS_MAX * 2][ASSIGNMENT_BYTES];
    request->group_id = str_of(member->group->group);
    request->generation_id = member->generation;
    request->member_id = str_of(member->id);
    request->group_instance_id = instance_of(member);
    if (member->call.version >= 5) {
        request->protocol_type = str_of("consumer");
        request->protocol_name = str_of("range");
    }
    if (member->leads) {
        for (int i = 0; i < member->member_count; i++) {
            size_t size = member_encode_assignment(member, i, memory[i]);
            rows[i] = (struct sync_group_request_assignment){str_of(member->member_ids[i]), {memory[i], size}};
        }
        request->assignments = rows;
        request->assignments_count = member->member_count;
    }
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}

// A static member that went and came back within its session: no rebalance, and the partitions that it had.
static void check_restart(struct member *member) {
    SIM_CHECK(member->generation == member->generation_before, "static member %d came back: generation %d after %d",
              member->number, member->generation, member->generation_before);
    SIM_CHECK(memcmp(member->owned, member->owned_before, sizeof member->owned) == 0,
              "static member %d came back, and has other partitions", member->number);
    member->restarting = false;
    member->group->restarted++;
}

static flow_next member_step_synced(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct members *group = member->group;
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (member->call.outcome == CLIENT_OK) {
        const struct sync_group_response *response = member->call.response;
        error = response->error_code;
        check_expected(member, error, "SyncGroup");
        if (error == 0) member_take_assignment(member, response->assignment);
    }
    client_call_end(&member->call);
    if (error != 0) return FLOW_GOTO(member, pause);
    group->synced++;
    if (member->restarting) check_restart(member);
    member->rounds = (int)sim_range(SIM_WORKLOAD, 3, 60);
    SIM_CHECK(member->generation >= group->last_generation || group->last_generation - member->generation < 3,
              "member %d: generation %d after %d", member->number, member->generation, group->last_generation);
    if (member->generation > group->last_generation) group->last_generation = member->generation;
    return FLOW_NEXT;
}

// ---- what is committed
static flow_next member_step_ask(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct offset_fetch_request *request = member_call(member, API_KEY_OFFSET_FETCH, 1, 9);
    int32_t partitions[MEMBERS_PARTITIONS];
    int32_t count = 0;
    for (int p = 0; p < member->group->partition_count; p++) {
        member->floor[p] = member->group->partitions[p].acknowledged;
        if (member->owned[p]) partitions[count++] = p;
    }
    struct offset_fetch_request_topic topic = {str_of(member->group->topic), partitions, count};
    struct offset_fetch_request_group_topic group_topic = {str_of(member->group->topic), partitions, count};
    struct offset_fetch_request_group group = {.group_id = str_of(member->group->group), .member_epoch = -1};
    group.topics = &group_topic;
    group.topics_count = 1;
    if (member->call.version >= 8) {
        request->groups = &group;
        request->groups_count = 1;
    } else {
        request->group_id = str_of(member->group->group);
        request->topics = &topic;
        request->topics_count = 1;
    }
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}

static flow_next member_step_told(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (member->call.outcome == CLIENT_OK) {
        const struct offset_fetch_response *response = member->call.response;
        bool grouped = member->call.version >= 8;
        SIM_CHECK(!grouped || response->groups_count == 1, "OffsetFetch: wrong rows");
        error = grouped ? response->groups[0].error_code : response->error_code;
        if (member->call.version < 2 && response->topics_count > 0 && response->topics[0].partitions_count > 0)
            error = response->topics[0].partitions[0].error_code;
        check_expected(member, error, "OffsetFetch");
        for (int32_t t = 0; error == 0 && grouped && t < response->groups[0].topics_count; t++)
            for (int32_t i = 0; i < response->groups[0].topics[t].partitions_count; i++) {
                const struct offset_fetch_response_group_topic_partition *row =
                    &response->groups[0].topics[t].partitions[i];
                member_take_offset(member, row->partition_index, row->committed_offset, row->error_code);
            }
        for (int32_t t = 0; error == 0 && !grouped && t < response->topics_count; t++)
            for (int32_t i = 0; i < response->topics[t].partitions_count; i++) {
                const struct offset_fetch_response_partition *row = &response->topics[t].partitions[i];
                member_take_offset(member, row->partition_index, row->committed_offset, row->error_code);
            }
    }
    client_call_end(&member->call);
    return error == 0 ? FLOW_NEXT : FLOW_GOTO(member, pause);
}

// ---- committing
static flow_next member_step_commit(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct members *group = member->group;
    struct offset_commit_request_partition rows[MEMBERS_PARTITIONS];
    struct offset_commit_request_topic topic = {.name = str_of(group->topic), .partitions = rows};
    member->is_late = sim_chance(SIM_WORKLOAD, 30000);
    if (member->is_late) {
        member_late_commit(member, member_call_static(member, API_KEY_OFFSET_COMMIT, 2, 7, 9), &topic, rows);
        client_send(member->client, &member->call);
        return FLOW_NEXT;
    }
    for (int p = 0; p < group->partition_count; p++) {
        if (!member->owned[p]) continue;
        member->committing[p] += (int64_t)sim_range(SIM_WORKLOAD, 1, 9);
        // Another owner may have gone on meanwhile, if this one was thrown out and does not know it yet.
        if (member->committing[p] > group->partitions[p].issued) group->partitions[p].issued = member->committing[p];
        rows[topic.partitions_count++] =
            (struct offset_commit_request_partition){.partition_index = p,
                                                     .committed_offset = member->committing[p],
                                                     .committed_leader_epoch = -1,
                                                     .commit_timestamp = -1,
                                                     .committed_metadata = str_of("m")};
    }
    if (topic.partitions_count == 0) return FLOW_GOTO(member, beat);
    struct offset_commit_request *request = member_call_static(member, API_KEY_OFFSET_COMMIT, 2, 7, 9);
    request->group_id = str_of(group->group);
    request->generation_id_or_member_epoch = member->generation;
    request->member_id = str_of(member->id);
    request->group_instance_id = instance_of(member);
    request->topics = &topic;
    request->topics_count = 1;
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}
static flow_next member_step_committed(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct members *group = member->group;
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
    if (member->is_late && member->call.outcome == CLIENT_OK) {
        member_check_late_commit(member->call.response);
        error = 0;
    } else if (member->call.outcome == CLIENT_OK) {
        const struct offset_commit_response *response = member->call.response;
        SIM_CHECK(response->topics_count == 1, "OffsetCommit: wrong rows");
        for (int32_t i = 0; i < response->topics[0].partitions_count; i++) {
            const struct offset_commit_response_partition *row = &response->topics[0].partitions[i];
            int32_t p = row->partition_index;
            error = row->error_code;
            check_expected(member, error, "OffsetCommit");
            if (error != 0) continue;
            SIM_CHECK(p >= 0 && p < group->partition_count && member->owned[p], "OffsetCommit: wrong partition");
            // A late answer to an owner of an earlier generation says nothing about the order.
            if (member->generation < group->partitions[p].generation) continue;
            SIM_CHECK(member->committing[p] > group->partitions[p].acknowledged,
                      "partition %d: offset %lld of generation %d was taken after %lld", p,
                      (long long)member->committing[p], member->generation,
                      (long long)group->partitions[p].acknowledged);
            group->partitions[p].acknowledged = member->committing[p];
            group->partitions[p].generation = member->generation;
            group->partitions[p].commits++;
        }
    }
    client_call_end(&member->call);
    return error == 0 ? FLOW_NEXT : FLOW_GOTO(member, pause);
}

// ---- staying, or leaving
static flow_next member_step_beat(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    struct heartbeat_request *request = member_call_static(member, API_KEY_HEARTBEAT, 0, 3, 4);
    request->group_id = str_of(member->group->group);
    request->generation_id = member->generation;
    request->member_id = str_of(member->id);
    request->group_instance_id = instance_of(member);
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}
// Without a word. A static member will come back as somebody else.
static void go_silently(struct member *member) {
    if (is_static(member)) memcpy(member->id_before, member->id, sizeof member->id);
    member->id[0] = 0;
}
static flow_next restart(struct member *member) {
    member->group->restart = 0;
    member->restarting = true;
    member->generation_before = member->generation;
    memcpy(member->owned_before, member->owned, sizeof member->owned);
    go_silently(member);
    return FLOW_GOTO(member, pause);
}
static flow_next member_step_beaten(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    if (member->call.outcome != CLIENT_PENDING && member->call.request) {
        int16_t error = KAFKA_ERROR_NETWORK_EXCEPTION;
        if (member->call.outcome == CLIENT_OK) {
            const struct heartbeat_response *response = member->call.response;
            error = response->error_code;
            check_expected(member, error, "Heartbeat");
        }
        client_call_end(&member->call);
        if (error != 0) return FLOW_GOTO(member, pause);
        if (--member->rounds <= 0 && !member->group->quiet) return FLOW_NEXT;
        if (member->group->restart == member->number + 1) return restart(member);
    }
    if (!member->timer.fired && !timer_is_set(&member->timer.timer))
        flow_timer_set(&member->timer, flow, sim_range(SIM_WORKLOAD, 10, 400));
    if (!member->timer.fired) return FLOW_WAIT;
    member->timer.fired = false;
    return FLOW_GOTO(member, commit);
}
static flow_next member_step_leave(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    // Goes without a word; its session must time out, or it is back before (a static one).
    if (sim_chance(SIM_WORKLOAD, is_static(member) ? 700000 : 300000)) {
        go_silently(member);
        return FLOW_GOTO(member, pause);
    }
    struct leave_group_request *request = member_call_static(member, API_KEY_LEAVE_GROUP, 0, 3, 5);
    struct leave_group_request_member row = {.member_id = str_of(member->id), .group_instance_id = instance_of(member)};
    request->group_id = str_of(member->group->group);
    if (member->call.version >= 3) {
        request->members = &row;
        request->members_count = 1;
    } else {
        request->member_id = str_of(member->id);
    }
    client_send(member->client, &member->call);
    return FLOW_NEXT;
}
static flow_next member_step_left(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    if (!client_is_done(&member->call)) return FLOW_WAIT;
    if (member->call.outcome == CLIENT_OK) {
        const struct leave_group_response *response = member->call.response;
        check_expected(member, response->error_code, "LeaveGroup");
    }
    client_call_end(&member->call);
    member->id[0] = 0;
    return FLOW_NEXT;
}
static flow_next member_step_pause(struct flow *flow) {
    struct member *member = container_of(flow, struct member, flow);
    if (!member->timer.fired && !timer_is_set(&member->timer.timer))
        flow_timer_set(&member->timer, flow, sim_range(SIM_WORKLOAD, 1, PAUSE_MS));
    if (!member->timer.fired) return FLOW_WAIT;
    member->timer.fired = false;
    return FLOW_GOTO(member, find);
}
static flow_next member_step_release(struct flow *flow) {
    (void)flow;
    return FLOW_END;
}

// ---- all of them
static void start_members(struct core *core, void *argument) {
    struct members *group = argument;
    for (int i = 0; i < group->count; i++) {
        struct member *member = calloc(1, sizeof *member);
        ASSERT(member != NULL);
        char name[24];
        snprintf(name, sizeof name, "member-%d", i);
        member->group = group;
        member->number = i;
        if (i < group->static_count) snprintf(member->instance, sizeof member->instance, "instance-%d", i);
        member->client = client_create(core, group->broker, group->port, name);
        flow_start(&member->flow, &member_flow, core);
    }
}

void members_init(struct members *m, const char *broker, uint16_t port, const char *group, const char *topic) {
    memset(m, 0, sizeof *m);
    m->broker = broker;
    m->port = port;
    m->group = group;
    m->topic = topic;
    m->count = (int)sim_range(SIM_WORKLOAD, 1, MEMBERS_MAX);
    m->partition_count = (int)sim_range(SIM_WORKLOAD, 1, MEMBERS_PARTITIONS);
    for (int p = 0; p < MEMBERS_PARTITIONS; p++)
        m->partitions[p].acknowledged = m->partitions[p].issued = -1;
}

struct os_host *members_start(struct members *m, const char *host_name) {
    struct os_host *host = sim_host_create(host_name, SIM_HOST_DEFAULT);
    struct sim_program *program = calloc(1, sizeof *program);
    ASSERT(program != NULL);
    *program = (struct sim_program){.start = start_members, .argument = m};
    sim_start(host, sim_program_main, program);
    return host;
}

static bool have_settled(void *context) {
    const struct members *m = context;
    for (int p = 0; p < m->partition_count; p++)
        if (m->partitions[p].commits < 3) return false;
    return true;
}
void members_settle(struct members *m) {
    m->quiet = true;
    for (int p = 0; p < m->partition_count; p++)
        m->partitions[p].commits = 0;
    SIM_CHECK(sim_run(120 * SIM_SECOND, have_settled, m), "the group does not settle");
}
