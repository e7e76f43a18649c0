package promconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// listKeys are keys of configuration files and of a Helm chart whose value is a list of items.
var listKeys = []string{"scrape_configs", "additionalScrapeConfigs", "alertmanagers", "additionalAlertManagerConfigs", "alert_relabel_configs", "additionalAlertRelabelConfigs"}

// keysOfJobs are the keys whose value is a list of jobs.
var keysOfJobs = []string{"scrape_configs", "additionalScrapeConfigs"}

// alertingKey is the key of the part of a configuration file about alerts.
const alertingKey = "alerting"

// listBelow returns the key of the list of items of this kind in the part of a configuration file about alerts; nil if it
// has none.
func (k itemKind) listBelow(n *yaml.Node) *yaml.Node {
	wanted := "alert_relabel_configs"
	if k.discoveries {
		wanted = "alertmanagers"
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == wanted {
			return n.Content[i]
		}
	}
	return nil
}

// notList returns the error for a text that is no list of maps, with the line. It contains no values.
func (k itemKind) notList(text string, from assets.ContentError) error {
	from.Line, from.Err = 1, errors.New("want a YAML list of maps")
	at := func(n *yaml.Node, format string, args ...any) error {
		from.Line, from.Err = n.Line, fmt.Errorf(format, args...)
		return &from
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		from.Line = manifest.SyntaxLine([]byte(text), err)
		from.Err = fmt.Errorf("is not valid YAML: %s", strings.TrimPrefix(withoutValues(err).Error(), "yaml: "))
		return &from
	}
	if len(doc.Content) == 0 {
		return &from
	}
	switch root := doc.Content[0]; root.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(root.Content); i += 2 {
			switch key := root.Content[i]; {
			case !k.named && slices.Contains(keysOfJobs, key.Value): // the list may follow in the same file
			case !k.named && key.Value == alertingKey:
				if list := k.listBelow(root.Content[i+1]); list != nil {
					return at(list, "want a YAML list of maps, got a map; leave out %s: and %s: and write only the list below them", key.Value, list.Value)
				}
			case slices.Contains(listKeys, key.Value):
				return at(key, "want a YAML list of maps, got a map; leave out %s: and write only its list", key.Value)
			case slices.Contains(k.own, key.Value):
				return at(key, "want a YAML list of maps, got a map; write - before its first key")
			}
		}
		return at(root, "want a YAML list of maps, got a map")
	case yaml.SequenceNode:
		for _, item := range root.Content {
			if item.Kind != yaml.MappingNode {
				return at(item, "want a YAML list of maps, and this item is none")
			}
		}
	case yaml.ScalarNode:
		if assets.EncodedTwice(root.Value) {
			return at(root, "want a YAML list of maps, got base64: %s", assets.TwiceEncoded)
		}
		return at(root, "want a YAML list of maps, got text")
	}
	return &from
}
