// SPDX-License-Identifier: Apache-2.0
// Whole files: what is accepted silently, every problem and its words, modes, layers of dynamic settings.
#include "base/bits.h"
#include "config/listener.h"
#include "fixture.h"

// Kafka 3.9's own config/server.properties, without its comments.
static const char stock[] =
    "broker.id=0\nnum.network.threads=3\nnum.io.threads=8\nsocket.send.buffer.bytes=102400\n"
    "socket.receive.buffer.bytes=102400\nsocket.request.max.bytes=104857600\nlog.dirs=/tmp/kafka-logs\n"
    "num.partitions=1\nnum.recovery.threads.per.data.dir=1\noffsets.topic.replication.factor=1\n"
    "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\nlog.retention.hours=168\n"
    "log.retention.check.interval.ms=300000\nzookeeper.connect=localhost:2181\n"
    "zookeeper.connection.timeout.ms=18000\ngroup.initial.rebalance.delay.ms=0\n";

Test(config, stock_file_is_silent_standalone) {
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(&f, stock, true);
    cr_assert_not_null(c);
    cr_assert_eq(f.report.count, 0);
    cr_assert(c->is_standalone);
    cr_assert_eq(config_i64(c, CONFIG_BROKER_ID), 0);
    cr_assert_eq(config_i64(c, CONFIG_NODE_ID), 0);
    cr_assert_eq(config_i64(c, CONFIG_GROUP_INITIAL_REBALANCE_DELAY_MS), 0);
    cr_assert(str_is(config_log_dirs(c), "/tmp/kafka-logs"));
    arena_drop(&f.arena);
}

Test(config, defaults_by_mode) {
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(&f, "", false);
    cr_assert(c && c->is_standalone);
    cr_assert_eq(config_i64(c, CONFIG_OFFSETS_TOPIC_REPLICATION_FACTOR), 1);
    cr_assert_eq(config_i64(c, CONFIG_TRANSACTION_STATE_LOG_MIN_ISR), 1);
    cr_assert_eq(config_i64(c, CONFIG_TAILRACE_MEMORY), 1 << 30);
    cr_assert(str_is(config_str(c, CONFIG_TAILRACE_MODE), "standalone"));
    cr_assert_eq(config_durability(c), CONFIG_DURABILITY_FSYNC);
    cr_assert(str_is(config_log_dirs(c), "/tmp/kafka-logs"));
    c = fixture_parse(&f, "zookeeper.connect=localhost:2181", false);
    cr_assert(c && !c->is_standalone);
    cr_assert_eq(config_i64(c, CONFIG_OFFSETS_TOPIC_REPLICATION_FACTOR), 3);
    c = fixture_parse(&f, "zookeeper.connect=localhost:2181\ntailrace.mode=standalone", false);
    cr_assert(c && c->is_standalone);
    c = fixture_parse(&f, "zookeeper.connect=localhost:2181\ntailrace.mode=cluster", true);
    cr_assert(c && c->is_standalone, "the option wins");
    cr_assert_eq(c->settings[CONFIG_TAILRACE_MODE].line, CONFIG_LINE_OVERRIDE);
    cr_assert_null(fixture_parse(&f, "tailrace.mode=nosuch", true), "the option hides no mistake");
    arena_drop(&f.arena);
}

