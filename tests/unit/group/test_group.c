// SPDX-License-Identifier: Apache-2.0
// The group's state machine, by tables (script.h says how to read them).
#include "script.h"
#include <criterion/criterion.h>

// One member in a stable group: the beginning of most stories. Its id is a.
#define ONE_MEMBER                                                                                                     \
    {"join j1 v=3 new=a", "PreparingRebalance"},                                                                       \
        {"wait 3000", "CompletingRebalance; j1=joined id=a generation=1 protocol=range leader=a members=a:x"},         \
        {"sync s1 id=a generation=1 assign=a:A", "store 1"}, {                                                         \
        "stored 1", "Stable; s1=synced A"                                                                              \
    }

// Two of them, a and b; a leads.
#define TWO_MEMBERS                                                                                                    \
    {"join j1 v=3 new=a protocols=range:x,rr:y", "PreparingRebalance"},                                                \
        {"join j2 v=3 new=b protocols=rr:v,range:u", ""},                                                              \
        {"wait 6000", "CompletingRebalance; "                                                                          \
                      "j1=joined id=a generation=1 protocol=range leader=a members=a:x,b:u; "                          \
                      "j2=joined id=b generation=1 protocol=range leader=a"},                                          \
        {"sync s2 id=b generation=1", ""}, {"sync s1 id=a generation=1 assign=a:A,b:B", "store 1"}, {                  \
        "stored 1", "Stable; s1=synced A; s2=synced B"                                                                 \
    }

// Two static ones, instances A and B with ids a and b.
#define TWO_STATIC                                                                                                     \
    {"join j1 instance=A new=a protocols=range:x,rr:y", "PreparingRebalance"},                                         \
        {"join j2 instance=B new=b protocols=range:u", ""},                                                            \
        {"wait 6000", "CompletingRebalance; "                                                                          \
                      "j1=joined id=a generation=1 protocol=range leader=a members=a:x,b:u; "                          \
                      "j2=joined id=b generation=1 protocol=range leader=a"},                                          \
        {"sync s2 id=b instance=B generation=1", ""},                                                                  \
        {"sync s1 id=a instance=A generation=1 assign=a:A,b:B", "store 1"}, {                                          \
        "stored 1", "Stable; s1=synced A; s2=synced B"                                                                 \
    }

Test(group, a_member_joins_syncs_and_is_stable) {
    SCRIPT(ONE_MEMBER, {"beat id=a", "NONE"}, {"is state members generation leader", "Stable; 1; 1; a"});
}

Test(group, member_id_required_from_version_4) {
    SCRIPT({"join j1 v=4 new=a", "j1=MEMBER_ID_REQUIRED id=a"}, {"is state members pending", "Empty; 0; 1"},
           {"join j2 v=4 id=a", "PreparingRebalance"}, {"is members pending", "1; 0"},
           {"wait 3000", "CompletingRebalance; j2=joined id=a generation=1 protocol=range leader=a members=a:x"});
}

Test(group, a_pending_id_ends_with_its_session_timeout) {
    SCRIPT({"join j1 v=4 new=a session=6000", "j1=MEMBER_ID_REQUIRED id=a"}, {"wait 5999", ""}, {"is pending", "1"},
           {"wait 1", ""}, {"is pending", "0"}, {"join j2 v=4 id=a", "j2=UNKNOWN_MEMBER_ID id=a"});
}

Test(group, a_pending_id_can_leave) {
    SCRIPT({"join j1 v=4 new=a", "j1=MEMBER_ID_REQUIRED id=a"}, {"leave id=a", "NONE"}, {"is pending", "0"});
}

Test(group, unknown_ids_are_refused) {
    SCRIPT({"join j1 id=x", "j1=UNKNOWN_MEMBER_ID id=x"}, {"sync s1 id=x", "s1=UNKNOWN_MEMBER_ID"},
           {"beat id=x", "UNKNOWN_MEMBER_ID"}, {"leave id=x", "UNKNOWN_MEMBER_ID"},
           {"commit id=x generation=1", "UNKNOWN_MEMBER_ID"});
}

