// SPDX-License-Identifier: Apache-2.0
// SIGUSR1: each data core writes a line for each kind of flow that it counts, with how often each step ran and how long
// in all.
//
// A core answers the control core before it can be asked again, so that signals in a row cannot flood the log.
#include "base/assert.h"
#include "base/text.h"
#include "broker/internal.h"
#include "core/line.h"

enum { STEPS_LINE_BYTES = 512 }; // what core/line.c takes: seven steps of 70 bytes

static void steps_write(struct core *core, const struct flow_stats *stats) {
    const struct flow_type *type = stats->type;
    if (!type) return; // no such flow has run on this core
    char memory[STEPS_LINE_BYTES];
    struct text details = TEXT_IN(memory);
    for (int i = 0; i < type->step_count; i++) {
        text_addf(&details, "%s%s=%llu/%lluus", details.size > 0 ? " " : "", type->steps[i].name,
                  (unsigned long long)stats->count[i], (unsigned long long)(stats->time_ns[i] / 1000));
    }
    ASSERT(!details.truncated);
    line(core, LINE_INFO, "steps", type->name, "counted", "%s", details.data);
}

static void steps_written(struct core *control, struct message *message) {
    (void)control;
    container_of(message, struct broker_core, steps_message)->steps_asked = false;
}

static void steps_asked(struct core *core, struct message *message) {
    for (int slot = FLOW_STATS_NONE + 1; slot < FLOW_STATS_SLOTS; slot++)
        steps_write(core, &core->stats[slot]);
    core_send(core, core_control(core->set)->id, message, steps_written);
}

void broker_tell_steps(struct broker *b) {
    for (int i = 0; i < b->data_cores; i++) {
        struct broker_core *c = &b->cores[i];
        if (c->steps_asked) continue;
        c->steps_asked = true;
        core_send(b->control, i, &c->steps_message, steps_asked);
    }
}
