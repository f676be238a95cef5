// SPDX-License-Identifier: Apache-2.0
// Golden bytes of record batches, made by Kafka's MemoryRecordsBuilder: every codec, magic 0, 1 and 2, plain, idempotent,
// transactional, with LogAppendTime, and a transaction marker. One line each: label, magic, codec, count, bytes in
// hexadecimal. The content follows from the record's index i: key "key-i", null if i % 3 == 2; value "value-i " i + 1
// times, null if i % 4 == 3; timestamp 1000000 + 10 * i if i is even, else 999000 - i; in magic 2, i % 3 headers "h0",
// "h1" with the values "v" and null.
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.EndTransactionMarker;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MemoryRecordsBuilder;
import org.apache.kafka.common.record.TimestampType;

public class Batches {
    static void add(MemoryRecordsBuilder builder, int i, byte magic) {
        byte[] key = i % 3 == 2 ? null : ("key-" + i).getBytes();
        byte[] value = i % 4 == 3 ? null : ("value-" + i + " ").repeat(i + 1).getBytes();
        long timestamp = i % 2 == 0 ? 1000000 + 10 * i : 999000 - i;
        Header[] headers = {new RecordHeader("h0", "v".getBytes()), new RecordHeader("h1", (byte[]) null)};
        if (magic == 2) {
            builder.append(timestamp, key, value, Arrays.copyOf(headers, i % 3));
        } else {
            builder.append(magic == 0 ? -1 : timestamp, key, value);
        }
    }

    static void print(PrintStream out, String label, int magic, CompressionType codec, int count, MemoryRecords records) {
        ByteBuffer buffer = records.buffer();
        out.println(label + " " + magic + " " + codec.id + " " + count + " " + Messages.hex(buffer));
    }

    static MemoryRecords build(byte magic, CompressionType codec, TimestampType type, long producerId, boolean transactional,
                               int count) {
        long now = type == TimestampType.LOG_APPEND_TIME ? 5000000 : -1;
        short epoch = (short) (producerId < 0 ? -1 : 3);
        int sequence = producerId < 0 ? -1 : Integer.MAX_VALUE - 1;
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1 << 16), magic, Compression.of(codec).build(), type,
            0L, now, producerId, epoch, sequence, transactional, 7);
        for (int i = 0; i < count; i++) add(builder, i, magic);
        return builder.build();
    }

    public static void main(String[] args) throws Exception {
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, "UTF-8")) {
            for (CompressionType codec : CompressionType.values()) {
                for (byte magic = 0; magic <= 2; magic++) {
                    if (magic < 2 && codec == CompressionType.ZSTD) continue;
                    for (int count : new int[] {1, 12})
                        print(out, "plain", magic, codec, count, build(magic, codec, TimestampType.CREATE_TIME, -1, false, count));
                }
                print(out, "idempotent", 2, codec, 5, build((byte) 2, codec, TimestampType.CREATE_TIME, 42, false, 5));
                print(out, "transactional", 2, codec, 5, build((byte) 2, codec, TimestampType.CREATE_TIME, 42, true, 5));
                print(out, "append_time", 2, codec, 5, build((byte) 2, codec, TimestampType.LOG_APPEND_TIME, -1, false, 5));
            }
            print(out, "marker", 2, CompressionType.NONE, 1,
                MemoryRecords.withEndTransactionMarker(9L, 5000000L, 7, 42, (short) 3,
                    new EndTransactionMarker(ControlRecordType.COMMIT, 11)));
        }
    }
}
