package commands

import (
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// TestChartTemplates renders the chart as the release "firekeeper".
//
//	values.yaml        the values set by the user
//	want/NAME.yaml     the output of the template with this name; want/NOTES.txt
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
