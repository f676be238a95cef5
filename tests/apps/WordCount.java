// SPDX-License-Identifier: Apache-2.0
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Properties;
import java.util.Scanner;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Materialized;

/**
 * Counts the words of the topic `words` into the topic `counts`, through a repartition topic and a store with a changelog:
 * `WordCount ADDRESS`. Instances of the application are started (`start DIRECTORY`) and closed (`stop`, the oldest one) by
 * lines of standard input; each line is answered with one, once it is done. The end of the input ends it.
 */
public final class WordCount {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final long LOOK_MS = 20;

    private WordCount() {}

    private static KafkaStreams start(String address, String directory) throws InterruptedException {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", address);
        properties.put("application.id", "word-count");
        // A static member: Streams does not leave its group when it is closed, so another one would be waited for.
        properties.put("group.instance.id", directory.substring(directory.lastIndexOf('/') + 1));
        properties.put("state.dir", directory);
        properties.put("default.key.serde", Serdes.StringSerde.class);
        properties.put("default.value.serde", Serdes.StringSerde.class);
        properties.put("commit.interval.ms", "200");
        properties.put("auto.offset.reset", "earliest");
        StreamsBuilder builder = new StreamsBuilder();
        builder.<String, String>stream("words")
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word)
            .count(Materialized.as("store"))
            .toStream()
            .mapValues(String::valueOf)
            .to("counts");
        var streams = new KafkaStreams(builder.build(properties), properties);
        streams.setUncaughtExceptionHandler(failure -> {
            failure.printStackTrace();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.start();
        for (long end = System.nanoTime() + LIMIT.toNanos(); streams.state() != KafkaStreams.State.RUNNING;) {
            if (System.nanoTime() > end) throw new IllegalStateException("still " + streams.state());
            Thread.sleep(LOOK_MS);
        }
        return streams;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Deque<KafkaStreams> instances = new ArrayDeque<>();
        for (var input = new Scanner(System.in); input.hasNextLine();) {
            String[] words = input.nextLine().split(" ", 2);
            if (words[0].equals("start")) {
                instances.add(start(arguments[0], words[1]));
                System.out.println("started");
            } else {
                System.out.println(instances.remove().close(LIMIT) ? "closed" : "not closed in time");
            }
        }
        System.exit(0);
    }
}