static const struct {
    const char *file, *problems;
} cases[] = {
    {"log.segment.bytes=abc", "E server.properties:1: log.segment.bytes=abc: Not a number of type INT; allowed: a "
                              "32-bit whole number, at least 14"},
    {"\nlog.segment.bytes=13", "E server.properties:2: log.segment.bytes=13: Value must be at least 14; allowed: a "
                               "32-bit whole number, at least 14"},
    {"log.segment.bytes=a\nfoo=1\nnum.partitions=0",
     "E server.properties:1: log.segment.bytes=a: Not a number of type INT; allowed: a 32-bit whole number, at least "
     "14|"
     "E server.properties:3: num.partitions=0: Value must be at least 1; allowed: a 32-bit whole number, at least 1|"
     "W server.properties:2: unknown key foo"},
    {"log.segment.byte=1", "W server.properties:1: unknown key log.segment.byte; did you mean log.segment.bytes?"},
    {"port=9092", "W server.properties:1: unknown key port; did you mean listeners?"},
    {"num.partitions=1\nnum.partitions=2",
     "W server.properties:2: num.partitions is set again; line 1 no longer counts"},
    {"x.y.z.unknown=1\nx.y.z.unknown=2", "W server.properties:2: x.y.z.unknown is set again; line 1 no longer counts|"
                                         "W server.properties:2: unknown key x.y.z.unknown"},
    {"log.cleanup.policy=delete, compact",
     "W server.properties:1: log.cleanup.policy=delete,compact: compact has no effect yet: compaction: not built"},
    {"ssl.key.password=secret", "W server.properties:1: ssl.key.password=[hidden]: no effect yet: TLS: not built"},
    {"a\\u0007=1", "W server.properties:1: unknown key a\\x07"},
    {"rsm.config.x=1\nlistener.name.plaintext.my.thing=2", ""},
    {"listener.name.plaintext.max.connections=5\nlistener.name.plaintext.num.network.threads=5",
     "W server.properties:1: listener.name.plaintext.max.connections=5: no effect yet: limits of one listener: not "
     "built"},
    {"listener.name.plaintext.ssl.key.password=x",
     "W server.properties:1: listener.name.plaintext.ssl.key.password=[hidden]: no effect yet: TLS: not built"},
    {"listener.name.plaintext.max.connections=x",
     "E server.properties:1: listener.name.plaintext.max.connections=x: Not a number of type INT; allowed: a 32-bit "
     "whole number, at least 0"},
    {"process.roles=broker,controller", "E server.properties:1: process.roles=broker,controller: refused: KRaft roles "
                                        "do not exist here: remove the line, and set zookeeper.connect, "
                                        "or start with --standalone"},
    {"authorizer.class.name=kafka.security.authorizer.AclAuthorizer",
     "E server.properties:1: authorizer.class.name=kafka.security.authorizer.AclAuthorizer: refused: this broker has "
     "no JVM and cannot load Java "
     "classes: remove the line to use what is built in"},
    {"authorizer.class.name=\nmetric.reporters=\nprocess.roles=\nssl.keystore.type=JKS\nssl.keystore.type.x=1",
     "W server.properties:5: unknown key "
     "ssl.keystore.type.x; did you mean ssl.keystore.type?"},
    {"ssl.keystore.type=PKCS12", "E server.properties:1: ssl.keystore.type=PKCS12: refused: key stores in Java's "
                                 "formats cannot be read: convert the "
                                 "store to PEM files and remove the line"},
    {"ssl.keystore.type=PEM", ""},
    {"principal.builder.class=org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder", ""},
    {"zookeeper.ssl.client.enable=true\nzookeeper.set.acl=true", ""},
    {"zookeeper.connect=a:1\nzookeeper.ssl.client.enable=true",
     "E server.properties:2: zookeeper.ssl.client.enable=true: refused: the ZooKeeper client library has no TLS: "
     "connect to a plain port of ZooKeeper "
     "on a protected network|"
     "W server.properties:1: zookeeper.connect=a:1: no effect yet: clusters of several brokers: not built"},
    {"tailrace.mode=cluster", "E server.properties:1: tailrace.mode=cluster: needs zookeeper.connect; a broker by "
                              "itself: tailrace.mode=standalone, or "
                              "--standalone"},
    {"tailrace.mode=single", "E server.properties:1: tailrace.mode=single: String must be one of: standalone, cluster; "
                             "allowed: one of standalone, cluster"},
    {"broker.id=1\nnode.id=2", "E server.properties:2: node.id=2: must be the same as broker.id, or not be set"},
    {"broker.id=1001", "E server.properties:1: broker.id=1001: must be at least -1 and not greater than "
                       "reserved.broker.max.id (ids above it are generated)"},
    {"broker.id=1001\nbroker.id.generation.enable=false", ""},
    {"broker.id.generation.enable=false",
     "E server.properties: broker.id=-1: must be at least 0 while broker.id.generation.enable=false"},
    {"node.id=5", ""},
    // Of two names for one thing, only what was written is reported.
    {"broker.id=x", "E server.properties:1: broker.id=x: Not a number of type INT; allowed: a 32-bit whole number"},
    {"node.id=x", "E server.properties:1: node.id=x: Not a number of type INT; allowed: a 32-bit whole number"},
    {"broker.id=1\nnode.id=x",
     "E server.properties:2: node.id=x: Not a number of type INT; allowed: a 32-bit whole number"},
    {"node.id=1001", "E server.properties:1: node.id=1001: must be at least -1 and not greater than "
                     "reserved.broker.max.id (ids above it are generated)"},
#define CORES_ALLOWED "allowed: a 32-bit whole number, 0 to 63"
#define BYTES_ALLOWED "allowed: a number of bytes, K, M, G or T (for example 512M), at least "
    {"tailrace.cores=0", ""},
    {"tailrace.cores=63", ""},
    {"tailrace.cores=-1", "E server.properties:1: tailrace.cores=-1: Value must be at least 0; " CORES_ALLOWED},
    {"tailrace.cores=64", "E server.properties:1: tailrace.cores=64: Value must be no more than 63; " CORES_ALLOWED},
    {"tailrace.cores=99999999999",
     "E server.properties:1: tailrace.cores=99999999999: Not a number of type INT; " CORES_ALLOWED},
    {"tailrace.cores=two", "E server.properties:1: tailrace.cores=two: Not a number of type INT; " CORES_ALLOWED},
    {"tailrace.cores=", "E server.properties:1: tailrace.cores=: Not a number of type INT; " CORES_ALLOWED},
    {"tailrace.memory=64M", ""},
    {"tailrace.memory=0",
     "E server.properties:1: tailrace.memory=0: Value must be at least 67108864; " BYTES_ALLOWED "67108864"},
    {"tailrace.memory=-1M",
     "E server.properties:1: tailrace.memory=-1M: Value must be at least 67108864; " BYTES_ALLOWED "67108864"},
    {"tailrace.memory=9000000T",
     "E server.properties:1: tailrace.memory=9000000T: Not a number of type LONG; " BYTES_ALLOWED "67108864"},
    {"tailrace.memory=9G", "W server.properties:1: tailrace.memory=9663676416: this machine has 8589934592 bytes"},
    {"tailrace.memory=",
     "E server.properties:1: tailrace.memory=: Not a number of type LONG; " BYTES_ALLOWED "67108864"},
    {"tailrace.disk.reserve.bytes=0", ""},
    {"tailrace.disk.reserve.bytes=-2",
     "E server.properties:1: tailrace.disk.reserve.bytes=-2: Value must be at least -1; " BYTES_ALLOWED "-1"},
    {"tailrace.disk.reserve.bytes=M",
     "E server.properties:1: tailrace.disk.reserve.bytes=M: Not a number of type LONG; " BYTES_ALLOWED "-1"},
    {"tailrace.durability=0", "E server.properties:1: tailrace.durability=0: String must be one of: fsync, replicated; "
                              "allowed: one of fsync, replicated"},
    {"tailrace.durability=", "E server.properties:1: tailrace.durability=: String must be one of: fsync, replicated; "
                             "allowed: one of fsync, replicated"},
    {"tailrace.mode=", "E server.properties:1: tailrace.mode=: String must be one of: standalone, cluster; "
                       "allowed: one of standalone, cluster"},
    {"log.dir=", "E server.properties:1: log.dir=: must name at least one directory"},
    {"log.dir=/a,/a\nlog.dirs=/b", ""},
    {"log.retention.ms=x",
     "E server.properties:1: log.retention.ms=x: Not a number of type LONG; allowed: a 64-bit whole number"},
    {"log.retention.minutes=0", "E server.properties:1: log.retention.minutes=0: must be -1 (no limit) or at least 1"},
    {"log.roll.hours=0", "E server.properties:1: log.roll.hours=0: Value must be at least 1; allowed: a 32-bit whole "
                         "number, at least 1"},
    {"log.roll.jitter.hours=-1", "E server.properties:1: log.roll.jitter.hours=-1: Value must be at least 0; allowed: "
                                 "a 32-bit whole number, at least 0"},
    {"log.flush.interval.ms=x",
     "E server.properties:1: log.flush.interval.ms=x: Not a number of type LONG; allowed: a 64-bit whole number"},
    {"log.dirs= , ", "E server.properties:1: log.dirs=,: must name at least one directory"},
    {"log.dirs=/a, /b,/a", "E server.properties:1: log.dirs=/a, /b,/a: names a directory twice"},
    {"log.dirs=a,/a,b,./a/", "E server.properties:1: log.dirs=a,/a,b,./a/: names a directory twice"},
    {"log.dirs=/d//a/x,/d/ab,/d/a", "E server.properties:1: log.dirs=/d//a/x,/d/ab,/d/a: one directory lies in the "
                                    "other: each must be by itself"},
    {"log.dirs=a,ab,b/a,/a", ""},
    {"tailrace.disk.reserve.bytes=-1", ""},
    {"inter.broker.protocol.version=3.8\nnum.replica.fetchers=4\nreplica.lag.time.max.ms=40000", ""},
    {"log.retention.hours=0", "E server.properties:1: log.retention.hours=0: must be -1 (no limit) or at least 1"},
    {"log.retention.hours=0\nlog.retention.ms=1", ""},
    {"log.roll.ms=0", "E server.properties:1: log.roll.ms=0: must be at least 1"},
    {"replica.fetch.wait.max.ms=30001\nreplica.lag.time.max.ms=40000",
     "E server.properties:1: replica.fetch.wait.max.ms=30001: must not be greater than "
     "replica.socket.timeout.ms=30000"},
    {"connections.max.idle.ms=100", "E server.properties:1: connections.max.idle.ms=100: must be greater than "
                                    "connection.failed.authentication.delay.ms, or below 0 for no limit"},
    {"queued.max.request.bytes=5", "E server.properties:1: queued.max.request.bytes=5: must be at least "
                                   "socket.request.max.bytes, or not above 0 for no "
                                   "limit"},
    {"max.connections.per.ip=0", "E server.properties:1: max.connections.per.ip=0: may be 0 only if "
                                 "max.connections.per.ip.overrides names exceptions"},
    {"max.connections.per.ip=0\nmax.connections.per.ip.overrides=127.0.0.1:5, host-1:6", ""},
    {"max.connections.per.ip.overrides=a",
     "E server.properties:1: max.connections.per.ip.overrides=a: must be host:count entries, comma separated"},
    {"offsets.topic.compression.codec=9", "E server.properties:1: offsets.topic.compression.codec=9: must be 0 (none), "
                                          "1 (gzip), 2 (snappy), 3 (lz4) or 4 (zstd)"},
    {"group.coordinator.rebalance.protocols=classic,consumer",
     "E server.properties:1: group.coordinator.rebalance.protocols=classic,consumer: must be classic: Kafka serves the "
     "other protocols in KRaft mode only"},
    {"listeners=PLAINTEXT//x", "E server.properties:1: listeners=PLAINTEXT//x: 'PLAINTEXT//x' is not NAME://host:port "
                               "(port 0 to 65535, IPv6 addresses "
                               "in brackets, an empty host for every interface)"},
    {"listeners=A://:1", "E server.properties:1: listeners=A://:1: no security protocol for listener 'A': add it to "
                         "listener.security.protocol.map"},
    {"listeners=SSL://:1\nsecurity.inter.broker.protocol=SSL",
     "E server.properties:1: listeners=SSL://:1: refused: listener 'SSL' has protocol SSL, but TLS and SASL are not "
     "built yet: use PLAINTEXT"},
    {"listeners=PLAINTEXT://0.0.0.0:9092",
     "E server.properties:1: listeners=PLAINTEXT://0.0.0.0:9092: nobody can connect to 0.0.0.0: set "
     "advertised.listeners to an address that clients can reach, or leave the host empty"},
    {"listeners=PLAINTEXT://0.0.0.0:9092\nadvertised.listeners=PLAINTEXT://h:9092", ""},
    {"listeners=A://:9092\nlistener.security.protocol.map=A:PLAINTEXT",
     "E server.properties: security.inter.broker.protocol=PLAINTEXT: no such listener is advertised: set "
     "inter.broker.listener.name to one of the names "
     "in listeners"},
    {"listeners=A://:9092\nlistener.security.protocol.map=a:plaintext\ninter.broker.listener.name=a", ""},
    {"listeners=A://:9092,B://"
     ":9092\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\ninter.broker.listener.name=A",
     "E server.properties:1: listeners=A://:9092,B://:9092: two listeners have the same port; only one IPv4 and one "
     "IPv6 address may"},
    {"listeners=A://127.0.0.1:9092,B://"
     "[::1]:9092\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT\ninter.broker.listener.name=A",
     ""},
    {"listeners=A://:9092,a://:9093\nlistener.security.protocol.map=A:PLAINTEXT",
     "E server.properties:1: listeners=A://:9092,a://:9093: listener 'A' is there twice"},
    {"inter.broker.listener.name=PLAINTEXT\nsecurity.inter.broker.protocol=PLAINTEXT",
     "E server.properties:1: inter.broker.listener.name=PLAINTEXT: only one of inter.broker.listener.name and "
     "security.inter.broker.protocol may be set"},
    {"advertised.listeners=OTHER://h:1\nlistener.security.protocol.map=OTHER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
     "E server.properties:1: advertised.listeners=OTHER://h:1: names a listener that listeners does not have|"
     "E server.properties: security.inter.broker.protocol=PLAINTEXT: no such listener is advertised: set "
     "inter.broker.listener.name to one of the names "
     "in listeners"},
    {"control.plane.listener.name=PLAINTEXT",
     "E server.properties:1: control.plane.listener.name=PLAINTEXT: must be an advertised listener other than "
     "the one between brokers"},
    {"early.start.listeners=PLAINTEXT", ""},
    {"early.start.listeners=X",
     "E server.properties:1: early.start.listeners=X: names a listener that listeners does not have"},
    {"group.share.heartbeat.interval.ms=1",
     "E server.properties:1: group.share.heartbeat.interval.ms=1: must not be less than "
     "group.share.min.heartbeat.interval.ms=5000"},
    {"log.cleaner.threads=0", "E server.properties:1: log.cleaner.threads=0: must be at least 1; "
                              "log.cleaner.enable=false switches compaction off|"
                              "W server.properties:1: log.cleaner.threads=0: no effect yet: compaction: not built"},
    {"a=\\u12", "E server.properties:1: \\u must be followed by four hexadecimal digits"},
};

