// SPDX-License-Identifier: Apache-2.0

// Package common is what the Go clients of the compatibility test share: command line, input lists and output lines, as
// tests/compat/README.md describes them. Failure modes: everything unexpected ends the program with status 1, a minute
// without progress with 3.
package common

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	NoProgress         = 60 * time.Second
	CommitEveryRecords = 20
	CommitEvery        = 200 * time.Millisecond
)

// Options is the command line.
type Options struct {
	Command, Broker, Pack, Jobs, Topics, Mode, Group, Assignor, InstanceID, Idempotent, Family string
	SessionTimeout                                                                             time.Duration
}

// Header is one header of a record.
type Header struct {
	Key   string
	Value []byte
}

// Record is one record to be sent.
type Record struct {
	Key, Value []byte
	Time       time.Time
	Headers    []Header
}

var (
	outLock sync.Mutex
	out     = bufio.NewWriterSize(os.Stdout, 1<<16)
)

// ParseOptions reads the command line.
func ParseOptions() Options {
	options := Options{Command: os.Args[1]}
	flags := flag.NewFlagSet("client", flag.ExitOnError)
	sessionTimeoutMs := flags.Int("session-timeout-ms", 10000, "")
	for name, value := range map[string]*string{"broker": &options.Broker, "pack": &options.Pack, "jobs": &options.Jobs,
		"topics": &options.Topics,
		"group":  &options.Group, "instance-id": &options.InstanceID, "family": &options.Family} {
		flags.StringVar(value, name, "", "")
	}
	flags.StringVar(&options.Mode, "mode", "assign", "")
	flags.StringVar(&options.Assignor, "assignor", "range", "")
	flags.StringVar(&options.Idempotent, "idempotent", "1", "")
	Must(flags.Parse(os.Args[2:]))
	options.SessionTimeout = time.Duration(*sessionTimeoutMs) * time.Millisecond
	return options
}

