package promconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/prometheus/config"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// FuzzOwners generates a Prometheus or PrometheusAgent that the CRD allows, with random
// values in every field, and monitors in two other namespaces. Fields that cause a
// rejection are removed until the workload is accepted. Then the document is
// deterministic and independent of the order of the monitors, has no duplicate key, and
// is accepted by Prometheus. The workload reads only its own namespace. Keys that are
// dropped for a version are dropped for older versions, too.
func FuzzOwners(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed, uint8(seed*11), uint8(seed/2), seed%3 == 2)
	}
	f.Fuzz(func(t *testing.T, seed uint64, percent, version uint8, agent bool) {
		at := int(version) % len(randomVersions)
		make := func() *goldenInput { return randomOwner(t, seed, float64(percent%101)/100, agent) }
		w := make()
		w.setVersion(randomVersions[at])
		removed := acceptable(t, w)
		text, frame := renderOwner(t, w, randomVersions[at])

		again := make()
		again.setVersion(randomVersions[at])
		for _, field := range removed {
			again.without(t, field)
		}
		rng := rand.New(rand.NewPCG(seed, 2))
		rng.Shuffle(len(again.services), func(i, j int) { again.services[i], again.services[j] = again.services[j], again.services[i] })
		rng.Shuffle(len(again.pods), func(i, j int) { again.pods[i], again.pods[j] = again.pods[j], again.pods[i] })
		rng.Shuffle(len(again.probes), func(i, j int) { again.probes[i], again.probes[j] = again.probes[j], again.probes[i] })
		before := again.copies()
		other, same := renderOwner(t, again, randomVersions[at])
		if !bytes.Equal(text, other) || fmt.Sprint(frame.Dropped, frame.Warnings) != fmt.Sprint(same.Dropped, same.Warnings) {
			t.Errorf("another order gives another document:\n%s\n%s", text, other)
		}
		if again.copies() != before {
			t.Error("an input was changed")
		}
		if at+1 < len(randomVersions) {
			older := randomVersions[at+1+int(seed%uint64(len(randomVersions)-at-1))]
			frameDroppedBelow(t, again, frame, randomVersions[at], older)
		}
	})
}

// TestRandomOwnersAreAccepted makes sure that the fuzz test does not only generate empty specs.
func TestRandomOwnersAreAccepted(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(40) {
		w := randomOwner(t, seed, 0.5, seed%2 == 1)
		w.setVersion(randomVersions[0])
		acceptable(t, w)
		text, _ := renderOwner(t, w, randomVersions[0])
		var doc map[string]any
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		for key := range doc {
			seen[key]++
		}
		if bytes.Contains(text, []byte(marker("owner"))) {
			seen["a secret"]++
		}
	}
	for _, key := range []string{"global", "runtime", "scrape_configs", "remote_write", "remote_read", "alerting", "storage", "otlp", "tracing", "a secret"} {
		if seen[key] < 4 {
			t.Errorf("of 40 random owners only %d have %s", seen[key], key)
		}
	}
}

// ownerSamples holds the generators of the two kinds.
var ownerSamples = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{v1.PrometheusKind: v1.Version, v1alpha1.PrometheusAgentKind: v1alpha1.Version})
})

