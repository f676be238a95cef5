// SPDX-License-Identifier: Apache-2.0
// All messages at once. Code that speaks one API includes messages/<api>.h alone.
#pragma once

#include "protocol/messages/add_offsets_to_txn.h"
#include "protocol/messages/add_partitions_to_txn.h"
#include "protocol/messages/allocate_producer_ids.h"
#include "protocol/messages/alter_client_quotas.h"
#include "protocol/messages/alter_configs.h"
#include "protocol/messages/alter_partition.h"
#include "protocol/messages/alter_partition_reassignments.h"
#include "protocol/messages/alter_replica_log_dirs.h"
#include "protocol/messages/alter_user_scram_credentials.h"
#include "protocol/messages/api_versions.h"
#include "protocol/messages/consumer_protocol.h"
#include "protocol/messages/controlled_shutdown.h"
#include "protocol/messages/create_acls.h"
#include "protocol/messages/create_delegation_token.h"
#include "protocol/messages/create_partitions.h"
#include "protocol/messages/create_topics.h"
#include "protocol/messages/delete_acls.h"
#include "protocol/messages/delete_groups.h"
#include "protocol/messages/delete_records.h"
#include "protocol/messages/delete_topics.h"
#include "protocol/messages/describe_acls.h"
#include "protocol/messages/describe_client_quotas.h"
#include "protocol/messages/describe_cluster.h"
#include "protocol/messages/describe_configs.h"
#include "protocol/messages/describe_delegation_token.h"
#include "protocol/messages/describe_groups.h"
#include "protocol/messages/describe_log_dirs.h"
#include "protocol/messages/describe_producers.h"
#include "protocol/messages/describe_transactions.h"
#include "protocol/messages/describe_user_scram_credentials.h"
#include "protocol/messages/elect_leaders.h"
#include "protocol/messages/end_txn.h"
#include "protocol/messages/envelope.h"
#include "protocol/messages/expire_delegation_token.h"
#include "protocol/messages/fetch.h"
#include "protocol/messages/find_coordinator.h"
#include "protocol/messages/group_log.h"
#include "protocol/messages/header.h"
#include "protocol/messages/heartbeat.h"
#include "protocol/messages/incremental_alter_configs.h"
#include "protocol/messages/init_producer_id.h"
#include "protocol/messages/join_group.h"
#include "protocol/messages/leader_and_isr.h"
#include "protocol/messages/leave_group.h"
#include "protocol/messages/list_groups.h"
#include "protocol/messages/list_offsets.h"
#include "protocol/messages/list_partition_reassignments.h"
#include "protocol/messages/list_transactions.h"
#include "protocol/messages/metadata.h"
#include "protocol/messages/offset_commit.h"
#include "protocol/messages/offset_delete.h"
#include "protocol/messages/offset_fetch.h"
#include "protocol/messages/offset_for_leader_epoch.h"
#include "protocol/messages/produce.h"
#include "protocol/messages/renew_delegation_token.h"
#include "protocol/messages/sasl_authenticate.h"
#include "protocol/messages/sasl_handshake.h"
#include "protocol/messages/stop_replica.h"
#include "protocol/messages/sync_group.h"
#include "protocol/messages/transaction_log.h"
#include "protocol/messages/txn_offset_commit.h"
#include "protocol/messages/update_features.h"
#include "protocol/messages/update_metadata.h"
#include "protocol/messages/write_txn_markers.h"

