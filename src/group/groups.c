// SPDX-License-Identifier: Apache-2.0
// The table of a core's groups, their timers, and what the state machine asks for.
#include "group/groups.h"
#include "core/line.h"
#include <stdio.h>
#include <stdlib.h>

struct groups_settings groups_settings_of(const struct config *c, size_t memory_bytes) {
    enum { MS_PER_MINUTE = 60 * 1000, LOAD_BYTES_MAX = 256 << 10 };
    return (struct groups_settings){
        .limits = {.session_timeout_ms_min = (int32_t)config_i64(c, CONFIG_GROUP_MIN_SESSION_TIMEOUT_MS),
                   .session_timeout_ms_max = (int32_t)config_i64(c, CONFIG_GROUP_MAX_SESSION_TIMEOUT_MS),
                   .size_max = (int32_t)config_i64(c, CONFIG_GROUP_MAX_SIZE),
                   .initial_rebalance_delay_ms = (int32_t)config_i64(c, CONFIG_GROUP_INITIAL_REBALANCE_DELAY_MS)},
        .offset_metadata_max = (int32_t)config_i64(c, CONFIG_OFFSET_METADATA_MAX_BYTES),
        .retention_ms = config_i64(c, CONFIG_OFFSETS_RETENTION_MINUTES) * MS_PER_MINUTE,
        .retention_check_ms = (uint64_t)config_i64(c, CONFIG_OFFSETS_RETENTION_CHECK_INTERVAL_MS),
        // A read is replayed in one turn of the core: a millisecond or two, whatever is configured.
        .load_bytes = (uint32_t)min_i64(config_i64(c, CONFIG_OFFSETS_LOAD_BUFFER_SIZE), LOAD_BYTES_MAX),
        .write_timeout_ms = (int32_t)config_i64(c, CONFIG_OFFSETS_COMMIT_TIMEOUT_MS),
        .write_acks = (int16_t)config_i64(c, CONFIG_OFFSETS_COMMIT_REQUIRED_ACKS),
        .codec = (enum codec)config_i64(c, CONFIG_OFFSETS_TOPIC_COMPRESSION_CODEC),
        .memory_bytes = memory_bytes,
    };
}

// ---- what the state machine asks for
// ---------------------------------------------------------------------------------

static struct groups *groups_of(struct group_output *output) {
    return container_of(output, struct groups, output);
}

static void *copy(struct group_call *call, const void *data, size_t size) {
    void *memory = arena_alloc(call->arena, size + 1);
    if (!memory) {
        call->out_of_memory = true;
        return NULL;
    }
    if (size > 0) memcpy(memory, data, size);
    return memory;
}
static struct str copy_str(struct group_call *call, struct str s) {
    if (str_is_null(s)) return s;
    const char *data = copy(call, s.data, s.size);
    return data ? (struct str){data, s.size} : (struct str){0};
}
static struct bytes copy_bytes(struct group_call *call, struct bytes b) {
    const uint8_t *data = copy(call, b.data, b.size);
    return data ? (struct bytes){data, b.size} : (struct bytes){0};
}

static void answered(struct groups *groups, struct group_call *call) {
    call->group = NULL;
    group_call_release(groups->core, call);
}

static void join_members(struct group_call *call, const struct group *g, struct str protocol_name) {
    struct join_group_response *response = &call->join;
    response->members = arena_alloc_array(call->arena, (size_t)g->member_count, sizeof *response->members);
    if (!response->members) {
        call->out_of_memory = true;
        return;
    }
    LIST_FOREACH (link, (struct list *)&g->members) {
        const struct group_member *m = container_of(link, struct group_member, link);
        const struct group_protocol *protocol = member_protocol(m, protocol_name);
        response->members[response->members_count++] = (struct join_group_response_member){
            .member_id = copy_str(call, m->id),
            .group_instance_id = copy_str(call, m->instance_id),
            .metadata = copy_bytes(call, protocol ? protocol->metadata : (struct bytes){(const uint8_t *)"", 0}),
        };
    }
}

