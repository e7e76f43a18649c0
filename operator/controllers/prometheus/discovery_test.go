package prometheus

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// planWith returns the plan of the workload with other options than those of the scene.
func (s *scene) planWith(t *testing.T, opts Options) Plan {
	t.Helper()
	in, err := gatherFor(opts, forServer(s.p), s.cluster())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := in.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// centrally plans a workload with this annotation. It may have central discovery unless address is "".
func centrally(t *testing.T, mode, address string, ca func() ([]byte, error)) (Plan, string) {
	t.Helper()
	s := newScene()
	s.p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: mode}
	opts := Options{Workload: benchConfig, Capabilities: promconfig.Capabilities{CentralDiscovery: address != ""}, DiscoveryCA: ca}
	opts.Workload.Discovery = workload.Discovery{Address: address, OwnCA: ca != nil}
	plan := s.planWith(t, opts)
	var text strings.Builder
	if err := plan.WriteConfig(&text); err != nil {
		t.Fatal(err)
	}
	return plan, text.String()
}

func TestCentralDiscovery(t *testing.T) {
	const secret = "put Secret prometheus-web-discovery-ca"
	ca := func() ([]byte, error) { return []byte("CA"), nil }
	for name, c := range map[string]struct {
		mode, address     string
		ca                func() ([]byte, error)
		own, listed, keys bool   // discoveries in the configuration, the Secret with the CA
		warning, reason   string // "" for none
	}{
		"own":              {"own", "discovery:8443", ca, true, false, false, "", ""},
		"both":             {"both", "discovery:8443", ca, true, true, true, "", ""},
		"central":          {"central", "discovery:8443", ca, false, true, true, "", ""},
		"without CA":       {"central", "discovery:8443", nil, false, true, false, "", ""},
		"CA is unreadable": {"central", "discovery:8443", func() ([]byte, error) { return nil, errors.New("gone") }, false, true, false, "discovery-ca is not updated: gone", ""},
		"off":              {"central", "", nil, true, false, false, "has no effect: it needs the operator's flag --central-discovery=opt-in", "AnnotationIgnored"},
	} {
		t.Run(name, func(t *testing.T) {
			plan, text := centrally(t, c.mode, c.address, c.ca)
			if own := strings.Contains(text, "kubernetes_sd_configs"); own != c.own {
				t.Errorf("own discovery: %v", own)
			}
			if listed := strings.Contains(text, "http://127.0.0.1:8082/sd/serviceMonitor%2Fteam%2Fapp%2F0"); listed != c.listed {
				t.Errorf("list: %v", listed)
			}
			if keys := slices.Contains(steps(plan.Content), secret); keys != c.keys {
				t.Errorf("Secret with the CA: %v, of %v", keys, steps(plan.Content))
			}
			warnings := strings.Join(faults.Texts(plan.Warnings), "\n")
			if !strings.Contains(warnings, c.warning) || (warnings == "") != (c.warning == "") {
				t.Errorf("warnings %q", warnings)
			}
			if plan.Reason != c.reason || (plan.Message == "") != (c.reason == "") {
				t.Errorf("condition %s: %s", plan.Reason, plan.Message)
			}
		})
	}
}

// A wrong value fails the reconciliation before anything is written, with its own reason.
func TestWrongDiscoveryAnnotation(t *testing.T) {
	s := newScene()
	s.p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: "Central"}
	_, err := s.gather()
	at, is := errors.AsType[*promconfig.AnnotationError](err)
	if !is || at.ConditionReason() != "InvalidAnnotation" || !strings.Contains(err.Error(), `metadata.annotations["firekeeper.dev/target-discovery"]: "Central" is not allowed: use own, both or central`) {
		t.Errorf("error %v", err)
	}
}

// Results have a second text with own discovery in mode central only: otherwise, theirs has it.
func TestResultsHaveOwnDiscovery(t *testing.T) {
	texts := map[string]string{}
	for _, mode := range []string{"own", "both", "central"} {
		s := newScene()
		s.p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: mode}
		in, err := gatherFor(Options{Workload: benchConfig, Capabilities: promconfig.Capabilities{CentralDiscovery: true}}, forServer(s.p), s.cluster())
		if err != nil {
			t.Fatal(err)
		}
		for v := range in.Results() {
			if v.Kind != v1.ServiceMonitorKind {
				continue
			}
			if (v.Own != nil) != (mode == "central") {
				t.Errorf("mode %s: compiled on demand: %v", mode, v.Own != nil)
			}
			if _, texts[mode], err = v.Texts(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if texts["own"] == "" || texts["central"] != texts["own"] {
		t.Errorf("in mode central %q, want %q", texts["central"], texts["own"])
	}
}

// Evaluation has the same jobs in every mode.
func TestScrapesInAllModes(t *testing.T) {
	texts := map[string]bool{}
	for _, mode := range []string{"own", "both", "central"} {
		s := newScene()
		s.p.Spec.Shards = new(int32(3))
		s.p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: mode}
		out, err := ScrapesOf(s.p, s.cluster(), Options{Workload: benchConfig, Capabilities: promconfig.Capabilities{CentralDiscovery: true}})
		if err != nil || len(out.Sources) == 0 || out.Shards != 3 {
			t.Fatalf("%+v, %v", out, err)
		}
		for _, source := range out.Sources {
			if source.Err != nil {
				t.Fatal(source.Err)
			}
			texts[string(source.Document.Text)] = true
		}
	}
	if len(texts) != 1 {
		t.Errorf("%d texts, want 1", len(texts))
	}
}

// A new CA, or one that can be read now, wakes the workloads whose pods use it.
func TestDiscoveryCAChanges(t *testing.T) {
	text, err := []byte(nil), errors.New("missing")
	opts := Options{Workload: benchConfig, DiscoveryCA: func() ([]byte, error) { return text, err }}
	opts.Workload.Discovery = workload.Discovery{Address: "discovery:8443", OwnCA: true}
	servers, agents := Kinds(opts, &rules.Cache{})
	seen := map[string]bool{servers.Outside.Version(): true}
	for _, text = range [][]byte{[]byte("CA"), []byte("another")} {
		err = nil
		seen[servers.Outside.Version()] = true
	}
	if len(seen) != 3 {
		t.Errorf("versions %v", seen)
	}
	for mode, want := range map[string]bool{"": false, "own": false, "both": true, "central": true, "wrong": false} {
		s := newScene()
		s.p.Annotations = map[string]string{wellknown.AnnotationTargetDiscovery: mode}
		if mode == "" {
			s.p.Annotations = nil
		}
		if got := servers.Outside.Reads(s.p); got != want {
			t.Errorf("a Prometheus with %q reads it: %v", mode, got)
		}
		agent := &v1alpha1.PrometheusAgent{ObjectMeta: s.p.ObjectMeta}
		if got := agents.Outside.Reads(agent); got != want {
			t.Errorf("an agent with %q reads it: %v", mode, got)
		}
	}
	opts.DiscoveryCA = nil
	if servers, _ := Kinds(opts, &rules.Cache{}); servers.Outside != nil {
		t.Error("without a CA of its own, something is read")
	}
}
