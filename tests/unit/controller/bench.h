// SPDX-License-Identifier: Apache-2.0
// A controller on an embedded store in a temporary directory, with two data cores and replicas that are played by the
// test. All cores are turned by the test's thread.
#pragma once

#include "config/config.h"
#include "controller/controller.h"
#include "metastore/embedded.h"
#include "os/linux/host.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// The disk, as far as the controller can see it: which partition is in which directory. It outlives a bench.
enum { DISK_MAX = 512 };
struct disk {
    struct {
        char topic[256];
        int partition, dir;
    } at[DISK_MAX];
    int count;
};

struct bench {
    struct os_host *host;
    struct core_set *set;
    struct core *control;
    char directory[64], path[128];
    struct arena arena;
    const struct config *config;
    struct image_publisher *publisher;
    struct metastore *store;
    struct controller *controller;
    struct disk *disk;
    // What the replicas do.
    int16_t become_error, stop_error;
    bool hold; // orders are kept until released
    struct controller_replica *held[DISK_MAX];
    int held_count, become_count, stop_count;
    bool dir_failed[4];
    // What was told.
    bool started, failed;
    int16_t started_error;
    char cluster_id[64], reason[512];
};

void bench_open(struct bench *b, struct disk *disk, const char *properties);
// Ends the controller and the store in an orderly way, and starts them again on the same file and disk.
void bench_restart(struct bench *b);
void bench_stop(struct bench *b);
void bench_start(struct bench *b); // after stop; waits until started
void bench_begin(struct bench *b); // the same without waiting
void bench_close(struct bench *b); // after stop
void bench_turn(struct bench *b);
void bench_release(struct bench *b, int16_t error); // answers the orders that are held

// A request from data core 0, awaited.
void bench_ask(struct bench *b, struct controller_request *request);
struct asked {
    struct controller_request request;
    struct arena arena;
    bool answered;
};
void asked_send(struct bench *b, struct asked *a); // request filled; arena and answered are set here
void asked_free(struct asked *a);

const struct image *bench_image(struct bench *b);
const struct image_topic *bench_topic(struct bench *b, const char *name);
// Makes a topic; its error.
int16_t bench_create(struct bench *b, const char *name, int partitions);
int16_t bench_delete(struct bench *b, const char *name);
// The data of a node as text; "" for null data; NULL: no such node. Static memory.
const char *bench_node(struct bench *b, const char *path);
bool disk_has(const struct disk *disk, const char *topic, int partition);
