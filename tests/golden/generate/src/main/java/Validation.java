// SPDX-License-Identifier: Apache-2.0
// What Kafka's own LogValidator says to made-up record sets: good ones, damaged headers and records with a right checksum,
// and the same compressed. One line each: Produce version, LogAppendTime, compacted, timestamp bounds before and after,
// error code, "rebuilt" (Kafka wrote the records anew), maximum timestamp, checksum after validation, indexes of refused
// records, bytes in hexadecimal. The clock stands at 1,000,000.
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.CompressionType;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.RecordBatch;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.utils.BufferSupplier;
import org.apache.kafka.common.utils.ByteBufferOutputStream;
import org.apache.kafka.common.utils.Crc32C;
import org.apache.kafka.common.utils.PrimitiveRef;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.common.MetadataVersion;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogValidator;
import org.apache.kafka.storage.internals.log.RecordValidationException;

public class Validation {
    static final long NOW = 1000000;
    static final Time CLOCK = new Time() {
        public long milliseconds() { return NOW; }
        public long nanoseconds() { return NOW * 1000000; }
        public void sleep(long ms) { }
        public void waitObject(Object obj, Supplier<Boolean> condition, long deadlineMs) { }
    };
    static final LogValidator.MetricsRecorder NO_METRICS = new LogValidator.MetricsRecorder() {
        public void recordInvalidMagic() { }
        public void recordInvalidOffset() { }
        public void recordInvalidSequence() { }
        public void recordInvalidChecksums() { }
        public void recordNoKeyCompactedTopic() { }
    };

    static Random RANDOM = new Random(39);

    // Puts the size and checksum right, so that what was changed is looked at.
    static void repair(ByteBuffer b) {
        if (b.get(16) == 2) {
            b.putInt(8, b.limit() - 12);
            b.putInt(17, (int) Crc32C.compute(b, 21, b.limit() - 21));
        } else {
            int size = Math.min(b.limit() - 12, Math.max(14, b.getInt(8)));
            CRC32 crc = new CRC32();
            crc.update(b.array(), 16, size - 4);
            b.putInt(12, (int) crc.getValue());
        }
    }

    static ByteBuffer copy(ByteBuffer in, int extra) {
        ByteBuffer out = ByteBuffer.allocate(in.remaining() + extra);
        out.put(in.duplicate());
        return out;
    }

    static ByteBuffer compress(ByteBuffer plain, CompressionType codec) throws Exception {
        ByteBufferOutputStream bytes = new ByteBufferOutputStream(4096);
        try (var out = Compression.of(codec).build().wrapForOutput(bytes, (byte) 2)) {
            out.write(plain.array(), 61, plain.limit() - 61);
        }
        ByteBuffer records = bytes.buffer();
        records.flip();
        ByteBuffer b = ByteBuffer.allocate(61 + records.remaining());
        b.put(plain.array(), 0, 61).put(records).flip();
        b.putShort(21, (short) (b.getShort(21) & ~7 | codec.id));
        repair(b);
        return b;
    }

    static void mutateHeader(ByteBuffer b) {
        switch (RANDOM.nextInt(9)) {
            case 0: b.putLong(0, RANDOM.nextInt(3) - 1); break;
            case 1: b.put(22, (byte) (b.get(22) ^ 1 << 3 + RANDOM.nextInt(4))); break;
            case 2: b.putInt(23, b.getInt(23) + RANDOM.nextInt(3) - 1); break;
            case 3: b.putLong(27, RANDOM.nextInt(4) == 0 ? -1 : NOW + RANDOM.nextInt(2000) - 1000); break;
            case 4: b.putLong(35, RANDOM.nextInt(3) == 0 ? -1 : NOW + RANDOM.nextInt(2000)); break;
            case 5: b.putLong(43, RANDOM.nextInt(3) - 2); break;
            case 6: b.putInt(53, RANDOM.nextInt(3) - 2); break;
            case 7: b.putInt(57, b.getInt(57) + RANDOM.nextInt(3) - 1); break;
            default: b.put(21, (byte) RANDOM.nextInt()); break;
        }
    }

