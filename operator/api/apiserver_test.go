package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/check"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/install"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Main(m)) }

// validator returns the error of an object, or nil if it is valid.
type validator func(t *testing.T, k kind, object map[string]any) error

// validators are the API server, and our own check without one.
var validators = map[string]func(*testing.T) validator{
	"local":     local,
	"apiserver": apiServer,
}

// local checks objects without a cluster.
func local(t *testing.T) validator {
	t.Helper()
	all, err := crds.Full("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	checkers := map[string]*check.Checker{}
	for _, crd := range all {
		for _, v := range crd.Spec.Versions {
			c, err := check.New(crd, v.Name)
			if err != nil {
				t.Fatal(err)
			}
			checkers[crd.Spec.Names.Kind+"/"+v.Name] = c
		}
	}
	return func(_ *testing.T, k kind, object map[string]any) error {
		if problems := checkers[k.String()].Object(object); len(problems) > 0 {
			return problems.ToAggregate()
		}
		return nil
	}
}

var installOnce sync.Once

// apiServer sends a dry-run create request to a kube-apiserver.
func apiServer(t *testing.T) validator {
	t.Helper()
	c := clustertest.Shared(t, cluster.Options{})
	cfg := &rest.Config{Host: c.Host, BearerToken: c.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}, QPS: -1}
	definitions, err := client.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	installOnce.Do(func() { installDefinitions(t, definitions.CustomResourceDefinitions()) })
	objects, err := dynamic.NewForConfig(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, k kind, object map[string]any) error {
		t.Helper()
		at := objects.Resource(k.gvk.GroupVersion().WithResource(k.plural)).Namespace(metav1.NamespaceDefault)
		_, err := at.Create(t.Context(), &unstructured.Unstructured{Object: object}, metav1.CreateOptions{
			DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
		})
		return err
	}
}

func installDefinitions(t *testing.T, c client.CustomResourceDefinitionInterface) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	steps, err := install.Plan(ctx, c, install.Options{Version: "1.0.0", Full: true})
	if err != nil {
		t.Fatal(err)
	}
	err = install.Apply(ctx, c, steps, install.Progress{Applied: func(string, install.Outcome) {}, Waiting: func([]string) {}})
	if err != nil {
		t.Fatal(err)
	}
}

// Valid objects are accepted: manifests of a widely used stack, objects that together set
// every field, and sparse ones.
func TestAccept(t *testing.T) {
	type named struct {
		name   string
		kind   kind
		object map[string]any
	}
	var objects []named
	for _, k := range allKinds(t) {
		rng := rand.New(rand.NewPCG(7, 0))
		maximal, err := k.generator.Maximal(rng)
		if err != nil {
			t.Fatal(err)
		}
		for i, object := range maximal {
			objects = append(objects, named{fmt.Sprintf("%s every field %d", k, i), k, object})
		}
		for i := range 3 {
			sparse, err := k.generator.Object(rng, 0.1)
			if err != nil {
				t.Fatal(err)
			}
			objects = append(objects, named{fmt.Sprintf("%s sparse %d", k, i), k, sparse})
		}
	}
	for _, object := range ownManifests(t) {
		u := unstructured.Unstructured{Object: object}
		name := fmt.Sprintf("manifest %s %s", u.GetKind(), u.GetName())
		objects = append(objects, named{name, kindOf(t, u.GroupVersionKind()), object})
	}
	t.Logf("%d objects", len(objects))
	for name, start := range validators {
		t.Run(name, func(t *testing.T) {
			validator := start(t)
			for _, o := range objects {
				object := (&unstructured.Unstructured{Object: o.object}).DeepCopy().Object
				object["metadata"].(map[string]any)["namespace"] = metav1.NamespaceDefault
				if err := validator(t, o.kind, object); err != nil {
					t.Errorf("%s: %v", o.name, err)
				}
			}
		})
	}
}

// Objects with one error each are rejected.
func TestRefuse(t *testing.T) {
	raw, err := os.ReadFile("testdata/apiserver/refuse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type refusal struct {
		Name, Kind string
		Want       []string // substrings of the message
		Spec       json.RawMessage
		Repeat     *struct {
			Field string
			Item  json.RawMessage
			Times int
		}
	}
	var cases []refusal
	if err := yaml.UnmarshalStrict(raw, &cases); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d objects", len(cases))
	for name, start := range validators {
		t.Run(name, func(t *testing.T) {
			validator := start(t)
			for _, tc := range cases {
				t.Run(tc.Name, func(t *testing.T) {
					if tc.Repeat != nil {
						items := strings.Repeat(string(tc.Repeat.Item)+",", tc.Repeat.Times)
						tc.Spec = fmt.Appendf(nil, `{%q: [%s]}`, tc.Repeat.Field, strings.TrimSuffix(items, ","))
					}
					k := kindNamed(t, tc.Kind)
					err := validator(t, k, objectOf(t, k, tc.Spec))
					if err == nil || len(tc.Want) == 0 {
						t.Fatalf("error %v, want %q", err, tc.Want)
					}
					for _, part := range tc.Want {
						if !strings.Contains(err.Error(), part) {
							t.Errorf("error %v\nwant  %s", err, part)
						}
					}
				})
			}
		})
	}
}

// objectOf returns a minimal object with a spec.
func objectOf(t *testing.T, k kind, spec json.RawMessage) map[string]any {
	t.Helper()
	object := map[string]any{
		"apiVersion": k.gvk.GroupVersion().String(), "kind": k.gvk.Kind,
		"metadata": map[string]any{"name": "refused", "namespace": metav1.NamespaceDefault},
	}
	if spec != nil {
		var v any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(spec, &v); err != nil {
			t.Fatal(err)
		}
		object["spec"] = v
	}
	return object
}

// ownManifests returns the objects of our group in the real manifests, or none if there
// are no such files.
func ownManifests(t *testing.T) []map[string]any {
	t.Helper()
	dir, ok := findShared("real")
	if !ok {
		t.Log("no real manifests at hand")
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
		for {
			var doc json.RawMessage
			if err := docs.Decode(&doc); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			object := map[string]any{}
			if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, &object); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if version, _ := object["apiVersion"].(string); strings.HasPrefix(version, "monitoring.coreos.com/") {
				out = append(out, object)
			}
		}
	}
	return out
}

func kindOf(t *testing.T, gvk k8sschema.GroupVersionKind) kind {
	t.Helper()
	return kindNamed(t, gvk.Kind+"/"+gvk.Version)
}

func kindNamed(t *testing.T, name string) kind {
	t.Helper()
	all := allKinds(t)
	i := slices.IndexFunc(all, func(k kind) bool { return k.String() == name })
	if i < 0 {
		t.Fatalf("no kind %s", name)
	}
	return all[i]
}