Test(group, session_timeouts_have_limits) {
    SCRIPT({"join j1 session=5999", "INVALID_SESSION_TIMEOUT"}, {"join j1 session=1800001", "INVALID_SESSION_TIMEOUT"});
}

Test(group, protocols_must_fit) {
    SCRIPT({"join j0 v=3 type= new=z", "j0=INCONSISTENT_GROUP_PROTOCOL id="},
           {"join j0 v=3 protocols= new=z", "j0=INCONSISTENT_GROUP_PROTOCOL id="}, ONE_MEMBER,
           {"join j2 v=3 type=connect new=b", "j2=INCONSISTENT_GROUP_PROTOCOL id="},
           {"join j3 v=3 protocols=rr:y new=b", "j3=INCONSISTENT_GROUP_PROTOCOL id="}, {"is state", "Stable"});
}

Test(group, the_protocol_with_most_votes_among_those_that_all_support_is_chosen) {
    SCRIPT({"join j1 v=3 new=a protocols=range:1,rr:2,sticky:3", "PreparingRebalance"},
           {"join j2 v=3 new=b protocols=sticky:4,rr:5", ""}, {"join j3 v=3 new=c protocols=rr:6,sticky:7", ""},
           {"wait 6000", "CompletingRebalance; "
                         "j1=joined id=a generation=1 protocol=rr leader=a members=a:2,b:5,c:6; "
                         "j2=joined id=b generation=1 protocol=rr leader=a; "
                         "j3=joined id=c generation=1 protocol=rr leader=a"});
}

Test(group, the_initial_delay_is_extended_while_members_come_up_to_the_rebalance_timeout) {
    SCRIPT({"join j1 v=3 new=a rebalance=7000", "PreparingRebalance"}, {"wait 2999", ""},
           {"join j2 v=3 new=b rebalance=7000", ""}, {"wait 3000", ""}, {"join j3 v=3 new=c rebalance=7000", ""},
           {"wait 1000", ""}, {"is state", "PreparingRebalance"},
           {"wait 1", "CompletingRebalance; "
                      "j1=joined id=a generation=1 protocol=range leader=a members=a:x,b:x,c:x; "
                      "j2=joined id=b generation=1 protocol=range leader=a; "
                      "j3=joined id=c generation=1 protocol=range leader=a"});
}

Test(group, no_initial_delay) {
    SCRIPT({"limit delay=0", ""}, {"join j1 v=3 new=a", "PreparingRebalance"},
           {"wait 0", "CompletingRebalance; j1=joined id=a generation=1 protocol=range leader=a members=a:x"});
}

Test(group, a_second_member_starts_a_rebalance_that_ends_when_all_have_joined) {
    SCRIPT(ONE_MEMBER, {"join j2 v=3 new=b", "PreparingRebalance"}, {"beat id=a", "REBALANCE_IN_PROGRESS"},
           {"commit id=a generation=1", "NONE"}, {"sync s9 id=a generation=1", "s9=REBALANCE_IN_PROGRESS"},
           {"join j3 id=a", "CompletingRebalance; j3=joined id=a generation=2 protocol=range leader=a members=a:x,b:x; "
                            "j2=joined id=b generation=2 protocol=range leader=a"},
           {"beat id=a generation=2", "NONE"}, {"beat id=a generation=1", "ILLEGAL_GENERATION"},
           {"commit id=a generation=2", "REBALANCE_IN_PROGRESS"}, {"sync s2 id=b generation=2", ""},
           {"sync s3 id=a generation=2 assign=a:1,b:2", "store 2"}, {"is state", "CompletingRebalance"},
           {"stored 2", "Stable; s3=synced 1; s2=synced 2"}, {"commit id=b generation=2", "NONE"});
}

