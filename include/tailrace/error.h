// SPDX-License-Identifier: Apache-2.0
// Kafka's error codes: the only error enum above log/. One table makes the enum, the names and the texts.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// clang-format off
//    code, name, whether a client may retry, what it means
#define KAFKA_ERRORS(X) \
    X( -1, UNKNOWN_SERVER_ERROR,                  false, "the server met an error that it did not expect") \
    X(  0, NONE,                                  false, "no error") \
    X(  1, OFFSET_OUT_OF_RANGE,                   false, "the offset lies outside of the partition's log") \
    X(  2, CORRUPT_MESSAGE,                       true,  "a record batch does not match its checksum or is malformed") \
    X(  3, UNKNOWN_TOPIC_OR_PARTITION,            true,  "this broker does not host the topic or partition") \
    X(  4, INVALID_FETCH_SIZE,                    false, "the fetch size is not allowed") \
    X(  5, LEADER_NOT_AVAILABLE,                  true,  "the partition has no leader at the moment") \
    X(  6, NOT_LEADER_OR_FOLLOWER,                true,  "this broker does not lead (or follow) the partition") \
    X(  7, REQUEST_TIMED_OUT,                     true,  "the request was not completed within its timeout") \
    X(  8, BROKER_NOT_AVAILABLE,                  false, "the broker is not available") \
    X(  9, REPLICA_NOT_AVAILABLE,                 true,  "the replica is not available") \
    X( 10, MESSAGE_TOO_LARGE,                     false, "a record batch is larger than max.message.bytes") \
    X( 11, STALE_CONTROLLER_EPOCH,                false, "the controller epoch is older than the current one") \
    X( 12, OFFSET_METADATA_TOO_LARGE,             false, "the metadata string of the committed offset is too long") \
    X( 13, NETWORK_EXCEPTION,                     true,  "the connection broke before the answer came") \
    X( 14, COORDINATOR_LOAD_IN_PROGRESS,          true,  "the coordinator is still loading the state of the group or transaction") \
    X( 15, COORDINATOR_NOT_AVAILABLE,             true,  "the coordinator is not available") \
    X( 16, NOT_COORDINATOR,                       true,  "this broker does not coordinate this group or transactional id") \
    X( 17, INVALID_TOPIC_EXCEPTION,               false, "the topic name is not allowed") \
    X( 18, RECORD_LIST_TOO_LARGE,                 false, "a record batch is larger than the segment size") \
    X( 19, NOT_ENOUGH_REPLICAS,                   true,  "fewer replicas are in sync than min.insync.replicas asks for") \
    X( 20, NOT_ENOUGH_REPLICAS_AFTER_APPEND,      true,  "written, but fewer replicas are in sync than min.insync.replicas asks for") \
    X( 21, INVALID_REQUIRED_ACKS,                 false, "required acks must be -1, 0 or 1") \
    X( 22, ILLEGAL_GENERATION,                    false, "the generation is not the group's current one") \
    X( 23, INCONSISTENT_GROUP_PROTOCOL,           false, "the member's protocols do not fit those of the group") \
    X( 24, INVALID_GROUP_ID,                      false, "the group id is not allowed") \
    X( 25, UNKNOWN_MEMBER_ID,                     false, "the coordinator does not know the member") \
    X( 26, INVALID_SESSION_TIMEOUT,               false, "the session timeout is outside of the broker's bounds") \
    X( 27, REBALANCE_IN_PROGRESS,                 false, "the group is rebalancing, join again") \
    X( 28, INVALID_COMMIT_OFFSET_SIZE,            false, "the committed offset's data is too large") \
    X( 29, TOPIC_AUTHORIZATION_FAILED,            false, "not authorized for the topic") \
    X( 30, GROUP_AUTHORIZATION_FAILED,            false, "not authorized for the group") \
    X( 31, CLUSTER_AUTHORIZATION_FAILED,          false, "not authorized for the cluster") \
    X( 32, INVALID_TIMESTAMP,                     false, "a record's timestamp is out of range") \
    X( 33, UNSUPPORTED_SASL_MECHANISM,            false, "the SASL mechanism is not enabled") \
    X( 34, ILLEGAL_SASL_STATE,                    false, "the request does not fit the state of the SASL exchange") \
    X( 35, UNSUPPORTED_VERSION,                   false, "this version of the request is not supported") \
    X( 36, TOPIC_ALREADY_EXISTS,                  false, "the topic exists already") \
    X( 37, INVALID_PARTITIONS,                    false, "the number of partitions is not allowed") \
    X( 38, INVALID_REPLICATION_FACTOR,            false, "the replication factor is not positive or above the number of brokers") \
    X( 39, INVALID_REPLICA_ASSIGNMENT,            false, "the replica assignment is not allowed") \
    X( 40, INVALID_CONFIG,                        false, "a configuration key or value is not allowed") \
    X( 41, NOT_CONTROLLER,                        true,  "this broker is not the controller") \
    X( 42, INVALID_REQUEST,                       false, "the request contradicts the protocol") \
    X( 43, UNSUPPORTED_FOR_MESSAGE_FORMAT,        false, "the message format of the topic does not allow this") \
    X( 44, POLICY_VIOLATION,                      false, "the request breaks a policy of the broker") \
    X( 45, OUT_OF_ORDER_SEQUENCE_NUMBER,          false, "the sequence number does not follow the producer's last one") \
    X( 46, DUPLICATE_SEQUENCE_NUMBER,             false, "the sequence number was seen before") \
    X( 47, INVALID_PRODUCER_EPOCH,                false, "the producer epoch is older than the newest one") \
    X( 48, INVALID_TXN_STATE,                     false, "the transaction's state does not allow this") \
    X( 49, INVALID_PRODUCER_ID_MAPPING,           false, "the producer id does not belong to the transactional id") \
    X( 50, INVALID_TRANSACTION_TIMEOUT,           false, "the transaction timeout is above the broker's maximum or not positive") \
    X( 51, CONCURRENT_TRANSACTIONS,               true,  "another operation on this transaction is still under way") \
    X( 52, TRANSACTION_COORDINATOR_FENCED,        false, "a newer transaction coordinator has taken over") \
    X( 53, TRANSACTIONAL_ID_AUTHORIZATION_FAILED, false, "not authorized for the transactional id") \
    X( 54, SECURITY_DISABLED,                     false, "security features are switched off") \
    X( 55, OPERATION_NOT_ATTEMPTED,               false, "not attempted, because another part of the request failed") \
    X( 56, KAFKA_STORAGE_ERROR,                   true,  "the log directory of the partition has failed") \
    X( 57, LOG_DIR_NOT_FOUND,                     false, "the log directory was not given to this broker") \
    X( 58, SASL_AUTHENTICATION_FAILED,            false, "the SASL credentials were refused") \
    X( 59, UNKNOWN_PRODUCER_ID,                   false, "the broker has no state for the producer id") \
    X( 60, REASSIGNMENT_IN_PROGRESS,              false, "a reassignment of the partition is under way") \
    X( 61, DELEGATION_TOKEN_AUTH_DISABLED,        false, "delegation tokens are switched off") \
    X( 62, DELEGATION_TOKEN_NOT_FOUND,            false, "the broker does not know the delegation token") \
    X( 63, DELEGATION_TOKEN_OWNER_MISMATCH,       false, "the principal is neither owner nor renewer of the token") \
    X( 64, DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,  false, "delegation tokens cannot be requested over this kind of connection") \
    X( 65, DELEGATION_TOKEN_AUTHORIZATION_FAILED, false, "not authorized for the delegation token") \
    X( 66, DELEGATION_TOKEN_EXPIRED,              false, "the delegation token has expired") \
    X( 67, INVALID_PRINCIPAL_TYPE,                false, "the principal type is not supported") \
    X( 68, NON_EMPTY_GROUP,                       false, "the group still has members") \
    X( 69, GROUP_ID_NOT_FOUND,                    false, "the group does not exist") \
    X( 70, FETCH_SESSION_ID_NOT_FOUND,            true,  "the broker does not know the fetch session") \
    X( 71, INVALID_FETCH_SESSION_EPOCH,           true,  "the epoch of the fetch session is not the expected one") \
    X( 72, LISTENER_NOT_FOUND,                    true,  "the leader has no listener of the name that the client used") \
    X( 73, TOPIC_DELETION_DISABLED,               false, "deletion of topics is switched off") \
    X( 74, FENCED_LEADER_EPOCH,                   true,  "the leader epoch is older than that of the broker") \
    X( 75, UNKNOWN_LEADER_EPOCH,                  true,  "the leader epoch is newer than that of the broker") \
    X( 76, UNSUPPORTED_COMPRESSION_TYPE,          false, "the topic or request version does not allow this compression") \
    X( 77, STALE_BROKER_EPOCH,                    false, "the broker epoch is older than the registered one") \
    X( 78, OFFSET_NOT_AVAILABLE,                  true,  "the new leader does not know the offset yet") \
    X( 79, MEMBER_ID_REQUIRED,                    false, "join again with the member id that is in this answer") \
    X( 80, PREFERRED_LEADER_NOT_AVAILABLE,        true,  "the preferred leader is not available") \
    X( 81, GROUP_MAX_SIZE_REACHED,                false, "the group is full") \
    X( 82, FENCED_INSTANCE_ID,                    false, "another member has taken over the group instance id") \
    X( 83, ELIGIBLE_LEADERS_NOT_AVAILABLE,        true,  "no replica can become leader") \
    X( 84, ELECTION_NOT_NEEDED,                   true,  "the partition has the wanted leader already") \
    X( 85, NO_REASSIGNMENT_IN_PROGRESS,           false, "no reassignment is under way") \
    X( 86, GROUP_SUBSCRIBED_TO_TOPIC,             false, "the group still reads the topic") \
    X( 87, INVALID_RECORD,                        false, "a record was refused") \
    X( 88, UNSTABLE_OFFSET_COMMIT,                true,  "offsets of an open transaction are in the way") \
    X( 89, THROTTLING_QUOTA_EXCEEDED,             true,  "a quota is used up") \
    X( 90, PRODUCER_FENCED,                       false, "a newer producer uses the transactional id") \
    X( 91, RESOURCE_NOT_FOUND,                    false, "the resource does not exist") \
    X( 92, DUPLICATE_RESOURCE,                    false, "the resource exists twice in the request") \
    X( 93, UNACCEPTABLE_CREDENTIAL,               false, "the credential is not allowed") \
    X( 94, INCONSISTENT_VOTER_SET,                false, "the set of voters is not the expected one") \
    X( 95, INVALID_UPDATE_VERSION,                false, "the update is not valid") \
    X( 96, FEATURE_UPDATE_FAILED,                 false, "the finalized feature could not be changed") \
    X( 97, PRINCIPAL_DESERIALIZATION_FAILURE,     false, "forwarding the principal to the controller failed") \
    X( 98, SNAPSHOT_NOT_FOUND,                    false, "the snapshot does not exist") \
    X( 99, POSITION_OUT_OF_RANGE,                 false, "the position lies outside of the snapshot") \
    X(100, UNKNOWN_TOPIC_ID,                      true,  "no topic has this topic id") \
    X(101, DUPLICATE_BROKER_REGISTRATION,         false, "the broker id is registered already") \
    X(102, BROKER_ID_NOT_REGISTERED,              false, "the broker id is not registered") \
    X(103, INCONSISTENT_TOPIC_ID,                 true,  "the topic id is not the one of this topic's name") \
    X(104, INCONSISTENT_CLUSTER_ID,               false, "the cluster id is not that of this cluster") \
    X(105, TRANSACTIONAL_ID_NOT_FOUND,            false, "the transactional id does not exist") \
    X(106, FETCH_SESSION_TOPIC_ID_ERROR,          true,  "the fetch session mixes topic names and topic ids") \
    X(107, INELIGIBLE_REPLICA,                    false, "a replica of the wanted ISR may not be in it") \
    X(108, NEW_LEADER_ELECTED,                    false, "the ISR was changed, and with it the leader") \
    X(109, OFFSET_MOVED_TO_TIERED_STORAGE,        false, "the offset lies in tiered storage only") \
    X(110, FENCED_MEMBER_EPOCH,                   false, "the member's epoch is fenced: give up all partitions and join again") \
    X(111, UNRELEASED_INSTANCE_ID,                false, "another member still holds the group instance id") \
    X(112, UNSUPPORTED_ASSIGNOR,                  false, "the group does not support the assignor or its version") \
    X(113, STALE_MEMBER_EPOCH,                    false, "the member's epoch is behind that of the coordinator") \
    X(114, MISMATCHED_ENDPOINT_TYPE,              false, "the request went to the wrong type of endpoint") \
    X(115, UNSUPPORTED_ENDPOINT_TYPE,             false, "the endpoint type is not supported") \
    X(116, UNKNOWN_CONTROLLER_ID,                 false, "the controller id is not known") \
    X(117, UNKNOWN_SUBSCRIPTION_ID,               false, "the telemetry subscription id is unknown or outdated") \
    X(118, TELEMETRY_TOO_LARGE,                   false, "the telemetry payload is larger than the broker accepts") \
    X(119, INVALID_REGISTRATION,                  false, "the controller refused the broker's registration") \
    X(120, TRANSACTION_ABORTABLE,                 false, "the transaction has failed and can be aborted") \
    X(121, INVALID_RECORD_STATE,                  false, "the record's state does not allow the acknowledgement") \
    X(122, SHARE_SESSION_NOT_FOUND,               true,  "the share session does not exist") \
    X(123, INVALID_SHARE_SESSION_EPOCH,           true,  "the epoch of the share session is not the expected one") \
    X(124, FENCED_STATE_EPOCH,                    false, "the state epoch of the share group is older than the stored one") \
    X(125, INVALID_VOTER_KEY,                     false, "the voter key is not that of the replica") \
    X(126, DUPLICATE_VOTER,                       false, "the voter is in the set already") \
    X(127, VOTER_NOT_FOUND,                       false, "the voter is not in the set")
// clang-format on

#define KAFKA_ERROR_ENUM(code, name, retriable, text) KAFKA_ERROR_##name = code,
enum kafka_error { KAFKA_ERRORS(KAFKA_ERROR_ENUM) };
#undef KAFKA_ERROR_ENUM

// "UNKNOWN" for a number that is no Kafka 3.9 error code, as a newer peer may send.
const char *kafka_error_name(int16_t code);
// One line for logs and for error_message fields; never empty.
const char *kafka_error_text(int16_t code);
// Whether a client may send the same request again.
bool kafka_error_is_retriable(int16_t code);
