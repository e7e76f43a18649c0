package commands

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestChartTemplates renders the chart as the release "firekeeper".
//
//	values.yaml        what the user sets
//	want/NAME.yaml     what a template of this name makes of it; want/NOTES.txt
func TestChartTemplates(t *testing.T) {
	golden.Run(t, "testdata/chart/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		values, ok := c.Input("values.yaml")
		if !ok {
			t.Fatal("no values.yaml")
		}
		text := strings.TrimSpace(released(t, string(values))[name])
		return []byte(strings.TrimSpace(strings.TrimPrefix(text, "---\n")) + "\n"), nil
	})
}
