// SPDX-License-Identifier: Apache-2.0
#include "script.h"
#include "base/text.h"
#include "tailrace/error.h"
#include <criterion/criterion.h>
#include <stdio.h>

struct words {
    char text[512];
    char *word[24];
    int count;
};

static void split(struct words *w, const char *text) {
    snprintf(w->text, sizeof w->text, "%s", text);
    w->count = 0;
    for (char *p = strtok(w->text, " "); p; p = strtok(NULL, " "))
        w->word[w->count++] = p;
}

// NULL: not given.
static const char *value_of(const struct words *w, const char *key) {
    size_t size = strlen(key);
    for (int i = 1; i < w->count; i++) {
        if (strncmp(w->word[i], key, size) == 0 && w->word[i][size] == '=') return w->word[i] + size + 1;
    }
    return NULL;
}
static struct str text_or(const struct words *w, const char *key, const char *otherwise) {
    const char *value = value_of(w, key);
    return str_of(value ? value : otherwise);
}
static int32_t number_or(const struct words *w, const char *key, int32_t otherwise) {
    const char *value = value_of(w, key);
    return value ? atoi(value) : otherwise;
}

static void say(struct script *s, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    text_addf(&s->out, "%s%s", s->out.size > 0 ? "; " : "", line);
}

static void join_answered(struct group_output *output, struct group *g, void *request,
                          const struct group_join_answer *a) {
    struct script *s = container_of(output, struct script, output);
    if (a->error != KAFKA_ERROR_NONE) {
        say(s, "%s=%s id=%.*s", (char *)request, kafka_error_name(a->error), (int)a->member_id.size, a->member_id.data);
        return;
    }
    char members[256] = "";
    if (a->with_members) {
        struct text text = TEXT_IN(members);
        LIST_FOREACH (link, &g->members) {
            const struct group_member *m = container_of(link, struct group_member, link);
            const struct group_protocol *p = member_protocol(m, a->protocol_name);
            text_addf(&text, "%s%.*s:%.*s", text.size > 0 ? "," : " members=", (int)m->id.size, m->id.data,
                      (int)p->metadata.size, (const char *)p->metadata.data);
        }
    }
    say(s, "%s=joined id=%.*s generation=%d protocol=%.*s leader=%.*s%s%s", (char *)request, (int)a->member_id.size,
        a->member_id.data, a->generation, (int)a->protocol_name.size, a->protocol_name.data, (int)a->leader.size,
        a->leader.data, members, a->skip_assignment ? " skip" : "");
}

static void sync_answered(struct group_output *output, struct group *g, void *request,
                          const struct group_sync_answer *a) {
    (void)g;
    struct script *s = container_of(output, struct script, output);
    if (a->error != KAFKA_ERROR_NONE) {
        say(s, "%s=%s", (char *)request, kafka_error_name(a->error));
    } else {
        say(s, "%s=synced %.*s", (char *)request, (int)a->assignment.size, (const char *)a->assignment.data);
    }
}

static void store(struct group_output *output, struct group *g, uint64_t id) {
    (void)g;
    say(container_of(output, struct script, output), "store %llu", (unsigned long long)id);
}

static void changed(struct group_output *output, struct group *g, enum group_state before, const char *why,
                    struct str member_id) {
    (void)before, (void)why, (void)member_id;
    say(container_of(output, struct script, output), "%s", group_state_name(g->state));
}

void script_begin(struct script *s) {
    *s = (struct script){.output = {join_answered, sync_answered, store, changed},
                         .memory = {0, 1 << 20},
                         .limits = {6000, 1800000, INT32_MAX, 3000},
                         .time = {1000000, 1700000000000}};
    offset_topics_init(&s->topics, 1, &s->memory);
    s->group = group_create(str_of("g"), s->time.wall_ms, &s->limits, &s->memory, &s->topics, 1);
}

static void *request_of(struct script *s, const char *name) {
    for (int i = 0; i < s->request_count; i++) {
        if (strcmp(s->requests[i], name) == 0) return s->requests[i];
    }
    cr_assert_lt(s->request_count, 64);
    snprintf(s->requests[s->request_count], sizeof s->requests[0], "%s", name);
    return s->requests[s->request_count++];
}

static void run_join(struct script *s, const struct words *w) {
    struct group_protocol protocols[8];
    int32_t count = 0;
    char list[256];
    snprintf(list, sizeof list, "%s", text_or(w, "protocols", "range:x").data);
    for (char *save, *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        char *colon = strchr(p, ':');
        if (colon) *colon = '\0';
        struct str metadata = str_of(colon ? colon + 1 : "");
        protocols[count++] = (struct group_protocol){str_of(p), {(const uint8_t *)metadata.data, metadata.size}};
    }
    const struct group_join join = {
        .request = request_of(s, w->word[1]),
        .member_id = text_or(w, "id", ""),
        .instance_id = text_or(w, "instance", NULL),
        .client_id = text_or(w, "client", "c"),
        .client_host = str_of("/127.0.0.1"),
        .protocol_type = text_or(w, "type", "consumer"),
        .protocols = protocols,
        .protocol_count = count,
        .session_timeout_ms = number_or(w, "session", 10000),
        .rebalance_timeout_ms = number_or(w, "rebalance", 60000),
        .requires_member_id = number_or(w, "v", 9) >= 4,
        .can_skip_assignment = number_or(w, "v", 9) >= 9,
        .new_member_id = text_or(w, "new", "unused"),
    };
    int16_t error = group_check_session_timeout(&s->limits, join.session_timeout_ms);
    if (error != KAFKA_ERROR_NONE) return say(s, "%s", kafka_error_name(error));
    group_join(s->group, &join, s->time, &s->output);
}