Test(group, who_does_not_join_in_time_is_removed) {
    SCRIPT(TWO_MEMBERS, {"join j3 v=3 new=c rebalance=20000", "PreparingRebalance"},
           {"join j4 id=b protocols=range:w", ""}, {"beat id=a", "REBALANCE_IN_PROGRESS"},
           {"wait 10000", "CompletingRebalance; "
                          "j4=joined id=b generation=2 protocol=range leader=b members=b:w,c:x; "
                          "j3=joined id=c generation=2 protocol=range leader=b"});
}

Test(group, a_silent_member_fails_at_the_end_of_its_session) {
    SCRIPT(TWO_MEMBERS, {"wait 9000", ""}, {"beat id=a", "NONE"}, {"wait 1000", "PreparingRebalance"},
           {"is members", "1"},
           {"join j3 id=a protocols=range:x",
            "CompletingRebalance; j3=joined id=a generation=2 protocol=range leader=a members=a:x"});
}

Test(group, the_last_member_to_leave_makes_it_empty) {
    SCRIPT(ONE_MEMBER, {"leave id=a", "PreparingRebalance; Empty; store 2; NONE"}, {"stored 2", ""},
           {"is state generation leader", "Empty; 2; "}, {"beat id=a generation=2", "UNKNOWN_MEMBER_ID"},
           {"join j2 v=3 new=b", "PreparingRebalance"},
           {"wait 3000", "CompletingRebalance; j2=joined id=b generation=3 protocol=range leader=b members=b:x"});
}

Test(group, a_member_that_does_not_sync_within_the_rebalance_timeout_is_removed) {
    SCRIPT({"join j1 v=3 new=a session=30000 rebalance=10000", "PreparingRebalance"},
           {"join j2 v=3 new=b session=30000 rebalance=10000", ""},
           {"wait 6000", "CompletingRebalance; j1=joined id=a generation=1 protocol=range leader=a members=a:x,b:x; "
                         "j2=joined id=b generation=1 protocol=range leader=a"},
           {"sync s1 id=a assign=a:A,b:B", "store 1"}, {"stored 1", "Stable; s1=synced A"}, {"wait 9999", ""},
           {"wait 1", "PreparingRebalance"}, {"is members leader", "1; a"});
}

Test(group, a_new_member_parked_in_join_is_dropped_after_5_minutes) {
    SCRIPT(TWO_STATIC, {"join j3 v=3 new=c session=6000 rebalance=900000", "PreparingRebalance"},
           {"beat id=a instance=A", "REBALANCE_IN_PROGRESS"}, {"forget j3", ""}, {"wait 9999", ""},
           {"beat id=a instance=A", "REBALANCE_IN_PROGRESS"}, {"is members awaiting", "3; 1"});
}

Test(group, five_minutes_in_join) {
    SCRIPT({"limit delay=1000000", ""}, {"join j1 v=3 new=a session=6000 rebalance=900000", "PreparingRebalance"},
           {"wait 299999", ""}, {"wait 1", "j1=UNKNOWN_MEMBER_ID id="}, {"is members", "0"});
}

Test(group, a_parked_member_is_not_expired) {
    SCRIPT(ONE_MEMBER, {"join j2 v=3 new=b rebalance=100000", "PreparingRebalance"}, {"wait 5000", ""},
           {"beat id=a", "REBALANCE_IN_PROGRESS"},
           {"wait 10000", "CompletingRebalance; j2=joined id=b generation=2 protocol=range leader=b members=b:x"});
}

Test(group, the_leader_joining_again_rebalances_a_follower_only_if_it_changed) {
    SCRIPT(TWO_MEMBERS, {"join j3 id=b protocols=rr:v,range:u", "j3=joined id=b generation=1 protocol=range leader=a"},
           {"sync s3 id=b", "s3=synced B"}, {"join j4 id=b protocols=rr:v,range:new", "PreparingRebalance"},
           {"join j5 id=a protocols=range:x,rr:y",
            "CompletingRebalance; j5=joined id=a generation=2 protocol=range leader=a members=a:x,b:new; "
            "j4=joined id=b generation=2 protocol=range leader=a"},
           {"join j6 id=a protocols=range:x,rr:y",
            "j6=joined id=a generation=2 protocol=range leader=a members=a:x,b:new"});
}

