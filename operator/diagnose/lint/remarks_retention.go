package lint

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// retention is how long an Alertmanager knows of which alerts it notified; 0 if that is not known.
type retention time.Duration

// retentionOf returns the retention of an Alertmanager.
func retentionOf(am *v1.Alertmanager) retention {
	if slices.ContainsFunc(am.Spec.AdditionalArgs, func(a v1.Argument) bool { name, _ := a.Flag(); return name == "data.retention" }) {
		return 0
	}
	d, err := time.ParseDuration(cmp.Or(string(am.Spec.Retention), wellknown.DefaultAlertmanagerRetention))
	if err != nil {
		return 0
	}
	return retention(d)
}

// forgets returns why alerts are repeated before an interval is over; empty if they are not.
func (r retention) forgets(interval string) string {
	d, err := model.ParseDuration(interval)
	if err != nil || r <= 0 || retention(d) <= r {
		return ""
	}
	return fmt.Sprintf("%s is longer than the retention of the Alertmanager, %s, after which it does not know that it notified, so that alerts are repeated then; set spec.retention of the Alertmanager to %s or more, or write a shorter interval",
		interval, goHours(time.Duration(r)), goHours(time.Duration(d)))
}

// goHours returns a duration in the units of spec.retention, which has no days.
func goHours(d time.Duration) string {
	if d%time.Hour == 0 {
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return d.Round(time.Second).String()
}
