// SPDX-License-Identifier: Apache-2.0
import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.CommitFailedException;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client of the compatibility test, compiled against each version of kafka-clients under test.
 *
 * <p>Happy path: as every family's program (tests/compat/README.md): produce, consume, member. Failure modes: an
 * exception ends the program with status 1 and its stack trace; no progress for a minute ends it with status 3.
 */
public final class Client {
    private static final long NO_PROGRESS_MS = 60_000;
    private static final int COMMIT_EVERY_RECORDS = 20;
    private static final long COMMIT_EVERY_MS = 200;

    private final Map<String, String> options = new HashMap<>();
    private final PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);

    private Client(String[] arguments) {
        options.putAll(Map.of("mode", "assign", "assignor", "range", "idempotent", "1", "session-timeout-ms", "10000"));
        for (int at = 1; at + 1 < arguments.length; at += 2) options.put(arguments[at].substring(2), arguments[at + 1]);
    }

    public static void main(String[] arguments) throws Exception {
        Client client = new Client(arguments);
        switch (arguments[0]) {
            case "produce" -> client.produce();
            case "consume" -> client.consume();
            case "member" -> client.member();
            default -> throw new IllegalArgumentException("unknown command " + arguments[0]);
        }
        client.out.flush();
    }

    // ---- produce ----

    private void produce() throws Exception {
        for (String job : Files.readAllLines(Path.of(options.get("jobs")))) {
            String[] words = job.split("\t");
            produceList(words[0], words[1], Path.of(words[2]));
        }
    }

    private void produceList(String topic, String codec, Path list) throws Exception {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", options.get("broker"));
        settings.put("compression.type", codec);
        settings.put("acks", "all");
        settings.put("linger.ms", "5");
        settings.put("enable.idempotence", options.get("idempotent").equals("1") ? "true" : "false");
        settings.put("max.request.size", "2000000");
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (var producer = new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
             var pack = new RandomAccessFile(options.get("pack"), "r")) {
            for (String line : Files.readAllLines(list)) {
                String[] words = line.split("\t", 5);
                byte[] value = null;
                if (!words[1].equals("-1")) {
                    value = new byte[Integer.parseInt(words[1])];
                    pack.seek(Long.parseLong(words[0]));
                    pack.readFully(value);
                }
                byte[] key = words[4].equals("\\N") ? null : bytes(words[4]);
                sent.add(producer.send(new ProducerRecord<>(topic, null, Long.parseLong(words[2]), key, value, headers(words[3]))));
            }
            for (Future<RecordMetadata> future : sent) future.get();
        }
        out.println("{\"topic\":\"" + topic + "\",\"produced\":" + sent.size() + "}");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private List<Header> headers(String round) {
        return List.of(new RecordHeader("family", bytes(options.get("family"))), new RecordHeader("round", bytes(round)),
                       new RecordHeader("twice", bytes("1")), new RecordHeader("twice", bytes("2")), new RecordHeader("empty", new byte[0]),
                       new RecordHeader("binary", new byte[] {0, (byte) 0xff, (byte) 0x80, '\n'}));
    }

    // ---- consume ----

    private static void add(MessageDigest digest, byte[] data) {
        digest.update(ByteBuffer.allocate(4).putInt(data == null ? -1 : data.length).array());
        if (data != null) digest.update(data);
    }

    private static String digest(ConsumerRecord<byte[], byte[]> record) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        add(digest, record.key());
        Header[] headers = record.headers().toArray();
        digest.update(ByteBuffer.allocate(4).putInt(headers.length).array());
        for (Header header : headers) {
            add(digest, bytes(header.key()));
            add(digest, header.value());
        }
        add(digest, record.value());
        return HexFormat.of().formatHex(digest.digest());
    }

    private static String quoted(byte[] data) {
        if (data == null) return "null";
        return '"' + new String(data, StandardCharsets.UTF_8).replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private KafkaConsumer<byte[], byte[]> consumer(String group) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", options.get("broker"));
        if (group != null) settings.put("group.id", group);
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        settings.put("session.timeout.ms", options.get("session-timeout-ms"));
        settings.put("heartbeat.interval.ms", "300");
        settings.put("fetch.max.wait.ms", "100");
        settings.put("metadata.max.age.ms", "1000");
        settings.put("group.protocol", "classic");
        String[] name = {"range", "Range", "roundrobin", "RoundRobin", "cooperative-sticky", "CooperativeSticky"};
        int at = Arrays.asList(name).indexOf(options.get("assignor"));
        settings.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + name[at + 1] + "Assignor");
        if (options.containsKey("instance-id")) settings.put("group.instance.id", options.get("instance-id"));
        return new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private void consume() throws Exception {
        boolean byGroup = options.get("mode").equals("group");
        List<String> topics = Files.readAllLines(Path.of(options.get("topics")));
        try (var consumer = consumer(byGroup ? options.get("group") : null)) {
            List<TopicPartition> partitions = new ArrayList<>();
            for (String topic : topics) {
                for (PartitionInfo info : consumer.partitionsFor(topic)) partitions.add(new TopicPartition(topic, info.partition()));
            }
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            if (byGroup) {
                consumer.subscribe(topics);
            } else {
                consumer.assign(partitions);
                consumer.seekToBeginning(partitions);
            }
            readToEnd(consumer, ends);
            if (byGroup) {
                consumer.commitSync();
                printCommitted(consumer.committed(new HashSet<>(partitions)));
            }
        }
    }

    private void readToEnd(KafkaConsumer<byte[], byte[]> consumer, Map<TopicPartition, Long> ends) throws Exception {
        Set<TopicPartition> open = new HashSet<>();
        ends.forEach((partition, end) -> { if (end > 0) open.add(partition); });
        long lastProgressMs = System.currentTimeMillis();
        while (!open.isEmpty()) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                out.println("{\"m\":\"" + options.get("mode") + "\",\"t\":\"" + record.topic() + "\",\"p\":" + record.partition()
                            + ",\"o\":" + record.offset() + ",\"ts\":" + record.timestamp() + ",\"h\":\"" + digest(record) + "\",\"k\":"
                            + quoted(record.key()) + "}");
                lastProgressMs = System.currentTimeMillis();
                TopicPartition partition = new TopicPartition(record.topic(), record.partition());
                if (record.offset() + 1 >= ends.get(partition)) open.remove(partition);
            }
            if (System.currentTimeMillis() - lastProgressMs > NO_PROGRESS_MS) {
                System.err.println("Client.java: no progress for 60 s, not at their end: " + open);
                out.flush();
                System.exit(3);
            }
        }
    }

    private void printCommitted(Map<TopicPartition, OffsetAndMetadata> committed) {
        List<String> rows = new ArrayList<>();
        committed.forEach((partition, found) -> rows.add(
            "[\"" + partition.topic() + "\"," + partition.partition() + "," + (found == null ? -1 : found.offset()) + "]"));
        out.println("{\"committed\":[" + String.join(",", rows) + "]}");
    }

    // ---- member ----

    private static long wallNs() {
        Instant now = Instant.now();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    private void printEvent(String event, Map<TopicPartition, Long> partitions) {
        String rows = partitions.entrySet().stream().map(row -> "[" + row.getKey().partition() + "," + row.getValue() + "]")
            .collect(Collectors.joining(","));
        out.println("{\"e\":\"" + event + "\",\"at\":" + wallNs() + ",\"p\":[" + rows + "]}");
        out.flush();
    }

    private void commitPosition(KafkaConsumer<byte[], byte[]> consumer) {
        Map<TopicPartition, OffsetAndMetadata> commit = new HashMap<>();
        Map<TopicPartition, Long> shown = new HashMap<>();
        for (TopicPartition partition : consumer.assignment()) {
            long position = consumer.position(partition);
            commit.put(partition, new OffsetAndMetadata(position));
            shown.put(partition, position);
        }
        if (commit.isEmpty()) return;
        try {
            consumer.commitSync(commit);
        } catch (CommitFailedException | RebalanceInProgressException fenced) {
            return; // the next owner starts from the last commit
        }
        printEvent("committed", shown);
    }

    private final class Listener implements ConsumerRebalanceListener {
        private final KafkaConsumer<byte[], byte[]> consumer;

        Listener(KafkaConsumer<byte[], byte[]> consumer) {
            this.consumer = consumer;
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            print("assigned", partitions);
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            commitPosition(consumer);
            print("revoked", partitions);
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            print("revoked", partitions);
        }

        private void print(String event, Collection<TopicPartition> partitions) {
            printEvent(event, partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> -1L)));
        }
    }

    private void member() throws Exception {
        KafkaConsumer<byte[], byte[]> consumer = consumer(options.get("group"));
        CountDownLatch done = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                done.await();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }));
        try {
            memberLoop(consumer);
        } catch (WakeupException stopping) {
            commitPosition(consumer);
            consumer.close();
            printEvent("left", Map.of());
        } finally {
            done.countDown();
        }
    }

    private void memberLoop(KafkaConsumer<byte[], byte[]> consumer) {
        consumer.subscribe(List.of(options.get("topics")), new Listener(consumer));
        int sinceCommit = 0;
        long lastCommitMs = System.currentTimeMillis();
        while (true) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                out.println("{\"e\":\"record\",\"at\":" + wallNs() + ",\"p\":" + record.partition() + ",\"o\":" + record.offset()
                            + ",\"v\":" + quoted(record.value()) + "}");
                sinceCommit++;
            }
            out.flush();
            if (sinceCommit >= COMMIT_EVERY_RECORDS || sinceCommit > 0 && System.currentTimeMillis() - lastCommitMs > COMMIT_EVERY_MS) {
                commitPosition(consumer);
                sinceCommit = 0;
                lastCommitMs = System.currentTimeMillis();
            }
        }
    }
}
