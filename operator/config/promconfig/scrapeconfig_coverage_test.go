package promconfig

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	kyaml "sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
)

// TestEveryFieldHasAGolden: the golden files set every field of the API and contain every
// key of the job and its discoveries.
func TestEveryFieldHasAGolden(t *testing.T) {
	set, wanted := map[string]bool{}, map[string]bool{}
	paths, err := filepath.Glob("testdata/s*.txtar") // scrapeconfig_, sd_
	if err != nil || len(paths) < 90 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			switch {
			case f.Name == "in.yaml":
				for doc := range strings.SplitSeq(string(f.Data), "\n---\n") {
					var object struct{ Spec any }
					if err := kyaml.Unmarshal([]byte(doc), &object); err != nil {
						t.Fatalf("%s: %v", path, err)
					}
					markPaths(set, "", object.Spec)
				}
			case strings.Contains(f.Name, "scrape_configs"):
				var v any
				if err := kyaml.Unmarshal(f.Data, &v); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				_, key, _ := strings.Cut(f.Name, "scrape_configs.0.")
				wanted[key] = true
				markPaths(wanted, key, v)
			}
		}
	}
	for _, field := range specFields(reflect.TypeFor[v1alpha1.ScrapeConfigSpec](), "") {
		if !set[field] {
			t.Errorf("no golden file sets spec.%s", field)
		}
	}
	for _, key := range jobKeys(t, reflect.TypeFor[ScrapeConfigJob](), "") {
		if !wanted[key] {
			t.Errorf("no golden file wants %s", key)
		}
	}
}

// markPaths records the dotted paths of all keys, ignoring list indices.
func markPaths(into map[string]bool, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			markPaths(into, path, item)
		}
	case map[string]any:
		for key, value := range v {
			inner := strings.TrimPrefix(path+"."+key, ".")
			into[inner] = true
			markPaths(into, inner, value)
		}
	}
}

// specFields lists the fields of the spec and of the discovery entries. Deeper fields are
// shared and tested elsewhere.
func specFields(t reflect.Type, prefix string) (out []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "inline") {
			out = append(out, specFields(f.Type, prefix)...)
			continue
		}
		path := prefix + name
		if name == "proxyFromEnvironment" && prefix != "" { // conflicts with the field that is set instead
			continue
		}
		out = append(out, path)
		if prefix == "" && f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct && strings.HasSuffix(name, "Configs") {
			out = append(out, specFields(f.Type.Elem(), path+".")...)
		}
	}
	return out
}

func jobKeys(t *testing.T, typ reflect.Type, prefix string) (out []string) {
	keys, err := gate.Keys(typ, gate.Prometheus)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		if k.Name == "proxy_from_environment" && prefix != "" {
			continue
		}
		out = append(out, prefix+k.Name)
		if elem := k.Type; elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Pointer && prefix == "" {
			out = append(out, jobKeys(t, elem.Elem().Elem(), k.Name+".")...)
		}
	}
	return out
}

// TestRejectTags: every reject tag is combined with a version and names a field of the API.
func TestRejectTags(t *testing.T) {
	check := func(typ reflect.Type, fields []string) {
		for i := range typ.NumField() {
			tag := typ.Field(i).Tag
			field, ok := tag.Lookup("reject")
			if !ok {
				continue
			}
			if tag.Get("since") == "" || !strings.Contains(" "+strings.Join(fields, " ")+" ", " "+field+" ") {
				t.Errorf("%s.%s: reject %q, since %q", typ, typ.Field(i).Name, field, tag.Get("since"))
			}
		}
	}
	spec, discoveries := reflect.TypeFor[v1alpha1.ScrapeConfigSpec](), reflect.TypeFor[Discoveries]()
	check(discoveries, specFields(spec, ""))
	keys, err := gate.Keys(discoveries, gate.Prometheus)
	if err != nil || len(keys) != len(mechanisms) {
		t.Fatalf("%d keys for %d mechanisms, %v", len(keys), len(mechanisms), err)
	}
	for i, m := range mechanisms {
		var fields []string
		for _, path := range specFields(spec, "") {
			if field, ok := strings.CutPrefix(path, m.field+"."); ok {
				fields = append(fields, field)
			}
		}
		check(keys[i].Type.Elem().Elem(), fields)
	}
}