Test(config, problems) {
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct fixture f;
        fixture_init(&f);
        char memory[4000];
        const struct config *c = fixture_parse(&f, cases[i].file, false);
        cr_assert_str_eq(fixture_problems(&f, memory, sizeof memory), cases[i].problems);
        cr_assert_eq(c != NULL, f.report.error_count == 0, "case %zu", i);
        arena_drop(&f.arena);
    }
}

Test(config, overrides_of_the_command_line) {
    struct fixture f;
    fixture_init(&f);
    struct config_entry entries[] = {{str_of("num.partitions"), str_of("5")},
                                     {str_of("log.segment.bytes"), str_of("x")}};
    struct config_options options = {.file_name = str_of("f"), .overrides = {entries, 1}};
    config_report_init(&f.report, &f.arena, options.file_name);
    const struct config *c = config_parse(&f.arena, str_of("num.partitions=3"), &options, &f.report);
    cr_assert(c && f.report.count == 0);
    cr_assert_eq(config_i64(c, CONFIG_NUM_PARTITIONS), 5);
    options.overrides.count = 2;
    cr_assert_null(config_parse(&f.arena, str_of(""), &options, &f.report));
    cr_assert_eq(f.report.problems[0].line, CONFIG_LINE_OVERRIDE);
    const char *text = "command line: log.segment.bytes=x: ";
    cr_assert_eq(strncmp(f.report.problems[0].text.data, text, strlen(text)), 0);
    arena_drop(&f.arena);
}

