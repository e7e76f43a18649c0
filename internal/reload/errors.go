package reload

import (
	"errors"
	"fmt"
	"net/url"
)

// Reason is the reason why an attempt failed, for logs, metrics and decisions.
type Reason string

// The reasons. Only Rejected, Timeout and Unverified mean that a reload request was sent.
const (
	// NotReady: the server reports that it is still starting. No request was sent.
	NotReady Reason = "not_ready"
	// BadRequest: the request could not be built, for example because a password file is unreadable.
	BadRequest Reason = "bad_request"
	// Unreachable: no connection, or no process of that name.
	Unreachable Reason = "unreachable"
	// Unverified: the request was sent, but its outcome is unknown: the connection ended without a response, or the
	// server does not report the result. It may have reloaded.
	Unverified Reason = "unverified"
	// Timeout: the server has not responded in time. It may still reload.
	Timeout Reason = "timeout"
	// Rejected: the server responded, but does not run the new content.
	Rejected Reason = "rejected"
	// Superseded: newer content arrived before the outcome was known.
	Superseded Reason = "superseded"
	// Incomplete: the inputs are being replaced, see Loop.Step.
	Incomplete Reason = "incomplete"
)

// cheap reports whether no request was sent because the server is down or still starting.
func (r Reason) cheap() bool { return r == Unreachable || r == NotReady }

// Error is the error of a failed attempt.
type Error struct {
	Reason Reason
	Err    error
	// Said is the start of the server's response, which may quote values of the configuration. It must only be
	// logged.
	Said string
}

func (e *Error) Error() string {
	if e.Said == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Said
}

func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of a failed attempt, or "" for nil and other errors.
func ReasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

func fail(r Reason, format string, args ...any) error {
	return &Error{Reason: r, Err: fmt.Errorf(format, args...)}
}

const hidden = "xxxxx"

// Redact formats u for logs and labels. It replaces user information and the query, which may hold secrets.
func Redact(u *url.URL) string {
	r := *u
	if r.User != nil {
		r.User = url.User(hidden)
	}
	if r.RawQuery != "" {
		r.RawQuery = hidden
	}
	r.Fragment, r.RawFragment = "", ""
	return r.String()
}

// withoutURL unwraps an error of the HTTP client, whose message has the unredacted URL.
func withoutURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

// ParseURL parses an absolute http or https URL. Its errors do not quote the URL, which may hold a password.
func ParseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return nil, errors.New("not a valid URL (not shown, it may hold a password)")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("want a URL that starts with http:// or https://")
	case u.Host == "":
		return nil, errors.New("the URL has no host")
	}
	return u, nil
}
