// SPDX-License-Identifier: Apache-2.0
// Removing a partition whose log was never loaded (it was damaged, say): its directory is renamed to -delete, durably,
// and then deleted. A crash in between leaves a -delete directory, which the next start removes. Where a full disk has
// no room for that name it is deleted as it is; the caller has noted that it is to be removed, and asks again after a
// crash, as it does where no descriptor was left for this.
#include "log/deletion.h"
#include "log/dir_name.h"
#include "log/files.h"
#include "log/internal.h"
#include "os/shortage.h"
#include <errno.h>

int64_t log_remove_run(struct os_host *host, void *argument) {
    struct log_remove *r = argument;
    char name[DIR_NAME_BYTES_MAX + 1], from[FILES_PATH_MAX], to[FILES_PATH_MAX];
    dir_name_print(name, r->topic, r->partition);
    if (!path_join(from, r->dir->path, name)) return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    dir_name_print_suffixed(name, r->topic, r->partition, os_host_random(host), os_host_random(host), "delete");
    if (!path_join(to, r->dir->path, name)) return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    bool is_deleted = false;
    int error = deletion_mark_directory(host, r->dir->path, from, to, &is_deleted);
    if (error == -ENOENT) return KAFKA_ERROR_NONE;
    if (error != 0) {
        if (!os_is_shortage(error)) log_dir_fail(r->dir, "renaming a partition's directory", error);
        return KAFKA_ERROR_KAFKA_STORAGE_ERROR;
    }
    if (!is_deleted) directory_delete(host, to); // what cannot be deleted now is deleted at the next start
    return KAFKA_ERROR_NONE;
}
