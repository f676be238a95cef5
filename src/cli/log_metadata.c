// SPDX-License-Identifier: Apache-2.0
// The file of the embedded metadata store: is it sound, and what it holds.
#include "cli/log_commands.h"
#include "log/files.h"
#include "metastore/metafile.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { METADATA_BYTES_MAX = 1 << 30 };

// A reader of `bytes` has a tree of its own; free it in any case.
static void load_tree(struct os_host *host, struct bytes bytes, struct tree *tree, struct metafile_load *load) {
    *load = (struct metafile_load){0};
    tree_init(tree, os_host_random(host));
    metafile_load(tree, bytes.data, bytes.size, load);
}

void log_verify_metadata(struct os_host *host, const char *directory, bool is_clean,
                         const struct inspect_listener *listener) {
    char path[4096], what[128], *data;
    size_t size;
    int error = path_join(path, directory, LOG_METADATA_FILE)
                    ? file_read_all(host, path, METADATA_BYTES_MAX, &data, &size)
                    : -ENAMETOOLONG;
    if (error == -ENOENT) return; // Kafka's, or another log directory than the first
    if (error < 0) {
        listener->unreadable(listener->context, directory, LOG_METADATA_FILE, error);
        return;
    }
    struct tree tree;
    struct metafile_load load;
    load_tree(host, (struct bytes){(const uint8_t *)data, size}, &tree, &load);
    tree_free(&tree);
    free(data);
    struct inspect_finding finding = {.directory = directory, .file = LOG_METADATA_FILE, .byte = -1, .text = what};
    if (!load.ok) {
        finding.is_damage = true;
        finding.text = load.reason;
        listener->finding(listener->context, &finding);
    } else if (load.valid_bytes < size) {
        finding.byte = (int64_t)load.valid_bytes;
        finding.is_damage = is_clean;
        snprintf(what, sizeof what, "%" PRIu64 " bytes of an unfinished write", size - load.valid_bytes);
        listener->finding(listener->context, &finding);
    }
}

static void print_node(const struct log_dump *dump, const struct tree_node *n) {
    const struct metastore_stat *s = &n->stat;
    const struct tailrace_bytes data = {n->data, n->data ? s->data_size : 0};
    char modified[LOG_TIME_TEXT_BYTES];
    if (dump->json) {
        fputs("{\"path\":", stdout);
        log_print_string(log_text(n->path));
        printf(",\"version\":%" PRId32 ",\"czxid\":%" PRId64 ",\"mzxid\":%" PRId64 ",\"modifiedMs\":%" PRId64
               ",\"ephemeralOwner\":%" PRId64 ",\"data\":",
               s->version, s->czxid, s->mzxid, s->modified_ms, s->ephemeral_owner);
        log_print_value(data, dump->value_format);
        fputs("}\n", stdout);
        return;
    }
    log_print_string(log_text(n->path));
    printf(" version %" PRId32 " zxid %" PRId64 " modified %s%s data ", s->version, s->mzxid,
           log_time_text(s->modified_ms, modified), s->ephemeral_owner != 0 ? " ephemeral" : "");
    log_print_value(data, dump->value_format);
    putchar('\n');
}

bool log_dump_metadata(struct log_dump *dump, struct bytes bytes, struct text *reason) {
    struct tree tree;
    struct metafile_load load;
    load_tree(dump->host, bytes, &tree, &load);
    if (load.ok) {
        struct tree_node **nodes = tree_sorted(&tree);
        for (size_t i = 0; i < tree.nodes.count && dump->printed < dump->range.limit; i++, dump->printed++)
            print_node(dump, nodes[i]);
        free(nodes);
    } else {
        text_addf(reason, "%s", load.reason);
    }
    tree_free(&tree);
    return load.ok;
}