// Must ends the program if there is an error.
func Must(err error) {
	if err != nil {
		Flush()
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// Flush writes out what was printed.
func Flush() {
	outLock.Lock()
	defer outLock.Unlock()
	out.Flush()
}

// Lines gives the lines of a file.
func Lines(path string) []string {
	data, err := os.ReadFile(path)
	Must(err)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// EachJob calls send for every line of the jobs file and prints how many records it sent.
func EachJob(options Options, send func(topic, codec string, records []Record)) {
	pack, err := os.Open(options.Pack)
	Must(err)
	for _, job := range Lines(options.Jobs) {
		words := strings.Split(job, "\t")
		var records []Record
		for _, line := range Lines(words[2]) {
			records = append(records, readRecord(pack, options.Family, line))
		}
		send(words[0], words[1], records)
		fmt.Printf("{\"topic\":%q,\"produced\":%d}\n", words[0], len(records))
	}
}

func number(text string) int64 {
	value, err := strconv.ParseInt(text, 10, 64)
	Must(err)
	return value
}

func readRecord(pack *os.File, family, line string) Record {
	words := strings.SplitN(line, "\t", 5)
	record := Record{Time: time.UnixMilli(number(words[2])), Headers: []Header{{"family", []byte(family)}, {"round", []byte(words[3])},
		{"twice", []byte("1")}, {"twice", []byte("2")}, {"empty", []byte{}}, {"binary", []byte{0, 0xff, 0x80, '\n'}}}}
	if length := number(words[1]); length >= 0 {
		record.Value = make([]byte, length)
		_, err := pack.ReadAt(record.Value, number(words[0]))
		Must(err)
	}
	if words[4] != "\\N" {
		record.Key = []byte(words[4])
	}
	return record
}

func add(buffer *bytes.Buffer, data []byte) {
	length := int32(len(data))
	if data == nil {
		length = -1
	}
	Must(binary.Write(buffer, binary.BigEndian, length))
	buffer.Write(data)
}

func quoted(data []byte) string {
	if data == nil {
		return "null"
	}
	text, err := json.Marshal(string(data))
	Must(err)
	return string(text)
}

// PrintRecord prints the line of one record that was read.
func PrintRecord(mode, topic string, partition int32, offset int64, at time.Time, key []byte, headers []Header, value []byte) {
	var buffer bytes.Buffer
	add(&buffer, key)
	Must(binary.Write(&buffer, binary.BigEndian, int32(len(headers))))
	for _, header := range headers {
		add(&buffer, []byte(header.Key))
		add(&buffer, header.Value)
	}
	add(&buffer, value)
	outLock.Lock()
	defer outLock.Unlock()
	fmt.Fprintf(out, "{\"m\":%q,\"t\":%q,\"p\":%d,\"o\":%d,\"ts\":%d,\"h\":\"%x\",\"k\":%s}\n", mode, topic, partition, offset,
		at.UnixMilli(), sha256.Sum256(buffer.Bytes()), quoted(key))
}

// Partition names one partition.
type Partition struct {
	Topic string
	Index int32
}

// PrintCommitted prints the committed offsets as the client library reads them.
func PrintCommitted(offsets map[Partition]int64) {
	var rows []string
	for partition, offset := range offsets {
		rows = append(rows, fmt.Sprintf("[%q,%d,%d]", partition.Topic, partition.Index, offset))
	}
	outLock.Lock()
	defer outLock.Unlock()
	fmt.Fprintf(out, "{\"committed\":[%s]}\n", strings.Join(rows, ","))
}

// PrintEvent prints a member's event and flushes.
func PrintEvent(event string, partitions map[int32]int64) {
	var rows []string
	for partition, offset := range partitions {
		rows = append(rows, fmt.Sprintf("[%d,%d]", partition, offset))
	}
	outLock.Lock()
	defer outLock.Unlock()
	fmt.Fprintf(out, "{\"e\":%q,\"at\":%d,\"p\":[%s]}\n", event, time.Now().UnixNano(), strings.Join(rows, ","))
	out.Flush()
}

// PrintMemberRecord prints a record that a member took and flushes.
func PrintMemberRecord(partition int32, offset int64, value []byte) {
	outLock.Lock()
	defer outLock.Unlock()
	fmt.Fprintf(out, "{\"e\":\"record\",\"at\":%d,\"p\":%d,\"o\":%d,\"v\":%s}\n", time.Now().UnixNano(), partition, offset, quoted(value))
	out.Flush()
}

// Progress counts down the partitions that are not at their end.
type Progress struct {
	lock sync.Mutex
	ends map[Partition]int64
	open map[Partition]bool
	last time.Time
	Done chan struct{}
}

// NewProgress starts the watch; Done is closed when every partition is at its end.
func NewProgress(ends map[Partition]int64) *Progress {
	progress := &Progress{ends: ends, open: map[Partition]bool{}, last: time.Now(), Done: make(chan struct{})}
	for partition, end := range ends {
		if end > 0 {
			progress.open[partition] = true
		}
	}
	go progress.watch()
	return progress
}

func (progress *Progress) watch() {
	for range time.Tick(time.Second) {
		progress.lock.Lock()
		if time.Since(progress.last) > NoProgress && len(progress.open) > 0 {
			Flush()
			fmt.Fprintln(os.Stderr, "client: no progress for 60 s, not at their end:", progress.open)
			os.Exit(3)
		}
		progress.lock.Unlock()
	}
}

// Took says that a record was read.
func (progress *Progress) Took(topic string, partition int32, offset int64) {
	progress.lock.Lock()
	defer progress.lock.Unlock()
	progress.last = time.Now()
	key := Partition{topic, partition}
	if progress.open[key] && offset+1 >= progress.ends[key] {
		delete(progress.open, key)
		if len(progress.open) == 0 {
			close(progress.Done)
		}
	}
}

// Stopping gives a channel that is closed at SIGTERM.
func Stopping() chan struct{} {
	signals, stopping := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, syscall.SIGTERM)
	go func() {
		<-signals
		close(stopping)
	}()
	return stopping
}
