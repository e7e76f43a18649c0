package targets

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

const (
	// maxMetrics and maxMetric limit the size of the metrics of Prometheus, and that of a line, in bytes.
	maxMetrics = 64 << 20
	maxMetric  = 64 << 10
)

// Metrics of a Prometheus in agent mode, which has no queries.
const (
	activeSeries     = "prometheus_agent_active_series"
	truncations      = "prometheus_agent_truncate_duration_seconds_count"
	samplesPending   = "prometheus_remote_storage_samples_pending"
	highestAppended  = "prometheus_remote_storage_highest_timestamp_in_seconds"
	highestSent      = "prometheus_remote_storage_queue_highest_sent_timestamp_seconds"
	unsentNotCounted = 1 // of samples that are not in a queue yet
)

// agent is the state of a Prometheus in agent mode.
type agent struct {
	series uint64
	// truncations is the number of truncations of the WAL since the start.
	truncations uint64
	// unsent is the number of samples that were not sent to all remote storages, at least 1 if any sample was not sent.
	unsent uint64
}

// agent reads the state of a Prometheus in agent mode. ok is false for a server.
//
// Errors: Prometheus does not respond; its response is too large.
func (p Prometheus) agent(ctx context.Context) (out agent, ok bool, err error) {
	if p.Metrics == nil {
		return agent{}, false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	resp, err := p.Client.Get(ctx, p.Metrics, http.Header{"Accept": {"text/plain; version=0.0.4"}})
	if err != nil {
		return agent{}, false, fmt.Errorf("request the metrics of Prometheus: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return agent{}, false, fmt.Errorf("request the metrics of Prometheus: %w", answerError(resp.StatusCode))
	}
	if out, ok, err = readAgent(io.LimitReader(resp.Body, maxMetrics)); err != nil {
		return agent{}, false, fmt.Errorf("read the metrics of Prometheus: %w", err)
	}
	return out, ok, nil
}

// readAgent reads metrics in the text format.
func readAgent(from io.Reader) (out agent, ok bool, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxMetric)
	var appended float64
	var sent []float64
	for lines.Scan() {
		name, value, is := sampleOf(lines.Bytes())
		switch {
		case !is:
		case name == activeSeries:
			out.series, ok = uint64(value), true
		case name == truncations:
			out.truncations = uint64(value)
		case name == samplesPending:
			out.unsent += uint64(value)
		case name == highestAppended:
			appended = value
		case name == highestSent:
			sent = append(sent, value)
		}
	}
	for _, one := range sent {
		if one < appended && out.unsent == 0 {
			out.unsent = unsentNotCounted
		}
	}
	return out, ok, lines.Err()
}

// sampleOf returns the name of one of the metrics above, and its value.
func sampleOf(line []byte) (name string, value float64, ok bool) {
	for _, name := range []string{activeSeries, truncations, samplesPending, highestAppended, highestSent} {
		rest, is := bytes.CutPrefix(line, []byte(name))
		if !is || len(rest) == 0 || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(string(rest[bytes.LastIndexByte(rest, ' ')+1:]), 64)
		return name, value, err == nil && value >= 0
	}
	return "", 0, false
}
