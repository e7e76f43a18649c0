package thanosruler

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// checks are the rules for the fields of this kind, in the order in which they are checked.
var checks = []workload.Check[*builder]{
	{Fault: func(b *builder) error { return b.files().Check() }},
	{Field: "spec.queryEndpoints", Fault: (*builder).checkQuery},
	{Field: "spec.alertQueryUrl", Fault: func(b *builder) error {
		_, err := workload.ParseURL(b.spec.AlertQueryURL)
		return err
	}},
	{Field: "spec.alertmanagersUrl", Fault: workload.Each(alertmanagers, checkAlertmanager)},
	{Field: "spec.evaluationInterval", Fault: workload.PositiveDuration(func(b *builder) v1.Duration { return b.spec.EvaluationInterval })},
	{Field: "spec.retention", Fault: workload.Duration(func(b *builder) v1.Duration { return b.spec.Retention })},
	{Field: "spec.ruleQueryOffset", Fault: workload.Duration(func(b *builder) v1.Duration { return b.spec.RuleQueryOffset })},
	{Field: "spec.ruleOutageTolerance", Fault: workload.Duration(func(b *builder) v1.Duration { return b.spec.RuleOutageTolerance })},
	{Field: "spec.ruleGracePeriod", Fault: workload.Duration(func(b *builder) v1.Duration { return b.spec.RuleGracePeriod })},
	{Field: "spec.resendDelay", Fault: workload.Duration(func(b *builder) v1.Duration { return b.spec.ResendDelay })},
	{Field: "spec.labels", Fault: (*builder).checkLabels},
	{Fault: func(b *builder) error { return b.CheckRoutePrefix() }},
	{Field: "spec.grpcServerTlsConfig", Fault: func(b *builder) error { return workload.CheckGRPCServer(b.spec.GRPCServerTLSConfig) }},
}

// Check returns the faults of the spec with which the server would not start.
func (b *builder) Check() error { return workload.CheckSpec(b.Base, checks, b) }

func (b *builder) checkQuery() error {
	if b.spec.QueryConfig != nil {
		return nil
	}
	endpoints := b.spec.QueryEndpoints
	if len(endpoints) == 0 {
		return errors.New("must not be empty unless queryConfig is set")
	}
	first := make(map[string]int, len(endpoints))
	for i, endpoint := range endpoints {
		err := checkEndpoint(endpoint)
		if at, again := first[endpoint]; again {
			err = fmt.Errorf("is the same as [%d]", at)
		} else {
			first[endpoint] = i
		}
		if err != nil {
			return faults.At(faults.Index("", i), err)
		}
	}
	return nil
}

func checkEndpoint(endpoint string) error {
	text := endpoint
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := workload.ParseURL(text)
	switch {
	case endpoint == "":
		return errors.New("must not be empty")
	case err != nil:
		return err
	case u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("scheme %q: must be http or https; the prefix of a DNS lookup comes without one", u.Scheme)
	}
	return nil
}

// hostPort matches an address without a scheme.
var hostPort = lazyregexp.New(`^[a-zA-Z0-9.-]+:[0-9]+$`)

func checkAlertmanager(text string) error {
	u, err := workload.ParseURL(text)
	if err == nil && (u.Scheme == "" || u.Host == "") {
		if hostPort.MatchString(text) {
			return fmt.Errorf("must have a scheme and a host: write http://%s", text)
		}
		return errors.New("must have a scheme and a host")
	}
	return err
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
			return fmt.Errorf("%q is not a valid label name for version %s", name, b.Version)
		}
	}
	return nil
}