static void run_sync(struct script *s, const struct words *w) {
    struct sync_group_request_assignment assignments[8];
    int32_t count = 0;
    char list[256];
    snprintf(list, sizeof list, "%s", text_or(w, "assign", "").data);
    for (char *save, *p = strtok_r(list, ",", &save); p; p = strtok_r(NULL, ",", &save)) {
        char *colon = strchr(p, ':');
        *colon = '\0';
        assignments[count++] =
            (struct sync_group_request_assignment){str_of(p), {(const uint8_t *)colon + 1, strlen(colon + 1)}};
    }
    const struct group_sync sync = {
        .request = request_of(s, w->word[1]),
        .member_id = text_or(w, "id", ""),
        .instance_id = text_or(w, "instance", NULL),
        .generation = number_or(w, "generation", 1),
        .protocol_type = text_or(w, "type", NULL),
        .protocol_name = text_or(w, "protocol", NULL),
        .assignments = assignments,
        .assignment_count = count,
    };
    group_sync(s->group, &sync, s->time, &s->output);
}

static void run_is(struct script *s, const struct words *w) {
    const struct group *g = s->group;
    for (int i = 1; i < w->count; i++) {
        const char *key = w->word[i];
        if (strcmp(key, "members") == 0) say(s, "%d", g->member_count);
        if (strcmp(key, "generation") == 0) say(s, "%d", g->generation);
        if (strcmp(key, "awaiting") == 0) say(s, "%d", g->awaiting_join_count);
        if (strcmp(key, "pending") == 0) say(s, "%d", g->pending_count);
        if (strcmp(key, "leader") == 0) say(s, "%.*s", (int)g->leader_id.size, g->leader_id.data);
        if (strcmp(key, "state") == 0) say(s, "%s", group_state_name(g->state));
    }
}

static void run_event(struct script *s, const struct words *w) {
    const char *event = w->word[0];
    struct str id = text_or(w, "id", ""), instance = text_or(w, "instance", NULL);
    int32_t generation = number_or(w, "generation", 1);
    if (strcmp(event, "join") == 0) return run_join(s, w);
    if (strcmp(event, "sync") == 0) return run_sync(s, w);
    if (strcmp(event, "is") == 0) return run_is(s, w);
    if (strcmp(event, "beat") == 0)
        return say(s, "%s", kafka_error_name(group_heartbeat(s->group, id, instance, generation, s->time)));
    if (strcmp(event, "commit") == 0)
        return say(s, "%s", kafka_error_name(group_check_commit(s->group, id, instance, generation, s->time)));
    if (strcmp(event, "leave") == 0) {
        int16_t error = group_leave(s->group, id, instance, s->time, &s->output);
        return say(s, "%s", kafka_error_name(error));
    }
    if (strcmp(event, "stored") == 0) {
        return group_stored(s->group, (uint64_t)atoi(w->word[1]),
                            w->count > 2 ? (int16_t)atoi(w->word[2]) : KAFKA_ERROR_NONE, s->time, &s->output);
    }
    if (strcmp(event, "wait") == 0) { // as a driver would: wakes when it is told to
        uint64_t until_ms = s->time.now_ms + (uint64_t)atoi(w->word[1]);
        while (s->group->wake_ms <= until_ms) {
            uint64_t step_ms = s->group->wake_ms > s->time.now_ms ? s->group->wake_ms - s->time.now_ms : 0;
            s->time.now_ms += step_ms;
            s->time.wall_ms += (int64_t)step_ms;
            group_tick(s->group, s->time, &s->output);
        }
        s->time.wall_ms += (int64_t)(until_ms - s->time.now_ms);
        s->time.now_ms = until_ms;
        return;
    }
    if (strcmp(event, "forget") == 0) return group_forget(s->group, request_of(s, w->word[1]));
    if (strcmp(event, "limit") == 0) {
        s->limits.size_max = number_or(w, "size", INT32_MAX);
        s->limits.initial_rebalance_delay_ms = number_or(w, "delay", 3000);
        return;
    }
    if (strcmp(event, "kill") == 0) return group_kill(s->group, KAFKA_ERROR_NOT_COORDINATOR, s->time, &s->output);
    cr_assert_fail("no such event: %s", event);
}

void script_run(struct script *s, const struct script_row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct words w;
        split(&w, rows[i].event);
        s->out = TEXT_IN(s->out_memory);
        run_event(s, &w);
        cr_assert_str_eq(s->out.data, rows[i].expect, "row %zu: %s\n  expected: %s\n  got:      %s", i + 1,
                         rows[i].event, rows[i].expect, s->out.data);
    }
}

void script_end(struct script *s) {
    if (s->group->state != GROUP_DEAD) group_kill(s->group, KAFKA_ERROR_NOT_COORDINATOR, s->time, &s->output);
    group_free(s->group);
    offset_topics_free(&s->topics);
    cr_assert_eq(s->memory.used_bytes, 0);
}
