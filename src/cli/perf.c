// SPDX-License-Identifier: Apache-2.0
// tailrace perf: measures a broker through librdkafka, with the options of Kafka's own performance tools.
#include "cli/perf.h"
#include "base/bits.h"
#include <stdio.h>

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} tools[] = {{"producer", perf_producer}, {"consumer", perf_consumer}, {"e2e", perf_e2e}};

static int help(void) {
    printf("usage: tailrace perf producer|consumer|e2e [options]\n\n"
           "Measures a broker, Tailrace or Kafka, with the options of Kafka's performance tools.\n\n"
           "  producer   as kafka-producer-perf-test: throughput, and latency up to the acknowledgement\n"
           "  consumer   as kafka-consumer-perf-test: throughput\n"
           "  e2e        as kafka-e2e-latency: latency from sending a record to receiving it\n\n"
           "'tailrace perf producer --help' shows the options of a tool.\n\n"
           "example: tailrace perf producer --bootstrap-server localhost:9092 --topic test --num-records 100000 "
           "--record-size 1000 --throughput -1\n");
    return cli_finish_output("tailrace perf") ? CLI_OK : CLI_FAILED;
}

int command_perf(int argc, char **argv) {
    if (argc < 2) return cli_usage_error(argv[0], "producer, consumer or e2e?");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return help();
    for (size_t i = 0; i < ARRAY_LENGTH(tools); i++) {
        if (strcmp(argv[1], tools[i].name) != 0) continue;
        char name[32];
        snprintf(name, sizeof name, "perf %s", tools[i].name);
        argv[1] = name; // what messages call the command
        return tools[i].run(argc - 1, argv + 1);
    }
    return cli_usage_error(argv[0], "unknown tool '%s': producer, consumer and e2e are allowed", argv[1]);
}
