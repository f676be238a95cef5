// SPDX-License-Identifier: Apache-2.0

// The segmentio/kafka-go client of the compatibility test. Happy path: as every family's program: produce, consume,
// member. Failure modes: an error ends the program with status 1, a minute without progress with 3. The library has no
// callback for a changed assignment, so that a member prints records and commits only.
package main

import (
	"context"
	"errors"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"tailrace.tests/compat/common"
)

var background = context.Background()

func produce(options common.Options) {
	codecs := map[string]kafka.Compression{"none": compress.None, "gzip": compress.Gzip, "snappy": compress.Snappy, "lz4": compress.Lz4,
		"zstd": compress.Zstd}
	common.EachJob(options, func(topic, codec string, records []common.Record) {
		writer := &kafka.Writer{Addr: kafka.TCP(options.Broker), Topic: topic, Balancer: kafka.Murmur2Balancer{}, Compression: codecs[codec],
			RequiredAcks: kafka.RequireAll, BatchTimeout: 5 * time.Millisecond, BatchSize: 200}
		var messages []kafka.Message
		for _, record := range records {
			message := kafka.Message{Key: record.Key, Value: record.Value, Time: record.Time}
			for _, header := range record.Headers {
				message.Headers = append(message.Headers, kafka.Header{Key: header.Key, Value: header.Value})
			}
			messages = append(messages, message)
		}
		common.Must(writer.WriteMessages(background, messages...))
		common.Must(writer.Close())
	})
}

func endOffsets(client *kafka.Client, topics []string) map[common.Partition]int64 {
	metadata, err := client.Metadata(background, &kafka.MetadataRequest{Topics: topics})
	common.Must(err)
	asked := map[string][]kafka.OffsetRequest{}
	for _, topic := range metadata.Topics {
		common.Must(topic.Error)
		for _, partition := range topic.Partitions {
			asked[topic.Name] = append(asked[topic.Name], kafka.LastOffsetOf(partition.ID))
		}
	}
	found, err := client.ListOffsets(background, &kafka.ListOffsetsRequest{Topics: asked})
	common.Must(err)
	ends := map[common.Partition]int64{}
	for topic, rows := range found.Topics {
		for _, row := range rows {
			common.Must(row.Error)
			ends[common.Partition{Topic: topic, Index: int32(row.Partition)}] = row.LastOffset
		}
	}
	return ends
}

func take(options common.Options, progress *common.Progress, message kafka.Message) {
	var headers []common.Header
	for _, header := range message.Headers {
		// The library reads an empty header value as nil; our records have no null ones.
		headers = append(headers, common.Header{Key: header.Key, Value: append([]byte{}, header.Value...)})
	}
	common.PrintRecord(options.Mode, message.Topic, int32(message.Partition), message.Offset, message.Time, message.Key,
		headers, message.Value)
	progress.Took(message.Topic, int32(message.Partition), message.Offset)
}

func readerConfig(options common.Options) kafka.ReaderConfig {
	return kafka.ReaderConfig{Brokers: []string{options.Broker}, MinBytes: 1, MaxBytes: 4 << 20, MaxWait: 100 * time.Millisecond,
		StartOffset: kafka.FirstOffset, QueueCapacity: 10}
}

func consumeAssigned(options common.Options, ends map[common.Partition]int64) {
	progress := common.NewProgress(ends)
	for partition, end := range ends {
		if end == 0 {
			continue
		}
		config := readerConfig(options)
		config.Topic, config.Partition = partition.Topic, int(partition.Index)
		reader := kafka.NewReader(config)
		go func() {
			for offset := int64(-1); offset+1 < end; {
				message, err := reader.ReadMessage(background)
				common.Must(err)
				take(options, progress, message)
				offset = message.Offset
			}
			common.Must(reader.Close())
		}()
	}
	<-progress.Done
}

