package reload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// maxInfo bounds how much of an answer is read.
const maxInfo = 1 << 20

// RuntimeInfo asks a Prometheus server how its last load went, with the same
// credentials and certificates as the reload itself.
type RuntimeInfo struct {
	URL    *url.URL
	Client ClientOptions
}

// LoadState is what the server says about its configuration.
type LoadState struct {
	OK bool // the last load succeeded
	// At is when the running configuration was loaded, cut to the second: a load in
	// the second of the one before cannot be told from it.
	At time.Time
}

func (s LoadState) String() string {
	return fmt.Sprintf("reloadConfigSuccess=%t, lastConfigTime=%s", s.OK, s.At.UTC().Format(time.RFC3339))
}

// statusError is an answer that is not 2xx.
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
	c, err := i.Client.client()
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

// DecodeRuntimeInfo reads the answer of /api/v1/status/runtimeinfo.
//
// Errors: the answer is not that of a Prometheus that loads configurations.
func DecodeRuntimeInfo(body io.Reader) (s LoadState, err error) {
	var answer struct {
		Status string
		Data   struct {
			ReloadConfigSuccess *bool
			LastConfigTime      *time.Time
		}
	}
	if err := json.NewDecoder(io.LimitReader(body, maxInfo)).Decode(&answer); err != nil {
		return s, fmt.Errorf("decode the answer: %w", err)
	}
	if answer.Status != "success" || answer.Data.ReloadConfigSuccess == nil || answer.Data.LastConfigTime == nil {
		return s, fmt.Errorf("the answer (status %q) does not report the result of the last load", answer.Status)
	}
	return LoadState{*answer.Data.ReloadConfigSuccess, *answer.Data.LastConfigTime}, nil
}

// Derive returns the URL of another endpoint of the server whose reload URL is
// given ("…/prefix/-/reload" → "…/prefix" + path), or nil when the reload URL has another form.
func Derive(reloadURL *url.URL, path string) *url.URL {
	const suffix = "/-/reload"
	n := len(reloadURL.Path) - len(suffix)
	if n < 0 || reloadURL.Path[n:] != suffix {
		return nil
	}
	u := *reloadURL
	u.Path, u.RawPath = reloadURL.Path[:n]+path, ""
	u.RawQuery, u.Fragment, u.RawFragment = "", "", ""
	return &u
}
