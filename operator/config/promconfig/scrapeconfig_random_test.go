package promconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TestRandomScrapeConfigs: any object that the CRD allows is either rejected or compiles
// deterministically to a document that Prometheus accepts. Only the object's namespace is
// read. Half of the objects set every field.
func TestRandomScrapeConfigs(t *testing.T) {
	const rounds = 6
	g := scrapeConfigSamples(t)
	objects := randomObjects(t, g, rounds)
	for _, tc := range []struct{ version, owner string }{
		{"3.13.2", `{}`},
		{"3.5.0", `{shards: 2, enforcedNamespaceLabel: ns, enforcedSampleLimit: 5, overrideHonorTimestamps: true}`},
		{"3.0.0", `{scrapeClasses: [{name: a, default: true, authorization: {credentialsFile: /x}, tlsConfig: {caFile: /y}}]}`},
	} {
		t.Run(tc.version, func(t *testing.T) {
			w := &goldenInput{}
			if err := w.add([]byte("kind: Prometheus\nmetadata: {namespace: default, name: test}\nspec: " + tc.owner)); err != nil {
				t.Fatal(err)
			}
			w.cluster = everything
			s, frame := w.compiled(t, tc.version)
			documents := map[string][]byte{}
			for name, m := range objects {
				f := compileTwice(t, name, m, s)
				if f.Err == nil {
					documents[name] = fragments{v1alpha1.ScrapeConfigKind: {f.YAML}}.document(&frame)
				}
			}
			t.Logf("%d of %d objects accepted", len(documents), len(objects))
			if tc.version == "3.13.2" {
				everyMechanismAccepted(t, documents)
			}
			promtoolAll(t, documents)
		})
	}
}

func compileTwice(t *testing.T, name string, m *v1alpha1.ScrapeConfig, s *Settings) Fragment {
	t.Helper()
	f, again := CompileScrapeConfig(m, s, foreign{}), CompileScrapeConfig(m, s, foreign{})
	if !bytes.Equal(f.YAML, again.YAML) || fmt.Sprint(f.Err, f.Dropped) != fmt.Sprint(again.Err, again.Dropped) {
		t.Errorf("%s: two runs differ\n%s\n%s", name, f.YAML, again.YAML)
	}
	for _, d := range f.Deps {
		if d.Ref.Namespace != m.Namespace {
			t.Errorf("%s reads %s", name, d.Ref)
		}
	}
	if f.Err != nil && strings.Contains(f.Err.Error(), "hunter2") {
		t.Errorf("%s: the error shows a secret: %v", name, f.Err)
	}
	return f
}

// foreign has the same Secret and ConfigMap in every namespace.
type foreign struct{}

func (foreign) Object(ref assets.Ref) (assets.Object, error) {
	values := map[string][]byte{
		"text": []byte("hunter2"), "uuid": []byte("11111111-2222-3333-4444-555555555555"),
		"cert": golden.Certificates()["@CERT@"], "key": golden.Certificates()["@KEY@"],
	}
	return assets.Object{Version: "1", Values: values}, nil
}

func scrapeConfigSamples(t *testing.T) *sample.Generator {
	t.Helper()
	all, err := sample.OfKinds(map[string]string{v1alpha1.ScrapeConfigKind: v1alpha1.Version})
	if err != nil {
		t.Fatal(err)
	}
	return all[v1alpha1.ScrapeConfigKind]
}

// randomObjects returns objects by name: each discovery of each sample separately, and
// the rest of the sample, because one invalid entry rejects the entire object.
func randomObjects(t *testing.T, g *sample.Generator, rounds int) map[string]*v1alpha1.ScrapeConfig {
	t.Helper()
	out := map[string]*v1alpha1.ScrapeConfig{}
	add := func(name string, spec map[string]any) {
		text, err := json.Marshal(map[string]any{"metadata": map[string]any{"namespace": "demo", "name": "web"}, "spec": spec})
		if err != nil {
			t.Fatal(err)
		}
		m := &v1alpha1.ScrapeConfig{}
		if err := kyaml.UnmarshalStrict(text, m); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = m
	}
	split := func(name string, object map[string]any) {
		spec, _ := object["spec"].(map[string]any)
		resolve(spec, "")
		rest := maps.Clone(spec)
		delete(rest, "scrapeClass")
		for field, value := range spec {
			if !strings.HasSuffix(field, "Configs") {
				continue
			}
			delete(rest, field)
			entries, _ := value.([]any)
			for i, entry := range entries {
				add(fmt.Sprintf("%s.%s.%d", name, field, i), map[string]any{field: []any{entry}})
				tidy(entry)
				add(fmt.Sprintf("%s.%s.%d.tidy", name, field, i), map[string]any{field: []any{entry}})
			}
		}
		add(name+".job", rest)
		tidy(rest)
		add(name+".job.tidy", rest)
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 0))
		object, err := g.Object(rng, 0.4)
		if err != nil {
			t.Fatal(err)
		}
		split(fmt.Sprintf("object-%d", seed), object)
		full, err := g.Maximal(rng)
		if err != nil {
			t.Fatal(err)
		}
		for i, object := range full {
			split(fmt.Sprintf("maximal-%d-%d", seed, i), object)
		}
	}
	return out
}

