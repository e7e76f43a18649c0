package promconfig

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/prometheus/prometheus/config"
	"go.yaml.in/yaml/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// TestThanosGolden compiles a ThanosRuler for the version in the name of each wanted file.
//
//	want/<version>.yaml     remote-write.yaml
//	want/<version>.dropped  keys that the version does not support
//	want/<version>.error    why no file is generated
//	want/<version>.files    TLS assets to mount
//	want/<version>.deps     Secrets and ConfigMaps that it depends on
func TestThanosGolden(t *testing.T) {
	golden.Run(t, "testdata/thanos/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		version, part := golden.CutVersion(name)
		ruler, objects, err := readRuler(c)
		if err != nil {
			return nil, err
		}
		f, err := CompileThanosRemoteWrite(ruler, semver.MustParse(version), objects)
		switch {
		case part == "deps":
			return golden.Lines(depTexts(f.Deps)), nil
		case part == "error" && err == nil:
			return nil, fmt.Errorf("no error")
		case part == "error":
			return []byte(err.Error()), nil
		case err != nil:
			return nil, err
		}
		checkRemoteWriteFile(t, version, f.YAML)
		switch part {
		case "dropped":
			return golden.Lines(droppedTexts(f.Dropped)), nil
		case "files":
			return golden.Lines(slices.Sorted(maps.Keys(f.Files))), nil
		}
		return f.YAML, nil
	})
}

// readRuler reads a ThanosRuler and the objects it refers to.
func readRuler(c golden.Case) (*v1.ThanosRuler, *assets.Static, error) {
	ruler, objects := &v1.ThanosRuler{}, &assets.Static{}
	for _, name := range c.Inputs() {
		text, _ := c.Input(name)
		for doc := range bytes.SplitSeq(golden.WithCertificates(text), []byte("\n---\n")) {
			if err := readInto(doc, ruler, objects); err != nil {
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return ruler, objects, nil
}

func readInto(doc []byte, ruler *v1.ThanosRuler, objects *assets.Static) error {
	var meta metav1.TypeMeta
	if err := kyaml.Unmarshal(doc, &meta); err != nil {
		return err
	}
	switch meta.Kind {
	case v1.ThanosRulerKind:
		return manifest.Decode(doc, ruler)
	case "Secret":
		var secret corev1.Secret
		if err := manifest.Decode(doc, &secret); err != nil {
			return err
		}
		objects.AddSecret(&secret)
		return nil
	case "ConfigMap":
		var configMap corev1.ConfigMap
		if err := manifest.Decode(doc, &configMap); err != nil {
			return err
		}
		objects.AddConfigMap(&configMap)
		return nil
	}
	return fmt.Errorf("kind %q is not known here", meta.Kind)
}

func depTexts(deps []assets.Dependency) (out []string) {
	for _, d := range deps {
		out = append(out, d.Ref.String())
	}
	return out
}

func droppedTexts(dropped []gate.Dropped) (out []string) {
	for _, d := range dropped {
		out = append(out, d.String())
	}
	return out
}

// checkRemoteWriteFile parses the file with the types of Prometheus, like Thanos does.
func checkRemoteWriteFile(t *testing.T, version string, text []byte) {
	t.Helper()
	var doc struct {
		RemoteWrite []*config.RemoteWriteConfig `yaml:"remote_write"`
	}
	if err := yaml.UnmarshalStrict(text, &doc); err != nil && !strings.Contains(err.Error(), "remote write queue") { // the types are newer
		t.Errorf("%s: Thanos refuses the file: %v\n%s", version, err, text)
	}
	if !bytes.HasPrefix(text, []byte("remote_write:")) {
		t.Errorf("%s: the key is missing:\n%s", version, text)
	}
}

// TestThanosGoldensCoverTheGates: each key that only some versions of Thanos support is
// dropped in one golden file and written in another.
func TestThanosGoldensCoverTheGates(t *testing.T) {
	gated := map[string]bool{} // whether some version writes it
	thanosKeys(t, gated, reflect.TypeFor[RemoteWrite](), "")
	if len(gated) < 14 {
		t.Errorf("only %d gated keys", len(gated))
	}
	dropped, written := map[string]bool{}, map[string]bool{}
	paths, err := filepath.Glob("testdata/thanos/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		c, err := golden.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		ruler, objects, err := readRuler(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.Wants() {
			version, _ := golden.CutVersion(want)
			if f, err := CompileThanosRemoteWrite(ruler, semver.MustParse(version), objects); err == nil {
				note(t, f, dropped, written)
			}
		}
	}
	for key, ever := range gated {
		if !dropped[key] {
			t.Errorf("no golden file loses %s", key)
		}
		if ever != written[key] {
			t.Errorf("%s is written: %t", key, written[key])
		}
	}
}

// note records the dropped and written keys of a file.
func note(t *testing.T, f RemoteWriteFile, dropped, written map[string]bool) {
	t.Helper()
	for _, d := range f.Dropped {
		_, key, _ := strings.Cut(d.Path, "].")
		dropped[key] = true
	}
	var doc struct {
		RemoteWrite []yaml.MapSlice `yaml:"remote_write"`
	}
	if err := yaml.Unmarshal(f.YAML, &doc); err != nil {
		t.Fatal(err)
	}
	for _, entry := range doc.RemoteWrite {
		writtenKeys(entry, "", written)
	}
}

// thanosKeys collects the gated keys of the entry and its blocks.
func thanosKeys(t *testing.T, out map[string]bool, typ reflect.Type, path string) {
	t.Helper()
	keys, err := gate.Keys(typ, gate.Thanos)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Since != "" {
			out[path+k.Name] = k.Since != "never"
		}
		if elem := k.Type; elem.Kind() == reflect.Pointer && elem.Elem().Kind() == reflect.Struct && k.Name != "oauth2" {
			thanosKeys(t, out, elem.Elem(), path+k.Name+".")
		}
	}
}

func writtenKeys(v any, path string, out map[string]bool) {
	block, _ := v.(yaml.MapSlice)
	for _, item := range block {
		key := path + fmt.Sprint(item.Key)
		out[key] = true
		writtenKeys(item.Value, key+".", out)
	}
}
