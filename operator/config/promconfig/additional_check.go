package promconfig

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/prometheus/common/model"
	promcfg "github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/relabel"
	yamlv2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// itemKind describes how the server reads the items of a user-supplied list.
type itemKind struct {
	named       bool     // items have a unique job_name
	own         []string // keys whose values are checked here
	discoveries bool     // items may have service discovery keys
	read        func(list []byte) error
}

// The kinds of items, each with Prometheus' own parser.
var (
	jobItems = itemKind{named: true, discoveries: true, own: yamlKeys(reflect.TypeFor[promcfg.ScrapeConfig](), []string{staticConfigs}),
		read: func(list []byte) error {
			jobs, err := strictly[promcfg.ScrapeConfig](list)
			for _, job := range jobs {
				err = cmp.Or(err, checkSteps(job.RelabelConfigs), checkSteps(job.MetricRelabelConfigs))
			}
			return err
		}}
	alertmanagerItems = itemKind{discoveries: true, own: yamlKeys(reflect.TypeFor[promcfg.AlertmanagerConfig](), []string{staticConfigs}),
		read: func(list []byte) error {
			managers, err := strictly[promcfg.AlertmanagerConfig](list)
			for _, m := range managers {
				err = cmp.Or(err, checkSteps(m.RelabelConfigs), checkSteps(m.AlertRelabelConfigs))
			}
			return err
		}}
	relabelItems = itemKind{own: yamlKeys(reflect.TypeFor[relabel.Config](), nil),
		read: func(list []byte) error {
			steps, err := strictly[*relabel.Config](list)
			return cmp.Or(err, checkSteps(steps))
		}}
)

const (
	staticConfigs       = "static_configs"
	kubernetesDiscovery = "kubernetes_sd_configs"
)

// strictly parses a list and rejects unknown keys.
func strictly[T any](list []byte) (items []T, err error) {
	if err := CheckExpressions(list); err != nil {
		return nil, err
	}
	err = yamlv2.UnmarshalStrict(list, &items)
	return items, err
}

// checkSteps rejects invalid relabel steps. Which label names are valid depends on the
// configuration, so names are accepted that are valid for any version.
func checkSteps(steps []*relabel.Config) error {
	for _, s := range steps {
		if s == nil {
			return errors.New("empty or null relabel step")
		}
		if err := s.Validate(model.UTF8Validation); err != nil {
			return err
		}
	}
	return nil
}

// checkItems reports what the server would reject in a user-supplied list, because one invalid
// item makes it reject the entire configuration. Job names are checked for all versions; the
// rest is checked with Prometheus' own parser, for the versions that it supports.
//
// items are the parsed items of text.
func (k itemKind) checkItems(text string, items []gate.Node, from assets.ContentError, t gate.Target) error {
	if !strings.Contains(text, "$(") && k.fine(items, t) {
		return nil
	}
	var doc yaml.Node // parsed again, with line numbers
	if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	var errs faults.List
	first := map[string]int{} // line of each job_name
	for _, item := range doc.Content[0].Content {
		say := func(line int, format string, args ...any) {
			at := from
			at.Line, at.Err = line, fmt.Errorf(format, args...)
			errs.Add("", &at)
		}
		read := readable(t) && !opaque(item)
		if k.named && !(read && k.misspells(item, jobName)) { // reported as an unknown field
			checkName(item, first, say)
		}
		if read {
			k.check(item, say)
		}
	}
	return errs.Err()
}

// fine reports whether the server accepts all items.
func (k itemKind) fine(items []gate.Node, t gate.Target) bool {
	names := map[string]bool{}
	var read []gate.Node
	for _, item := range items {
		var own gate.Node
		name := ""
		for _, pair := range item {
			key, is := pair.Key.(string)
			switch {
			case is && slices.Contains(k.own, key):
				own = append(own, pair)
			case readable(t) && (!is || !k.discoveries || !slices.Contains(discoveryKeys, key) || key == kubernetesDiscovery && !hasRoles(pair.Value)):
				return false
			}
			if key == "scrape_timeout" && readable(t) {
				return false // it may be longer than the interval
			}
			if text, is := pair.Value.(string); is && key == jobName {
				name = text
			}
		}
		if k.named && (name == "" || names[name]) || len(item) == 0 {
			return false
		}
		names[name] = true
		if len(own) > 0 {
			read = append(read, own)
		}
	}
	if !readable(t) || len(read) == 0 {
		return true
	}
	list, _, err := gate.AppendItems(nil, read, t, "")
	return err == nil && k.read(list) == nil
}

