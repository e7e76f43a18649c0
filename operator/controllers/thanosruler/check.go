package thanosruler

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// errNoURL replaces the error of the URL parser, which contains the URL and any password
// in it.
var errNoURL = errors.New("not a valid URL")

// Check returns the first fault of the spec with which the server would not start.
func (b *builder) Check() error {
	if b.Err != nil {
		return b.Err
	}
	for _, check := range []func() error{
		b.checkSecrets, b.checkQuery, b.checkAlerts, b.checkDurations, b.checkLabels, b.CheckRoutePrefix, b.checkGRPC, b.WebConfig().Check,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkSecrets checks that the Secrets to mount have a name and a key, which volumes
// require.
func (b *builder) checkSecrets() error {
	for _, f := range b.configFiles() {
		if s := f.mounted(); s != nil && (s.Name == "" || s.Key == "") {
			return fmt.Errorf("%s: needs a name and a key", f.field)
		}
	}
	return nil
}

func (b *builder) checkQuery() error {
	if b.spec.QueryConfig != nil {
		return nil
	}
	const field = "spec.queryEndpoints"
	endpoints := b.spec.QueryEndpoints
	if len(endpoints) == 0 {
		return fmt.Errorf("%s: must not be empty unless queryConfig is set", field)
	}
	for i, endpoint := range endpoints {
		if at := slices.Index(endpoints, endpoint); at < i {
			return fmt.Errorf("%s[%d]: is the same as [%d]", field, i, at)
		}
		text := endpoint
		if !strings.Contains(text, "://") {
			text = "http://" + text
		}
		u, err := url.Parse(text)
		switch {
		case endpoint == "":
			return fmt.Errorf("%s[%d]: must not be empty", field, i)
		case err != nil:
			return fmt.Errorf("%s[%d]: %w", field, i, errNoURL)
		case u.Scheme != "http" && u.Scheme != "https":
			return fmt.Errorf("%s[%d]: scheme %q: must be http or https; the prefix of a DNS lookup comes without one", field, i, u.Scheme)
		}
	}
	return nil
}

func (b *builder) checkAlerts() error {
	if _, err := url.Parse(b.spec.AlertQueryURL); err != nil {
		return fmt.Errorf("spec.alertQueryUrl: %w", errNoURL)
	}
	if b.spec.AlertmanagersConfig != nil {
		return nil
	}
	for i, text := range b.spec.AlertmanagersURL {
		u, err := url.Parse(text)
		switch {
		case err != nil:
			return fmt.Errorf("spec.alertmanagersUrl[%d]: %w", i, errNoURL)
		case u.Scheme == "" || u.Host == "":
			return fmt.Errorf("spec.alertmanagersUrl[%d]: must have a scheme and a host", i)
		}
	}
	return nil
}

func (b *builder) checkDurations() error {
	for _, row := range []struct {
		field    string
		value    v1.Duration
		positive bool
	}{
		{"evaluationInterval", b.spec.EvaluationInterval, true},
		{"retention", b.spec.Retention, false},
		{"ruleQueryOffset", b.spec.RuleQueryOffset, false},
		{"ruleOutageTolerance", b.spec.RuleOutageTolerance, false},
		{"ruleGracePeriod", b.spec.RuleGracePeriod, false},
		{"resendDelay", b.spec.ResendDelay, false},
	} {
		if row.value == "" {
			continue
		}
		d, err := model.ParseDuration(string(row.value))
		if err != nil {
			return fmt.Errorf("spec.%s: %w", row.field, err)
		}
		if row.positive && d == 0 {
			return fmt.Errorf("spec.%s: must be longer than 0", row.field)
		}
	}
	return nil
}

// checkLabels rejects invalid label names, and names with "=", which the flag would split
// there.
func (b *builder) checkLabels() error {
	scheme := model.LegacyValidation
	if withUTF8Labels.Has(b.Version) {
		scheme = model.UTF8Validation
	}
	for _, name := range slices.Sorted(maps.Keys(b.spec.Labels)) {
		if !scheme.IsValidLabelName(name) || strings.Contains(name, "=") {
			return fmt.Errorf("spec.labels: %q is not a valid label name for version %s", name, b.Version)
		}
	}
	return nil
}

func (b *builder) checkGRPC() error {
	t := b.spec.GRPCServerTLSConfig
	if t == nil {
		return nil
	}
	const field = "spec.grpcServerTlsConfig"
	switch {
	case (t.CertFile == "") != (t.KeyFile == ""):
		return errors.New(field + ": set certFile and keyFile, or none of them")
	case t.CAFile != "" && t.CertFile == "":
		return errors.New(field + ".caFile: also needs certFile and keyFile")
	}
	return nil
}
