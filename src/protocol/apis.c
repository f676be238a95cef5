// SPDX-License-Identifier: Apache-2.0
// The table of APIs. Keys and versions come from the one macro in each messages/ header.
#include "protocol/apis.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/messages.h"
#include "protocol/schema_define.h"

// clang-format off
static const struct api_info api_table[] = {
    {PRODUCE_API, "Produce", &produce_request_schema, &produce_response_schema},
    {FETCH_API, "Fetch", &fetch_request_schema, &fetch_response_schema},
    {LIST_OFFSETS_API, "ListOffsets", &list_offsets_request_schema, &list_offsets_response_schema},
    {METADATA_API, "Metadata", &metadata_request_schema, &metadata_response_schema},
    {OFFSET_COMMIT_API, "OffsetCommit", &offset_commit_request_schema, &offset_commit_response_schema},
    {OFFSET_FETCH_API, "OffsetFetch", &offset_fetch_request_schema, &offset_fetch_response_schema},
    {FIND_COORDINATOR_API, "FindCoordinator", &find_coordinator_request_schema, &find_coordinator_response_schema},
    {JOIN_GROUP_API, "JoinGroup", &join_group_request_schema, &join_group_response_schema},
    {HEARTBEAT_API, "Heartbeat", &heartbeat_request_schema, &heartbeat_response_schema},
    {LEAVE_GROUP_API, "LeaveGroup", &leave_group_request_schema, &leave_group_response_schema},
    {SYNC_GROUP_API, "SyncGroup", &sync_group_request_schema, &sync_group_response_schema},
    {DESCRIBE_GROUPS_API, "DescribeGroups", &describe_groups_request_schema, &describe_groups_response_schema},
    {LIST_GROUPS_API, "ListGroups", &list_groups_request_schema, &list_groups_response_schema},
    {API_VERSIONS_API, "ApiVersions", &api_versions_request_schema, &api_versions_response_schema},
    {CREATE_TOPICS_API, "CreateTopics", &create_topics_request_schema, &create_topics_response_schema},
    {DELETE_TOPICS_API, "DeleteTopics", &delete_topics_request_schema, &delete_topics_response_schema},
    {DELETE_RECORDS_API, "DeleteRecords", &delete_records_request_schema, &delete_records_response_schema},
    {INIT_PRODUCER_ID_API, "InitProducerId", &init_producer_id_request_schema, &init_producer_id_response_schema},
    {OFFSET_FOR_LEADER_EPOCH_API, "OffsetForLeaderEpoch", &offset_for_leader_epoch_request_schema, &offset_for_leader_epoch_response_schema},
    {DESCRIBE_ACLS_API, "DescribeAcls", &describe_acls_request_schema, &describe_acls_response_schema},
    {CREATE_ACLS_API, "CreateAcls", &create_acls_request_schema, &create_acls_response_schema},
    {DELETE_ACLS_API, "DeleteAcls", &delete_acls_request_schema, &delete_acls_response_schema},
    {DESCRIBE_CONFIGS_API, "DescribeConfigs", &describe_configs_request_schema, &describe_configs_response_schema},
    {ALTER_CONFIGS_API, "AlterConfigs", &alter_configs_request_schema, &alter_configs_response_schema},
    {DESCRIBE_LOG_DIRS_API, "DescribeLogDirs", &describe_log_dirs_request_schema, &describe_log_dirs_response_schema},
    {CREATE_PARTITIONS_API, "CreatePartitions", &create_partitions_request_schema, &create_partitions_response_schema},
    {DELETE_GROUPS_API, "DeleteGroups", &delete_groups_request_schema, &delete_groups_response_schema},
    {INCREMENTAL_ALTER_CONFIGS_API, "IncrementalAlterConfigs", &incremental_alter_configs_request_schema, &incremental_alter_configs_response_schema},
    {LIST_PARTITION_REASSIGNMENTS_API, "ListPartitionReassignments", &list_partition_reassignments_request_schema, &list_partition_reassignments_response_schema},
    {OFFSET_DELETE_API, "OffsetDelete", &offset_delete_request_schema, &offset_delete_response_schema},
    {DESCRIBE_CLUSTER_API, "DescribeCluster", &describe_cluster_request_schema, &describe_cluster_response_schema},
    {DESCRIBE_PRODUCERS_API, "DescribeProducers", &describe_producers_request_schema, &describe_producers_response_schema},
};
// clang-format on

size_t api_count(void) {
    return ARRAY_LENGTH(api_table);
}

const struct api_info *api_at(size_t index) {
    ASSERT(index < ARRAY_LENGTH(api_table));
    return &api_table[index];
}

const struct api_info *api_by_key(int16_t key) {
    for (size_t i = 0; i < ARRAY_LENGTH(api_table); i++) {
        if (api_table[i].key == key) return &api_table[i];
    }
    return NULL;
}