Test(group, a_stable_leader_joins_again) {
    SCRIPT(TWO_MEMBERS, {"join j3 id=a protocols=range:x,rr:y", "PreparingRebalance"}, {"is awaiting", "1"});
}

Test(group, waiting_syncs_are_told_when_the_group_rebalances) {
    SCRIPT(ONE_MEMBER, {"join j2 v=3 new=b", "PreparingRebalance"},
           {"join j3 id=a", "CompletingRebalance; j3=joined id=a generation=2 protocol=range leader=a members=a:x,b:x; "
                            "j2=joined id=b generation=2 protocol=range leader=a"},
           {"sync s2 id=b generation=2", ""}, {"join j4 v=3 new=c", "s2=REBALANCE_IN_PROGRESS; PreparingRebalance"});
}

Test(group, a_record_that_was_overtaken_does_nothing) {
    SCRIPT(ONE_MEMBER,
           {"join j2 id=a", "PreparingRebalance; CompletingRebalance; "
                            "j2=joined id=a generation=2 protocol=range leader=a members=a:x"},
           {"sync s2 id=a generation=2 assign=a:N", "store 2"},
           {"join j3 v=3 new=b", "s2=REBALANCE_IN_PROGRESS; PreparingRebalance"}, {"stored 2", ""},
           {"is state", "PreparingRebalance"});
}

Test(group, a_record_that_cannot_be_written_is_told_and_rebalances) {
    SCRIPT(ONE_MEMBER,
           {"join j2 id=a", "PreparingRebalance; CompletingRebalance; "
                            "j2=joined id=a generation=2 protocol=range leader=a members=a:x"},
           {"sync s2 id=a generation=2 assign=a:N", "store 2"},
           {"stored 2 15", "s2=COORDINATOR_NOT_AVAILABLE; PreparingRebalance"});
}

Test(group, a_leader_that_repeats_its_sync_writes_once) {
    SCRIPT({"join j1 v=3 new=a", "PreparingRebalance"},
           {"wait 3000", "CompletingRebalance; j1=joined id=a generation=1 protocol=range leader=a members=a:x"},
           {"sync s1 id=a assign=a:A", "store 1"}, {"sync s2 id=a assign=a:A", "s1=REBALANCE_IN_PROGRESS"},
           {"stored 1", "Stable; s2=synced A"});
}

Test(group, sync_checks_protocol_and_generation) {
    SCRIPT(ONE_MEMBER, {"sync s2 id=a type=connect", "s2=INCONSISTENT_GROUP_PROTOCOL"},
           {"sync s3 id=a protocol=rr", "s3=INCONSISTENT_GROUP_PROTOCOL"},
           {"sync s4 id=a generation=7", "s4=ILLEGAL_GENERATION"},
           {"sync s5 id=x generation=7", "s5=UNKNOWN_MEMBER_ID"},
           {"sync s6 id=a type=consumer protocol=range", "s6=synced A"});
}

Test(group, group_max_size) {
    SCRIPT({"limit size=1 delay=3000", ""}, ONE_MEMBER, {"join j2 v=3 new=b", "j2=GROUP_MAX_SIZE_REACHED id="},
           {"is members state", "1; Stable"});
}

Test(group, while_joining_the_slowest_lose_their_place) {
    SCRIPT(TWO_MEMBERS, {"limit size=1", ""}, {"join j3 id=a protocols=range:x,rr:y", "PreparingRebalance"},
           {"join j4 id=b protocols=range:u,rr:y", "j4=GROUP_MAX_SIZE_REACHED id=; CompletingRebalance; "
                                                   "j3=joined id=a generation=2 protocol=range leader=a members=a:x"});
}