static void join_answered(struct group_output *output, struct group *g, void *request,
                          const struct group_join_answer *answer) {
    struct group_call *call = request;
    struct join_group_response *response = &call->join;
    response->error_code = answer->error;
    response->generation_id = answer->generation;
    response->protocol_type = copy_str(call, answer->protocol_type);
    response->protocol_name = copy_str(call, answer->protocol_name);
    response->leader = copy_str(call, answer->leader);
    response->member_id = copy_str(call, answer->member_id);
    response->skip_assignment = answer->skip_assignment;
    if (answer->with_members) join_members(call, g, answer->protocol_name);
    answered(groups_of(output), call);
}

static void sync_answered(struct group_output *output, struct group *g, void *request,
                          const struct group_sync_answer *answer) {
    (void)g;
    struct group_call *call = request;
    call->sync.error_code = answer->error;
    call->sync.protocol_type = copy_str(call, answer->protocol_type);
    call->sync.protocol_name = copy_str(call, answer->protocol_name);
    call->sync.assignment = copy_bytes(call, answer->assignment);
    answered(groups_of(output), call);
}

static void store(struct group_output *output, struct group *g, uint64_t store_id) {
    struct groups *groups = groups_of(output);
    struct record_batch batch;
    record_batch_begin(&batch, groups_now(groups).wall_ms);
    record_batch_add_group(&batch, g, g->state == GROUP_COMPLETING_REBALANCE);
    const struct group_write write = {.kind = GROUP_WRITE_STORE, .group = g, .id = store_id};
    groups_write(groups, g->partition, &write, &batch);
}

static void changed(struct group_output *output, struct group *g, enum group_state before, const char *why,
                    struct str member_id) {
    struct groups *groups = groups_of(output);
    // Not what happens to groups because their partition goes.
    if (groups_partition_state(groups, g->partition) != KAFKA_ERROR_NONE) return;
    char subject[160], member[160];
    struct text subject_text = TEXT_IN(subject), member_text = TEXT_IN(member);
    text_add_escaped(&subject_text, g->id);
    text_add_escaped(&member_text, member_id);
    line(groups->core, LINE_INFO, "group", subject, "state",
         "from=%s to=%s generation=%d members=%d partition=%d member=%s why=\"%s\"", group_state_name(before),
         group_state_name(g->state), g->generation, g->member_count, g->partition, member, why);
}

// ---- the table
// ------------------------------------------------------------------------------------------------------

static void image_changed(struct image_listener *listener, struct core *core, const struct image *before,
                          const struct image *now) {
    (void)core;
    struct groups *groups = container_of(listener, struct groups, listener);
    groups_topics_deleted(groups, before, now);
    groups_partitions_follow(groups, now);
}

void groups_init(struct groups *groups, struct core *core, const struct groups_settings *settings) {
    *groups = (struct groups){.core = core,
                              .settings = *settings,
                              .memory = {.limit_bytes = settings->memory_bytes},
                              .output = {join_answered, sync_answered, store, changed},
                              .listener = {.changed = image_changed}};
    offset_topics_init(&groups->topics, core->hash_seed, &groups->memory);
    hashmap_init(&groups->by_id);
    list_init(&groups->all);
    image_listen(core, &groups->listener);
}

struct group_time groups_now(const struct groups *groups) {
    return (struct group_time){core_now_ms(groups->core), core_wall_ms(groups->core)};
}

static bool group_has_id(const struct hash_node *node, const void *id) {
    return str_equal(container_of(node, struct group, node)->id, *(const struct str *)id);
}

struct group *groups_find(const struct groups *groups, struct str id) {
    struct hash_node *node = hashmap_find(&groups->by_id, hash_str(groups->core->hash_seed, id), group_has_id, &id);
    return node ? container_of(node, struct group, node) : NULL;
}

static void group_timer(struct timer *timer) {
    struct group *g = container_of(timer, struct group, timer);
    struct groups *groups = container_of(g->offsets.topics, struct groups, topics);
    group_tick(g, groups_now(groups), &groups->output);
    groups_group_moved(groups, g);
}

static struct group *group_make(struct groups *groups, struct str id, int32_t partition) {
    ASSERT(!groups_find(groups, id));
    struct group *g = group_create(id, core_wall_ms(groups->core), &groups->settings.limits, &groups->memory,
                                   &groups->topics, groups->core->hash_seed);
    g->partition = partition;
    timer_init(&g->timer, group_timer);
    hashmap_insert(&groups->by_id, &g->node, hash_str(groups->core->hash_seed, id));
    list_push_back(&groups->all, &g->link);
    return g;
}

