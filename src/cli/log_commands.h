// SPDX-License-Identifier: Apache-2.0
// The parts of `tailrace log`: each gets the arguments behind its name (argv[0] is the name) and the machine's files.
#pragma once

#include "cli/cli.h"
#include "cli/log_print.h"

int log_command_ls(struct os_host *host, int argc, char **argv);
int log_command_dump(struct os_host *host, int argc, char **argv);
int log_command_verify(struct os_host *host, int argc, char **argv);

// What of a log is asked for.
struct log_range {
    int64_t from_offset, to_offset;   // both inclusive
    int64_t from_time_ms, to_time_ms; // both inclusive
    int64_t limit;                    // so many batches, or records if those are printed
};
struct log_dump {
    struct os_host *host;
    struct log_range range;
    bool records, json;
    enum log_value_format key_format, value_format;
    bool is_offsets; // the topic is __consumer_offsets (or the user says so): keys and values are decoded
    int64_t printed;
};
// One file of batches. CLI_OK, or CLI_FAILED when it is damaged or cannot be read.
int log_dump_batches(struct log_dump *dump, const char *path, int64_t base_offset);
// Any other file that brokers keep: indexes, snapshots, epochs, checkpoints, metadata. CLI_USAGE: not such a file.
int log_dump_small_file(struct log_dump *dump, const char *path);

// The embedded metadata store's, in the first log directory of a standalone broker.
#define LOG_METADATA_FILE "tailrace.metadata"
// A line a node, in the order of the paths. False: damaged, and why.
bool log_dump_metadata(struct log_dump *dump, struct bytes bytes, struct text *reason);
// Finds what is wrong with it, if `directory` has one. An unfinished write at its end is damage if the broker was
// stopped well.
void log_verify_metadata(struct os_host *host, const char *directory, bool is_clean,
                         const struct inspect_listener *listener);

// Reads the directory at `path`, a log directory or a partition's, whatever it is. False, and said so, if that fails.
bool log_open_directory(struct os_host *host, const char *command, const char *path, struct inspect_dir *dir,
                        const struct inspect_listener *listener);
// Says on standard error what went wrong with a path; returns CLI_FAILED.
int log_path_error(const char *command, const char *path, int error);
int log_file_error(const char *command, const char *directory, const char *file, int error);
// The last part of a path.
const char *log_base_name(const char *path);
