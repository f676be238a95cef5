// SPDX-License-Identifier: Apache-2.0
// 43 bytes, without a newline at the end, as Kafka writes it. A version above 0 is read as well: what it adds is
// unknown.
#include "log/partition_metadata.h"
#include "base/assert.h"
#include "log/files.h"
#include <errno.h>
#include <stdlib.h>

enum { FILE_BYTES_MAX = 4096 };

// Takes the value of "<key>: <value>" off the front of the text.
static bool take_line(struct str *rest, const char *key, struct str *value) {
    struct str k = str_of(key);
    if (rest->size < k.size + 2 || memcmp(rest->data, k.data, k.size) != 0 || memcmp(rest->data + k.size, ": ", 2) != 0)
        return false;
    const char *begin = rest->data + k.size + 2;
    size_t left = rest->size - k.size - 2;
    const char *newline = memchr(begin, '\n', left);
    *value = (struct str){begin, newline ? (size_t)(newline - begin) : left};
    size_t taken = value->size + (newline ? 1 : 0);
    *rest = (struct str){begin + taken, left - taken};
    return true;
}

bool partition_metadata_parse(struct str text, struct uuid *topic_id, struct text *reason) {
    struct str value;
    int64_t version;
    if (!take_line(&text, "version", &value) || !parse_i64(value, 0, INT32_MAX, &version)) {
        text_addf(reason, "line 1 must be \"version: 0\"");
        return false;
    }
    if (!take_line(&text, "topic_id", &value) || !uuid_parse(value, topic_id)) {
        text_addf(reason, "line 2 must be \"topic_id: \" and an id of 22 letters");
        return false;
    }
    if (!uuid_is_zero(*topic_id)) return true;
    text_addf(reason, "line 2: the topic id is zero");
    return false;
}

int partition_metadata_read(struct os_host *host, const char *directory, struct uuid *topic_id, struct text *reason) {
    char path[FILES_PATH_MAX], *data;
    size_t size;
    *topic_id = (struct uuid){{0}};
    if (!path_join(path, directory, PARTITION_METADATA_FILE)) return -ENAMETOOLONG;
    int error = file_read_all(host, path, FILE_BYTES_MAX, &data, &size);
    if (error == -ENOENT) return 0;
    if (error == -EFBIG) text_addf(reason, "more than %d bytes", FILE_BYTES_MAX);
    if (error < 0) return error == -EFBIG ? -EINVAL : error;
    bool good = partition_metadata_parse((struct str){data, size}, topic_id, reason);
    free(data);
    return good ? 0 : -EINVAL;
}

int partition_metadata_write(struct os_host *host, const char *directory, struct uuid topic_id) {
    ASSERT(!uuid_is_zero(topic_id));
    char id[UUID_TEXT_SIZE + 1], memory[80];
    struct text t = TEXT_IN(memory);
    uuid_print(topic_id, id);
    text_addf(&t, "version: 0\ntopic_id: %s", id);
    ASSERT(!t.truncated);
    return file_replace(host, directory, PARTITION_METADATA_FILE, memory, t.size);
}
