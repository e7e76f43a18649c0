package targets

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// legacy reports whether the servers have major version 2. Its differences, besides label names
// that are not UTF-8:
//
//   - the default port of the scheme is added to an address without one, and the scheme must have a
//     default; with the feature no-default-scrape-port that port is removed;
//   - the dot of a regular expression does not match line breaks;
//   - parameters of the job override discovered labels of that name.
func legacy(d promconfig.JobText) bool { return d.Release != nil && d.Release.Major() < 3 }

// asLegacy adapts the job to the rules of major version 2.
func (j *Job) asLegacy(noDefaultPort bool) {
	j.legacy, j.needsPort = true, !noDefaultPort
	last := addPort
	if noDefaultPort {
		last = removePort
	}
	for _, c := range j.shards {
		steps := make([]*relabel.Config, 0, len(c.RelabelConfigs)+len(last))
		for _, step := range c.RelabelConfigs {
			own := *step
			own.Regex = oneLine(own.Regex.String())
			steps = append(steps, &own)
		}
		c.RelabelConfigs = append(steps, last...)
		for param := range c.Params {
			for _, group := range j.Static {
				delete(group.Labels, model.LabelName(model.ParamLabelPrefix+param))
			}
		}
	}
}

// checkPort validates a kept target.
//
// Errors: neither the address nor the scheme has a port.
func (j *Job) checkPort(l labels.Labels) error {
	switch l.Get(model.SchemeLabel) {
	case "", "http", "https":
		return nil
	}
	address := l.Get(model.AddressLabel)
	_, _, hasPort := net.SplitHostPort(address)
	_, _, canHave := net.SplitHostPort(address + ":1234")
	if j.needsPort && hasPort != nil && canHave == nil {
		return fmt.Errorf("invalid scheme: %q", l.Get(model.SchemeLabel))
	}
	return nil
}

const oneLinePrefix = "(?-s:"

// oneLine returns an expression whose dots do not match line breaks.
func oneLine(text string) relabel.Regexp { return relabel.MustNewRegexp(oneLinePrefix + text + ")") }

// regexOf returns the regular expression of a step as the user wrote it.
func (j *Job) regexOf(c *relabel.Config) string {
	text := c.Regex.String()
	if !j.legacy {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, oneLinePrefix), ")")
}

// The work of these servers after the last step, expressed as relabel steps. These steps drop
// nothing and therefore need no origin. The label instance keeps the address with its port.
var (
	addPort = []*relabel.Config{
		onAddress(`(?:http)?;([^:\[\]]+|\[[^\[\]]*\])`, "$1:80"), onAddress(`https;([^:\[\]]+|\[[^\[\]]*\])`, "$1:443"),
	}
	removePort = []*relabel.Config{
		replace(model.InstanceLabel, `;(.+)`, "$1", model.InstanceLabel, model.AddressLabel),
		onAddress(`http;(?:([^:\[\]]+)|\[([^\[\]]+)\]):80`, "$1$2"), onAddress(`https;(?:([^:\[\]]+)|\[([^\[\]]+)\]):443`, "$1$2"),
	}
)

func onAddress(regex, replacement string) *relabel.Config {
	return replace(model.AddressLabel, regex, replacement, model.SchemeLabel, model.AddressLabel)
}

func replace(label, regex, replacement string, source ...model.LabelName) *relabel.Config {
	return &relabel.Config{
		Action: relabel.Replace, SourceLabels: slices.Clone(source), Separator: ";", Regex: relabel.MustNewRegexp(regex),
		TargetLabel: label, Replacement: replacement, NameValidationScheme: model.UTF8Validation,
	}
}
