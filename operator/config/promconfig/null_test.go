package promconfig

import (
	"testing"

	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/relabel"
)

// TestNullIsAnExpression: decoding any expression that is written does not change Prometheus' default expression.
func TestNullIsAnExpression(t *testing.T) {
	const anything = "^(?s:(.*))$"
	for _, text := range []string{"null", "~", "NULL", "", "(null)"} {
		written := expression(text)
		if written == "null" || written == "~" {
			t.Errorf("%q is written as it is", text)
			continue
		}
		loaded, err := config.Load("scrape_configs: [{job_name: a, relabel_configs: [{action: drop, source_labels: [a], regex: '"+written+"'}]}]", nil)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		regex := loaded.ScrapeConfigs[0].RelabelConfigs[0].Regex
		if !regex.MatchString(trim(text)) || regex.MatchString("x") || relabel.DefaultRelabelConfig.Regex.Regexp.String() != anything {
			t.Errorf("%q: %s, the default is %s", text, regex, relabel.DefaultRelabelConfig.Regex.Regexp)
		}
	}
}

func trim(text string) string {
	if text == "(null)" {
		return "null"
	}
	return text
}
