package catalog

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Every version in deploy/crds has a row with the same names.
func TestRowsAreTheCRDs(t *testing.T) {
	files, err := filepath.Glob("../../../deploy/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d CRDs, %v", len(files), err)
	}
	seen := map[*Row]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if crd.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, version := range crd.Spec.Versions {
			found := false
			for _, r := range All {
				if r.Kind != crd.Spec.Names.Kind || r.Version != version.Name {
					continue
				}
				found, seen[r] = true, true
				if r.Group != crd.Spec.Group || r.Resource != crd.Spec.Names.Plural || len(crd.Spec.Names.ShortNames) != 1 || r.Short != crd.Spec.Names.ShortNames[0] {
					t.Errorf("%s: row %+v, CRD names %+v", file, r, crd.Spec.Names)
				}
			}
			if !found {
				t.Errorf("%s: no row for %s %s", file, crd.Spec.Names.Kind, version.Name)
			}
		}
	}
	for _, r := range All {
		if !seen[r] && r != AlertmanagerConfigBeta { // only served with a conversion webhook
			t.Errorf("%s: no CRD", r.GroupVersionKind)
		}
	}
}

func TestNewMakesTheKind(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range Versions {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range All {
		kinds, _, err := scheme.ObjectKinds(r.New())
		if err != nil || len(kinds) != 1 || kinds[0] != r.GroupVersionKind {
			t.Errorf("%s: an object is %v, %v", r, kinds, err)
		}
		_, workload := r.New().(v1.Workload)
		_, config := r.New().(v1.ConfigResource)
		if workload == config || workload != r.IsWorkload() {
			t.Errorf("%s: workload %v, configuration %v", r, workload, config)
		}
	}
}

func TestWord(t *testing.T) {
	for word, want := range map[string]*Row{
		"servicemonitor": ServiceMonitor, "ServiceMonitor": ServiceMonitor, "servicemonitors": ServiceMonitor, "smon": ServiceMonitor,
		"servicemonitors.monitoring.coreos.com": ServiceMonitor, "servicemonitors.v1.monitoring.coreos.com": ServiceMonitor,
		"servicemonitor.v1": ServiceMonitor, "scfg.v1alpha1.monitoring.coreos.com": ScrapeConfig, "prom": Prometheus, "ruler": ThanosRuler,
		"servicemonitors.v1alpha1.monitoring.coreos.com": nil, "servicemonitor.example.com": nil, "pod": nil, "": nil,
		"amcfg": AlertmanagerConfig, "alertmanagerconfigs.v1beta1.monitoring.coreos.com": AlertmanagerConfigBeta,
	} {
		if got := Word(word); got != want {
			t.Errorf("%q is %v, want %v", word, got, want)
		}
	}
}

func TestOr(t *testing.T) {
	for want, rows := range map[string][]*Row{
		"": nil, "Probe": {Probe}, "Probe or PodMonitor": {Probe, PodMonitor},
		"Probe, PodMonitor or ScrapeConfig": {Probe, PodMonitor, ScrapeConfig},
	} {
		if got := Or(rows); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
