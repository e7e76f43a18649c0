package install_test

import (
	"errors"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/install"
)

// Newer CRDs are rejected unless forced.
func TestDowngrade(t *testing.T) {
	for name, tc := range map[string]struct {
		annotations map[string]string
		live        func(*definition)
		want        string // "" if not rejected
	}{
		"a newer one of ours": {map[string]string{
			crds.VersionAnnotation: "1.2.0", crds.DistributionAnnotation: crds.Distribution("1.2.0"),
		}, nil, "probes.monitoring.coreos.com: was installed by operator version 1.2.0, this operator is 1.1.0"},
		"a pre-release of the same": {map[string]string{
			crds.VersionAnnotation: "1.1.0-rc.1", crds.DistributionAnnotation: crds.Distribution("1.1.0-rc.1"),
		}, nil, ""},
		"the API level we have, from another operator": {map[string]string{crds.VersionAnnotation: "0.93.9"}, nil, ""},
		"a later API level": {map[string]string{crds.VersionAnnotation: "0.94.0"}, nil,
			"probes.monitoring.coreos.com: has the fields of API version 0.94.0, this operator supports those of 0.93"},
		"the API level we have, applied over ours": {map[string]string{
			crds.VersionAnnotation: "0.93.0", crds.DistributionAnnotation: crds.Distribution("1.1.0"),
		}, nil, ""},
		"no version":                {nil, nil, ""},
		"a version nobody can read": {map[string]string{crds.VersionAnnotation: "latest"}, nil, ""},
		"a version of the kind that we do not know": {nil, func(crd *definition) {
			next := *crd.Spec.Versions[0].DeepCopy()
			next.Name, next.Storage = "v2", false
			crd.Spec.Versions = append(crd.Spec.Versions, next)
		}, "probes.monitoring.coreos.com: serves versions that this operator does not support: v2"},
	} {
		t.Run(name, func(t *testing.T) {
			crd := find(t, "probes.monitoring.coreos.com")
			crd.Annotations = tc.annotations
			if tc.live != nil {
				tc.live(crd)
			}
			c := fake.NewClientset(crd).ApiextensionsV1().CustomResourceDefinitions()
			_, err := install.Plan(t.Context(), c, install.Options{Version: "1.1.0"})
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if _, refused := errors.AsType[*install.RefusedError](err); refused != (tc.want != "") {
				t.Errorf("%v is of the wrong type", err)
			}
			if _, err := install.Plan(t.Context(), c, install.Options{Version: "1.1.0", Force: true}); err != nil {
				t.Errorf("forced: %v", err)
			}
		})
	}
}
