package reload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Only line numbers of a configuration are let through.
func TestSafe(t *testing.T) {
	for message, want := range map[string]string{
		"": "",
		`parse "http://admin:hush@x": invalid port`:    "",
		`unsupported scheme hush in bearer_token hush`: "",
		"answered 500: couldn't load configuration: yaml: unmarshal errors: line 12: field hush not found in type config.plain line 14: cannot unmarshal !!str `hush` into int": "line 12: unknown field, line 14: the value has the wrong type (!!str)",
		`yaml: line 7: did not find expected key`:              "line 7: invalid YAML",
		`found multiple scrape configs with job name "hush"`:   "two scrape configurations have one job name",
		`line 3: mapping key "hush" already defined at line 2`: "line 3: duplicate key",
		`open /etc/hush: no such file or directory`:            "no such file or directory",
		"line 1: field a not found in type line 2: field b not found in type line 3: field c not found in type line 4: field d not found in type": "line 1: unknown field, line 2: unknown field, line 3: unknown field",
		// Alertmanager
		`failed to reload config: undefined receiver "hush" used in route`:                                    "a route names a receiver that does not exist",
		`failed to reload config: undefined time interval "hush" used in route`:                               "a route names a time interval that does not exist",
		`failed to reload config: notification config name "hush" is not unique`:                              "two receivers have one name",
		`failed to reload config: mute time interval "hush" is not unique`:                                    "two time intervals have one name",
		`failed to reload config: failed to parse templates: template: hush:1: function "hush" not defined`:   "a template does not parse",
		`failed to reload config: no global SMTP smarthost set`:                                               "no global SMTP smarthost set",
		`failed to reload config: no global hush set`:                                                         "",
		`failed to reload config: no route provided in config`:                                                "there is no route",
		`failed to reload config: root route must not have any matchers`:                                      "root route must not have any matchers",
		`failed to reload config: unsupported scheme "hush" for URL`:                                          "a URL has neither the scheme http nor https",
		"failed to reload config: invalid label name \"hush\"":                                                "a label name is not valid",
		"failed to reload config: bad matcher format: hush":                                                   "a matcher does not parse",
		"failed to reload config: error parsing regexp: missing closing ): `^(?:hush(ab)$`":                   "a regular expression does not compile",
		`failed to reload config: not a valid duration string: "hush"`:                                        "a duration is not valid",
		`failed to reload config: hush is not a valid weekday`:                                                "a time interval is not valid",
		`failed to reload config: missing to address in email config`:                                         "missing to address in email config",
		`failed to reload config: at most one of opsgenie_api_key & opsgenie_api_key_file must be configured`: "two settings are mutually exclusive",
	} {
		got := Safe(message)
		if got != want {
			t.Errorf("Safe(%q) = %q, want %q", message, got, want)
		}
		if again := Safe(got); again != got {
			t.Errorf("Safe(%q) = %q", got, again)
		}
	}
}

// The operator filters messages that a reloader has already filtered.
func TestSafeKeepsItsOwnResults(t *testing.T) {
	for _, k := range known() {
		text := strings.NewReplacer("line $1", "line 7", "$1", "unexpected EOF", "$2", "!!str", "$3", "").Replace(k.text)
		if got := Safe("answered 500: " + text + " " + inLog); got != text {
			t.Errorf("Safe(%q) = %q", text, got)
		}
	}
}

func TestPublic(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "/etc/x", Err: syscall.ENOENT}
	for want, err := range map[string]error{
		"POST http://x/-/reload: answered 500: line 4: unknown field " + inLog: &Error{Reason: Rejected, Err: errors.New("POST http://x/-/reload: answered 500"), Said: "line 4: field hush not found in type"},
		"POST http://x/-/reload: answered 500: " + inLog:                       &Error{Reason: Rejected, Err: errors.New("POST http://x/-/reload: answered 500"), Said: "hush"},
		"dial tcp: connection refused":                                         &Error{Reason: Unreachable, Err: errors.New("dial tcp: connection refused")},
		"read config: open /etc/x: no such file or directory":                  fmt.Errorf("read config: %w", missing),
		"read folder /rules: permission denied":                                fmt.Errorf("read folder /rules: %w", syscall.EACCES),
		"line 3: invalid YAML " + inLog:                                        errors.New("line 3: did not find expected hush"),
		inLog:                                                                  errors.New("expand: bad substitution ${hush"),
		"unexpected EOF " + inLog:                                              fmt.Errorf("gunzip /in: %w", io.ErrUnexpectedEOF),
	} {
		if got := public(err); got != want {
			t.Errorf("public(%v) = %q, want %q", err, got, want)
		}
	}
}

// The endpoint does not return the password that a rejection quotes, as Prometheus does.
// The log has it, because that is where it helps.
func TestReportsQuoteNoConfiguration(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/-/reload" {
			http.Error(w, "failed to reload config: line 9: cannot unmarshal !!str `hunter2` into int", http.StatusInternalServerError)
		}
	})
	var log strings.Builder
	attempts := make(chan struct{}, 1)
	target := NewTarget(TargetOptions{
		Name: "server", Trigger: NewHTTP(prometheus(t, s.URL)), Backoff: Backoff{Base: time.Hour, Max: time.Hour}, Limit: 1,
		OnExhausted: func() { attempts <- struct{}{} }, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	loop := &Loop{
		Step:     func(context.Context) (Content, error) { return Content{Version: "v"}, nil },
		Interval: time.Hour, Targets: []*Target{target}, Logger: slog.New(slog.DiscardHandler),
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- loop.Run(ctx) }()
	<-attempts
	mux := http.NewServeMux()
	loop.Register(mux)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/api/v1/applied", nil))
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if body := answer.Body.String(); strings.Contains(body, "hunter2") || !strings.Contains(body, "line 9: the value has the wrong type (!!str)") || !strings.Contains(body, `"reason":"rejected"`) {
		t.Errorf("the endpoint answers %s", body)
	}
	if !strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log says %s", log.String())
	}
}
