package thanosruler

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
	"github.com/firekeeper-dev/firekeeper/operator/workload"
	"github.com/firekeeper-dev/firekeeper/operator/workload/workloadtest"
)

// FuzzOwner generates random ThanosRulers that the CRD allows. Each one is either
// rejected with a reason or results in pods: deterministically, without changing the
// object, and without content that an API server would reject, unless the user wrote it.
func FuzzOwner(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, uint8(seed*13), seed%3 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, percent uint8, single bool) {
		tr := randomRuler(t, seed, float64(percent%101)/100)
		cfg := testConfig()
		cfg.EnableReloaderProbes = seed%2 == 0
		if single {
			cfg.Layout = workload.LayoutSingle
		}
		before := asJSON(t, tr)
		pod, err := podOf(newBuilder(tr, cfg))
		if err != nil {
			return
		}
		again, err := podOf(newBuilder(tr, cfg))
		if err != nil || !bytes.Equal(asJSON(t, pod), asJSON(t, again)) {
			t.Errorf("two runs differ: %v", err)
		}
		if !bytes.Equal(before, asJSON(t, tr)) {
			t.Error("the object was changed")
		}
		workloadtest.CheckPod(t, pod)
		o := newBuilder(tr, cfg)
		for _, name := range []string{o.PrefixedName(), o.ConfigSecretName(), o.WebConfigSecretName(), o.TLSAssetSecretName(3), o.ServiceName()} {
			if len(validation.IsDNS1123Subdomain(name)) > 0 {
				t.Errorf("an object is called %q", name)
			}
		}
		o.Dropped()
		o.SharedService(o.ServicePorts(), nil)
		if _, err := o.InputHash(nil, workload.PodInputs{TLSSecrets: 1}); err != nil {
			t.Error(err)
		}
	})
}

// TestRandomOwnersHavePods guards against a fuzz test in which every object is rejected.
func TestRandomOwnersHavePods(t *testing.T) {
	built := 0
	for seed := range uint64(40) {
		if _, err := podOf(newBuilder(randomRuler(t, seed, 0.3), testConfig())); err == nil {
			built++
		} else {
			t.Log(err)
		}
	}
	if built < 15 {
		t.Errorf("of 40 random objects only %d have pods", built)
	}
}

func podOf(o *builder) (corev1.PodTemplateSpec, error) {
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

var samples = sync.OnceValues(func() (map[string]*sample.Generator, error) {
	return sample.OfKinds(map[string]string{v1.ThanosRulerKind: v1.Version})
})

// randomRuler returns a random ThanosRuler without the user's additions to pods, since
// only an API server can validate them. Addresses are valid, since random ones would
// almost never be.
func randomRuler(t *testing.T, seed uint64, density float64) *v1.ThanosRuler {
	t.Helper()
	generators, err := samples()
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 4))
	object, err := generators[v1.ThanosRulerKind].Object(rng, density)
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := object["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	for _, field := range []string{"containers", "initContainers", "volumes", "volumeMounts", "storage", "podMetadata", "hostAliases", "imagePullSecrets"} {
		delete(spec, field)
	}
	for _, field := range []string{"queryConfig", "alertmanagersConfig", "objectStorageConfig", "tracingConfig", "alertRelabelConfigs"} {
		if ref, ok := spec[field].(map[string]any); ok && rng.IntN(16) > 0 {
			ref["name"] = field
		}
	}
	spec["version"] = []string{"v0.42.4", "v0.38.0", "v0.30.0", "0.24.0", "0.20.0", "nonsense"}[rng.IntN(6)]
	if rng.IntN(8) > 0 {
		spec["queryEndpoints"] = []string{"dns+query:9090", "https://other/x"}[:1+rng.IntN(2)]
		delete(spec, "alertQueryUrl")
		delete(spec, "alertmanagersUrl")
	}
	if rng.IntN(8) > 0 {
		delete(spec, "grpcServerTlsConfig")
		delete(spec, "web")
		delete(spec, "labels")
		delete(spec, "evaluationInterval") // most strings that match the pattern are 0
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "demo", "name": "main"}, "spec": spec})
	if err != nil {
		t.Fatal(err)
	}
	tr := &v1.ThanosRuler{}
	if err := json.Unmarshal(text, tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
