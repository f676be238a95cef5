// SPDX-License-Identifier: Apache-2.0
// What a member is told, against what all have been told before.
#include "base/bits.h"
#include "members_parts.h"
#include "protocol/message.h"
#include "protocol/messages/consumer_protocol.h"

void member_take_members(struct member *member, const struct join_group_response *response) {
    SIM_CHECK(response->members_count >= 1 && response->members_count <= MEMBERS_MAX * 2,
              "member %d leads a group of %d members", member->number, response->members_count);
    member->member_count = response->members_count;
    for (int i = 0; i < member->member_count; i++) {
        const struct str id = response->members[i].member_id;
        SIM_CHECK(id.size > 0 && id.size < MEMBER_ID_MAX, "a member id of %zu bytes", id.size);
        memcpy(member->member_ids[i], id.data, id.size);
        member->member_ids[i][id.size] = 0;
    }
}

size_t member_encode_assignment(struct member *member, int receiver, uint8_t *memory) {
    int32_t partitions[MEMBERS_PARTITIONS];
    struct consumer_protocol_assignment_assigned_partition row = {.topic = str_of(member->group->topic),
                                                                  .partitions = partitions};
    for (int p = 0; p < member->group->partition_count; p++)
        if (p % member->member_count == receiver) partitions[row.partitions_count++] = p;
    const struct consumer_protocol_assignment assignment = {.assigned_partitions = &row,
                                                            .assigned_partitions_count = 1};
    size_t size = 0;
    bool good = message_size(&consumer_protocol_assignment_schema, 0, &assignment, &size, NULL);
    ASSERT(good && size + 2 <= ASSIGNMENT_BYTES);
    store_be16(memory, 0);
    message_encode(&consumer_protocol_assignment_schema, 0, &assignment, memory + 2, size);
    return size + 2;
}

void member_take_assignment(struct member *member, struct bytes bytes) {
    struct members *group = member->group;
    memset(member->owned, 0, sizeof member->owned);
    SIM_CHECK(bytes.size >= 2, "member %d: an assignment of %zu bytes", member->number, bytes.size);
    struct arena arena;
    arena_init(&arena, 1 << 16);
    struct consumer_protocol_assignment assignment;
    size_t consumed;
    bool good = message_decode(&consumer_protocol_assignment_schema, 0, (struct bytes){bytes.data + 2, bytes.size - 2},
                               &consumed, &assignment, &arena, NULL);
    SIM_CHECK(good, "member %d: the assignment does not decode", member->number);
    SIM_CHECK(member->generation >= 0 && member->generation < MEMBERS_GENERATIONS_MAX, "generation %d",
              member->generation);
    for (int32_t i = 0; i < assignment.assigned_partitions_count; i++) {
        for (int32_t j = 0; j < assignment.assigned_partitions[i].partitions_count; j++) {
            int32_t p = assignment.assigned_partitions[i].partitions[j];
            SIM_CHECK(p >= 0 && p < group->partition_count, "member %d was given partition %d", member->number, p);
            int *owner = &group->generations[member->generation].owner[p];
            SIM_CHECK(*owner == 0 || *owner == member->number + 1,
                      "generation %d: partition %d was given to member %d and to member %d", member->generation, p,
                      *owner - 1, member->number);
            *owner = member->number + 1;
            member->owned[p] = true;
        }
    }
    arena_drop(&arena);
}

void member_take_offset(struct member *member, int32_t p, int64_t offset, int16_t error) {
    struct members *group = member->group;
    SIM_CHECK(error == 0 && p >= 0 && p < group->partition_count, "OffsetFetch: partition %d: %s", p,
              kafka_error_name(error));
    SIM_CHECK(offset >= member->floor[p], "partition %d: offset %lld was committed, %lld is there", p,
              (long long)member->floor[p], (long long)offset);
    SIM_CHECK(offset <= group->partitions[p].issued, "partition %d: offset %lld that nobody committed", p,
              (long long)offset);
    member->committing[p] = offset;
}

// ---- a commit of the past
void member_late_commit(struct member *member, struct offset_commit_request *request,
                        struct offset_commit_request_topic *topic, struct offset_commit_request_partition *rows) {
    const struct members *group = member->group;
    const bool of_another = member->id_before[0] != 0 && sim_chance(SIM_WORKLOAD, 500000);
    *topic = (struct offset_commit_request_topic){.name = str_of(group->topic), .partitions = rows};
    for (int p = 0; p < group->partition_count; p++)
        rows[topic->partitions_count++] =
            (struct offset_commit_request_partition){.partition_index = p,
                                                     // not `issued`: whoever reads it tells that it was taken
                                                     .committed_offset = group->partitions[p].issued + 1000,
                                                     .committed_leader_epoch = -1,
                                                     .commit_timestamp = -1,
                                                     .committed_metadata = str_of("late")};
    request->group_id = str_of(group->group);
    request->generation_id_or_member_epoch = of_another ? member->generation : member->generation - 1;
    request->member_id = str_of(of_another ? member->id_before : member->id);
    if (member->instance[0] != 0) request->group_instance_id = str_of(member->instance);
    request->topics = topic;
    request->topics_count = 1;
}

void member_check_late_commit(const struct offset_commit_response *response) {
    SIM_CHECK(response->topics_count == 1 && response->topics[0].partitions_count > 0, "OffsetCommit: wrong rows");
    for (int32_t i = 0; i < response->topics[0].partitions_count; i++) {
        const int16_t error = response->topics[0].partitions[i].error_code;
        switch (error) {
        case KAFKA_ERROR_ILLEGAL_GENERATION:
        case KAFKA_ERROR_FENCED_INSTANCE_ID:
        case KAFKA_ERROR_UNKNOWN_MEMBER_ID:
        case KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS:
        case KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE:
        case KAFKA_ERROR_NOT_COORDINATOR: break;
        default: sim_fail("a commit of the past answered %s", kafka_error_name(error));
        }
    }
}
