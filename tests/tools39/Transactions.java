// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes committed, aborted and open transactions of several producers, mixed with plain records (`make ADDRESS TOPIC`),
 * or prints offset and value of each record that a consumer gets (`read ADDRESS TOPIC ISOLATION OFFSET FETCH_BYTES`).
 * A failure is an exception and the exit status 1.
 */
public final class Transactions {
    private static final int PRODUCERS = 5, STEPS = 220, NEVER_ENDED_EARLY = 3, OPEN = 2;
    private final String address, topic;
    private int records;

    private Transactions(String address, String topic) {
        this.address = address;
        this.topic = topic;
    }

    private KafkaProducer<byte[], byte[]> producer(String transactionalId) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        properties.put("linger.ms", "0");
        if (transactionalId != null) {
            properties.put("transactional.id", transactionalId);
            properties.put("transaction.timeout.ms", "900000");
        }
        var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        if (transactionalId != null) producer.initTransactions();
        return producer;
    }

    private void send(KafkaProducer<byte[], byte[]> producer, int count, String what) throws Exception {
        for (int i = 0; i < count; i++) {
            byte[] value = (what + "-" + records++ + "-".repeat(100)).getBytes();
            producer.send(new ProducerRecord<>(topic, 0, null, value)).get();
        }
    }

    private static void end(KafkaProducer<byte[], byte[]> producer, boolean aborts) {
        if (aborts) producer.abortTransaction();
        else producer.commitTransaction();
    }

    private void make() throws Exception {
        Random random = new Random(7);
        List<KafkaProducer<byte[], byte[]>> producers = new ArrayList<>();
        boolean[] open = new boolean[PRODUCERS];
        for (int i = 0; i < PRODUCERS; i++) producers.add(producer("id" + i));
        var plain = producer(null);
        for (int step = 0; step < STEPS; step++) {
            int i = random.nextInt(PRODUCERS);
            if (random.nextInt(8) == 0) send(plain, 1, "plain");
            if (!open[i]) producers.get(i).beginTransaction();
            open[i] = true;
            send(producers.get(i), 1 + random.nextInt(4), "p" + i);
            if (random.nextInt(3) > 0 || (i == NEVER_ENDED_EARLY && step < STEPS / 2)) continue;
            end(producers.get(i), random.nextBoolean());
            open[i] = false;
        }
        for (int i = 0; i < PRODUCERS; i++)
            if (open[i]) end(producers.get(i), i % 2 == 0);
        send(plain, 5, "plain");
        producers.get(OPEN).beginTransaction();
        send(producers.get(OPEN), 2, "open");
        send(plain, 5, "behind");
        producers.get(0).beginTransaction();
        send(producers.get(0), 2, "aborted-behind");
        producers.get(0).abortTransaction();
        Runtime.getRuntime().halt(0); // a close would end the open one
    }

    private void read(String isolation, long offset, String fetchBytes) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        properties.put("isolation.level", isolation);
        properties.put("max.partition.fetch.bytes", fetchBytes);
        try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition partition = new TopicPartition(topic, 0);
            consumer.assign(List.of(partition));
            consumer.seek(partition, offset);
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            System.out.println("end " + end);
            while (consumer.position(partition) < end)
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1)))
                    System.out.println(record.offset() + " " + new String(record.value()));
        }
    }

    public static void main(String[] words) throws Exception {
        Transactions self = new Transactions(words[1], words[2]);
        if (words[0].equals("make")) self.make();
        else self.read(words[3], Long.parseLong(words[4]), words[5]);
    }
}
