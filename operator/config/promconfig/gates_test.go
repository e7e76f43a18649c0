package promconfig

import (
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// gated is a key that only some versions support, and the struct that declares it.
type gated struct {
	owner reflect.Type
	gate.Key
}

func (g gated) name() string { return g.owner.Name() + " " + g.Name }

// notDropped lists gated keys that are never dropped, and why.
var notDropped = map[string]string{
	"TSDB retention":            "an argument of the server below 3.11.0",
	"Tail otlp":                 "nothing is generated below 2.55.0",
	"AzureAD oauth":             "nothing is generated below 2.48.0",
	"AzureAD sdk":               "nothing is generated below 2.52.0",
	"AzureAD workload_identity": "nothing is generated below 3.7.0",
}

// gateTable maps the path of each gated key in the document to the key:
// "ServiceMonitor:scrape_configs[].oauth2.tls_config".
type gateTable map[string]gated

func newGateTable(t *testing.T) gateTable {
	t.Helper()
	table := gateTable{}
	for prefix, root := range map[string]reflect.Type{
		"":                                reflect.TypeFor[Head](),
		" ":                               reflect.TypeFor[Tail](),
		"alerting.alertmanagers[]":        reflect.TypeFor[Alertmanager](),
		"ServiceMonitor:scrape_configs[]": reflect.TypeFor[ServiceMonitorJob](),
		"PodMonitor:scrape_configs[]":     reflect.TypeFor[PodMonitorJob](),
		"Probe:scrape_configs[]":          reflect.TypeFor[ProbeJob](),
		"ScrapeConfig:scrape_configs[]":   reflect.TypeFor[ScrapeConfigJob](),
	} {
		table.walk(t, strings.TrimSpace(prefix), root, nil)
	}
	return table
}

// walk adds the keys of a struct type and of nested types. around is the highest minimum version
// of the enclosing blocks: a key that was introduced with its block needs no separate gate.
func (table gateTable) walk(t *testing.T, path string, typ reflect.Type, around *semver.Version) {
	keys, err := gate.Keys(typ, gate.Prometheus)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		at, inner := path+"."+k.Name, around
		if path == "" {
			at = k.Name
		}
		if k.Since != "" {
			if since := semver.MustParse(k.Since); around == nil || since.GreaterThan(around) {
				table[at] = gated{declares(typ, k.Name), k}
				inner = since
			}
		} else if k.Until != "" {
			table[at] = gated{declares(typ, k.Name), k}
		}
		child := k.Type
		for child.Kind() == reflect.Pointer || child.Kind() == reflect.Slice {
			if child.Kind() == reflect.Slice {
				at += "[]"
			}
			child = child.Elem()
		}
		if child.Kind() == reflect.Struct && k.Type != reflect.TypeFor[gate.Node]() {
			table.walk(t, at, child, inner)
		}
	}
}

// declares returns the struct that declares the field, rather than one that it is inlined into.
func declares(typ reflect.Type, key string) reflect.Type {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			if inner := declares(f.Type, key); inner != nil {
				return inner
			}
		} else if name == key {
			return typ
		}
	}
	return nil
}

// TestEveryGateHasGoldens: for every gated key, a golden file shows that it is written
// for the first supported version, and another one that it is dropped below, with the
// reason. For removed keys it is the other way round.
func TestEveryGateHasGoldens(t *testing.T) {
	table := newGateTable(t)
	written, dropped := map[string]bool{}, map[string]bool{}
	paths, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range paths {
		c, err := golden.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.Wants() {
			version, part := golden.CutVersion(want)
			switch part {
			case "rejected", "error", "warnings", "files":
				continue
			}
			table.note(t, c, version, part == "dropped", written, dropped)
		}
	}
	missing := map[string]bool{}
	for place, g := range table {
		if !written[g.name()] {
			missing[g.name()+": no golden file writes it at the border"] = true
		}
		// A ScrapeConfig whose discovery would find other targets is rejected instead.
		discovers := strings.HasPrefix(place, "ScrapeConfig:") && strings.Contains(place, "_sd_configs")
		if !dropped[g.name()] && notDropped[g.name()] == "" && !discovers {
			missing[g.name()+": no golden file drops it"] = true
		}
	}
	for _, text := range slices.Sorted(maps.Keys(missing)) {
		t.Error(text)
	}
	if len(table) < 300 {
		t.Errorf("only %d gated places were found", len(table))
	}
}

// note renders the input of a golden file for one version and records the keys that are
// written or dropped.
func (table gateTable) note(t *testing.T, c golden.Case, version string, showsDropped bool, written, dropped map[string]bool) {
	w, err := readInput(c)
	if err != nil {
		t.Fatal(err)
	}
	w.setVersion(version)
	out, err := w.render()
	if err != nil {
		return
	}
	v, err := ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	if showsDropped {
		for path := range w.droppedPlaces(t, out) {
			if g, ok := table[path]; ok {
				dropped[g.name()] = true
			}
		}
		return
	}
	var doc yaml.MapSlice
	if err := yaml.Unmarshal(out.text, &doc); err != nil {
		t.Fatal(err)
	}
	walkDocument("", doc, func(path string) {
		g, ok := table[path]
		if !ok {
			return
		}
		if since := g.Since; since != "" && (v.String() == since || w.agent != nil && v.String() == g.SinceAgent) {
			written[g.name()] = true
		}
		if g.Until != "" && v.LessThan(semver.MustParse(g.Until)) {
			written[g.name()] = true
		}
	})
}

var index = regexp.MustCompile(`\[\d+\]`)

// droppedPlaces returns the paths of dropped keys.
func (w *goldenInput) droppedPlaces(t *testing.T, out rendered) map[string]bool {
	places := map[string]bool{}
	add := func(prefix string, ds []gate.Dropped) {
		for _, d := range ds {
			places[prefix+index.ReplaceAllString(d.Path, "[]")] = true
		}
	}
	add("", out.frame.Dropped)
	s, err := w.settings()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range w.services {
		add("ServiceMonitor:", CompileServiceMonitor(m, s, &w.objects).Dropped)
	}
	for _, m := range w.pods {
		add("PodMonitor:", CompilePodMonitor(m, s, &w.objects).Dropped)
	}
	for _, m := range w.probes {
		add("Probe:", CompileProbe(m, s, &w.objects).Dropped)
	}
	for _, m := range w.scrapes {
		add("ScrapeConfig:", CompileScrapeConfig(m, s, &w.objects).Dropped)
	}
	return places
}

// walkDocument calls f with the path of every key.
func walkDocument(path string, v any, f func(place string)) {
	switch v := v.(type) {
	case yaml.MapSlice:
		for _, item := range v {
			key, ok := item.Key.(string)
			if !ok {
				continue
			}
			at := path + "." + key
			if path == "" {
				at = key
			}
			f(at)
			walkDocument(at, item.Value, f)
		}
	case []any:
		for _, item := range v {
			prefix := ""
			if path == "scrape_configs" {
				prefix = kindOfJob(item)
			}
			walkDocument(prefix+path+"[]", item, f)
		}
	}
}

// kindOfJob returns the kind of the monitor from the name of its job.
func kindOfJob(job any) string {
	name, _ := golden.Child(job, "job_name").(string)
	for prefix, kind := range map[string]string{
		"serviceMonitor/": "ServiceMonitor:", "podMonitor/": "PodMonitor:", "probe/": "Probe:", "scrapeConfig/": "ScrapeConfig:",
	} {
		if strings.HasPrefix(name, prefix) {
			return kind
		}
	}
	return ""
}
