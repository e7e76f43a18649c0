package promconfig

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	promcfg "github.com/prometheus/prometheus/config"
	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// checkAdditional reports what a server would refuse of the user's own jobs: it would refuse
// the whole configuration for one of them. The list was read before. Names of jobs count for
// every version; the rest is asked of Prometheus' own reader, for versions that it knows.
func checkAdditional(text string, from assets.ContentError, t gate.Target) error {
	var doc yaml.Node
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	var wrong faults.List
	first := map[string]int{} // line of each job_name
	for i, job := range doc.Content[0].Content {
		say := func(line int, format string, args ...any) {
			at := from
			at.Line, at.Err = line, fmt.Errorf(format, args...)
			wrong.Add(indexed("", i), &at)
		}
		name := mappingValue(job, "job_name")
		switch {
		case name == nil && opaque(job):
		case name == nil || name.Value == "":
			say(job.Line, "job_name is missing")
		case first[name.Value] > 0:
			say(name.Line, "job_name %q is a duplicate (of line %d)", name.Value, first[name.Value])
		default:
			first[name.Value] = name.Line
		}
		if readable(t) && !opaque(job) {
			checkJob(job, say)
		}
	}
	return wrong.Err()
}

// readable reports whether the linked reader of configurations stands for a version: it is of
// version 3, and knows nothing of newer ones.
func readable(t gate.Target) bool { return major3(t) && !t.AtLeast(firstUnread) }

// opaque reports whether a job has values that are not known here: variables, which the pod
// replaces, and parts that are written elsewhere in the document.
func opaque(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Tag == "!!merge" || strings.Contains(n.Value, "$(") || slices.ContainsFunc(n.Content, opaque)
}

// firstUnread is the first minor version that is newer than the library.
const firstUnread = "3.14.0"

// checkJob reports unknown keys of a job, and else what its reader refuses.
func checkJob(job *yaml.Node, say func(line int, format string, args ...any)) {
	unknown := false
	rest := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(job.Content); i += 2 {
		key := job.Content[i]
		switch {
		case slices.Contains(ownJobKeys, key.Value):
			rest.Content = append(rest.Content, key, job.Content[i+1])
		case slices.Contains(discoveryKeys, key.Value):
			// Their readers are not linked.
		default:
			unknown = true
			say(key.Line, "unknown field %s%s", key.Value, didYouMean(key.Value))
		}
	}
	if unknown {
		return
	}
	text, err := yaml.Marshal(rest)
	if err != nil {
		return
	}
	var read promcfg.ScrapeConfig
	if err := yamlv2.UnmarshalStrict(text, &read); err != nil {
		say(job.Line, "%w", withoutValues(err))
	}
}

func didYouMean(key string) string {
	if meant := manifest.Similar(key, slices.Concat(ownJobKeys, discoveryKeys)); meant != "" {
		return ", did you mean " + meant + "?"
	}
	return ""
}

var (
	ownJobKeys    = yamlKeys(reflect.TypeFor[promcfg.ScrapeConfig](), []string{"static_configs"})
	discoveryKeys = yamlKeys(reflect.TypeFor[Discoveries](), []string{"serverset_sd_configs", "nerve_sd_configs"})
)

// yamlKeys are the keys of a struct and of what is inlined in it.
func yamlKeys(t reflect.Type, keys []string) []string {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name != "" && name != "-":
			keys = append(keys, name)
		case strings.Contains(options, "inline") && f.Type.Kind() == reflect.Struct:
			keys = yamlKeys(f.Type, keys)
		}
	}
	return keys
}

// values matches what an error of the reader repeats of a configuration.
var values = regexp.MustCompile("`[^`]*`|\"[^\"]*\"")

// withoutValues is an error in one line and without values, which may be secrets.
func withoutValues(err error) error {
	text := strings.Join(strings.Fields(values.ReplaceAllString(err.Error(), "…")), " ")
	return errors.New(strings.TrimPrefix(lineOf.ReplaceAllString(text, ""), "yaml: unmarshal errors: "))
}

// lineOf matches the line in a text that nobody sees.
var lineOf = regexp.MustCompile(`line \d+: `)

// mappingValue is the value of a key; nil when it is not there.
func mappingValue(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