Test(config, report_is_bounded) {
    struct fixture f;
    fixture_init(&f);
    static char file[8000];
    struct text t = TEXT_IN(file);
    for (int i = 0; i < 500; i++) {
        text_addf(&t, "zz%d=1\n", i);
    }
    cr_assert_not_null(fixture_parse(&f, file, false));
    cr_assert_eq(f.report.count, CONFIG_REPORT_MAX);
    cr_assert_eq(f.report.warning_count, 500);
    arena_drop(&f.arena);
}

Test(config, no_memory_is_an_error) {
    for (size_t limit = 0; limit < 200000; limit += 5000) {
        struct arena small;
        arena_init(&small, limit);
        struct config_options options = {.file_name = str_of("f")};
        struct arena for_report;
        arena_init(&for_report, 1 << 20);
        struct config_report report;
        config_report_init(&report, &for_report, options.file_name);
        const struct config *c =
            config_parse(&small, str_of("num.partitions=3\nlog.cleanup.policy=delete, compact"), &options, &report);
        cr_assert_eq(c != NULL, report.error_count == 0);
        arena_drop(&small);
        arena_drop(&for_report);
    }
}

Test(config, dynamic_layers) {
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(&f, "message.max.bytes=100\nlog.retention.hours=100\nfoo.bar=1", false);
    struct config_entry cluster[] = {{str_of("message.max.bytes"), str_of("200")},
                                     {str_of("log.retention.ms"), str_of("5000")},
                                     {str_of("log.segment.bytes"), str_of("bad")}};
    struct config_entry broker[] = {{str_of("message.max.bytes"), str_of("300")}, {str_of("my.key"), str_of("v")}};
    config_report_init(&f.report, &f.arena, str_of("dynamic configuration"));
    const struct config *d =
        config_with_dynamic(&f.arena, c, (struct config_map){cluster, 3}, (struct config_map){broker, 2}, &f.report);
    cr_assert_not_null(d);
    cr_assert_eq(config_i64(d, CONFIG_MESSAGE_MAX_BYTES), 300);
    cr_assert_eq(d->settings[CONFIG_MESSAGE_MAX_BYTES].source, CONFIG_SOURCE_DYNAMIC_BROKER);
    cr_assert_eq(config_i64(d, CONFIG_LOG_RETENTION_MS), 5000);
    cr_assert_eq(config_i64(d, CONFIG_LOG_RETENTION_HOURS), 168, "pushed aside by the dynamic relative");
    cr_assert_eq(config_i64(d, CONFIG_LOG_SEGMENT_BYTES), 1 << 30);
    char memory[1000];
    cr_assert_str_eq(fixture_problems(&f, memory, sizeof memory),
                     "W dynamic configuration: log.segment.bytes=bad: Not a number of type INT; allowed: a 32-bit "
                     "whole number, at least 14");
    cr_assert_eq(d->extra_count, 2);
    // Back to the file alone, also from an image that has dynamic settings.
    const struct config *e =
        config_with_dynamic(&f.arena, d, (struct config_map){0}, (struct config_map){0}, &f.report);
    cr_assert_eq(config_i64(e, CONFIG_MESSAGE_MAX_BYTES), 100);
    cr_assert_eq(config_i64(e, CONFIG_LOG_RETENTION_HOURS), 100);
    cr_assert_eq(e->extra_count, 1);
    arena_drop(&f.arena);
}

