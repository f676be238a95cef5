// SPDX-License-Identifier: Apache-2.0
// Stands in for libFuzzer where the compiler has none: runs every file of the given folders through the target, and
// deterministic mutations of each. usage: fuzz_X MUTATIONS FOLDER...
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX_BYTES = 1 << 16 };

static uint64_t next_random(uint64_t *state) { // splitmix64
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void mutate(const uint8_t *input, size_t size, long mutations, uint64_t *state) {
    static uint8_t copy[INPUT_MAX_BYTES];
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
    for (long i = 0; i < mutations && size > 0; i++) {
        memcpy(copy, input, size);
        for (uint64_t changes = 1 + next_random(state) % 4; changes > 0; changes--) {
            uint64_t r = next_random(state);
            copy[r % size] = r >> 63 ? (uint8_t)(r >> 32) : odd[(r >> 32) % sizeof odd];
        }
        LLVMFuzzerTestOneInput(copy, next_random(state) % 4 ? size : next_random(state) % size);
    }
}

static long run_folder(const char *folder, long mutations, uint64_t *state) {
    static uint8_t input[INPUT_MAX_BYTES];
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    long files = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        FILE *file = entries[i]->d_name[0] != '.' ? fopen(path, "rb") : NULL;
        free(entries[i]);
        if (!file) continue;
        size_t size = fread(input, 1, sizeof input, file);
        fclose(file);
        LLVMFuzzerTestOneInput(input, size);
        mutate(input, size, mutations, state);
        files++;
    }
    if (count >= 0) free(entries);
    return files;
}

int main(int argc, char **argv) {
    uint64_t state = 1;
    long files = 0;
    for (int i = 2; i < argc; i++)
        files += run_folder(argv[i], atol(argv[1]), &state);
    printf("%ld inputs\n", files);
    return files > 0 ? 0 : 1;
}
