// SPDX-License-Identifier: Apache-2.0
// The handlers of all APIs; table.c lists them. Each takes the call and sooner or later responds.
#pragma once

#include "api/api.h"

void handle_produce(struct api_call *call);
void handle_fetch(struct api_call *call);
void handle_list_offsets(struct api_call *call);
void handle_metadata(struct api_call *call);
void handle_api_versions(struct api_call *call);
void handle_create_topics(struct api_call *call);
void handle_delete_topics(struct api_call *call);
void handle_delete_records(struct api_call *call);
void handle_init_producer_id(struct api_call *call);
void handle_offset_for_leader_epoch(struct api_call *call);
void handle_describe_acls(struct api_call *call);
void handle_create_acls(struct api_call *call);
void handle_delete_acls(struct api_call *call);
void handle_describe_configs(struct api_call *call);
void handle_alter_configs(struct api_call *call);
void handle_describe_log_dirs(struct api_call *call);
void handle_create_partitions(struct api_call *call);
void handle_incremental_alter_configs(struct api_call *call);
void handle_list_partition_reassignments(struct api_call *call);
void handle_describe_cluster(struct api_call *call);
void handle_describe_producers(struct api_call *call);
void handle_find_coordinator(struct api_call *call);
void handle_join_group(struct api_call *call);
void handle_sync_group(struct api_call *call);
void handle_heartbeat(struct api_call *call);
void handle_leave_group(struct api_call *call);
void handle_offset_commit(struct api_call *call);
void handle_offset_fetch(struct api_call *call);
void handle_offset_delete(struct api_call *call);
void handle_list_groups(struct api_call *call);
void handle_describe_groups(struct api_call *call);
void handle_delete_groups(struct api_call *call);
