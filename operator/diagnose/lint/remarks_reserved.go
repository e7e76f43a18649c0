package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// reserved are the labels of a target from which Prometheus takes where and how it scrapes.
var reserved = []string{"__address__", "__metrics_path__", "__scheme__", "__scrape_interval__", "__scrape_timeout__"}

// reservedRemarks reports labels in the steps of targets that are almost reserved ones. A label that some step sets and another
// one reads is a name of the user.
func reservedRemarks(say says, path string, steps []v1.RelabelConfig) {
	set, read := map[string]bool{}, map[string]bool{}
	for i := range steps {
		set[steps[i].TargetLabel] = true
		for _, label := range steps[i].SourceLabels {
			read[string(label)] = true
		}
	}
	for i := range steps {
		if label := steps[i].TargetLabel; !read[label] {
			if meant := almostReserved(label); meant != "" {
				say(fmt.Sprintf("%s[%d].targetLabel", path, i), "%s is none of the labels that Prometheus reads, and those that begin with __ are removed after the steps: did you mean %s?", label, meant)
			}
		}
		for j, source := range steps[i].SourceLabels {
			if label := string(source); !set[label] {
				if meant := almostReserved(label); meant != "" {
					say(fmt.Sprintf("%s[%d].sourceLabels[%d]", path, i, j), "targets have no label %s, so its value is always empty: did you mean %s?", label, meant)
				}
			}
		}
	}
}

// almostReserved returns the reserved label of which a name is probably a misspelling; empty for others.
func almostReserved(name string) string {
	if !strings.HasPrefix(name, "__") || slices.Contains(reserved, name) {
		return ""
	}
	return manifest.Similar(name, reserved)
}
