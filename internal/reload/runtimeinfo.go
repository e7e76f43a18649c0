package reload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// maxInfo limits how much of a response is read, in bytes.
const maxInfo = 1 << 20

// RuntimeInfo queries a Prometheus server for the result of its last load, with the same
// credentials and certificates as the reload itself.
type RuntimeInfo struct {
	URL    *url.URL
	Client ClientOptions
}

// LoadState is the state of the configuration that the server reports.
type LoadState struct {
	OK bool // the last load succeeded
	// At is the load time of the running configuration, truncated to the second. Two loads in
	// the same second cannot be distinguished.
	At time.Time
}

func (s LoadState) String() string {
	return fmt.Sprintf("reloadConfigSuccess=%t, lastConfigTime=%s", s.OK, s.At.UTC().Format(time.RFC3339))
}

// statusError is a response with a status other than 2xx.
type statusError struct {
	code   int
	status string
}

func (e *statusError) Error() string { return "answered " + e.status }

func (i *RuntimeInfo) get(ctx context.Context) (LoadState, error) {
	s, err := i.fetch(ctx)
	if err != nil {
		return s, fmt.Errorf("ask %s: %w", Redact(i.URL), err)
	}
	return s, nil
}

func (i *RuntimeInfo) fetch(ctx context.Context) (s LoadState, err error) {
	ctx, cancel := context.WithTimeout(ctx, i.Client.Timeout)
	defer cancel()
	c, err := i.Client.client(ctx)
	if err != nil {
		return s, err
	}
	req, err := i.Client.request(ctx, http.MethodGet, i.URL)
	if err != nil {
		return s, err
	}
	res, err := c.Do(req)
	if err != nil {
		return s, withoutURL(err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return s, &statusError{res.StatusCode, res.Status}
	}
	return DecodeRuntimeInfo(res.Body)
}

// DecodeRuntimeInfo decodes the response of /api/v1/status/runtimeinfo.
//
// Errors: the response is not that of a Prometheus that loads configurations.
func DecodeRuntimeInfo(body io.Reader) (s LoadState, err error) {
	var answer struct {
		Status string
		Data   struct {
			ReloadConfigSuccess *bool
			LastConfigTime      *time.Time
		}
	}
	text, err := io.ReadAll(io.LimitReader(body, maxInfo)) // a decoder scans white space again after each read
	if err != nil {
		return s, fmt.Errorf("read the answer: %w", err)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&answer); err != nil {
		return s, fmt.Errorf("decode the answer: %w", err)
	}
	if answer.Status != "success" || answer.Data.ReloadConfigSuccess == nil || answer.Data.LastConfigTime == nil {
		return s, fmt.Errorf("the answer (status %q) does not report the result of the last load", answer.Status)
	}
	return LoadState{*answer.Data.ReloadConfigSuccess, *answer.Data.LastConfigTime}, nil
}

// infoPath is the path of the endpoint of [RuntimeInfo].
const infoPath = "/api/v1/status/runtimeinfo"

// Derive returns the URL of another endpoint of a server, given that of its reload or runtimeinfo endpoint
// (".../prefix/-/reload" becomes ".../prefix" + path). It returns nil if the URL has another form.
func Derive(from *url.URL, path string) *url.URL {
	prefix, ok := strings.CutSuffix(from.Path, "/-/reload")
	if !ok {
		prefix, ok = strings.CutSuffix(from.Path, infoPath)
	}
	if !ok {
		return nil
	}
	u := *from
	u.Path, u.RawPath = prefix+path, ""
	u.RawQuery, u.Fragment, u.RawFragment = "", "", ""
	return &u
}
