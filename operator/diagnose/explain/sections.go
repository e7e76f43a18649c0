package explain

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// readReceivers returns the names of the receivers among the sections that an object
// adds to a configuration.
func readReceivers(text string) (names []string, err error) {
	var sections struct {
		Receivers []struct{ Name string }
	}
	if err := yaml.Unmarshal([]byte(text), &sections); err != nil {
		return nil, fmt.Errorf("read the compiled receivers: %w", err)
	}
	for _, r := range sections.Receivers {
		names = append(names, r.Name)
	}
	return names, nil
}
