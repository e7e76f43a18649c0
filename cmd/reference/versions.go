package main

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/rules"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const versionsIntro = `# Versions

Written by ` + "`make generate`" + ` from the types and tables of the operator.

` + "`spec.version`" + ` decides what is written: any 2.x and 3.x is accepted. What a version does not know
is left out, and the condition ` + "`Reconciled`" + ` of the object names it with the reason
` + "`FieldsNotSupported`" + `. Where the rest would mean something else than you asked for,
the object is rejected instead, and the reason names the version. "From" is the first version with the key, "before" the first version without it.
A pre-release sorts before its release: 3.0.0-rc.1 does not have what is there from 3.0.0 on.

What is not in a list exists in every version. Where a key is inside of a block that is left out, it is left out
with it. Some decisions need more than the number of a version (the role of a discovery, another field);
they are not keys and not listed.
`

// roots are the structs that the configuration consists of, with the key they stand under.
var roots = []struct {
	under string
	typ   reflect.Type
}{
	{"", reflect.TypeFor[promconfig.Head]()},
	{"scrape_configs[]", reflect.TypeFor[promconfig.ServiceMonitorJob]()},
	{"scrape_configs[]", reflect.TypeFor[promconfig.PodMonitorJob]()},
	{"scrape_configs[]", reflect.TypeFor[promconfig.ProbeJob]()},
	{"scrape_configs[]", reflect.TypeFor[promconfig.ScrapeConfigJob]()},
	{"", reflect.TypeFor[promconfig.Tail]()},
	{"alerting.alertmanagers[]", reflect.TypeFor[promconfig.Alertmanager]()}, // a list of any kind of entry
}

// versionsPage lists everything that not every version knows.
func versionsPage(context.Context, *programs) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(versionsIntro)
	fmt.Fprintf(&out, "\nWithout `spec.version`: Prometheus %s, Thanos %s.\n",
		workload.DefaultPrometheusVersion, workload.DefaultThanosVersion)
	if err := writeKeys(&out); err != nil {
		return nil, err
	}
	writeProtocols(&out)
	writeRuleKeys(&out)
	writeArguments(&out)
	return out.Bytes(), nil
}

// block is a struct type and every place where it occurs.
type block struct {
	typ    reflect.Type
	places []string // paths of keys, "remote_write[].tls_config"
}

func writeKeys(out *bytes.Buffer) error {
	out.WriteString("\n## Keys of the configuration\n\n" +
		"| block | key | from | agent from | before | only |\n|---|---|---|---|---|---|\n")
	blocks, err := findBlocks()
	if err != nil {
		return err
	}
	written := map[string]bool{}
	for _, b := range blocks {
		keys, err := gate.Keys(b.typ)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.Since == "" && k.Until == "" && k.Mode == "" {
				continue
			}
			row := fmt.Sprintf("| %s | `%s` | %s | %s | %s | %s |\n",
				b.title(), k.Name, k.Since, k.SinceAgent, k.Until, k.Mode)
			if !written[row] { // jobs of both kinds of monitors share most keys
				written[row] = true
				out.WriteString(row)
			}
		}
	}
	return nil
}

// title names a block by its path, or by its key when it occurs in many places.
func (b block) title() string {
	switch path := b.places[0]; {
	case path == "":
		return "top"
	case len(b.places) > 1:
		return "`" + path[strings.LastIndexByte(path, '.')+1:] + "` anywhere"
	default:
		return "`" + path + "`"
	}
}

// findBlocks walks the types in the order of the document.
func findBlocks() ([]*block, error) {
	var (
		blocks []*block
		visit  func(t reflect.Type, path string) error
	)
	visit = func(t reflect.Type, path string) error {
		if t == reflect.TypeFor[gate.Node]() { // keys of the user
			return nil
		}
		t, suffix := element(t)
		if t.Kind() != reflect.Struct {
			return nil
		}
		path += suffix
		at := slices.IndexFunc(blocks, func(b *block) bool { return b.typ == t })
		if at >= 0 {
			if b := blocks[at]; !slices.Contains(b.places, path) {
				b.places = append(b.places, path)
			}
			return nil
		}
		blocks = append(blocks, &block{t, []string{path}})
		keys, err := gate.Keys(t)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if err := visit(k.Type, strings.TrimPrefix(path+"."+k.Name, ".")); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range roots {
		if err := visit(r.typ, r.under); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// element is what a pointer, list or map holds; lists add "[]" to the path.
func element(t reflect.Type) (reflect.Type, string) {
	suffix := ""
	for {
		switch t.Kind() {
		case reflect.Slice:
			suffix += "[]"
		case reflect.Pointer, reflect.Map:
		default:
			return t, suffix
		}
		t = t.Elem()
	}
}

func writeProtocols(out *bytes.Buffer) {
	out.WriteString("\n## Values of `scrape_protocols` and `fallback_scrape_protocol`\n\n| value | from |\n|---|---|\n")
	for _, p := range []v1.ScrapeProtocol{
		v1.PrometheusProto, v1.OpenMetricsText0_0_1, v1.OpenMetricsText1_0_0, v1.PrometheusText0_0_4, v1.PrometheusText1_0_0,
	} {
		fmt.Fprintf(out, "| `%s` | %s |\n", p, promconfig.ScrapeProtocol(p).Since())
	}
}

func writeRuleKeys(out *bytes.Buffer) {
	out.WriteString("\n## Keys of rule files\n\n| key | Prometheus from | Thanos from |\n|---|---|---|\n")
	for _, g := range rules.Gates() {
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", g.Key, g.Prometheus, g.Thanos)
	}
}

func writeArguments(out *bytes.Buffer) {
	out.WriteString("\n## Arguments\n\nWhere no field is named, the operator writes the argument by itself or " +
		"because of a field that newer versions read from the configuration.\n\n" +
		"| program | argument | from | before | asked for by |\n|---|---|---|---|---|\n")
	for _, g := range workload.Gates() {
		field := g.Field
		if field != "" {
			field = "`" + field + "`"
		}
		fmt.Fprintf(out, "| %s | `%s` | %s | %s | %s |\n", g.Program, g.Argument, release(g.Since), release(g.Until), field)
	}
}

// release drops the mark for "any pre-release": 3.0.0-0 is 3.0.0 to readers.
func release(version string) string { return strings.TrimSuffix(version, "-0") }
