package rules

import (
	"log/slog"
	"strings"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

// readByPrometheus reads a rule file the way a Prometheus does, with the
// settings' names and language. Thanos' own key is taken out first, as its
// reader does not know it.
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
