// SPDX-License-Identifier: Apache-2.0
// The APIs that this broker serves, by key. What is here is advertised with all versions of Kafka 3.9; what is not here
// closes the connection.
#include "api/handlers.h"
#include "protocol/messages.h"

static const struct api_handler API_HANDLERS[] = {
    {API_KEY_PRODUCE, true, sizeof(struct produce_request), handle_produce},
    {API_KEY_FETCH, true, sizeof(struct fetch_request), handle_fetch},
    {API_KEY_LIST_OFFSETS, false, sizeof(struct list_offsets_request), handle_list_offsets},
    {API_KEY_METADATA, false, sizeof(struct metadata_request), handle_metadata},
    {API_KEY_OFFSET_COMMIT, false, sizeof(struct offset_commit_request), handle_offset_commit},
    {API_KEY_OFFSET_FETCH, false, sizeof(struct offset_fetch_request), handle_offset_fetch},
    {API_KEY_FIND_COORDINATOR, false, sizeof(struct find_coordinator_request), handle_find_coordinator},
    {API_KEY_JOIN_GROUP, false, sizeof(struct join_group_request), handle_join_group},
    {API_KEY_HEARTBEAT, false, sizeof(struct heartbeat_request), handle_heartbeat},
    {API_KEY_LEAVE_GROUP, false, sizeof(struct leave_group_request), handle_leave_group},
    {API_KEY_SYNC_GROUP, false, sizeof(struct sync_group_request), handle_sync_group},
    {API_KEY_DESCRIBE_GROUPS, false, sizeof(struct describe_groups_request), handle_describe_groups},
    {API_KEY_LIST_GROUPS, false, sizeof(struct list_groups_request), handle_list_groups},
    {API_KEY_API_VERSIONS, true, sizeof(struct api_versions_request), handle_api_versions},
    {API_KEY_CREATE_TOPICS, false, sizeof(struct create_topics_request), handle_create_topics},
    {API_KEY_DELETE_TOPICS, false, sizeof(struct delete_topics_request), handle_delete_topics},
    {API_KEY_DELETE_RECORDS, false, sizeof(struct delete_records_request), handle_delete_records},
    {API_KEY_INIT_PRODUCER_ID, false, sizeof(struct init_producer_id_request), handle_init_producer_id},
    {API_KEY_OFFSET_FOR_LEADER_EPOCH, false, sizeof(struct offset_for_leader_epoch_request),
     handle_offset_for_leader_epoch},
    {API_KEY_DESCRIBE_ACLS, false, sizeof(struct describe_acls_request), handle_describe_acls},
    {API_KEY_CREATE_ACLS, false, sizeof(struct create_acls_request), handle_create_acls},
    {API_KEY_DELETE_ACLS, false, sizeof(struct delete_acls_request), handle_delete_acls},
    {API_KEY_DESCRIBE_CONFIGS, false, sizeof(struct describe_configs_request), handle_describe_configs},
    {API_KEY_ALTER_CONFIGS, false, sizeof(struct alter_configs_request), handle_alter_configs},
    {API_KEY_DESCRIBE_LOG_DIRS, false, sizeof(struct describe_log_dirs_request), handle_describe_log_dirs},
    {API_KEY_CREATE_PARTITIONS, false, sizeof(struct create_partitions_request), handle_create_partitions},
    {API_KEY_DELETE_GROUPS, false, sizeof(struct delete_groups_request), handle_delete_groups},
    {API_KEY_INCREMENTAL_ALTER_CONFIGS, false, sizeof(struct incremental_alter_configs_request),
     handle_incremental_alter_configs},
    {API_KEY_LIST_PARTITION_REASSIGNMENTS, false, sizeof(struct list_partition_reassignments_request),
     handle_list_partition_reassignments},
    {API_KEY_OFFSET_DELETE, false, sizeof(struct offset_delete_request), handle_offset_delete},
    {API_KEY_DESCRIBE_CLUSTER, false, sizeof(struct describe_cluster_request), handle_describe_cluster},
    {API_KEY_DESCRIBE_PRODUCERS, false, sizeof(struct describe_producers_request), handle_describe_producers},
};

size_t api_handler_count(void) {
    return ARRAY_LENGTH(API_HANDLERS);
}

const struct api_handler *api_handler_at(size_t index) {
    ASSERT(index < ARRAY_LENGTH(API_HANDLERS));
    return &API_HANDLERS[index];
}

const struct api_handler *api_handler_by_key(int16_t key) {
    size_t low = 0, high = ARRAY_LENGTH(API_HANDLERS);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (API_HANDLERS[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ARRAY_LENGTH(API_HANDLERS) && API_HANDLERS[low].key == key ? &API_HANDLERS[low] : NULL;
}