// randomOwner returns a workload that the CRD allows, and random monitors.
func randomOwner(t *testing.T, seed uint64, density float64, agent bool) *goldenInput {
	t.Helper()
	samples, err := ownerSamples()
	if err != nil {
		t.Fatal(err)
	}
	w := randomInput(t, seed, 0.3, `{}`)
	w.cluster.AgentDaemonSet = seed%2 == 0
	rng := rand.New(rand.NewPCG(seed, 3))
	kind := v1.PrometheusKind
	if agent {
		kind = v1alpha1.PrometheusAgentKind
	}
	object, err := samples[kind].Object(rng, density)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := object["spec"].(map[string]any)
	refer(spec, "")
	for _, additional := range [][2]string{
		{"additionalScrapeConfigs", "jobs"}, {"additionalAlertManagerConfigs", "managers"}, {"additionalAlertRelabelConfigs", "steps"},
	} {
		if ref, ok := spec[additional[0]].(map[string]any); ok && rng.IntN(4) > 0 {
			ref["key"] = additional[1]
		}
	}
	if rng.IntN(3) > 0 {
		tidy(spec)
		settle(spec)
	}
	text, err := json.Marshal(map[string]any{"kind": kind, "metadata": map[string]any{"namespace": "owner", "name": "test"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.add(text); err != nil {
		t.Fatal(err)
	}
	return w
}

// settle removes conflicting fields from lists of the workload, which random values
// rarely make acceptable.
func settle(spec map[string]any) {
	for _, field := range []string{"remoteWrite", "remoteRead"} {
		entries, _ := spec[field].([]any)
		for _, entry := range entries {
			if e, ok := entry.(map[string]any); ok {
				keepOne(e, "basicAuth", "oauth2", "authorization", "sigv4", "azureAd", "bearerToken", "bearerTokenFile")
				maps.DeleteFunc(e, func(key string, _ any) bool {
					return key == "writeRelabelConfigs" || key == "proxyConnectHeader" || key == "azureAd"
				})
				if queue, ok := e["queueConfig"].(map[string]any); ok {
					maps.DeleteFunc(queue, func(key string, _ any) bool { return key == "minShards" || strings.HasSuffix(key, "Backoff") })
				}
			}
		}
	}
	classes, _ := spec["scrapeClasses"].([]any)
	for i, class := range classes {
		if c, ok := class.(map[string]any); ok {
			calm(c)
			c["default"] = i == 0
		}
	}
	if alerting, ok := spec["alerting"].(map[string]any); ok {
		managers, _ := alerting["alertmanagers"].([]any)
		for _, manager := range managers {
			if m, ok := manager.(map[string]any); ok {
				keepOne(m, "basicAuth", "authorization", "sigv4")
				delete(m, "bearerTokenFile")
				delete(m, "alertRelabelings")
			}
		}
	}
}

// refusedField matches the field of the workload in an error.
var refusedField = regexp.MustCompile(`^(?:spec\.)?([a-zA-Z0-9]+)`)

// acceptable removes fields until the workload is accepted, and returns their names.
func acceptable(t *testing.T, w *goldenInput) (removed []string) {
	t.Helper()
	for range 60 {
		s, err := w.settings()
		if err == nil {
			_, err = w.compileMarked(s)
		}
		if err == nil {
			return removed
		}
		if strings.Contains(err.Error(), "secret-of-") {
			t.Errorf("the reason shows a secret: %v", err)
		}
		field := ""
		if m := refusedField.FindStringSubmatch(err.Error()); m != nil {
			field = m[1]
		}
		if !w.without(t, field) {
			t.Fatalf("no field is named: %v", err)
		}
		removed = append(removed, field)
	}
	t.Fatalf("never accepted, without %s", removed)
	return nil
}

// without removes a field from the workload's spec.
func (w *goldenInput) without(t *testing.T, field string) bool {
	t.Helper()
	var spec any = &w.prometheus.Spec
	if w.agent != nil {
		spec = &w.agent.Spec
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	if _, set := fields[field]; !set {
		return false
	}
	delete(fields, field)
	if text, err = json.Marshal(fields); err != nil {
		t.Fatal(err)
	}
	if w.agent != nil {
		w.agent.Spec = v1alpha1.PrometheusAgentSpec{}
		spec = &w.agent.Spec
	} else {
		w.prometheus.Spec = v1.PrometheusSpec{}
		spec = &w.prometheus.Spec
	}
	if err := json.Unmarshal(text, spec); err != nil {
		t.Fatal(err)
	}
	return true
}

func (w *goldenInput) compileMarked(s *Settings) (Frame, error) {
	if w.agent != nil {
		return CompileAgent(w.agent, s, marked{})
	}
	return CompileServer(w.prometheus, s, []string{"rules-0"}, marked{})
}

// renderOwner compiles an accepted workload with its monitors and checks the properties of every document.
func renderOwner(t *testing.T, w *goldenInput, version string) ([]byte, Frame) {
	t.Helper()
	s, err := w.settings()
	if err != nil {
		t.Fatal(err)
	}
	frame, err := w.compileMarked(s)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.compileMarked(s); err != nil || !bytes.Equal(frame.Head, again.Head) || !bytes.Equal(frame.Tail, again.Tail) ||
		!bytes.Equal(frame.Additional, again.Additional) || !maps.EqualFunc(frame.Files, again.Files, bytes.Equal) {
		t.Errorf("two runs differ: %v", err)
	}
	if i := slices.IndexFunc(frame.Deps, func(d assets.Dependency) bool { return d.Ref.Namespace != "owner" }); i >= 0 {
		t.Errorf("the owner reads %s", frame.Deps[i].Ref)
	}
	text := acceptedMonitors(t, w, s).document(&frame)
	var strict yaml.MapSlice
	if err := yaml.UnmarshalStrict(text, &strict); err != nil {
		t.Errorf("%s: %v\n%s", version, err, text)
	}
	if strings.HasPrefix(version, "3.") {
		_, err := config.Load(string(text), nil)
		if err != nil && !((version == "3.5.0" || version == "3.0.0") && strings.Contains(err.Error(), "remote write queue")) { // the parser is newer than the version
			t.Errorf("%s: Prometheus refuses the document: %v\n%s", version, err, text)
		}
	}
	return text, frame
}

// acceptedMonitors compiles the monitors and checks that none contains a Secret of the other namespace.
func acceptedMonitors(t *testing.T, w *goldenInput, s *Settings) fragments {
	t.Helper()
	m := fragments{}
	take := func(kind, namespace string, f Fragment) {
		for _, foreign := range []string{"demo", "other"} {
			if foreign != namespace && (bytes.Contains(f.YAML, []byte(marker(foreign))) || slices.ContainsFunc(f.Deps, func(d assets.Dependency) bool { return d.Ref.Namespace == foreign })) {
				t.Errorf("%s of %s sees a Secret of %s:\n%s", kind, namespace, foreign, f.YAML)
			}
		}
		if f.Err != nil {
			if strings.Contains(f.Err.Error(), "secret-of-") {
				t.Errorf("%s: the reason shows a secret: %v", kind, f.Err)
			}
			return
		}
		m.add(kind, f)
	}
	for _, o := range byName(w.services) {
		take(v1.ServiceMonitorKind, o.Namespace, CompileServiceMonitor(o, s, marked{}))
	}
	for _, o := range byName(w.pods) {
		take(v1.PodMonitorKind, o.Namespace, CompilePodMonitor(o, s, marked{}))
	}
	for _, o := range byName(w.probes) {
		take(v1.ProbeKind, o.Namespace, CompileProbe(o, s, marked{}))
	}
	return m
}

// frameDroppedBelow checks that keys dropped for a version are also dropped for an older one.
func frameDroppedBelow(t *testing.T, w *goldenInput, newer Frame, version, older string) {
	t.Helper()
	w.setVersion(older)
	s, err := w.settings()
	if err != nil {
		return // rejected for the older version
	}
	frame, err := w.compileMarked(s)
	if err != nil {
		return
	}
	below := map[string]bool{}
	for _, d := range frame.Dropped {
		below[d.Path] = true
	}
	for _, d := range newer.Dropped {
		if d.Need[0] == '>' && !below[d.Path] && !coveredBy(d.Path, below) {
			t.Errorf("%s is left out for %s and written for %s", d.Path, version, older)
		}
	}
}
