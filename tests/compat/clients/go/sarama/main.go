// SPDX-License-Identifier: Apache-2.0

// The sarama client of the compatibility test. Happy path: as every family's program: produce, consume, member. Failure
// modes: an error ends the program with status 1, a minute without progress with 3. A member prints no `committed`
// events: sarama does not say whether a commit succeeded.
package main

import (
	"context"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"tailrace.tests/compat/common"
)

func settings(options common.Options) *sarama.Config {
	config := sarama.NewConfig()
	config.ClientID = "sarama"
	config.Metadata.RefreshFrequency = time.Second
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	config.Consumer.MaxWaitTime = 100 * time.Millisecond
	config.Consumer.Group.Session.Timeout = options.SessionTimeout
	config.Consumer.Group.Heartbeat.Interval = 300 * time.Millisecond
	config.Consumer.Group.InstanceId = options.InstanceID
	strategies := map[string]sarama.BalanceStrategy{"range": sarama.NewBalanceStrategyRange(),
		"roundrobin": sarama.NewBalanceStrategyRoundRobin()}
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[options.Assignor]}
	return config
}

func produce(options common.Options) {
	codecs := map[string]sarama.CompressionCodec{"none": sarama.CompressionNone, "gzip": sarama.CompressionGZIP,
		"snappy": sarama.CompressionSnappy,
		"lz4":    sarama.CompressionLZ4, "zstd": sarama.CompressionZSTD}
	common.EachJob(options, func(topic, codec string, records []common.Record) {
		config := settings(options)
		config.Producer.Compression = codecs[codec]
		config.Producer.RequiredAcks = sarama.WaitForAll
		config.Producer.Idempotent = options.Idempotent == "1"
		config.Producer.Return.Successes = true
		config.Producer.Flush.Frequency = 5 * time.Millisecond
		config.Net.MaxOpenRequests = 1
		producer, err := sarama.NewAsyncProducer([]string{options.Broker}, config)
		common.Must(err)
		var counting sync.WaitGroup
		counting.Add(1)
		go func() {
			defer counting.Done()
			for range records {
				select {
				case <-producer.Successes():
				case failed := <-producer.Errors():
					common.Must(failed)
				}
			}
		}()
		for _, record := range records {
			sent := &sarama.ProducerMessage{Topic: topic, Timestamp: record.Time}
			if record.Key != nil {
				sent.Key = sarama.ByteEncoder(record.Key)
			}
			if record.Value != nil {
				sent.Value = sarama.ByteEncoder(record.Value)
			}
			for _, header := range record.Headers {
				sent.Headers = append(sent.Headers, sarama.RecordHeader{Key: []byte(header.Key), Value: header.Value})
			}
			producer.Input() <- sent
		}
		counting.Wait()
		common.Must(producer.Close())
	})
}

func endOffsets(client sarama.Client, topics []string) map[common.Partition]int64 {
	ends := map[common.Partition]int64{}
	for _, topic := range topics {
		partitions, err := client.Partitions(topic)
		common.Must(err)
		for _, partition := range partitions {
			end, err := client.GetOffset(topic, partition, sarama.OffsetNewest)
			common.Must(err)
			ends[common.Partition{Topic: topic, Index: partition}] = end
		}
	}
	return ends
}

func print(options common.Options, progress *common.Progress, message *sarama.ConsumerMessage) {
	var headers []common.Header
	for _, header := range message.Headers {
		headers = append(headers, common.Header{Key: string(header.Key), Value: header.Value})
	}
	common.PrintRecord(options.Mode, message.Topic, message.Partition, message.Offset, message.Timestamp, message.Key, headers, message.Value)
	progress.Took(message.Topic, message.Partition, message.Offset)
}

type reader struct {
	options  common.Options
	progress *common.Progress
	ends     map[common.Partition]int64
}

func (*reader) Setup(sarama.ConsumerGroupSession) error { return nil }

func (*reader) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	return nil
}

func (reader *reader) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		print(reader.options, reader.progress, message)
		session.MarkMessage(message, "")
	}
	return nil
}

func consumeGroup(options common.Options, client sarama.Client, topics []string, ends map[common.Partition]int64) {
	group, err := sarama.NewConsumerGroupFromClient(options.Group, client)
	common.Must(err)
	progress := common.NewProgress(ends)
	handler := &reader{options, progress, ends}
	limited, cancel := context.WithCancel(context.Background())
	go func() {
		<-progress.Done
		cancel()
	}()
	for limited.Err() == nil {
		common.Must(group.Consume(limited, topics, handler))
	}
	admin, err := sarama.NewClusterAdmin([]string{options.Broker}, settings(options))
	common.Must(err)
	found, err := admin.ListConsumerGroupOffsets(options.Group, nil)
	common.Must(err)
	committed := map[common.Partition]int64{}
	for topic, rows := range found.Blocks {
		for partition, row := range rows {
			committed[common.Partition{Topic: topic, Index: partition}] = row.Offset
		}
	}
	common.PrintCommitted(committed)
	common.Must(group.Close())
}

func consumeAssigned(options common.Options, client sarama.Client, ends map[common.Partition]int64) {
	consumer, err := sarama.NewConsumerFromClient(client)
	common.Must(err)
	progress := common.NewProgress(ends)
	for partition, end := range ends {
		if end == 0 {
			continue
		}
		claim, err := consumer.ConsumePartition(partition.Topic, partition.Index, sarama.OffsetOldest)
		common.Must(err)
		go func() {
			for message := range claim.Messages() {
				print(options, progress, message)
			}
		}()
	}
	<-progress.Done
}

func consume(options common.Options) {
	topics := common.Lines(options.Topics)
	client, err := sarama.NewClient([]string{options.Broker}, settings(options))
	common.Must(err)
	ends := endOffsets(client, topics)
	if options.Mode == "group" {
		consumeGroup(options, client, topics, ends)
	} else {
		consumeAssigned(options, client, ends)
	}
}

type memberHandler struct{}

func claims(session sarama.ConsumerGroupSession) map[int32]int64 {
	shown := map[int32]int64{}
	for _, partitions := range session.Claims() {
		for _, partition := range partitions {
			shown[partition] = -1
		}
	}
	return shown
}

func (memberHandler) Setup(session sarama.ConsumerGroupSession) error {
	common.PrintEvent("assigned", claims(session))
	return nil
}

func (memberHandler) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	common.PrintEvent("revoked", claims(session))
	return nil
}

func (memberHandler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	ticker := time.NewTicker(common.CommitEvery)
	defer ticker.Stop()
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			common.PrintMemberRecord(message.Partition, message.Offset, message.Value)
			session.MarkMessage(message, "")
		case <-ticker.C:
			session.Commit()
		case <-session.Context().Done():
			return nil
		}
	}
}

func member(options common.Options) {
	config := settings(options)
	group, err := sarama.NewConsumerGroup([]string{options.Broker}, options.Group, config)
	common.Must(err)
	limited, cancel := context.WithCancel(context.Background())
	stopping := common.Stopping()
	go func() {
		<-stopping
		cancel()
	}()
	for limited.Err() == nil {
		if err := group.Consume(limited, []string{options.Topics}, memberHandler{}); err != nil {
			time.Sleep(100 * time.Millisecond)
		}
	}
	common.Must(group.Close())
	common.PrintEvent("left", nil)
}

func main() {
	options := common.ParseOptions()
	map[string]func(common.Options){"produce": produce, "consume": consume, "member": member}[options.Command](options)
	common.Flush()
}
