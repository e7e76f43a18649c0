package targets

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Reason is why the list is not updated, for logs and metrics.
type Reason string

// The reasons.
const (
	// Unreachable: no connection, a broken one, or files for it that cannot be read.
	Unreachable Reason = "unreachable"
	// Unauthorized: the server does not accept the token (401).
	Unauthorized Reason = "unauthorized"
	// Forbidden: the pod belongs to no workload with central discovery (403).
	Forbidden Reason = "forbidden"
	// Unavailable: the server has no list yet, or is not the leader (503).
	Unavailable Reason = "unavailable"
	// Status: any other response than 200.
	Status Reason = "status"
	// Silent: no line within the time in which the server sends at least a ping.
	Silent Reason = "silent"
	// Protocol: a line that is not of the protocol.
	Protocol Reason = "protocol"
	// OldLeader: the server is a leader older than the one that sent the list.
	OldLeader Reason = "old_leader"
	// Mismatch: a change relative to another list than the current one.
	Mismatch Reason = "mismatch"
	// TooLarge: the list exceeds the limits.
	TooLarge Reason = "too_large"
	// Disk: the list cannot be written to the file. It is still served.
	Disk Reason = "disk"
)

// reasons lists all reasons, so that each has a series from the start.
var reasons = []Reason{Unreachable, Unauthorized, Forbidden, Unavailable, Status, Silent, Protocol, OldLeader, Mismatch, TooLarge, Disk}

// Error is why an update failed.
type Error struct {
	Reason Reason
	Err    error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func failf(r Reason, format string, args ...any) error {
	return &Error{r, fmt.Errorf(format, args...)}
}

// reasonOf returns the reason of an error of this package.
func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return Unreachable
}

// statusError is a response other than 200.
type statusError struct {
	status string
	reply  string
	after  time.Duration // Retry-After
}

func (e *statusError) Error() string {
	return strings.TrimSuffix("the discovery server answered "+e.status+": "+e.reply, ": ")
}

func refusal(resp *http.Response) error {
	reason := map[int]Reason{
		http.StatusUnauthorized: Unauthorized, http.StatusForbidden: Forbidden, http.StatusServiceUnavailable: Unavailable,
	}[resp.StatusCode]
	if reason == "" {
		reason = Status
	}
	e := &statusError{status: fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
	if resp.Header.Get("Content-Encoding") == "" {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply)) // possibly truncated
		e.reply = strings.Join(strings.Fields(strings.ToValidUTF8(string(text), "")), " ")
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		e.after = min(time.Duration(s)*time.Second, longestPause)
	}
	return &Error{reason, e}
}
