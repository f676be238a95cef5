// SPDX-License-Identifier: Apache-2.0

// The franz-go client of the compatibility test. Happy path: as every family's program: produce, consume, member.
// Failure modes: an error ends the program with status 1, a minute without progress with 3.
package main

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"tailrace.tests/compat/common"
)

var background = context.Background()

func produce(options common.Options) {
	codecs := map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(),
		"lz4":    kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
	common.EachJob(options, func(topic, codec string, records []common.Record) {
		settings := []kgo.Opt{kgo.SeedBrokers(options.Broker), kgo.ProducerBatchCompression(codecs[codec]),
			kgo.ProducerLinger(5 * time.Millisecond),
			kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.DefaultProduceTopic(topic)}
		if options.Idempotent != "1" {
			settings = append(settings, kgo.DisableIdempotentWrite())
		}
		client, err := kgo.NewClient(settings...)
		common.Must(err)
		for _, record := range records {
			sent := &kgo.Record{Key: record.Key, Value: record.Value, Timestamp: record.Time}
			for _, header := range record.Headers {
				sent.Headers = append(sent.Headers, kgo.RecordHeader{Key: header.Key, Value: header.Value})
			}
			client.Produce(background, sent, func(_ *kgo.Record, err error) { common.Must(err) })
		}
		common.Must(client.Flush(background))
		client.Close()
	})
}

func endOffsets(client *kgo.Client, topics []string) map[common.Partition]int64 {
	found, err := kadm.NewClient(client).ListEndOffsets(background, topics...)
	common.Must(err)
	common.Must(found.Error())
	ends := map[common.Partition]int64{}
	found.Each(func(row kadm.ListedOffset) {
		ends[common.Partition{Topic: row.Topic, Index: row.Partition}] = row.Offset
	})
	return ends
}

func consume(options common.Options) {
	topics := common.Lines(options.Topics)
	admin, err := kgo.NewClient(kgo.SeedBrokers(options.Broker))
	common.Must(err)
	ends := endOffsets(admin, topics)
	settings := []kgo.Opt{kgo.SeedBrokers(options.Broker), kgo.FetchMaxWait(100 * time.Millisecond)}
	if options.Mode == "group" {
		settings = append(settings, kgo.ConsumerGroup(options.Group), kgo.ConsumeTopics(topics...), kgo.DisableAutoCommit(),
			kgo.SessionTimeout(options.SessionTimeout), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	} else {
		start := map[string]map[int32]kgo.Offset{}
		for partition := range ends {
			if start[partition.Topic] == nil {
				start[partition.Topic] = map[int32]kgo.Offset{}
			}
			start[partition.Topic][partition.Index] = kgo.NewOffset().AtStart()
		}
		settings = append(settings, kgo.ConsumePartitions(start))
	}
	client, err := kgo.NewClient(settings...)
	common.Must(err)
	readToEnd(client, options, ends)
	if options.Mode == "group" {
		common.Must(client.CommitUncommittedOffsets(background))
		printCommitted(admin, options.Group)
	}
	client.Close()
}

func readToEnd(client *kgo.Client, options common.Options, ends map[common.Partition]int64) {
	progress := common.NewProgress(ends)
	for {
		select {
		case <-progress.Done:
			return
		default:
		}
		limited, cancel := context.WithTimeout(background, time.Second)
		fetches := client.PollFetches(limited)
		cancel()
		for _, failed := range fetches.Errors() {
			if failed.Err != context.DeadlineExceeded {
				common.Must(failed.Err)
			}
		}
		fetches.EachRecord(func(record *kgo.Record) {
			var headers []common.Header
			for _, header := range record.Headers {
				headers = append(headers, common.Header{Key: header.Key, Value: header.Value})
			}
			common.PrintRecord(options.Mode, record.Topic, record.Partition, record.Offset, record.Timestamp, record.Key, headers, record.Value)
			progress.Took(record.Topic, record.Partition, record.Offset)
		})
	}
}

func printCommitted(admin *kgo.Client, group string) {
	found, err := kadm.NewClient(admin).FetchOffsets(background, group)
	common.Must(err)
	committed := map[common.Partition]int64{}
	found.Each(func(row kadm.OffsetResponse) {
		common.Must(row.Err)
		committed[common.Partition{Topic: row.Topic, Index: row.Partition}] = row.At
	})
	common.PrintCommitted(committed)
}

func event(name string) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, client *kgo.Client, partitions map[string][]int32) {
		if name == "revoked" {
			commit(client)
		}
		shown := map[int32]int64{}
		for _, indexes := range partitions {
			for _, index := range indexes {
				shown[index] = -1
			}
		}
		common.PrintEvent(name, shown)
	}
}

func commit(client *kgo.Client) {
	shown := map[int32]int64{}
	for _, partitions := range client.UncommittedOffsets() {
		for partition, offset := range partitions {
			shown[partition] = offset.Offset
		}
	}
	// An error is a rebalance that fenced us: the next owner starts from the last commit.
	if len(shown) > 0 && client.CommitUncommittedOffsets(background) == nil {
		common.PrintEvent("committed", shown)
	}
}

func member(options common.Options) {
	balancers := map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
		"cooperative-sticky": kgo.CooperativeStickyBalancer()}
	settings := []kgo.Opt{kgo.SeedBrokers(options.Broker), kgo.FetchMaxWait(100 * time.Millisecond), kgo.ConsumerGroup(options.Group),
		kgo.ConsumeTopics(options.Topics), kgo.DisableAutoCommit(), kgo.SessionTimeout(options.SessionTimeout),
		kgo.HeartbeatInterval(300 * time.Millisecond), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.BlockRebalanceOnPoll(),
		kgo.Balancers(balancers[options.Assignor]), kgo.MetadataMaxAge(time.Second), kgo.MetadataMinAge(200 * time.Millisecond),
		kgo.OnPartitionsAssigned(event("assigned")), kgo.OnPartitionsRevoked(event("revoked")), kgo.OnPartitionsLost(event("lost"))}
	if options.InstanceID != "" {
		settings = append(settings, kgo.InstanceID(options.InstanceID))
	}
	client, err := kgo.NewClient(settings...)
	common.Must(err)
	stopping := common.Stopping()
	sinceCommit, lastCommit := 0, time.Now()
	for running := true; running; {
		select {
		case <-stopping:
			running = false
			continue
		default:
		}
		limited, cancel := context.WithTimeout(background, 100*time.Millisecond)
		fetches := client.PollRecords(limited, common.CommitEveryRecords)
		cancel()
		fetches.EachRecord(func(record *kgo.Record) {
			common.PrintMemberRecord(record.Partition, record.Offset, record.Value)
			sinceCommit++
		})
		if sinceCommit >= common.CommitEveryRecords || sinceCommit > 0 && time.Since(lastCommit) > common.CommitEvery {
			commit(client)
			sinceCommit, lastCommit = 0, time.Now()
		}
		client.AllowRebalance()
	}
	commit(client)
	client.CloseAllowingRebalance()
	common.PrintEvent("left", nil)
}

func main() {
	options := common.ParseOptions()
	map[string]func(common.Options){"produce": produce, "consume": consume, "member": member}[options.Command](options)
	common.Flush()
}
