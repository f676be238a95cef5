// SPDX-License-Identifier: Apache-2.0
// A version is a release ("2.8") and the number of its last protocol change ("-IV1"); without that number the last one
// is meant.
#include "config/kafka_version.h"
#include "base/bits.h"
#include "base/text.h"

// Each release with its highest IV number; -1: it is written without one.
static const struct {
    const char *release;
    int last_change;
} releases[] = {
    {"0.8.0", -1}, {"0.8.1", -1}, {"0.8.2", -1}, {"0.9.0", -1}, {"0.10.0", 1}, {"0.10.1", 2},
    {"0.10.2", 0}, {"0.11.0", 2}, {"1.0", 0},    {"1.1", 0},    {"2.0", 1},    {"2.1", 2},
    {"2.2", 1},    {"2.3", 1},    {"2.4", 1},    {"2.5", 0},    {"2.6", 0},    {"2.7", 2},
    {"2.8", 1},    {"3.0", 1},    {"3.1", 0},    {"3.2", 0},    {"3.3", 3},    {"3.4", 0},
    {"3.5", 2},    {"3.6", 2},    {"3.7", 4},    {"3.8", 0},    {"3.9", 0},    {"4.0", 1},
};

// The first `count` numbers of "a.b.c.d".
static struct str first_numbers(struct str version, int count) {
    for (size_t i = 0; i < version.size; i++) {
        if (version.data[i] == '.' && --count == 0) return (struct str){version.data, i};
    }
    return version;
}

bool kafka_version_is_known(struct str version) {
    struct str release = version;
    int64_t change = -1;
    for (size_t i = 0; i + 3 <= version.size; i++) {
        if (memcmp(version.data + i, "-IV", 3) != 0) continue;
        if (!parse_i64((struct str){version.data + i + 3, version.size - i - 3}, 0, 9, &change)) return false;
        release.size = i;
    }
    bool before_1_0 = release.size > 1 && release.data[0] == '0' && release.data[1] == '.';
    if (change < 0) release = first_numbers(release, before_1_0 ? 3 : 2);
    for (size_t i = 0; i < ARRAY_LENGTH(releases); i++) {
        if (str_is(release, releases[i].release)) return change <= releases[i].last_change;
    }
    return false;
}
