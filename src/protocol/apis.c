// SPDX-License-Identifier: Apache-2.0
// The table of APIs. Keys and versions come from the one macro in each messages/ header.
#include "protocol/apis.h"
#include "base/assert.h"
#include "base/bits.h"
#include "protocol/messages.h"
#include "protocol/schema_define.h"

#define API_ROW(key, name, schema)                                                                                     \
    { key, name, &schema##_request_schema, &schema##_response_schema }

static const struct api_info api_table[] = {
    API_ROW(PRODUCE_API, "Produce", produce),
    API_ROW(FETCH_API, "Fetch", fetch),
    API_ROW(LIST_OFFSETS_API, "ListOffsets", list_offsets),
    API_ROW(METADATA_API, "Metadata", metadata),
    API_ROW(LEADER_AND_ISR_API, "LeaderAndIsr", leader_and_isr),
    API_ROW(STOP_REPLICA_API, "StopReplica", stop_replica),
    API_ROW(UPDATE_METADATA_API, "UpdateMetadata", update_metadata),
    API_ROW(CONTROLLED_SHUTDOWN_API, "ControlledShutdown", controlled_shutdown),
    API_ROW(OFFSET_COMMIT_API, "OffsetCommit", offset_commit),
    API_ROW(OFFSET_FETCH_API, "OffsetFetch", offset_fetch),
    API_ROW(FIND_COORDINATOR_API, "FindCoordinator", find_coordinator),
    API_ROW(JOIN_GROUP_API, "JoinGroup", join_group),
    API_ROW(HEARTBEAT_API, "Heartbeat", heartbeat),
    API_ROW(LEAVE_GROUP_API, "LeaveGroup", leave_group),
    API_ROW(SYNC_GROUP_API, "SyncGroup", sync_group),
    API_ROW(DESCRIBE_GROUPS_API, "DescribeGroups", describe_groups),
    API_ROW(LIST_GROUPS_API, "ListGroups", list_groups),
    API_ROW(SASL_HANDSHAKE_API, "SaslHandshake", sasl_handshake),
    API_ROW(API_VERSIONS_API, "ApiVersions", api_versions),
    API_ROW(CREATE_TOPICS_API, "CreateTopics", create_topics),
    API_ROW(DELETE_TOPICS_API, "DeleteTopics", delete_topics),
    API_ROW(DELETE_RECORDS_API, "DeleteRecords", delete_records),
    API_ROW(INIT_PRODUCER_ID_API, "InitProducerId", init_producer_id),
    API_ROW(OFFSET_FOR_LEADER_EPOCH_API, "OffsetForLeaderEpoch", offset_for_leader_epoch),
    API_ROW(ADD_PARTITIONS_TO_TXN_API, "AddPartitionsToTxn", add_partitions_to_txn),
    API_ROW(ADD_OFFSETS_TO_TXN_API, "AddOffsetsToTxn", add_offsets_to_txn),
    API_ROW(END_TXN_API, "EndTxn", end_txn),
    API_ROW(WRITE_TXN_MARKERS_API, "WriteTxnMarkers", write_txn_markers),
    API_ROW(TXN_OFFSET_COMMIT_API, "TxnOffsetCommit", txn_offset_commit),
    API_ROW(DESCRIBE_ACLS_API, "DescribeAcls", describe_acls),
    API_ROW(CREATE_ACLS_API, "CreateAcls", create_acls),
    API_ROW(DELETE_ACLS_API, "DeleteAcls", delete_acls),
    API_ROW(DESCRIBE_CONFIGS_API, "DescribeConfigs", describe_configs),
    API_ROW(ALTER_CONFIGS_API, "AlterConfigs", alter_configs),
    API_ROW(ALTER_REPLICA_LOG_DIRS_API, "AlterReplicaLogDirs", alter_replica_log_dirs),
    API_ROW(DESCRIBE_LOG_DIRS_API, "DescribeLogDirs", describe_log_dirs),
    API_ROW(SASL_AUTHENTICATE_API, "SaslAuthenticate", sasl_authenticate),
    API_ROW(CREATE_PARTITIONS_API, "CreatePartitions", create_partitions),
    API_ROW(CREATE_DELEGATION_TOKEN_API, "CreateDelegationToken", create_delegation_token),
    API_ROW(RENEW_DELEGATION_TOKEN_API, "RenewDelegationToken", renew_delegation_token),
    API_ROW(EXPIRE_DELEGATION_TOKEN_API, "ExpireDelegationToken", expire_delegation_token),
    API_ROW(DESCRIBE_DELEGATION_TOKEN_API, "DescribeDelegationToken", describe_delegation_token),
    API_ROW(DELETE_GROUPS_API, "DeleteGroups", delete_groups),
    API_ROW(ELECT_LEADERS_API, "ElectLeaders", elect_leaders),
    API_ROW(INCREMENTAL_ALTER_CONFIGS_API, "IncrementalAlterConfigs", incremental_alter_configs),
    API_ROW(ALTER_PARTITION_REASSIGNMENTS_API, "AlterPartitionReassignments", alter_partition_reassignments),
    API_ROW(LIST_PARTITION_REASSIGNMENTS_API, "ListPartitionReassignments", list_partition_reassignments),
    API_ROW(OFFSET_DELETE_API, "OffsetDelete", offset_delete),
    API_ROW(DESCRIBE_CLIENT_QUOTAS_API, "DescribeClientQuotas", describe_client_quotas),
    API_ROW(ALTER_CLIENT_QUOTAS_API, "AlterClientQuotas", alter_client_quotas),
    API_ROW(DESCRIBE_USER_SCRAM_CREDENTIALS_API, "DescribeUserScramCredentials", describe_user_scram_credentials),
    API_ROW(ALTER_USER_SCRAM_CREDENTIALS_API, "AlterUserScramCredentials", alter_user_scram_credentials),
    API_ROW(ALTER_PARTITION_API, "AlterPartition", alter_partition),
    API_ROW(UPDATE_FEATURES_API, "UpdateFeatures", update_features),
    API_ROW(ENVELOPE_API, "Envelope", envelope),
    API_ROW(DESCRIBE_CLUSTER_API, "DescribeCluster", describe_cluster),
    API_ROW(DESCRIBE_PRODUCERS_API, "DescribeProducers", describe_producers),
    API_ROW(DESCRIBE_TRANSACTIONS_API, "DescribeTransactions", describe_transactions),
    API_ROW(LIST_TRANSACTIONS_API, "ListTransactions", list_transactions),
    API_ROW(ALLOCATE_PRODUCER_IDS_API, "AllocateProducerIds", allocate_producer_ids),
};

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
