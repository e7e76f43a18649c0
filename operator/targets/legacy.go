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

// legacy reports whether the servers have major version 2. What differs there, besides label
// names that are not UTF-8:
//
//   - the port of the scheme is added to an address without one, and the scheme must have one;
//     with the feature no-default-scrape-port that port is taken away;
//   - the dot of a regular expression matches no line break;
//   - parameters of the job win over discovered labels of that name.
func legacy(d promconfig.JobText) bool { return d.Release != nil && d.Release.Major() < 3 }

// asLegacy makes the job what it is to servers of major version 2.
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

// checkPort is the check of a target that is kept.
//
// Errors: the address has no port, and nor has the scheme.
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

// oneLine is an expression whose dots match no line break.
func oneLine(text string) relabel.Regexp { return relabel.MustNewRegexp(oneLinePrefix + text + ")") }

// regexOf is the expression of a step as it was written.
func (j *Job) regexOf(c *relabel.Config) string {
	text := c.Regex.String()
	if !j.legacy {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(text, oneLinePrefix), ")")
}

// What servers do after the last step, as steps. They drop nothing, so that they need no
// origin. The label instance is what the address was before its port was taken away.
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
