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
    {LEADER_AND_ISR_API, "LeaderAndIsr", &leader_and_isr_request_schema, &leader_and_isr_response_schema},
    {STOP_REPLICA_API, "StopReplica", &stop_replica_request_schema, &stop_replica_response_schema},
    {UPDATE_METADATA_API, "UpdateMetadata", &update_metadata_request_schema, &update_metadata_response_schema},
    {CONTROLLED_SHUTDOWN_API, "ControlledShutdown", &controlled_shutdown_request_schema, &controlled_shutdown_response_schema},
    {OFFSET_COMMIT_API, "OffsetCommit", &offset_commit_request_schema, &offset_commit_response_schema},
    {OFFSET_FETCH_API, "OffsetFetch", &offset_fetch_request_schema, &offset_fetch_response_schema},
    {FIND_COORDINATOR_API, "FindCoordinator", &find_coordinator_request_schema, &find_coordinator_response_schema},
    {JOIN_GROUP_API, "JoinGroup", &join_group_request_schema, &join_group_response_schema},
    {HEARTBEAT_API, "Heartbeat", &heartbeat_request_schema, &heartbeat_response_schema},
    {LEAVE_GROUP_API, "LeaveGroup", &leave_group_request_schema, &leave_group_response_schema},
    {SYNC_GROUP_API, "SyncGroup", &sync_group_request_schema, &sync_group_response_schema},
    {DESCRIBE_GROUPS_API, "DescribeGroups", &describe_groups_request_schema, &describe_groups_response_schema},
    {LIST_GROUPS_API, "ListGroups", &list_groups_request_schema, &list_groups_response_schema},
    {SASL_HANDSHAKE_API, "SaslHandshake", &sasl_handshake_request_schema, &sasl_handshake_response_schema},
    {API_VERSIONS_API, "ApiVersions", &api_versions_request_schema, &api_versions_response_schema},
    {CREATE_TOPICS_API, "CreateTopics", &create_topics_request_schema, &create_topics_response_schema},
    {DELETE_TOPICS_API, "DeleteTopics", &delete_topics_request_schema, &delete_topics_response_schema},
    {DELETE_RECORDS_API, "DeleteRecords", &delete_records_request_schema, &delete_records_response_schema},
    {INIT_PRODUCER_ID_API, "InitProducerId", &init_producer_id_request_schema, &init_producer_id_response_schema},
    {OFFSET_FOR_LEADER_EPOCH_API, "OffsetForLeaderEpoch", &offset_for_leader_epoch_request_schema, &offset_for_leader_epoch_response_schema},
    {ADD_PARTITIONS_TO_TXN_API, "AddPartitionsToTxn", &add_partitions_to_txn_request_schema, &add_partitions_to_txn_response_schema},
    {ADD_OFFSETS_TO_TXN_API, "AddOffsetsToTxn", &add_offsets_to_txn_request_schema, &add_offsets_to_txn_response_schema},
    {END_TXN_API, "EndTxn", &end_txn_request_schema, &end_txn_response_schema},
    {WRITE_TXN_MARKERS_API, "WriteTxnMarkers", &write_txn_markers_request_schema, &write_txn_markers_response_schema},
    {TXN_OFFSET_COMMIT_API, "TxnOffsetCommit", &txn_offset_commit_request_schema, &txn_offset_commit_response_schema},
    {DESCRIBE_ACLS_API, "DescribeAcls", &describe_acls_request_schema, &describe_acls_response_schema},
    {CREATE_ACLS_API, "CreateAcls", &create_acls_request_schema, &create_acls_response_schema},
    {DELETE_ACLS_API, "DeleteAcls", &delete_acls_request_schema, &delete_acls_response_schema},
    {DESCRIBE_CONFIGS_API, "DescribeConfigs", &describe_configs_request_schema, &describe_configs_response_schema},
    {ALTER_CONFIGS_API, "AlterConfigs", &alter_configs_request_schema, &alter_configs_response_schema},
    {ALTER_REPLICA_LOG_DIRS_API, "AlterReplicaLogDirs", &alter_replica_log_dirs_request_schema, &alter_replica_log_dirs_response_schema},
    {DESCRIBE_LOG_DIRS_API, "DescribeLogDirs", &describe_log_dirs_request_schema, &describe_log_dirs_response_schema},
    {SASL_AUTHENTICATE_API, "SaslAuthenticate", &sasl_authenticate_request_schema, &sasl_authenticate_response_schema},
    {CREATE_PARTITIONS_API, "CreatePartitions", &create_partitions_request_schema, &create_partitions_response_schema},
    {CREATE_DELEGATION_TOKEN_API, "CreateDelegationToken", &create_delegation_token_request_schema, &create_delegation_token_response_schema},
    {RENEW_DELEGATION_TOKEN_API, "RenewDelegationToken", &renew_delegation_token_request_schema, &renew_delegation_token_response_schema},
    {EXPIRE_DELEGATION_TOKEN_API, "ExpireDelegationToken", &expire_delegation_token_request_schema, &expire_delegation_token_response_schema},
    {DESCRIBE_DELEGATION_TOKEN_API, "DescribeDelegationToken", &describe_delegation_token_request_schema, &describe_delegation_token_response_schema},
    {DELETE_GROUPS_API, "DeleteGroups", &delete_groups_request_schema, &delete_groups_response_schema},
    {ELECT_LEADERS_API, "ElectLeaders", &elect_leaders_request_schema, &elect_leaders_response_schema},
    {INCREMENTAL_ALTER_CONFIGS_API, "IncrementalAlterConfigs", &incremental_alter_configs_request_schema, &incremental_alter_configs_response_schema},
    {ALTER_PARTITION_REASSIGNMENTS_API, "AlterPartitionReassignments", &alter_partition_reassignments_request_schema, &alter_partition_reassignments_response_schema},
    {LIST_PARTITION_REASSIGNMENTS_API, "ListPartitionReassignments", &list_partition_reassignments_request_schema, &list_partition_reassignments_response_schema},
    {OFFSET_DELETE_API, "OffsetDelete", &offset_delete_request_schema, &offset_delete_response_schema},
    {DESCRIBE_CLIENT_QUOTAS_API, "DescribeClientQuotas", &describe_client_quotas_request_schema, &describe_client_quotas_response_schema},
    {ALTER_CLIENT_QUOTAS_API, "AlterClientQuotas", &alter_client_quotas_request_schema, &alter_client_quotas_response_schema},
    {DESCRIBE_USER_SCRAM_CREDENTIALS_API, "DescribeUserScramCredentials", &describe_user_scram_credentials_request_schema, &describe_user_scram_credentials_response_schema},
    {ALTER_USER_SCRAM_CREDENTIALS_API, "AlterUserScramCredentials", &alter_user_scram_credentials_request_schema, &alter_user_scram_credentials_response_schema},
    {ALTER_PARTITION_API, "AlterPartition", &alter_partition_request_schema, &alter_partition_response_schema},
    {UPDATE_FEATURES_API, "UpdateFeatures", &update_features_request_schema, &update_features_response_schema},
    {ENVELOPE_API, "Envelope", &envelope_request_schema, &envelope_response_schema},
    {DESCRIBE_CLUSTER_API, "DescribeCluster", &describe_cluster_request_schema, &describe_cluster_response_schema},
    {DESCRIBE_PRODUCERS_API, "DescribeProducers", &describe_producers_request_schema, &describe_producers_response_schema},
    {DESCRIBE_TRANSACTIONS_API, "DescribeTransactions", &describe_transactions_request_schema, &describe_transactions_response_schema},
    {LIST_TRANSACTIONS_API, "ListTransactions", &list_transactions_request_schema, &list_transactions_response_schema},
    {ALLOCATE_PRODUCER_IDS_API, "AllocateProducerIds", &allocate_producer_ids_request_schema, &allocate_producer_ids_response_schema},
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
