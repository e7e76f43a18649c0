package lint

import (
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/fields"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// pagerDutySeverities are the severities of events that PagerDuty accepts.
var pagerDutySeverities = []string{"critical", "error", "warning", "info"}

// valueOfReceiver is a field of a receiver with the text that its value needs.
type valueOfReceiver struct {
	field *lazyregexp.Regexp
	wrong func(value string) bool
	says  string
}

var valuesOfReceivers = []valueOfReceiver{
	{lazyregexp.New(`\.emailConfigs\[\d+\]\.(to|from)$`), func(v string) bool { return !strings.Contains(v, "@") },
		"is no address, so no mail is sent: write name@host"},
	{lazyregexp.New(`\.pagerdutyConfigs\[\d+\]\.severity$`), func(v string) bool { return !slices.Contains(pagerDutySeverities, v) },
		"PagerDuty refuses events with another severity than critical, error, warning and info: write one of them"},
	{lazyregexp.New(`\.opsgenieConfigs\[\d+\]\.priority$`), func(v string) bool { return !opsGeniePriority.MatchString(v) },
		"OpsGenie has the priorities P1, P2, P3, P4 and P5: write one of them"},
	{lazyregexp.New(`\.(?:proxyURL|proxyUrl)$`), func(v string) bool { return hostAndPort.MatchString(v) },
		"is no URL, so each notification fails: write http:// in front of it"},
}

var (
	opsGeniePriority = lazyregexp.New(`^P[1-5]$`)
	hostAndPort      = lazyregexp.New(`^[a-zA-Z][a-zA-Z0-9.-]*:\d+/?$`)
)

// receiverValues reports values of receivers that the service behind them refuses. Templates may have any value.
func receiverValues(always says, c *v1alpha1.AlertmanagerConfig) {
	for field, text := range fields.Strings("spec.receivers", c.Spec.Receivers) {
		value := text.String()
		if value == "" || strings.ContainsAny(value, "{$") { // or a variable that another program replaces
			continue
		}
		for _, of := range valuesOfReceivers {
			if of.field.MatchString(field) && of.wrong(value) {
				always(field, "%s", of.says)
			}
		}
	}
}
