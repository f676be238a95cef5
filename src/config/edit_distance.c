// SPDX-License-Identifier: Apache-2.0
// Damerau-Levenshtein distance (each substring edited once) by the usual table, of which three rows are kept.
#include "config/edit_distance.h"
#include "base/bits.h"

size_t edit_distance(struct str a, struct str b, size_t limit) {
    if (a.size > EDIT_DISTANCE_NAME_MAX || b.size > EDIT_DISTANCE_NAME_MAX) return limit;
    if ((a.size > b.size ? a.size - b.size : b.size - a.size) >= limit) return limit;
    size_t rows[3][EDIT_DISTANCE_NAME_MAX + 1];
    for (size_t j = 0; j <= b.size; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a.size; i++) {
        const size_t *above = rows[(i - 1) % 3];
        const size_t *two_above = rows[(i + 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t change = above[j - 1] + (a.data[i - 1] != b.data[j - 1]);
            row[j] = min_size(change, min_size(above[j], row[j - 1]) + 1);
            bool swapped = i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
            if (swapped) row[j] = min_size(row[j], two_above[j - 2] + 1);
        }
    }
    return min_size(rows[a.size % 3][b.size], limit);
}
