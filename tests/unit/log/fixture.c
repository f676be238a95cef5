// SPDX-License-Identifier: Apache-2.0
#include "fixture.h"
#include "base/hashmap.h"
#include "base/text.h"
#include "log/files.h"
#include "os/linux/host.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void fixture_open(struct fixture *f) {
    const char *base = getenv("TMPDIR");
    snprintf(f->path, sizeof f->path, "%s/tailrace-test-XXXXXX", base && strlen(base) < 80 ? base : "/tmp");
    cr_assert_not_null(mkdtemp(f->path));
    f->host = os_host_create();
    cr_assert_not_null(f->host);
}

void fixture_close(struct fixture *f) {
    cr_assert_eq(directory_delete(f->host, f->path), 0);
    os_host_destroy(f->host);
}

const char *fixture_path(const struct fixture *f, const char *name) {
    static char ring[8][1024];
    static unsigned next;
    char *path = ring[next++ % 8];
    snprintf(path, sizeof ring[0], "%s/%s", f->path, name);
    return path;
}

void fixture_write(const struct fixture *f, const char *name, const void *data, size_t size_bytes) {
    cr_assert_eq(file_write(f->host, f->path, name, data, size_bytes, false), 0, "%s", name);
}

void fixture_write_text(const struct fixture *f, const char *name, const char *text) {
    fixture_write(f, name, text, strlen(text));
}

char *fixture_read(const struct fixture *f, const char *name, size_t *size_bytes) {
    char *data;
    size_t size;
    if (file_read_all(f->host, fixture_path(f, name), 64 << 20, &data, &size) < 0) return NULL;
    if (size_bytes) *size_bytes = size;
    return data;
}

bool fixture_has(const struct fixture *f, const char *name) {
    struct os_stat stat;
    return os_stat(f->host, fixture_path(f, name), &stat) == 0;
}

void fixture_mkdir(const struct fixture *f, const char *name) {
    cr_assert_eq(os_mkdir(f->host, fixture_path(f, name)), 0, "%s", name);
}

uint64_t fixture_digest(const struct fixture *f, const char *name) {
    struct name_list list;
    uint64_t digest = 1;
    cr_assert_eq(name_list_read(f->host, fixture_path(f, name), &list), 0);
    for (size_t i = 0; i < list.count; i++) {
        char inside[512];
        struct os_stat stat;
        snprintf(inside, sizeof inside, "%s/%s", name, list.names[i]);
        digest = hash_bytes(digest, list.names[i], strlen(list.names[i]));
        cr_assert_eq(os_stat(f->host, fixture_path(f, inside), &stat), 0);
        if (stat.is_directory) {
            digest += fixture_digest(f, inside);
            continue;
        }
        size_t size;
        char *data = fixture_read(f, inside, &size);
        cr_assert_not_null(data);
        digest = hash_bytes(digest, data, size);
        free(data);
    }
    name_list_free(&list);
    return digest;
}