const jobName = "job_name"

// checkName reports a job with a missing or duplicate name. first maps names of earlier jobs to their lines.
func checkName(job *yaml.Node, first map[string]int, say func(line int, format string, args ...any)) {
	switch name := manifest.ValueOf(job, jobName); {
	case name == nil && opaque(job):
	case name == nil || name.Value == "":
		say(job.Line, "job_name is missing")
	case first[name.Value] > 0:
		say(name.Line, "job_name %q is a duplicate (of line %d)", name.Value, first[name.Value])
	default:
		first[name.Value] = name.Line
	}
}

// readable reports whether the linked Prometheus parser matches the version: it is a parser
// of version 3, and does not support later versions.
func readable(t gate.Target) bool { return major3(t) && !t.AtLeast(firstUnread) }

// opaque reports whether a job has values that are not known here: variables that are
// substituted in the pod, and YAML aliases.
func opaque(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || n.Tag == "!!merge" || strings.Contains(n.Value, "$(") || slices.ContainsFunc(n.Content, opaque)
}

// firstUnread is the first minor version that is newer than the linked library.
const firstUnread = "3.14.0"

// check reports unknown keys of an item or, if there are none, the faults that the parser finds.
func (k itemKind) check(item *yaml.Node, say func(line int, format string, args ...any)) {
	unknown := false
	rest := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key := item.Content[i]
		switch {
		case slices.Contains(k.own, key.Value):
			rest.Content = append(rest.Content, key, item.Content[i+1])
		case k.discoveries && slices.Contains(discoveryKeys, key.Value): // their parsers are not linked
			if key.Value == kubernetesDiscovery {
				checkDiscovery(item.Content[i+1], say)
			}
		default:
			unknown = true
			say(key.Line, "unknown field %s%s", key.Value, k.didYouMean(key.Value))
		}
	}
	if unknown {
		return
	}
	rest.Line = item.Line
	k.checkValues(rest, say)
	if k.named {
		checkTimeout(rest, say)
	}
}

// misspells reports whether an item has no key of a name, but an unknown one that is similar.
func (k itemKind) misspells(item *yaml.Node, name string) bool {
	if manifest.ValueOf(item, name) != nil {
		return false
	}
	for i := 0; i < len(item.Content); i += 2 {
		if key := item.Content[i].Value; !slices.Contains(k.own, key) && !slices.Contains(discoveryKeys, key) && manifest.Similar(key, k.own) == name {
			return true
		}
	}
	return false
}

func (k itemKind) didYouMean(key string) string {
	known := k.own
	if k.discoveries {
		known = slices.Concat(k.own, discoveryKeys)
	}
	if len(key) > budget.ComparedBytes {
		return ""
	}
	if meant := cmp.Or(ofObjects[key], snakeCase(key)); slices.Contains(known, meant) {
		return ", did you mean " + meant + "?"
	}
	if meant := manifest.Similar(key, known); meant != "" {
		return ", did you mean " + meant + "?"
	}
	return ""
}

// ofObjects maps fields of monitors and ScrapeConfigs to the keys of the configuration that have other words.
var ofObjects = map[string]string{
	"relabelings": relabelConfigs, "relabelingConfigs": relabelConfigs, "metricRelabelings": "metric_relabel_configs",
	"interval": "scrape_interval", "timeout": "scrape_timeout", "path": "metrics_path",
}

// snakeCase returns a name as the configuration of Prometheus writes it: that of staticConfigs is static_configs.
func snakeCase(name string) string {
	return strings.ToLower(humps.ReplaceAllString(name, "${1}_${2}"))
}

// humps matches the end of a word and the beginning of the next one.
var humps = lazyregexp.New(`([a-z0-9])([A-Z])`)

var discoveryKeys = yamlKeys(reflect.TypeFor[Discoveries](), []string{"serverset_sd_configs", "nerve_sd_configs"})

// yamlKeys appends the keys of a struct, including those of inlined structs.
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

// withoutValues returns the error as one line and without values, which may be secrets.
func withoutValues(err error) error {
	text := strings.Join(strings.Fields(redact.Quoted(err.Error())), " ")
	return errors.New(reworded(strings.TrimPrefix(lineOf.ReplaceAllString(text, ""), "yaml: unmarshal errors: ")))
}

// lineOf matches a line number in the re-encoded list, which the user does not see.
var lineOf = lazyregexp.New(`line \d+: `)