Test(group, a_dropped_connection_leaves_its_member_joined) {
    SCRIPT({"join j1 v=3 new=a", "PreparingRebalance"}, {"forget j1", ""}, {"wait 3000", "CompletingRebalance"},
           {"wait 10000", "PreparingRebalance; Empty; store 1"});
}

Test(group, unloading_tells_whoever_waits) {
    SCRIPT(TWO_MEMBERS, {"join j3 v=3 new=c", "PreparingRebalance"}, {"kill", "j3=NOT_COORDINATOR id=c; Dead"},
           {"beat id=a", "COORDINATOR_NOT_AVAILABLE"}, {"join j4 new=d", "j4=COORDINATOR_NOT_AVAILABLE id="});
}

Test(group, commits) {
    SCRIPT({"commit generation=-1", "NONE"}, {"commit id=x generation=-1", "NONE"},
           {"commit id=x generation=0", "UNKNOWN_MEMBER_ID"}, ONE_MEMBER, {"commit generation=-1", "UNKNOWN_MEMBER_ID"},
           {"commit id=a generation=1", "NONE"}, {"commit id=a generation=2", "ILLEGAL_GENERATION"},
           {"commit id=a generation=-1", "ILLEGAL_GENERATION"}, {"commit id=b generation=1", "UNKNOWN_MEMBER_ID"});
}

// ---- static members (trap 32)
// ----------------------------------------------------------------------------------------

Test(group, a_static_member_needs_no_id_and_returns_without_a_rebalance) {
    SCRIPT(TWO_STATIC, {"join j3 instance=B new=b2 protocols=range:u", "store 2"},
           {"stored 2", "j3=joined id=b2 generation=1 protocol=range leader=a"}, {"is state", "Stable"},
           {"beat id=b instance=B", "FENCED_INSTANCE_ID"}, {"beat id=b2 instance=B", "NONE"},
           {"sync s3 id=b2 instance=B", "s3=synced B"}, {"beat id=b", "UNKNOWN_MEMBER_ID"});
}

Test(group, a_static_leader_returns_and_skips_the_assignment_from_version_9) {
    SCRIPT(TWO_STATIC, {"join j3 v=9 instance=A new=a2 protocols=range:x", "store 2"},
           {"stored 2", "j3=joined id=a2 generation=1 protocol=range leader=a2 members=a2:x,b:u skip"},
           {"is leader", "a2"});
}

Test(group, before_version_9_a_returning_leader_is_told_the_old_id) {
    SCRIPT(TWO_STATIC, {"join j3 v=8 instance=A new=a2 protocols=range:x", "store 2"},
           {"stored 2", "j3=joined id=a2 generation=1 protocol=range leader=a"}, {"is leader", "a2"});
}

Test(group, other_metadata_of_a_returning_static_member_is_stored_without_a_rebalance) {
    SCRIPT(TWO_STATIC, {"join j3 instance=B new=b2 protocols=range:changed", "store 2"},
           {"stored 2", "j3=joined id=b2 generation=1 protocol=range leader=a"},
           {"join j4 instance=A new=a2 protocols=range:x", "store 3"},
           {"stored 3", "j4=joined id=a2 generation=1 protocol=range leader=a2 members=a2:x,b2:changed skip"});
}

Test(group, a_changed_protocol_of_a_returning_static_member_rebalances) {
    SCRIPT({"join j1 instance=A new=a protocols=range:x,rr:y", "PreparingRebalance"},
           {"wait 3000", "CompletingRebalance; j1=joined id=a generation=1 protocol=range leader=a members=a:x"},
           {"sync s1 id=a instance=A assign=a:A", "store 1"}, {"stored 1", "Stable; s1=synced A"},
           {"join j2 instance=A new=a2 protocols=rr:y,range:x",
            "PreparingRebalance; CompletingRebalance; "
            "j2=joined id=a2 generation=2 protocol=rr leader=a2 members=a2:y"});
}