Test(config, listeners) {
    struct fixture f;
    fixture_init(&f);
    const struct config *c = fixture_parse(
        &f,
        "listeners=internal://[::1]:0, EXTERNAL://:9094\nadvertised.listeners=EXTERNAL://broker-1:19094,"
        "INTERNAL://[fe80::1%25]:9093\nlistener.security.protocol.map=INTERNAL:PLAINTEXT, EXTERNAL:PLAINTEXT\n"
        "inter.broker.listener.name=Internal",
        false);
    char memory[600];
    struct text reason = TEXT_IN(memory);
    cr_assert_not_null(c, "%s", fixture_problems(&f, memory, sizeof memory));
    struct listener_list list;
    cr_assert(config_listeners(c, &f.arena, &list, &reason));
    cr_assert_eq(list.count, 2);
    cr_assert(str_is(list.items[0].name, "INTERNAL") && str_is(list.items[0].host, "::1"));
    cr_assert_eq(list.items[0].port, 0);
    cr_assert(str_is(list.items[1].host, ""));
    cr_assert(config_advertised_listeners(c, &f.arena, &list, &reason));
    const struct listener *external = listener_find(&list, str_of("EXTERNAL"));
    cr_assert(external && str_is(external->host, "broker-1") && external->port == 19094);
    struct str inter_broker;
    cr_assert(config_inter_broker_listener(c, &f.arena, &inter_broker, &reason));
    cr_assert(str_is(inter_broker, "INTERNAL"));
    arena_drop(&f.arena);
}

// Damaged files: any bytes may come out of a disk. Nothing may be read or written out of bounds (the sanitizers watch),
// and an image appears exactly when there is no error.
Test(config, damaged_files) {
    uint64_t random = 1;
    for (int round = 0; round < 300; round++) {
        struct fixture f;
        fixture_init(&f);
        char file[sizeof stock];
        memcpy(file, stock, sizeof stock);
        for (int i = 0; i < 1 + round % 20; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            file[(random >> 33) % (sizeof stock - 1)] = "\\u=\n\r,:#\xff\x80 \t9-"[(random >> 20) % 14];
        }
        const struct config *c = fixture_parse(&f, file, round % 2);
        cr_assert_eq(c != NULL, f.report.error_count == 0);
        arena_drop(&f.arena);
    }
}