void groups_say_memory_is_short(struct groups *groups) {
    if (groups->memory_is_short) return;
    groups->memory_is_short = true;
    line(groups->core, LINE_WARN, "group", "", "memory_used_up",
         "used_bytes=%zu limit_bytes=%zu reason=\"members and offsets are refused; give more with tailrace.memory\"",
         groups->memory.used_bytes, groups->memory.limit_bytes);
}

struct group *groups_create(struct groups *groups, struct str id, int32_t partition) {
    enum { GROUP_BYTES = 2048 };
    if (!group_memory_fits(&groups->memory, GROUP_BYTES + id.size)) {
        groups_say_memory_is_short(groups);
        return NULL;
    }
    return group_make(groups, id, partition);
}

struct group *groups_find_or_load(struct groups *groups, struct str id, int32_t partition) {
    struct group *g = groups_find(groups, id);
    return g ? g : group_make(groups, id, partition);
}

void groups_group_moved(struct groups *groups, struct group *g) {
    if (g->state == GROUP_DEAD || g->wake_ms == GROUP_NEVER) {
        core_timer_cancel(groups->core, &g->timer);
        return;
    }
    if (timer_is_set(&g->timer) && g->timer.deadline_ms <= g->wake_ms) return;
    uint64_t now_ms = core_now_ms(groups->core);
    core_timer_set(groups->core, &g->timer, g->wake_ms > now_ms ? g->wake_ms - now_ms : 0);
}

void groups_drop(struct groups *groups, struct group *g) {
    ASSERT(g->state == GROUP_DEAD);
    core_timer_cancel(groups->core, &g->timer);
    hashmap_remove(&groups->by_id, &g->node);
    list_remove(&g->link);
    groups->dead++;
    groups->memory_is_short = false;
    if (g->writes == 0) {
        groups->dead--;
        group_free(g);
    }
}

void groups_group_unused(struct groups *groups, struct group *g) {
    ASSERT(g->writes > 0);
    g->writes--;
    if (g->writes > 0 || g->state != GROUP_DEAD || list_is_linked(&g->link)) return;
    ASSERT(groups->dead > 0);
    groups->dead--;
    group_free(g);
}

int16_t groups_partition_state(const struct groups *groups, int32_t index) {
    if (groups->is_stopping) return KAFKA_ERROR_COORDINATOR_NOT_AVAILABLE;
    const struct group_partition *p = index >= 0 && index < groups->partition_count ? groups->partitions[index] : NULL;
    if (!p || p->is_leaving) return KAFKA_ERROR_NOT_COORDINATOR;
    return p->is_loaded ? KAFKA_ERROR_NONE : KAFKA_ERROR_COORDINATOR_LOAD_IN_PROGRESS;
}

// ---- the end
// ---------------------------------------------------------------------------------------------------------

void groups_check_stopped(struct groups *groups) {
    if (!groups->is_stopping || groups->writes > 0 || groups->loading || flow_is_active(&groups->sweep)) return;
    if (!groups->stop_flow) return;
    ASSERT(groups->dead == 0 && list_is_empty(&groups->all));
    *groups->stop_done = true;
    flow_wake(groups->stop_flow);
    groups->stop_flow = NULL;
}

void groups_stop(struct groups *groups, struct flow *flow, bool *done) {
    ASSERT(!groups->is_stopping);
    groups->is_stopping = true;
    groups->stop_flow = flow;
    groups->stop_done = done;
    image_unlisten(&groups->listener);
    if (timer_is_set(&groups->expiry)) core_timer_cancel(groups->core, &groups->expiry);
    flow_stop(&groups->sweep);
    for (int32_t i = 0; i < groups->partition_count; i++) {
        if (groups->partitions[i]) groups_unload(groups, groups->partitions[i]);
    }
    groups_check_stopped(groups);
}

void groups_free(struct groups *groups) {
    if (!groups->core) return;
    for (int32_t i = 0; i < groups->partition_count; i++)
        ASSERT(groups->partitions[i] == NULL);
    ASSERT(list_is_empty(&groups->all) && groups->writes == 0);
    free(groups->partitions);
    hashmap_free(&groups->by_id);
    offset_topics_free(&groups->topics);
    *groups = (struct groups){0};
}