Test(group, while_the_group_assigns_a_returning_static_member_rebalances) {
    SCRIPT({"join j1 instance=A new=a", "PreparingRebalance"}, {"join j2 instance=B new=b", ""},
           {"wait 6000", "CompletingRebalance; j1=joined id=a generation=1 protocol=range leader=a members=a:x,b:x; "
                         "j2=joined id=b generation=1 protocol=range leader=a"},
           {"sync s2 id=b instance=B", ""}, {"join j3 instance=B new=b2", "s2=FENCED_INSTANCE_ID; PreparingRebalance"},
           {"join j4 id=a instance=A",
            "CompletingRebalance; j4=joined id=a generation=2 protocol=range leader=a members=a:x,b2:x; "
            "j3=joined id=b2 generation=2 protocol=range leader=a"});
}

Test(group, a_join_that_waits_is_fenced_by_the_next_of_its_instance) {
    SCRIPT({"join j1 instance=A new=a", "PreparingRebalance"},
           {"join j2 instance=A new=a2", "j1=FENCED_INSTANCE_ID id=a"}, {"is members awaiting", "1; 1"},
           {"wait 3000", "CompletingRebalance; j2=joined id=a2 generation=1 protocol=range leader=a2 members=a2:x"});
}

Test(group, an_instance_that_nobody_holds_is_unknown) {
    SCRIPT(ONE_MEMBER, {"beat id=a instance=Z", "UNKNOWN_MEMBER_ID"},
           {"join j2 id=a instance=Z", "j2=UNKNOWN_MEMBER_ID id=a"});
}

Test(group, a_wrong_id_for_a_held_instance_is_fenced) {
    SCRIPT(TWO_STATIC, {"join j3 id=b instance=A", "j3=FENCED_INSTANCE_ID id=b"},
           {"sync s3 id=b instance=A", "s3=FENCED_INSTANCE_ID"}, {"commit id=b instance=A", "FENCED_INSTANCE_ID"},
           {"leave id=b instance=A", "FENCED_INSTANCE_ID"});
}

Test(group, an_operator_removes_a_static_member_by_its_instance) {
    SCRIPT(TWO_STATIC, {"leave instance=B", "PreparingRebalance; NONE"}, {"is members", "1"},
           {"leave instance=B", "UNKNOWN_MEMBER_ID"});
}

Test(group, static_members_keep_their_place_in_a_rebalance_until_their_session_ends) {
    SCRIPT(TWO_STATIC, {"join j3 id=a instance=A protocols=range:x rebalance=5000", "PreparingRebalance"},
           {"beat id=b instance=B", "REBALANCE_IN_PROGRESS"}, {"wait 9999", ""}, {"is members", "2"},
           {"wait 1", "CompletingRebalance; j3=joined id=a generation=2 protocol=range leader=a members=a:x"});
}

Test(group, a_returning_static_member_that_cannot_be_stored_is_as_before) {
    SCRIPT(TWO_STATIC, {"join j3 instance=B new=b2 protocols=range:changed", "store 2"},
           {"stored 2 16", "j3=NOT_COORDINATOR id="}, {"beat id=b instance=B", "NONE"},
           {"beat id=b2 instance=B", "FENCED_INSTANCE_ID"});
}

Test(group, a_returning_static_member_that_is_overtaken_by_a_rebalance_joins_it) {
    SCRIPT(
        TWO_STATIC, {"join j3 instance=B new=b2 protocols=range:u", "store 2"},
        {"join j4 v=3 new=c", "PreparingRebalance"}, {"stored 2", ""},
        {"join j5 id=a instance=A protocols=range:x",
         "CompletingRebalance; j5=joined id=a generation=2 protocol=range leader=a members=a:x,b2:u,c:x; "
         "j3=joined id=b2 generation=2 protocol=range leader=a; j4=joined id=c generation=2 protocol=range leader=a"});
}
