package promworkload

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// hashed are the inputs that TestInputHash changes.
type hashed struct {
	p     *v1.Prometheus
	cfg   workload.Config
	live  *appsv1.StatefulSet
	rules []string
	tls   int
	parts bool
}

func newHashed(t *testing.T) *hashed {
	t.Helper()
	p := server(t, `web: {httpConfig: {http2: true}}`)
	p.Generation = 3
	p.Labels = map[string]string{"a": "1", "b": "2"}
	p.Annotations = map[string]string{"a": "1"}
	live, err := ForServer(p, testConfig()).StatefulSet(testInputs())
	if err != nil {
		t.Fatal(err)
	}
	live.Generation, live.Spec.RevisionHistoryLimit = 2, new(int32(10))
	return &hashed{p: p, cfg: testConfig(), live: live, rules: []string{"x", "y"}, tls: 1}
}

func (h *hashed) sum(t *testing.T) string {
	t.Helper()
	out, err := ForServer(h.p, h.cfg).InputHash(h.live, workload.PodInputs{RuleConfigMaps: h.rules, TLSSecrets: h.tls, ConfigInParts: h.parts})
	if err != nil || out == "" {
		t.Fatalf("hash %q, %v", out, err)
	}
	return out
}

func TestInputHash(t *testing.T) {
	reloader := func(h *hashed) *corev1.Container { return &h.live.Spec.Template.Spec.Containers[1] }
	for name, tc := range map[string]struct {
		change func(*hashed)
		equal  bool
	}{
		"nothing changes":                         {func(*hashed) {}, true},
		"the order of rule ConfigMaps":            {func(h *hashed) { h.rules = []string{"y", "x"} }, true},
		"only the history limit of the live spec": {func(h *hashed) { h.live.Spec.RevisionHistoryLimit = new(int32(2)) }, true},
		"a quantity written in another way":       {func(h *hashed) { reloader(h).Resources.Limits[corev1.ResourceCPU] = resource.MustParse("0.01") }, true},
		"a reloader quantity written differently": {func(h *hashed) { h.cfg.ReloaderResources.CPULimit = resource.MustParse("0.010") }, true},
		"the status":                        {func(h *hashed) { h.p.Status.Replicas = 7 }, true},
		"the resourceVersion":               {func(h *hashed) { h.p.ResourceVersion = "9" }, true},
		"the spec without a new generation": {func(h *hashed) { h.p.Spec.LogLevel = "debug" }, true},
		"a label":                           {func(h *hashed) { h.p.Labels["a"] = "2" }, false},
		"an annotation":                     {func(h *hashed) { h.p.Annotations["b"] = "2" }, false},
		"the generation":                    {func(h *hashed) { h.p.Generation++ }, false},
		"http2":                             {func(h *hashed) { h.p.Spec.Web.HTTPConfig.HTTP2 = new(false) }, false},
		"http2 unset":                       {func(h *hashed) { h.p.Spec.Web.HTTPConfig.HTTP2 = nil }, false},
		"the operator's version":            {func(h *hashed) { h.cfg.OperatorVersion = "9" }, false},
		"localhost":                         {func(h *hashed) { h.cfg.Localhost = "127.0.0.1" }, false},
		"a reloader image":                  {func(h *hashed) { h.cfg.ConfigReloaderImage = "x" }, false},
		"the rules reloader image":          {func(h *hashed) { h.cfg.RulesReloaderImage = "x" }, false},
		"a reloader quantity":               {func(h *hashed) { h.cfg.ReloaderResources.CPULimit = resource.MustParse("11m") }, false},
		"the probes":                        {func(h *hashed) { h.cfg.EnableReloaderProbes = true }, false},
		"a base image":                      {func(h *hashed) { h.cfg.ThanosBaseImage = "x" }, false},
		"a label of the operator":           {func(h *hashed) { h.cfg.Labels = map[string]string{"a": "b"} }, false},
		"the layout":                        {func(h *hashed) { h.cfg.Layout = workload.LayoutSingle }, false},
		"the reference watch":               {func(h *hashed) { h.cfg.WatchAllReferences = true }, false},
		"one more rule ConfigMap":           {func(h *hashed) { h.rules = append(h.rules, "z") }, false},
		"one more TLS Secret, which pods of this layout mount in any case":      {func(h *hashed) { h.tls++ }, true},
		"a quantity edited by hand":                                             {func(h *hashed) { reloader(h).Resources.Limits[corev1.ResourceCPU] = resource.MustParse("11m") }, false},
		"an image edited by hand":                                               {func(h *hashed) { reloader(h).Image = "x" }, false},
		"replicas edited by hand":                                               {func(h *hashed) { h.live.Spec.Replicas = new(int32(5)) }, false},
		"parts of the configuration, which pods of this layout see in any case": {func(h *hashed) { h.parts = true }, true},
		"no live object":                                                        {func(h *hashed) { h.live = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHashed(t)
			before := h.sum(t)
			tc.change(h)
			if after := h.sum(t); (before == after) != tc.equal {
				t.Errorf("hash %s then %s, want equal=%t", before, after, tc.equal)
			}
		})
	}
}

// A StatefulSet that has not been edited since its creation is not rewritten because of
// defaults that the API server added. An edited one is.
func TestInputHashOfANewStatefulSet(t *testing.T) {
	h := newHashed(t)
	created := h.live
	h.live = nil
	wanted := h.sum(t)
	h.live = created
	if h.live.Generation = 1; h.sum(t) != wanted {
		t.Error("a new StatefulSet would be written twice")
	}
	if h.live.Generation = 2; h.sum(t) == wanted {
		t.Error("an edit is not seen")
	}
}

func TestInputHashOfTheSingleLayoutKnowsParts(t *testing.T) {
	h := newHashed(t)
	h.cfg.Layout = workload.LayoutSingle
	before := h.sum(t)
	if h.parts = true; h.sum(t) == before {
		t.Error("the pods have to change, and the hash stayed")
	}
	before = h.sum(t)
	if h.tls++; h.sum(t) == before {
		t.Error("one more TLS Secret, and the hash stayed")
	}
}

func TestInputHashOfAnAgentIgnoresRules(t *testing.T) {
	o := agentOwner(t, ``)
	one, err := o.InputHash(nil, workload.PodInputs{RuleConfigMaps: []string{"a"}, TLSSecrets: 1})
	two, err2 := o.InputHash(nil, workload.PodInputs{TLSSecrets: 1})
	if err != nil || err2 != nil || one != two {
		t.Errorf("hash %s, %s; %v, %v", one, two, err, err2)
	}
}
