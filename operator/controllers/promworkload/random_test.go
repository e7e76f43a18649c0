package promworkload

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// FuzzOwner generates random workloads that the CRDs allow. Each one is either rejected
// with a reason or results in pods: deterministically, without changing the workload, and
// without content that an API server would reject, unless the user wrote it: names,
// duplicate ports, volumes, mounts and variables.
func FuzzOwner(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint8(seed*13), seed%2 == 0, seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, percent uint8, agent, single bool) {
		p, a := randomOwner(t, seed, float64(percent%101)/100, agent)
		cfg := testConfig()
		cfg.EnableReloaderProbes = seed%2 == 0
		if single {
			cfg.Layout = workload.LayoutSingle
		}
		owner := func() *Builder {
			if agent {
				return ForAgent(a, cfg)
			}
			return ForServer(p, cfg)
		}
		before := asJSON(t, []any{p, a})
		pod, err := podOf(owner())
		if err != nil {
			return
		}
		again, err := podOf(owner())
		if err != nil || !bytes.Equal(asJSON(t, pod), asJSON(t, again)) {
			t.Errorf("two runs differ: %v", err)
		}
		if !bytes.Equal(before, asJSON(t, []any{p, a})) {
			t.Error("the owner was changed")
		}
		workloadtest.CheckPod(t, pod)
		for _, name := range owner().ShardNames() {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				t.Errorf("a StatefulSet is called %q", name)
			}
		}
		owner().Dropped()
		owner().SharedService(owner().ServicePorts(), nil)
		if _, err := owner().InputHash(nil, workload.PodInputs{TLSSecrets: 1}); err != nil {
			t.Error(err)
		}
	})
}

// TestRandomOwnersHavePods guards against a fuzz test in which every object is rejected.
func TestRandomOwnersHavePods(t *testing.T) {
	built := 0
	for seed := range uint64(40) {
		p, a := randomOwner(t, seed, 0.3, seed%2 == 0)
		o := ForServer(p, testConfig())
		if seed%2 == 0 {
			o = ForAgent(a, testConfig())
		}
		if _, err := podOf(o); err == nil {
			built++
		} else {
			t.Log(err)
		}
	}
	if built < 15 {
		t.Errorf("of 40 random owners only %d have pods", built)
	}
}

func podOf(o *Builder) (corev1.PodTemplateSpec, error) {
	if o.UsesDaemonSet() {
		ds, err := o.DaemonSet(testInputs())
		if err != nil {
			return corev1.PodTemplateSpec{}, err
		}
		return ds.Spec.Template, nil
	}
	sts, err := o.StatefulSet(testInputs())
	if err != nil {
		return corev1.PodTemplateSpec{}, err
	}
	pod := sts.Spec.Template
	for _, claim := range sts.Spec.VolumeClaimTemplates { // the StatefulSet controller adds these volumes
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: claim.Name})
	}
	return pod, nil
}

var ownerSamples = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{v1.PrometheusKind: v1.Version, v1alpha1.PrometheusAgentKind: v1alpha1.Version})
})

// randomOwner returns a random Prometheus or PrometheusAgent without the user's additions
// to pods, since only an API server can validate them.
func randomOwner(t *testing.T, seed uint64, density float64, agent bool) (*v1.Prometheus, *v1alpha1.PrometheusAgent) {
	t.Helper()
	samples, err := ownerSamples()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	kind := v1.PrometheusKind
	if agent {
		kind = v1alpha1.PrometheusAgentKind
	}
	object, err := samples[kind].Object(rng, density)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := object["spec"].(map[string]any)
	for _, field := range []string{"containers", "initContainers", "volumes", "volumeMounts", "storage", "podMetadata", "hostAliases", "imagePullSecrets"} {
		delete(spec, field)
	}
	spec["version"] = []string{"v3.13.2", "v3.0.0", "v2.55.1", "v2.45.0", "2.26.0", "nonsense"}[rng.IntN(6)]
	if _, set := spec["shards"]; set && rng.IntN(8) > 0 {
		spec["shards"] = rng.IntN(5)
	}
	if thanos, ok := spec["thanos"].(map[string]any); ok {
		thanos["version"] = "v0.42.4"
		delete(thanos, "volumeMounts")
	}
	p, a := &v1.Prometheus{}, &v1alpha1.PrometheusAgent{}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "demo", "name": "main"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	if agent {
		err = json.Unmarshal(text, a)
	} else {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, a
}
