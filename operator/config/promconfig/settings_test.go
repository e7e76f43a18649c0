package promconfig

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// TestKey: the key changes only if the settings can change a fragment, so that workloads share fragments.
func TestKey(t *testing.T) {
	base := settingsOf(t, `{}`).Key()
	for _, spec := range []string{
		`{version: v3.13.2}`, `{scrapeInterval: 30s}`, `{replicas: 3}`, `{image: x}`, `{sampleLimit: 5}`, `{remoteWrite: [{url: "http://x"}]}`,
		`{externalLabels: {a: b}}`, `{shards: 1}`, `{evaluationInterval: 1m}`,
	} {
		if settingsOf(t, spec).Key() != base {
			t.Errorf("%s changes the key", spec)
		}
	}
	seen := map[string]string{base: "the base"}
	for _, spec := range []string{
		`{version: v3.13.1}`, `{scrapeInterval: 1m}`, `{overrideHonorLabels: true}`, `{overrideHonorTimestamps: true}`, `{ignoreNamespaceSelectors: true}`,
		`{arbitraryFSAccessThroughSMs: {deny: true}}`, `{serviceDiscoveryRole: EndpointSlice}`, `{podTargetLabels: [a]}`, `{enforcedNamespaceLabel: a}`,
		`{excludedFromEnforcement: [{namespace: a, resource: podmonitors}]}`, `{scrapeClasses: [{name: a}]}`, `{apiserverConfig: {host: a}}`,
		`{enforcedSampleLimit: 1}`, `{enforcedTargetLimit: 1}`, `{enforcedBodySizeLimit: 1MB}`, `{shards: 2}`, `{nameValidationScheme: Legacy}`,
		`{shardingStrategy: {mode: Topology, topology: {values: [a]}}}`,
	} {
		key := settingsOf(t, spec).Key()
		if other, taken := seen[key]; taken {
			t.Errorf("%s has the key of %s", spec, other)
		}
		seen[key] = spec
	}
}

// TestKeyAndNamespace: the key depends on the namespace only if the workload has references.
func TestKeyAndNamespace(t *testing.T) {
	for spec, shared := range map[string]bool{
		`{}`: true,
		`{scrapeClasses: [{name: a, tlsConfig: {caFile: x}}]}`:                          true,
		`{apiserverConfig: {host: a}}`:                                                  false,
		`{scrapeClasses: [{name: a, tlsConfig: {ca: {secret: {name: a, key: b}}}}]}`:    false,
		`{scrapeClasses: [{name: a, authorization: {credentials: {name: a, key: b}}}]}`: false,
	} {
		var keys [2]string
		for i, namespace := range []string{"a", "b"} {
			p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "test"}}
			if err := kyaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
				t.Fatal(err)
			}
			s, err := ServerSettings(p, everything)
			if err != nil {
				t.Fatal(err)
			}
			keys[i] = s.Key()
		}
		if (keys[0] == keys[1]) != shared {
			t.Errorf("%s: shared is %t", spec, !shared)
		}
	}
}

func TestSettingsOutliveTheirObject(t *testing.T) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "test"}}
	p.Spec.PodTargetLabels = []string{"a"}
	p.Spec.EnforcedSampleLimit = new(uint64(5))
	s, err := ServerSettings(p, everything)
	if err != nil {
		t.Fatal(err)
	}
	p.Spec.PodTargetLabels[0] = "changed"
	*p.Spec.EnforcedSampleLimit = 6
	if s.data.PodTargetLabels[0] != "a" || *s.data.Enforced.Samples != 5 {
		t.Error("the settings change with the object")
	}
}
