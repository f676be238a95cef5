// SPDX-License-Identifier: Apache-2.0
// A broker: from a configuration to cores, directories, metadata, listeners; and back.
//
//   start.c   directories -> metadata store -> controller -> listeners -> ready
//   stop.c    listeners -> connections -> controller -> logs -> checkpoints -> clean-shutdown markers -> cores
#pragma once

#include "config/config.h"
#include "os/os.h"

struct broker;
struct broker_options {
    struct os_host *host;
    const struct config *config; // stays as long as the broker
    // Told when the broker serves clients, or that it cannot (reason says why): on the control core, once. May be NULL.
    void (*ready)(void *context, struct broker *broker, const char *failure);
    // Told when all that is left is to end the process: on the control core. May be NULL.
    void (*stopped)(void *context, struct broker *broker, int exit_status);
    void *context;
    uint64_t validation_cost_max_ns; // api/validation.h; 0: the usual
};
// NULL with the reason when the engine cannot be had or the configuration asks for something impossible. Nothing is
// touched on disk yet.
struct broker *broker_create(const struct broker_options *options, char reason[static 256]);
// Runs all cores; returns the exit status when the broker has stopped. In the simulator: registers the cores and
// returns at once.
int broker_run(struct broker *broker);
// Asks for an orderly stop; a second time: at once. Control core only (signals arrive there).
void broker_stop(struct broker *broker);
void broker_destroy(struct broker *broker);

// For the ready message and tests: the address of the first listener as bound. Valid once ready.
const struct os_address *broker_address(const struct broker *broker);
int broker_data_cores(const struct broker *broker);
