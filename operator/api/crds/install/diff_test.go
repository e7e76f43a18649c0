package install_test

import (
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/install"
)

type definition = apiextensionsv1.CustomResourceDefinition

// The diff of a modified live CRD lists the modifications that apply would revert.
func TestDiff(t *testing.T) {
	const kind = "probes.monitoring.coreos.com"
	for name, tc := range map[string]struct {
		live func(*definition)
		want []string
	}{
		"nothing": {func(*definition) {}, nil},
		"a field is new": {
			func(crd *definition) { delete(spec(crd).Properties, "jobName") },
			[]string{`+ v1 spec.jobName (string)`},
		},
		"a field with others below is new": {
			func(crd *definition) { delete(spec(crd).Properties, "basicAuth") },
			[]string{`+ v1 spec.basicAuth (object, 8 fields)`},
		},
		"a field goes": {
			func(crd *definition) {
				spec(crd).Properties["shiny"] = apiextensionsv1.JSONSchemaProps{Type: "boolean"}
			},
			[]string{`- v1 spec.shiny (boolean)`},
		},
		"rules of a field change": {
			func(crd *definition) {
				p := spec(crd).Properties["module"]
				p.MaxLength, p.Pattern = new(int64(7)), "^a$"
				spec(crd).Properties["module"] = p
			},
			[]string{`- v1 spec.module: maxLength: 7`, `- v1 spec.module: pattern: "^a$"`},
		},
		"deep inside lists": {
			func(crd *definition) {
				p := spec(crd).Properties["metricRelabelings"]
				item := p.Items.Schema.Properties["action"]
				item.Enum = item.Enum[:1]
				p.Items.Schema.Properties["action"] = item
			},
			[]string{`~ v1 spec.metricRelabelings[].action: enum: ["replace"] -> ["replace","Replace","keep","Keep",` +
				`"drop","Drop","hashmod","HashMod","labelmap","LabelMap","labeldrop","LabelDrop","labelkeep","LabelKeep",` +
				`"lowercase","Lowercase","uppercase","Uppercase","keepequa …`},
		},
		"descriptions are counted": {
			func(crd *definition) {
				p := spec(crd).Properties["module"]
				p.Description = "Something."
				spec(crd).Properties["module"] = p
			},
			[]string{`~ v1 descriptions: 1 differ`},
		},
		"names and versions": {
			func(crd *definition) {
				crd.Spec.Names.ShortNames = []string{"old"}
				crd.Spec.Versions[0].Served = false
				crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v0"})
			},
			[]string{`- version v0`, `~ v1.served: false -> true`, `~ spec.names.shortNames: ["old"] -> ["prb"]`},
		},
		"applied as a file": {
			func(crd *definition) {
				delete(crd.Annotations, crds.VersionAnnotation)
				delete(crd.Annotations, crds.DistributionAnnotation)
			},
			nil,
		},
		"annotations of ours": {
			func(crd *definition) {
				crd.Annotations = map[string]string{crds.VersionAnnotation: "0.93.0", "theirs": "x"}
			},
			[]string{
				`+ metadata.annotations[controller-gen.kubebuilder.io/version]: "v0.21.0"`,
				`+ metadata.annotations[operator.prometheus.io/distribution]: "firekeeper/1.0.0"`,
				`~ metadata.annotations[operator.prometheus.io/version]: "0.93.0" -> "1.0.0"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want := find(t, kind)
			live := want.DeepCopy()
			tc.live(live)
			got := strings.Join(install.Step{Want: want, Live: live}.Diff(), "\n")
			if want := strings.Join(tc.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

var standard = sync.OnceValues(func() ([]*definition, error) { return crds.Standard("1.0.0") })

// find returns a copy of one of our CRDs.
func find(t *testing.T, name string) *definition {
	t.Helper()
	all, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range all {
		if crd.Name == name {
			return crd.DeepCopy()
		}
	}
	t.Fatalf("no definition %s", name)
	return nil
}

// spec returns the schema of the field spec of the first version.
func spec(crd *definition) *apiextensionsv1.JSONSchemaProps {
	p := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	return &p
}