    static ByteBuffer make(int magic) throws Exception {
        CompressionType[] codecs = CompressionType.values();
        CompressionType codec = codecs[RANDOM.nextInt(magic == 2 ? 5 : 4)];
        ByteBuffer b = copy(Batches.build((byte) magic, magic == 2 ? CompressionType.NONE : codec, TimestampType.CREATE_TIME,
            magic == 2 && RANDOM.nextInt(3) == 0 ? 5 : -1, false, 1 + RANDOM.nextInt(4)).buffer(), 0);
        b.flip();
        if (magic == 2) b.putInt(12, -1);
        if (magic == 2 && RANDOM.nextInt(2) == 0) mutateHeader(b);
        int from = magic == 2 ? 61 : 17;
        if (RANDOM.nextInt(2) == 0) b.put(from + RANDOM.nextInt(Math.min(30, b.limit() - from)), (byte) (RANDOM.nextInt(24) - 4));
        if (RANDOM.nextInt(20) != 0) repair(b);
        if (magic == 2 && codec != CompressionType.NONE) b = compress(b, codec);
        if (RANDOM.nextInt(12) == 0) { // something behind it
            ByteBuffer more = copy(b, 70);
            more.put(b.array(), 0, Math.min(b.limit(), RANDOM.nextInt(70)));
            more.flip();
            b = more;
        }
        return b;
    }

    static String judge(ByteBuffer b, short version, boolean appendTime, boolean compacted, long before, long after) {
        int code = 0;
        String rebuilt = "kept", indexes = "-";
        long max = -1, crc = 0;
        try {
            MemoryRecords records = MemoryRecords.readableRecords(b);
            ProduceRequest.validateRecords(version, records);
            CompressionType source = CompressionType.NONE;
            for (RecordBatch batch : records.batches()) {
                if (batch.magic() >= 2 && batch.baseOffset() != 0) throw new InvalidRecordException("base offset");
                batch.ensureValid();
                source = batch.compressionType();
            }
            LogValidator.ValidationResult result = new LogValidator(records, new TopicPartition("t", 0), CLOCK, source,
                Compression.of(source).build(), compacted, (byte) 2, appendTime ? TimestampType.LOG_APPEND_TIME : TimestampType.CREATE_TIME,
                before, after, 7, AppendOrigin.CLIENT, MetadataVersion.latestProduction())
                .validateMessagesAndAssignOffsets(PrimitiveRef.ofLong(0), NO_METRICS, BufferSupplier.NO_CACHING);
            rebuilt = result.messageSizeMaybeChanged ? "rebuilt" : "kept";
            max = result.maxTimestampMs;
            crc = result.validatedRecords.batches().iterator().next().checksum();
        } catch (RecordValidationException e) {
            code = Errors.forException(e.invalidException()).code();
            List<Integer> list = e.recordErrors().stream().map(r -> r.batchIndex).collect(Collectors.toList());
            indexes = list.stream().map(String::valueOf).collect(Collectors.joining(","));
        } catch (Throwable e) {
            code = Errors.forException(e).code();
        }
        return code + " " + rebuilt + " " + max + " " + crc + " " + indexes;
    }

    // Arguments: the output, and for a longer run how many and which seed.
    public static void main(String[] args) throws Exception {
        int count = args.length > 1 ? Integer.parseInt(args[1]) : 1500;
        if (args.length > 2) RANDOM = new Random(Long.parseLong(args[2]));
        try (PrintStream out = new PrintStream(Files.newOutputStream(Path.of(args[0])), false, "UTF-8")) {
            for (int i = 0; i < count; i++) {
                int magic = i % 5 == 0 ? RANDOM.nextInt(2) : 2;
                short version = (short) (magic == 2 ? (RANDOM.nextInt(5) == 0 ? RANDOM.nextInt(12) : 11) : RANDOM.nextInt(20) == 0 ? 3 : 2);
                boolean appendTime = RANDOM.nextInt(4) == 0, compacted = RANDOM.nextInt(4) == 0;
                long before = RANDOM.nextInt(4) == 0 ? 500 : Long.MAX_VALUE, after = RANDOM.nextInt(4) == 0 ? 15 : Long.MAX_VALUE;
                ByteBuffer b = make(magic);
                String hex = Messages.hex(b);
                out.println(version + " " + (appendTime ? 1 : 0) + " " + (compacted ? 1 : 0) + " " + before + " " + after + " "
                    + judge(b, version, appendTime, compacted, before, after) + " " + hex);
            }
        }
    }
}