func groupConfig(options common.Options, topics []string) kafka.ReaderConfig {
	config := readerConfig(options)
	config.GroupID, config.GroupTopics = options.Group, topics
	config.SessionTimeout, config.HeartbeatInterval, config.RebalanceTimeout = options.SessionTimeout, 300*time.Millisecond, 10*time.Second
	config.WatchPartitionChanges = true
	if options.Assignor == "roundrobin" {
		config.GroupBalancers = []kafka.GroupBalancer{kafka.RoundRobinGroupBalancer{}}
	} else {
		config.GroupBalancers = []kafka.GroupBalancer{kafka.RangeGroupBalancer{}}
	}
	return config
}

func consumeGroup(options common.Options, client *kafka.Client, topics []string, ends map[common.Partition]int64) {
	reader := kafka.NewReader(groupConfig(options, topics))
	progress := common.NewProgress(ends)
	last := map[common.Partition]kafka.Message{}
	for reading := true; reading; {
		message, err := reader.FetchMessage(background)
		common.Must(err)
		take(options, progress, message)
		message.Key, message.Value = nil, nil
		last[common.Partition{Topic: message.Topic, Index: int32(message.Partition)}] = message
		select {
		case <-progress.Done:
			reading = false
		default:
		}
	}
	var messages []kafka.Message
	asked := map[string][]int{}
	for partition, message := range last {
		messages = append(messages, message)
		asked[partition.Topic] = append(asked[partition.Topic], int(partition.Index))
	}
	common.Must(reader.CommitMessages(background, messages...))
	found, err := client.OffsetFetch(background, &kafka.OffsetFetchRequest{GroupID: options.Group, Topics: asked})
	common.Must(err)
	common.Must(found.Error)
	committed := map[common.Partition]int64{}
	for topic, rows := range found.Topics {
		for _, row := range rows {
			committed[common.Partition{Topic: topic, Index: int32(row.Partition)}] = row.CommittedOffset
		}
	}
	common.PrintCommitted(committed)
	common.Must(reader.Close())
}

func consume(options common.Options) {
	topics := common.Lines(options.Topics)
	client := &kafka.Client{Addr: kafka.TCP(options.Broker), Timeout: 10 * time.Second}
	ends := endOffsets(client, topics)
	if options.Mode == "group" {
		consumeGroup(options, client, topics, ends)
	} else {
		consumeAssigned(options, ends)
	}
}

func commit(reader *kafka.Reader, last map[int]kafka.Message) {
	var messages []kafka.Message
	shown := map[int32]int64{}
	for partition, message := range last {
		messages = append(messages, message)
		shown[int32(partition)] = message.Offset + 1
	}
	limited, cancel := context.WithTimeout(background, 5*time.Second)
	defer cancel()
	// An error is a rebalance that fenced us: the next owner starts from the last commit.
	if len(messages) > 0 && reader.CommitMessages(limited, messages...) == nil {
		common.PrintEvent("committed", shown)
	}
	clear(last)
}

func member(options common.Options) {
	reader := kafka.NewReader(groupConfig(options, []string{options.Topics}))
	stopping := common.Stopping()
	last, lastCommit := map[int]kafka.Message{}, time.Now()
	for running := true; running; {
		select {
		case <-stopping:
			running = false
			continue
		default:
		}
		limited, cancel := context.WithTimeout(background, 100*time.Millisecond)
		message, err := reader.FetchMessage(limited)
		cancel()
		if err == nil {
			common.PrintMemberRecord(int32(message.Partition), message.Offset, message.Value)
			last[message.Partition] = message
		} else if !errors.Is(err, context.DeadlineExceeded) {
			common.Must(err)
		}
		if time.Since(lastCommit) > common.CommitEvery {
			commit(reader, last)
			lastCommit = time.Now()
		}
	}
	commit(reader, last)
	common.Must(reader.Close())
	common.PrintEvent("left", nil)
}

func main() {
	options := common.ParseOptions()
	map[string]func(common.Options){"produce": produce, "consume": consume, "member": member}[options.Command](options)
	common.Flush()
}
