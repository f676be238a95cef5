// SPDX-License-Identifier: Apache-2.0
// The APIs that this broker serves, by key. What is here is advertised with all versions of Kafka 3.9; what is not here
// closes the connection.
#include "api/handlers.h"
#include "protocol/messages.h"

static const struct api_handler API_HANDLERS[] = {
    {API_KEY_PRODUCE, false, sizeof(struct produce_request), handle_produce},
    {API_KEY_FETCH, false, sizeof(struct fetch_request), handle_fetch},
    {API_KEY_LIST_OFFSETS, false, sizeof(struct list_offsets_request), handle_list_offsets},
    {API_KEY_METADATA, false, sizeof(struct metadata_request), handle_metadata},
    {API_KEY_API_VERSIONS, true, sizeof(struct api_versions_request), handle_api_versions},
    {API_KEY_CREATE_TOPICS, false, sizeof(struct create_topics_request), handle_create_topics},
};

size_t api_handler_count(void) {
    return ARRAY_LENGTH(API_HANDLERS);
}

const struct api_handler *api_handler_at(size_t index) {
    ASSERT(index < ARRAY_LENGTH(API_HANDLERS));
    return &API_HANDLERS[index];
}

const struct api_handler *api_handler_by_key(int16_t key) {
    size_t low = 0, high = ARRAY_LENGTH(API_HANDLERS);
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (API_HANDLERS[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < ARRAY_LENGTH(API_HANDLERS) && API_HANDLERS[low].key == key ? &API_HANDLERS[low] : NULL;
}
