package targets

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// shardedText is a text with jobs in which each shard substitutes its variables. If they are in relabel steps only, as in
// all that the operator writes, the text is parsed once for all shards.
type shardedText struct {
	text []byte
	jobs []jobText // with the variables; nil if each shard is parsed
}

// plainValue matches values of variables that have the same meaning in YAML wherever they are substituted.
var plainValue = regexp.MustCompile(`^[0-9]+$|^[a-z][a-z0-9]*-[a-z0-9-]*[a-z0-9]$`)

func newShardedText(d promconfig.JobText) shardedText {
	out := shardedText{text: d.Text}
	if len(d.Shards) < 2 || bytes.IndexByte(d.Text, '&') >= 0 { // an anchor has its text at several places
		return out
	}
	var names []string
	for _, variables := range d.Shards {
		for name, value := range variables {
			if !plainValue.MatchString(value) {
				return out
			}
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	jobs, err := parseJobs(d.Text)
	if err != nil {
		return out
	}
	for _, name := range names {
		reference := "$(" + name + ")"
		n := bytes.Count(d.Text, []byte(reference))
		for i := range jobs {
			for _, step := range jobs[i].Steps {
				n -= strings.Count(step.Regex.String(), reference) + strings.Count(step.Replacement, reference)
			}
		}
		if n != 0 {
			return out
		}
	}
	out.jobs = jobs
	return out
}

func parseJobs(text []byte) (out []jobText, err error) {
	if err := yaml.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read the jobs: %w", err)
	}
	return out, nil
}

// of returns the jobs of the shard with these variables. Shards may share what their jobs have in common.
//
// Errors: the text is not a list of jobs.
func (s shardedText) of(variables map[string]string) ([]jobText, error) {
	if s.jobs == nil {
		return parseJobs(substitute(s.text, variables))
	}
	out := slices.Clone(s.jobs)
	for i := range out {
		out[i].Steps = slices.Clone(out[i].Steps)
		for n, step := range out[i].Steps {
			var err error
			if out[i].Steps[n], err = substituteStep(step, variables); err != nil {
				return nil, fmt.Errorf("read the jobs: %w", err)
			}
		}
	}
	return out, nil
}

// substituteStep replaces variables in a step. It returns the same step if there are none.
func substituteStep(step *relabel.Config, variables map[string]string) (*relabel.Config, error) {
	in := func(text string) string { return string(substitute([]byte(text), variables)) }
	regex, replacement := in(step.Regex.String()), in(step.Replacement)
	if regex == step.Regex.String() && replacement == step.Replacement {
		return step, nil
	}
	out := *step
	out.Replacement = replacement
	if regex != step.Regex.String() {
		var err error
		if out.Regex, err = relabel.NewRegexp(regex); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
