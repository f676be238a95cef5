// SPDX-License-Identifier: Apache-2.0
//
// The kafkajs client of the compatibility test. Happy path: as every family's program (tests/compat/README.md):
// produce, consume, member. kafkajs has no reading by assignment: `--mode assign` is a group of its own in which every
// partition is sought to its start and nothing is committed. Failure modes: an error ends the program with status 1, a
// minute without progress with 3.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const { Kafka, CompressionTypes, CompressionCodecs, Partitioners, PartitionAssigners, logLevel } = require('kafkajs');
const SnappyCodec = require('kafkajs-snappy');
const lz4 = require('lz4js');
const lz4Block = require('lz4-wasm-nodejs');
const zstd = require('@bokuweb/zstd-wasm');

const NO_PROGRESS_MS = 60000, COMMIT_EVERY_RECORDS = 20;
const LARGEST_SEND_BYTES = 900000, LARGEST_SEND_RECORDS = 200, LARGEST_INFLATED_BYTES = 64 << 20, LZ4_BLOCK_BYTES = 65536;

const options = { mode: 'assign', assignor: 'roundrobin', idempotent: '1', 'session-timeout-ms': '10000' };
const command = process.argv[2];
for (let at = 3; at + 1 < process.argv.length; at += 2) options[process.argv[at].slice(2)] = process.argv[at + 1];

// A frame of independent blocks. lz4js reads frames well but writes linked blocks, which Kafka refuses; lz4-wasm writes
// single blocks, with their inflated size in four bytes in front.
function lz4Frame(data) {
    const parts = [Buffer.from('04224d18604082', 'hex')];
    for (let at = 0; at < data.length; at += LZ4_BLOCK_BYTES) {
        const block = data.subarray(at, at + LZ4_BLOCK_BYTES);
        const packed = lz4Block.compress(block).subarray(4);
        const size = packed.length;
        const isSmaller = size < block.length;
        const length = Buffer.alloc(4);
        length.writeUInt32LE(isSmaller ? size : (block.length | 0x80000000) >>> 0);
        parts.push(length, isSmaller ? packed : block);
    }
    parts.push(Buffer.alloc(4));
    return Buffer.concat(parts);
}

CompressionCodecs[CompressionTypes.Snappy] = SnappyCodec;
CompressionCodecs[CompressionTypes.LZ4] = () => ({
    compress: async (encoder) => lz4Frame(encoder.buffer),
    decompress: async (buffer) => Buffer.from(lz4.decompress(buffer)),
});
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: async (encoder) => Buffer.from(zstd.compress(encoder.buffer, 3)),
    decompress: async (buffer) => Buffer.from(zstd.decompress(buffer, { defaultHeapSize: LARGEST_INFLATED_BYTES })),
});

const kafka = () => new Kafka({ clientId: 'kafkajs', brokers: [options.broker], logLevel: logLevel.ERROR });
const lines = (path) => fs.readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
const print = (row) => fs.writeSync(1, JSON.stringify(row) + '\n');

// ---- produce ----

function messagesOf(listPath, pack) {
    return lines(listPath).map((line) => {
        const [offset, length, timestamp, round, ...key] = line.split('\t');
        let value = null;
        if (length !== '-1') {
            value = Buffer.alloc(Number(length));
            fs.readSync(pack, value, 0, value.length, Number(offset));
        }
        return {
            key: key[0] === '\\N' ? null : Buffer.from(key.join('\t')), value, timestamp,
            headers: { family: options.family, round, twice: ['1', '2'], empty: '', binary: Buffer.from([0, 0xff, 0x80, 10]) },
        };
    });
}

