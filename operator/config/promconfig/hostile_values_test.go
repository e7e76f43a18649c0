package promconfig

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/prometheus/prometheus/config"
	kjson "sigs.k8s.io/json"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/check"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// hostileValues are strings that some parser treats in its own way.
var hostileValues = []string{
	"", " ", "Basic", "basic ", "Bearer", "AWS4-HMAC-SHA256", "a b", "a\nb", "a\tb", "\x00", "\u0085", "\u2028", "\ufeff", "\u202e", "é", "ſ", "'", `"`, "`", "#x", "a #b", ": ", "a: b", "- a", "? a", "&a", "*a", "!!int 1", "|", ">", "@", "%",
	"{{x}}", "{a}", "[a]", "$(POD_NAME)", "$(X)", "${X}", "$X", "$1", "$", "$$", "*", "~", "null", "true", "no", "0", "-1", "1e3", "0x10", "0o7", "1_000", ".inf", ".", "..", "../x", "/", "//", "http://", "http://a b", "http://[::1",
	"https://u:p@h/?q#f", "ftp://x", "::1", "[::1]:80", "1.2.3.4:99999", "a:b:c", "host:port", "(", "[", `\`, "(?i)x", "(?<n>x)", "x{2,1}", "a-b", "__name__", "__address__", "__meta_x", "job", "0a", "0s", "1d", "1h30m", "9999999999h", "-5s", "5", "1y1w", "1GiB", "9EB", "99999999999999999999",
}

// TestHostileValues writes such values into strings of monitors, and instead of keys. Prometheus must read the result
// if it is accepted, because otherwise one object would stop the configuration of all.
func TestHostileValues(t *testing.T) {
	w := &goldenInput{cluster: everything}
	if err := w.add([]byte("kind: Prometheus\nmetadata: {namespace: demo, name: test}\nspec: {}")); err != nil {
		t.Fatal(err)
	}
	s, frame := w.compiled(t, "3.13.2")
	checkers := map[string]*check.Checker{}
	for kind, version := range map[string]string{v1.ServiceMonitorKind: v1.Version, v1.PodMonitorKind: v1.Version, v1.ProbeKind: v1.Version, v1alpha1.ScrapeConfigKind: v1alpha1.Version} {
		checkers[kind] = checkerOf(t, kind, version)
	}
	rng := rand.New(rand.NewPCG(5, 7))
	written, documents := map[string]int{}, map[string][]byte{}
	for _, subject := range hostileSubjects(t, rng) {
		if f := subject.compile(t, s); f.Err != nil {
			continue
		}
		share := 6
		if subject.kind == v1alpha1.ScrapeConfigKind { // of which there are many
			share = 40
		}
		for _, at := range stringsOf(subject.spec) {
			for _, value := range hostileValues {
				if value != "Basic" && rng.IntN(share) > 0 { // a word of HTTP is in few fields
					continue
				}
				at.set(value)
				if f := subject.compile(t, s); f.Err == nil && len(checkers[subject.kind].Object(subject.object(t))) == 0 {
					name := fmt.Sprintf("%s-%d", subject.kind, written[subject.kind])
					documents[name] = fragments{subject.kind: {f.YAML}}.document(&frame)
					documents[name] = append(documents[name], fmt.Sprintf("# %s: %q\n", at.path, value)...)
					written[subject.kind]++
				}
				at.set(at.before)
			}
		}
	}
	t.Log(written)
	for kind := range checkers {
		if written[kind] < 100 {
			t.Errorf("only %d of %s are accepted", written[kind], kind)
		}
	}
	promtoolAll(t, documents)
}

// TestHostileOwners does the same with a workload.
func TestHostileOwners(t *testing.T) {
	checker := checkerOf(t, v1.PrometheusKind, v1.Version)
	rng := rand.New(rand.NewPCG(5, 8))
	loaded := 0
	for seed := range uint64(6) {
		w := randomOwner(t, seed, 0.4, false)
		w.setVersion("3.13.2")
		acceptable(t, w)
		subject := hostileSubject{v1.PrometheusKind, decodedMap(t, w.prometheus.Spec)}
		for _, at := range stringsOf(subject.spec) {
			for _, value := range hostileValues {
				if value != "Basic" && rng.IntN(40) > 0 {
					continue
				}
				at.set(value)
				if text := subject.owned(t); text != nil {
					loaded++
					if _, err := config.Load(string(text), slog.New(slog.DiscardHandler)); err != nil && len(checker.Object(subject.object(t))) == 0 {
						t.Errorf("%s: %q: %v\n%s", at.path, value, err, text)
					}
				}
				at.set(at.before)
			}
		}
	}
	if t.Logf("%d documents", loaded); loaded < 300 {
		t.Error("most are rejected")
	}
}

// owned returns the document of a Prometheus without monitors; nil if it is rejected.
func (h hostileSubject) owned(t *testing.T) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"kind": h.kind, "metadata": map[string]any{"namespace": "owner", "name": "test"}, "spec": h.spec})
	if err != nil {
		t.Fatal(err)
	}
	p := &v1.Prometheus{}
	if kyaml.Unmarshal(text, p) != nil {
		return nil
	}
	w := &goldenInput{cluster: everything, prometheus: p}
	s, err := w.settings()
	if err != nil {
		return nil
	}
	frame, err := w.compileMarked(s)
	if err != nil {
		return nil
	}
	return fragments{}.document(&frame)
}

func checkerOf(t *testing.T, kind, version string) *check.Checker {
	t.Helper()
	crd, err := crds.OfKind(kind, true)
	if err != nil {
		t.Fatal(err)
	}
	out, err := check.New(crd, version)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// decodedMap returns a value as decoded JSON.
func decodedMap(t *testing.T, v any) (out map[string]any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil || kjson.UnmarshalCaseSensitivePreserveInts(text, &out) != nil {
		t.Fatal(err)
	}
	return out
}

// place is a string in an object: a value, or the key of one.
type place struct {
	path, before string
	set          func(string)
}

// stringsOf returns the strings in a decoded value, sorted by path. Targets are omitted, because promtool rejects some
// for which Prometheus only reports failed scrapes.
func stringsOf(root any) (out []place) {
	var walk func(path string, v any, set func(any))
	walk = func(path string, v any, set func(any)) {
		switch v := v.(type) {
		case string:
			out = append(out, place{path, v, func(s string) { set(s) }})
		case []any:
			for i := range v {
				walk(faults.Index(path, i), v[i], func(x any) { v[i] = x })
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if _, list := v[key].([]any); list && (key == "targets" || key == "static") {
					continue
				}
				walk(faults.Key(path, key), v[key], func(x any) { v[key] = x })
				if value, is := v[key].(string); is {
					current := key
					out = append(out, place{path + ", key " + key, key, func(s string) {
						delete(v, current)
						current, v[s] = s, value
					}})
				}
			}
		}
	}
	walk("spec", root, nil)
	return out
}

// hostileSubject is an object whose strings are replaced.
type hostileSubject struct {
	kind string
	spec map[string]any
}

// object returns the object as the API server validates it.
func (h hostileSubject) object(t *testing.T) (out map[string]any) {
	t.Helper()
	version := v1.SchemeGroupVersion
	if h.kind == v1alpha1.ScrapeConfigKind {
		version = v1alpha1.SchemeGroupVersion
	}
	return decodedMap(t, map[string]any{"apiVersion": version.String(), "kind": h.kind, "metadata": map[string]any{"namespace": "demo", "name": "web"}, "spec": h.spec})
}

func (h hostileSubject) compile(t *testing.T, s *Settings) Fragment {
	t.Helper()
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "demo", "name": "web"}, "spec": h.spec})
	if err != nil {
		t.Fatal(err)
	}
	switch h.kind {
	case v1.ServiceMonitorKind:
		return compiledFrom(text, s, CompileServiceMonitor)
	case v1.PodMonitorKind:
		return compiledFrom(text, s, CompilePodMonitor)
	case v1.ProbeKind:
		return compiledFrom(text, s, CompileProbe)
	}
	return compiledFrom(text, s, CompileScrapeConfig)
}

// compiledFrom decodes and compiles an object. One that cannot be decoded, which the API server does not store, is rejected.
func compiledFrom[T any](text []byte, s *Settings, compile func(*T, *Settings, assets.Reader) Fragment) Fragment {
	object := new(T)
	if err := kyaml.Unmarshal(text, object); err != nil {
		return Fragment{Err: err}
	}
	return compile(object, s, foreign{})
}

// hostileSubjects returns random objects, most of which are accepted.
func hostileSubjects(t *testing.T, rng *rand.Rand) (out []hostileSubject) {
	t.Helper()
	samples, err := monitorSamples()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range slices.Sorted(maps.Keys(samples)) {
		for range 12 {
			object, err := samples[kind].Object(rng, 0.5)
			if err != nil {
				t.Fatal(err)
			}
			spec, _ := object["spec"].(map[string]any)
			plausible(kind, spec, true)
			authorize(rng, kind, spec)
			if selector, is := spec["selector"].(map[string]any); is {
				delete(selector, "matchExpressions")
			}
			out = append(out, hostileSubject{kind, spec})
		}
	}
	for _, m := range randomObjects(t, scrapeConfigSamples(t), 1) {
		out = append(out, hostileSubject{v1alpha1.ScrapeConfigKind, decodedMap(t, m.Spec)})
	}
	return out
}

// authorize gives some endpoints of a monitor an authorization. That of a Probe needs no credentials.
func authorize(rng *rand.Rand, kind string, spec map[string]any) {
	endpoints := []any{spec}
	for _, list := range []string{"endpoints", "podMetricsEndpoints"} {
		if entries, is := spec[list].([]any); is {
			endpoints = entries
		}
	}
	for _, e := range endpoints {
		endpoint, is := e.(map[string]any)
		if !is || rng.IntN(2) == 0 {
			continue
		}
		for _, other := range []string{"basicAuth", "oauth2", "bearerTokenSecret"} {
			delete(endpoint, other)
		}
		given := map[string]any{"type": "Bearer", "credentials": map[string]any{"name": "s", "key": "text"}}
		if kind == v1.ProbeKind && rng.IntN(2) == 0 {
			delete(given, "credentials")
		}
		endpoint["authorization"] = given
	}
}
