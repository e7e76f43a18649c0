package crds_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
)

// applyLimit is the maximum total size of an object's annotations. A plain `kubectl
// apply` stores the whole manifest in one of them, as JSON.
const applyLimit = 256 << 10

func TestStandardFitsApply(t *testing.T) {
	definitions, err := crds.Standard("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range definitions {
		raw, err := json.Marshal(crd)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > applyLimit*9/10 {
			t.Errorf("%s takes %d of %d bytes", crd.Name, len(raw), applyLimit)
		}
	}
}

// TestSameAsDeploy fails if the API types changed and the generator was not run
// completely.
func TestSameAsDeploy(t *testing.T) {
	for _, set := range []struct {
		folder string
		load   func(string) ([]*apiextensionsv1.CustomResourceDefinition, error)
	}{
		{"crds", crds.Standard},
		{"crds-full", crds.Full},
	} {
		t.Run(set.folder, func(t *testing.T) {
			names, err := filepath.Glob(filepath.Join("../../../deploy", set.folder, "monitoring.coreos.com_*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			definitions, err := set.load("1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			if len(names) != 10 || len(definitions) != 10 {
				t.Fatalf("%d files and %d definitions, want 10 of each", len(names), len(definitions))
			}
			for i, name := range names {
				raw, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				want := &apiextensionsv1.CustomResourceDefinition{}
				if err := yaml.UnmarshalStrict(raw, want); err != nil {
					t.Fatal(err)
				}
				want.Annotations[crds.VersionAnnotation] = "1.0.0"
				want.Annotations[crds.DistributionAnnotation] = crds.Distribution("1.0.0")
				if diff := cmp.Diff(want, definitions[i]); diff != "" {
					t.Errorf("%s (-deploy +embedded):\n%s", name, diff)
				}
			}
		})
	}
}

func TestWrite(t *testing.T) {
	definitions, err := crds.Standard("1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := crds.Write(&out, definitions); err != nil {
		t.Fatal(err)
	}
	docs := strings.Split(out.String(), "\n---\n")
	if len(docs) != len(definitions) {
		t.Fatalf("%d documents, want %d", len(docs), len(definitions))
	}
	for i, doc := range docs {
		got := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(doc), got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(definitions[i], got); diff != "" {
			t.Errorf("%s (-written +read):\n%s", definitions[i].Name, diff)
		}
		if strings.Contains(doc, "\nstatus:") {
			t.Errorf("%s: carries a status", got.Name)
		}
	}
}