async function produce() {
    const codecs = {
        none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4,
        zstd: CompressionTypes.ZSTD,
    };
    const pack = fs.openSync(options.pack);
    const producer = kafka().producer({
        idempotent: options.idempotent === '1', maxInFlightRequests: 1, createPartitioner: Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    for (const job of lines(options.jobs)) {
        const [topic, codec, list] = job.split('\t');
        const all = messagesOf(list, pack);
        let messages = [], size = 0;
        const send = async () => {
            if (messages.length > 0) await producer.send({ topic, acks: -1, compression: codecs[codec], messages });
            messages = [];
            size = 0;
        };
        for (const message of all) {
            const length = message.value === null ? 0 : message.value.length;
            if (size + length > LARGEST_SEND_BYTES || messages.length >= LARGEST_SEND_RECORDS) await send();
            messages.push(message);
            size += length;
        }
        await send();
        print({ topic, produced: all.length });
    }
    await producer.disconnect();
}

// ---- consume ----

function add(hash, data) {
    const length = Buffer.alloc(4);
    length.writeInt32BE(data === null ? -1 : data.length);
    hash.update(length);
    if (data !== null) hash.update(data);
}

function digest(message) {
    const headers = [];
    for (const [name, value] of Object.entries(message.headers)) {
        for (const one of Array.isArray(value) ? value : [value]) headers.push([name, one]);
    }
    const hash = crypto.createHash('sha256');
    add(hash, message.key);
    const count = Buffer.alloc(4);
    count.writeInt32BE(headers.length);
    hash.update(count);
    for (const [name, value] of headers) {
        add(hash, Buffer.from(name));
        add(hash, value);
    }
    add(hash, message.value);
    return hash.digest('hex');
}

async function endOffsets(admin, topics) {
    const ends = new Map();
    for (const topic of topics) {
        for (const row of await admin.fetchTopicOffsets(topic)) ends.set(`${topic} ${row.partition}`, Number(row.high));
    }
    return ends;
}

function readToEnd(consumer, topics, ends, byGroup) {
    const open = new Set([...ends].filter(([, end]) => end > 0).map(([partition]) => partition));
    let last = Date.now();
    return new Promise((done) => {
        setInterval(() => {
            if (Date.now() - last > NO_PROGRESS_MS && open.size > 0) {
                console.error('client.js: no progress for 60 s, not at their end:', [...open].slice(0, 20));
                process.exit(3);
            }
        }, 1000).unref();
        consumer.run({
            autoCommit: false, eachBatchAutoResolve: true, partitionsConsumedConcurrently: 1,
            eachBatch: async ({ batch }) => {
                let text = '';
                for (const message of batch.messages) {
                    text += JSON.stringify({
                        m: options.mode, t: batch.topic, p: batch.partition, o: Number(message.offset), ts: Number(message.timestamp),
                        h: digest(message), k: message.key === null ? null : message.key.toString(),
                    }) + '\n';
                }
                fs.writeSync(1, text);
                last = Date.now();
                const partition = `${batch.topic} ${batch.partition}`;
                if (Number(batch.lastOffset()) + 1 >= ends.get(partition)) open.delete(partition);
                if (open.size === 0) done();
            },
        });
        if (!byGroup) {
            for (const partition of ends.keys()) {
                const [topic, index] = partition.split(' ');
                consumer.seek({ topic, partition: Number(index), offset: '0' });
            }
        }
    });
}

async function consume() {
    const byGroup = options.mode === 'group';
    const topics = lines(options.topics);
    const admin = kafka().admin();
    await admin.connect();
    const ends = await endOffsets(admin, topics);
    const consumer = kafka().consumer({
        groupId: byGroup ? options.group : `${options.group}-assign`, sessionTimeout: Number(options['session-timeout-ms']),
        maxWaitTimeInMs: 100, heartbeatInterval: 500,
    });
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
    await readToEnd(consumer, topics, ends, byGroup);
    if (byGroup) {
        const offsets = [...ends].filter(([, end]) => end > 0).map(([partition, end]) => {
            const [topic, index] = partition.split(' ');
            return { topic, partition: Number(index), offset: String(end) };
        });
        await consumer.commitOffsets(offsets);
        const committed = [];
        for (const row of await admin.fetchOffsets({ groupId: options.group, topics })) {
            for (const { partition, offset } of row.partitions) committed.push([row.topic, partition, Number(offset)]);
        }
        print({ committed });
    }
    await consumer.disconnect();
    await admin.disconnect();
}

// ---- member ----

const wallNs = () => Math.round((performance.timeOrigin + performance.now()) * 1e6);

async function member() {
    const consumer = kafka().consumer({
        groupId: options.group, sessionTimeout: Number(options['session-timeout-ms']), heartbeatInterval: 300, maxWaitTimeInMs: 100,
        rebalanceTimeout: 10000, metadataMaxAge: 1000, partitionAssigners: [PartitionAssigners.roundRobin],
    });
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
        print({ e: 'assigned', at: wallNs(), p: (payload.memberAssignment[options.topics] || []).map((partition) => [partition, -1]) });
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [options.topics], fromBeginning: true });
    await consumer.run({
        autoCommit: false, eachBatchAutoResolve: false,
        eachBatch: async ({ batch, resolveOffset, heartbeat, isRunning, isStale }) => {
            for (let at = 0; at < batch.messages.length && isRunning() && !isStale(); at += COMMIT_EVERY_RECORDS) {
                const part = batch.messages.slice(at, at + COMMIT_EVERY_RECORDS);
                for (const message of part) {
                    print({ e: 'record', at: wallNs(), p: batch.partition, o: Number(message.offset), v: message.value.toString() });
                    resolveOffset(message.offset);
                }
                const next = Number(part[part.length - 1].offset) + 1;
                // An error is a rebalance that fenced us: the next owner starts from the last commit.
                await consumer.commitOffsets([{ topic: batch.topic, partition: batch.partition, offset: String(next) }]);
                print({ e: 'committed', at: wallNs(), p: [[batch.partition, next]] });
                await heartbeat();
            }
        },
    });
    await new Promise((done) => process.once('SIGTERM', done));
    await consumer.disconnect();
    print({ e: 'left', at: wallNs(), p: [] });
}

zstd.init().then({ produce, consume, member }[command]).then(() => process.exit(0), (error) => {
    console.error(error);
    process.exit(1);
});