// Every struct of every message: NESTED(struct) or MESSAGE(struct, Kafka's name, kind, key, versions...).
// clang-format off
#define PROTOCOL_STRUCTS(NESTED, MESSAGE) \
    ADD_OFFSETS_TO_TXN_STRUCTS(NESTED, MESSAGE) \
    ADD_PARTITIONS_TO_TXN_STRUCTS(NESTED, MESSAGE) \
    ALLOCATE_PRODUCER_IDS_STRUCTS(NESTED, MESSAGE) \
    ALTER_CLIENT_QUOTAS_STRUCTS(NESTED, MESSAGE) \
    ALTER_CONFIGS_STRUCTS(NESTED, MESSAGE) \
    ALTER_PARTITION_STRUCTS(NESTED, MESSAGE) \
    ALTER_PARTITION_REASSIGNMENTS_STRUCTS(NESTED, MESSAGE) \
    ALTER_REPLICA_LOG_DIRS_STRUCTS(NESTED, MESSAGE) \
    ALTER_USER_SCRAM_CREDENTIALS_STRUCTS(NESTED, MESSAGE) \
    API_VERSIONS_STRUCTS(NESTED, MESSAGE) \
    CONSUMER_PROTOCOL_STRUCTS(NESTED, MESSAGE) \
    CONTROLLED_SHUTDOWN_STRUCTS(NESTED, MESSAGE) \
    CREATE_ACLS_STRUCTS(NESTED, MESSAGE) \
    CREATE_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    CREATE_PARTITIONS_STRUCTS(NESTED, MESSAGE) \
    CREATE_TOPICS_STRUCTS(NESTED, MESSAGE) \
    DELETE_ACLS_STRUCTS(NESTED, MESSAGE) \
    DELETE_GROUPS_STRUCTS(NESTED, MESSAGE) \
    DELETE_RECORDS_STRUCTS(NESTED, MESSAGE) \
    DELETE_TOPICS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_ACLS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_CLIENT_QUOTAS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_CLUSTER_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_CONFIGS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_GROUPS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_LOG_DIRS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_PRODUCERS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_TRANSACTIONS_STRUCTS(NESTED, MESSAGE) \
    DESCRIBE_USER_SCRAM_CREDENTIALS_STRUCTS(NESTED, MESSAGE) \
    ELECT_LEADERS_STRUCTS(NESTED, MESSAGE) \
    END_TXN_STRUCTS(NESTED, MESSAGE) \
    ENVELOPE_STRUCTS(NESTED, MESSAGE) \
    EXPIRE_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    FETCH_STRUCTS(NESTED, MESSAGE) \
    FIND_COORDINATOR_STRUCTS(NESTED, MESSAGE) \
    GROUP_LOG_STRUCTS(NESTED, MESSAGE) \
    HEADER_STRUCTS(NESTED, MESSAGE) \
    HEARTBEAT_STRUCTS(NESTED, MESSAGE) \
    INCREMENTAL_ALTER_CONFIGS_STRUCTS(NESTED, MESSAGE) \
    INIT_PRODUCER_ID_STRUCTS(NESTED, MESSAGE) \
    JOIN_GROUP_STRUCTS(NESTED, MESSAGE) \
    LEADER_AND_ISR_STRUCTS(NESTED, MESSAGE) \
    LEAVE_GROUP_STRUCTS(NESTED, MESSAGE) \
    LIST_GROUPS_STRUCTS(NESTED, MESSAGE) \
    LIST_OFFSETS_STRUCTS(NESTED, MESSAGE) \
    LIST_PARTITION_REASSIGNMENTS_STRUCTS(NESTED, MESSAGE) \
    LIST_TRANSACTIONS_STRUCTS(NESTED, MESSAGE) \
    METADATA_STRUCTS(NESTED, MESSAGE) \
    OFFSET_COMMIT_STRUCTS(NESTED, MESSAGE) \
    OFFSET_DELETE_STRUCTS(NESTED, MESSAGE) \
    OFFSET_FETCH_STRUCTS(NESTED, MESSAGE) \
    OFFSET_FOR_LEADER_EPOCH_STRUCTS(NESTED, MESSAGE) \
    PRODUCE_STRUCTS(NESTED, MESSAGE) \
    RENEW_DELEGATION_TOKEN_STRUCTS(NESTED, MESSAGE) \
    SASL_AUTHENTICATE_STRUCTS(NESTED, MESSAGE) \
    SASL_HANDSHAKE_STRUCTS(NESTED, MESSAGE) \
    STOP_REPLICA_STRUCTS(NESTED, MESSAGE) \
    SYNC_GROUP_STRUCTS(NESTED, MESSAGE) \
    TRANSACTION_LOG_STRUCTS(NESTED, MESSAGE) \
    TXN_OFFSET_COMMIT_STRUCTS(NESTED, MESSAGE) \
    UPDATE_FEATURES_STRUCTS(NESTED, MESSAGE) \
    UPDATE_METADATA_STRUCTS(NESTED, MESSAGE) \
    WRITE_TXN_MARKERS_STRUCTS(NESTED, MESSAGE)
// clang-format on
