package rules

import (
	"log/slog"
	"strings"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// readByPrometheus parses a rule file like a Prometheus does, with the name validation
// and language of the settings. It removes the key that only Thanos supports.
func readByPrometheus(content string, s Settings) []error {
	_, errs := parseByPrometheus(content, s)
	return errs
}

func parseByPrometheus(content string, s Settings) (*rulefmt.RuleGroups, []error) {
	if s.Thanos {
		var kept []string
		for line := range strings.Lines(content) {
			if !strings.HasPrefix(line, "  partial_response_strategy:") {
				kept = append(kept, line)
			}
		}
		content = strings.Join(kept, "")
	}
	return rulefmt.Parse([]byte(content), false, s.scheme(), parser.NewParser(s.PromQL), slog.New(slog.DiscardHandler))
}
