// SPDX-License-Identifier: Apache-2.0
// Maintenance of a log: each kind is a task of its own with a flow; this file starts them and ends them.
#include "log/internal.h"

static void work_answer(struct log_work *work, int16_t error) {
    work->error = error;
    work->done = true;
    flow_wake(work->flow);
}

void log_work_start(struct log *log, struct log_work *work) {
    work->done = false;
    work->error = KAFKA_ERROR_NONE;
    if (log->closer || log_dir_is_failed(log->dir)) {
        work_answer(work, log->closer ? KAFKA_ERROR_NOT_LEADER_OR_FOLLOWER : KAFKA_ERROR_KAFKA_STORAGE_ERROR);
        return;
    }
    switch (work->kind) {
    case LOG_TRUNCATE:
    case LOG_RESTART: log_truncate_start(log, work); return;
    case LOG_DELETE_RECORDS:
    case LOG_APPLY_RETENTION:
    case LOG_EXPIRE_PRODUCERS: log_retain_start(log, work); return;
    case LOG_CHECKPOINT: log_save_start(log, work); return;
    }
    UNREACHABLE();
}

void log_task_start(struct log_task *task, struct log *log, const struct flow_type *type, struct log_work *work) {
    task->log = log;
    task->work = work;
    log->readers++;
    flow_start(&task->flow, type, log->core);
    flow_op_init(&task->op, &task->flow);
}

void log_task_end(struct log_task *task) {
    struct log *log = task->log;
    log_turn_give(&log->writer_turn, &task->writer);
    log_turn_give(&log->maintenance, &task->maintenance);
    flush_await_no_more(&task->flush_wait);
    flush_resume(log);
    if (task->work) work_answer(task->work, task->flow.error);
    log_reader_ends(log);
}
