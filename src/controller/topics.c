// SPDX-License-Identifier: Apache-2.0
// What creating topics and creating partitions share: the first leaders, and the nodes.
#include "controller/elect.h"
#include "controller/internal.h"

struct bytes overrides_encode(struct arena *a, struct config_map overrides) {
    struct znode_setting *settings = arena_alloc_array(a, overrides.count, sizeof *settings);
    ASSERT(settings != NULL);
    for (size_t i = 0; i < overrides.count; i++)
        settings[i] = (struct znode_setting){overrides.entries[i].key, overrides.entries[i].value};
    return znode_settings_encode(a, &(struct znode_settings){settings, overrides.count});
}

struct bytes topic_encode(struct arena *a, const struct image_topic *topic) {
    struct znode_topic node = {.partition_count = (size_t)topic->partition_count};
    struct znode_replicas *rows = arena_alloc_array(a, node.partition_count, sizeof *rows);
    ASSERT(rows != NULL);
    for (int32_t p = 0; p < topic->partition_count; p++)
        rows[p] = (struct znode_replicas){p, topic->partitions[p].replicas, topic->partitions[p].replica_count};
    node.partitions = rows;
    uuid_print(topic->id, node.id);
    return znode_topic_encode(a, &node);
}

// A replica that is here can serve if it has a directory; on other brokers, if the broker lives.
static int32_t alive_replicas(struct controller *c, const struct image_partition *partition, int32_t *alive) {
    int32_t count = 0;
    for (int32_t i = 0; i < partition->replica_count; i++) {
        int32_t id = partition->replicas[i];
        bool serves =
            id == c->options.broker_id ? !partition->offline : image_broker_by_id(controller_image(c), id) != NULL;
        if (serves) alive[count++] = id;
    }
    return count;
}

void topic_elect_new(struct controller *c, struct image_topic *topic, int32_t first) {
    for (int32_t index = first; index < topic->partition_count; index++) {
        struct image_partition *partition = image_partition_edit(topic, index);
        // Where a directory of that name was left over, its creation is refused: a second one elsewhere would keep the
        // broker from the next start.
        replica_place(c, partition, c->options.replicas->find(c->options.context, topic->name, index));
        int32_t alive[INT16_MAX + 1], isr[INT16_MAX + 1];
        ASSERT(partition->replica_count <= INT16_MAX);
        const struct elect_partition decide = {.replicas = partition->replicas,
                                               .replica_count = partition->replica_count,
                                               .is_new = true,
                                               .alive = alive,
                                               .alive_count = alive_replicas(c, partition, alive)};
        struct elect_result result = elect_leader(&decide, isr);
        partition->leader = result.leader;
        partition->leader_epoch = result.leader >= 0 ? result.leader_epoch : -1;
        partition->controller_epoch = c->epoch;
        partition->partition_epoch = 0;
        image_partition_set_isr(partition, isr, result.isr_count);
    }
}

bool topic_lacks_leader(const struct image_topic *topic) {
    for (int32_t p = 0; p < topic->partition_count; p++)
        if (!image_partition_had_leader(&topic->partitions[p])) return true;
    return false;
}

void topic_write_partitions(struct controller *c, struct arena *a, struct write_set *set,
                            const struct image_topic *topic, int32_t first) {
    struct metastore_write *write = NULL;
    for (int32_t index = first; index < topic->partition_count; index++) {
        const struct image_partition *partition = &topic->partitions[index];
        if (!write || write->count + 2 > CONTROLLER_CHANGES_A_WRITE_MAX) {
            size_t left = (size_t)(topic->partition_count - index) * 2;
            write = write_begin_fenced(c, a, set, min_size(left, CONTROLLER_CHANGES_A_WRITE_MAX));
        }
        write_add(write, metastore_create_node(arena_partition_path(a, topic->name, index), (struct bytes){0}, 0));
        if (partition->leader < 0) continue; // its state is written when it gets its first leader
        const struct znode_state state = {.leader = partition->leader,
                                          .leader_epoch = partition->leader_epoch,
                                          .controller_epoch = partition->controller_epoch,
                                          .isr = partition->isr,
                                          .isr_count = partition->isr_count};
        write_add(write,
                  metastore_create_node(arena_state_path(a, topic->name, index), znode_state_encode(a, &state), 0));
    }
}

void topic_write_new(struct controller *c, struct arena *a, struct flow *flow, const struct image_topic *topic,
                     struct topic_nodes *nodes) {
    char path[ZNODE_PATH_SIZE];
    nodes->writes = (struct write_set){0};
    struct metastore_write *write = write_begin_fenced(c, a, &nodes->writes, 3);
    znode_path(path, ZNODE_TOPIC_CONFIGS, topic->name);
    struct bytes config = overrides_encode(a, topic->overrides);
    write_add(write, nodes->config_exists ? metastore_set_node(arena_path(a, path), config, METASTORE_ANY_VERSION)
                                          : metastore_create_node(arena_path(a, path), config, 0));
    znode_topic_path(path, topic->name);
    write_add(write, metastore_create_node(arena_path(a, path), topic_encode(a, topic), 0));
    znode_partitions_path(path, topic->name);
    write_add(write, metastore_create_node(arena_path(a, path), (struct bytes){0}, 0));
    // A topic of usual size is one write; it exists with all its partitions or not at all.
    if ((size_t)topic->partition_count * 2 + 4 <= CONTROLLER_CHANGES_A_WRITE_MAX) {
        struct write_set partitions = {0};
        topic_write_partitions(c, a, &partitions, topic, 0);
        struct metastore_write *rest = partitions.first ? &partitions.first->write : NULL;
        struct metastore_change *changes =
            arena_alloc_array(a, write->count + (rest ? rest->count : 0), sizeof *changes);
        ASSERT(changes != NULL);
        memcpy(changes, write->changes, write->count * sizeof *changes);
        write->changes = changes;
        for (size_t i = 1; rest && i < rest->count; i++)
            write_add(write, rest->changes[i]);
    } else {
        topic_write_partitions(c, a, &nodes->writes, topic, 0);
    }
    writes_start(&nodes->writes, c, flow);
}
