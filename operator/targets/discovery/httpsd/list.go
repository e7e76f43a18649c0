package httpsd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// contentType matches the types that Prometheus accepts.
var contentType = lazyregexp.New(`^(?i:application/json(;\s*charset=("utf-8"|utf-8))?)$`)

// fetch reads the list of a discovery. It rejects the same responses as Prometheus.
func (c *Client) fetch(ctx context.Context, sd *targets.HTTPSD) ([]*targetgroup.Group, error) {
	r, err := request(ctx, sd)
	if err != nil {
		return nil, err
	}
	answer, err := c.client(sd).Do(r)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = answer.Body.Close() }()
	kind := strings.TrimSpace(answer.Header.Get("Content-Type"))
	switch {
	case answer.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answers with status %d", answer.StatusCode)
	case !contentType.MatchString(kind):
		return nil, fmt.Errorf("it answers with Content-Type %.100q, and Prometheus wants application/json", kind)
	}
	text, err := read(answer.Body)
	if err != nil {
		return nil, withoutURL(err)
	}
	if jsonspan.Weighty(text) > maxObjects {
		return nil, fmt.Errorf("it answers with more than %d groups of targets", maxObjects/2)
	}
	var groups []*targetgroup.Group
	if err := json.Unmarshal(text, &groups); err != nil {
		return nil, fmt.Errorf("its answer is no list of targets: %.200s", err)
	}
	for i, g := range groups {
		if g == nil {
			return nil, fmt.Errorf("its answer is no list of targets: entry %d is null", i)
		}
		if g.Labels == nil {
			g.Labels = model.LabelSet{}
		}
		g.Source = fmt.Sprintf("%s:%d", sd.URL, i)
		g.Labels[model.MetaLabelPrefix+"url"] = model.LabelValue(sd.URL)
	}
	return groups, nil
}

// withoutURL returns the error without the URL, which the message already contains.
func withoutURL(err error) error {
	if e, is := errors.AsType[*url.Error](err); is {
		return e.Err
	}
	return err
}

// authenticates reports whether a URL contains credentials.
func authenticates(u *url.URL) bool {
	for name := range u.Query() {
		if redact.Key(name) {
			return true
		}
	}
	return u.User != nil
}

// shown returns a URL without potential secrets.
func shown(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "an HTTP discovery"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