// resolve points references to existing keys and sets values in a format that only the server requires.
func resolve(v any, field string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			resolve(item, field)
		}
	case map[string]any:
		if _, ok := v["key"].(string); ok {
			v["name"], v["key"] = "s", keyFor(field)
			return
		}
		for name, value := range v {
			inner := name
			if name == "secret" || name == "configMap" {
				inner = field
			}
			if replacement, ok := formed[name]; ok {
				if _, text := value.(string); text {
					v[name] = replacement
				}
			}
			resolve(value, inner)
		}
	}
}

// tidy removes conflicting fields at every depth. Random objects nearly always have some.
func tidy(v any) {
	list, ok := v.([]any)
	for _, item := range list {
		tidy(item)
	}
	object, _ := v.(map[string]any)
	if ok || object == nil {
		return
	}
	keepOne(object, "secret", "configMap")
	keepOne(object, "serviceAccountKey", "authToken", "basicAuth", "oauth2", "authorization")
	keepOne(object, "apiServer", "namespaces")
	keepOne(object, "proxyUrl", "noProxy", "proxyConnectHeader")
	keepOne(object, "proxyUrl", "proxyFromEnvironment")
	if object["proxyUrl"] == nil {
		delete(object, "noProxy")
		delete(object, "proxyConnectHeader")
	}
	for name, minimum := range map[string][]string{
		"tlsConfig": {"serverName", "insecureSkipVerify", "ca"}, // half of a pair is useless
		"ca":        {"secret", "configMap"},
	} {
		if block, ok := object[name].(map[string]any); ok {
			maps.DeleteFunc(block, func(key string, _ any) bool { return !slices.Contains(minimum, key) })
		}
	}
	for _, value := range object {
		tidy(value)
	}
	object["basicAuth"], object["oauth2"] = complete(object["basicAuth"], "username", "password"), complete(object["oauth2"], "clientId", "clientSecret")
	maps.DeleteFunc(object, func(_ string, value any) bool { return value == nil })
}

// keepOne keeps only the first of the fields that is set.
func keepOne(object map[string]any, fields ...string) {
	found := false
	for _, field := range fields {
		if _, ok := object[field]; ok {
			if found {
				delete(object, field)
			}
			found = true
		}
	}
}

// complete adds the required references to a credentials block.
func complete(block any, fields ...string) any {
	object, ok := block.(map[string]any)
	if !ok {
		return nil
	}
	for _, field := range fields {
		object[field] = map[string]any{"name": "s", "key": "text"}
	}
	if _, ok := object["clientId"]; ok {
		object["clientId"] = map[string]any{"secret": object["clientId"]}
	}
	return object
}

func keyFor(field string) string {
	switch field {
	case "ca", "cert":
		return "cert"
	case "keySecret":
		return "key"
	case "secretKey":
		return "uuid"
	}
	return "text"
}

var formed = map[string]string{
	"accessKey": "SCWABCDEFGHIJ0123456", "projectID": "11111111-2222-3333-4444-555555555555", "zone": "fr-par-1",
	"refreshInterval": "1m", "url": "http://a", "server": "http://b", "field": "a=b", "label": "a in (b)",
	"host": "tcp://h", "apiServer": "https://a", "scrapeInterval": "1m", "scrapeTimeout": "1s", "proxyUrl": "http://p", "region": "eu-west-1",
}

// everyMechanismAccepted makes sure that the test does not only check rejections.
func everyMechanismAccepted(t *testing.T, documents map[string][]byte) {
	t.Helper()
	all := string(bytes.Join(slices.Collect(maps.Values(documents)), nil))
	for _, m := range mechanisms {
		found := slices.ContainsFunc(slices.Collect(maps.Keys(documents)), func(name string) bool { return strings.Contains(name, "."+m.field+".") })
		if !found {
			t.Errorf("no random %s was accepted", m.field)
		}
	}
	if !strings.Contains(all, "hunter2") {
		t.Error("no object has a credential")
	}
}

// promtoolAll checks many documents with one process.
func promtoolAll(t *testing.T, documents map[string][]byte) {
	t.Helper()
	program := programtest.Find(t, promtool)
	dir := t.TempDir()
	var paths []string
	for name, text := range documents {
		path := filepath.Join(dir, name+".yaml")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	out, err := syntaxCheck(t, program, paths...).CombinedOutput()
	if err == nil {
		return
	}
	for chunk := range strings.SplitSeq(string(out), "Checking ") {
		if strings.Contains(chunk, "FAILED") {
			path, _, _ := strings.Cut(chunk, "\n")
			t.Errorf("%s\n%s", chunk, documents[strings.TrimSuffix(filepath.Base(path), ".yaml")])
		}
	}
	t.Errorf("promtool: %v", err)
}
