package redact

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	amconfig "github.com/prometheus/alertmanager/config"
	amcommon "github.com/prometheus/alertmanager/config/common"
	"github.com/prometheus/common/config"
	promconfig "github.com/prometheus/prometheus/config"
	yaml3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

const canary = "c4nary0123456789abcdef0123456789"

// credentialName matches names and descriptions of fields that may hold credentials.
var credentialName = regexp.MustCompile(`(?i)secret|token|password|credential|authenticat|api.?key`)

// plain are the fields that credentialName matches although they hold none.
var plain = []string{
	"apiCorpID", "apiServer", "apiUrl", "bearerTokenFile", "botTokenFile", "credentialsFile", "keyFile", "name", "tokenFile", "tokenUrl", "userKeyFile",
}

// Credentials in any field of an object are removed: in the URLs of all fields, and in fields for credentials.
func TestEveryFieldOfTheAPI(t *testing.T) {
	fields, credentials := 0, 0
	for _, name := range []string{"servicemonitors", "podmonitors", "probes", "scrapeconfigs", "prometheusrules", "alertmanagerconfigs"} {
		text, err := os.ReadFile(filepath.Join("../../../deploy/crds-full", "monitoring.coreos.com_"+name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var crd struct {
			Spec struct {
				Versions []struct {
					Schema struct {
						Root schema `json:"openAPIV3Schema"`
					} `json:"schema"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		tree := Tree{Paths: LongPaths, Fields: true}
		if name == "alertmanagerconfigs" {
			tree.Paths = AllPaths
		}
		for _, version := range crd.Spec.Versions {
			version.Schema.Root.Properties["spec"].leaves(nil, func(path []string, leaf schema) {
				fields++
				last := path[len(path)-1]
				values := []string{"https://user:" + canary + "@host.example/path?a=" + canary}
				if tree.Paths == AllPaths {
					values = append(values, "https://host.example/"+canary)
				}
				inMap := slices.ContainsFunc(path, func(p string) bool {
					return slices.Contains([]string{"params", "httpHeaders", "customHeaders", "headers", "endpointParams"}, p)
				})
				if (inMap || credentialName.MatchString(last+" "+leaf.Description)) && !slices.Contains(plain, last) {
					credentials++
					values = append(values, canary)
				}
				for _, value := range values {
					got, err := tree.Text("kind: A\nspec: " + document(path, value))
					if err != nil || strings.Contains(got, "c4nary") || !strings.Contains(got, Hidden) {
						t.Errorf("%s: %s: %v\n%s", name, strings.Join(path, "."), err, got)
					}
				}
			})
		}
	}
	if fields < 1000 || credentials < 20 {
		t.Errorf("only %d fields, %d of them with credentials: the test looks at too little", fields, credentials)
	}
}

type schema struct {
	Description string            `json:"description"`
	Type        string            `json:"type"`
	Enum        []any             `json:"enum"`
	Properties  map[string]schema `json:"properties"`
	Items       *schema           `json:"items"`
	Other       any               `json:"additionalProperties"`
}

// leaves visits the fields with free text, except references to keys of Secrets and ConfigMaps.
// "[]" is an item of a list.
func (s schema) leaves(path []string, visit func(path []string, leaf schema)) {
	below := func(name string) []string { return append(slices.Clone(path), name) }
	_, key := s.Properties["key"]
	_, optional := s.Properties["optional"]
	switch {
	case key && optional:
	case s.Items != nil:
		s.Items.leaves(below("[]"), visit)
	case s.Type == "string" && s.Enum == nil:
		visit(path, s)
	case s.Other != nil:
		visit(below("anything"), s)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		s.Properties[name].leaves(below(name), visit)
	}
}

// document returns YAML with a value at a path.
func document(path []string, value string) string {
	if len(path) == 0 {
		return fmt.Sprintf("%q", value)
	}
	if path[0] == "[]" {
		return "[" + document(path[1:], value) + "]"
	}
	return "{" + path[0] + ": " + document(path[1:], value) + "}"
}

// Values of all fields that Prometheus and Alertmanager declare as secret are removed from their configurations,
// wherever they come from.
func TestEverySecretOfThePrograms(t *testing.T) {
	seen := 0
	check := func(hide func(root *yaml3.Node, section string)) func(path []string, kind reflect.Type) {
		return func(path []string, kind reflect.Type) {
			seen++
			value := canary
			if strings.HasSuffix(kind.Name(), "URL") {
				value = "https://host.example/" + canary
			}
			var doc yaml3.Node
			if err := yaml3.Unmarshal([]byte(document(path, value)), &doc); err != nil {
				t.Fatal(err)
			}
			hide(doc.Content[0], path[0])
			if got, err := Encode(doc.Content[0]); err != nil || strings.Contains(got, "c4nary") {
				t.Errorf("%s: %v\n%s", strings.Join(path, "."), err, got)
			}
		}
	}
	secrets(reflect.TypeFor[promconfig.Config](), nil, nil, check(func(root *yaml3.Node, _ string) { Tree{}.Redact(root) }))
	secrets(reflect.TypeFor[amconfig.Config](), nil, nil, check(func(root *yaml3.Node, section string) {
		if section != "receivers" && section != "global" { // the operator generates none of the others
			Section(root, section)
		}
		Tree{Paths: AllPaths}.Redact(root)
	}))
	// An Alertmanager's own file needs no names.
	secrets(reflect.TypeFor[amconfig.Config](), nil, nil, check(func(root *yaml3.Node, section string) { Section(root, section) }))
	if seen < 100 {
		t.Errorf("only %d: the test looks at too little", seen)
	}
}

// secrets visits the keys of a configuration that are declared as secret.
func secrets(of reflect.Type, path []string, above []reflect.Type, visit func(path []string, kind reflect.Type)) {
	switch of {
	case reflect.TypeFor[config.Secret](), reflect.TypeFor[amcommon.SecretURL](), reflect.TypeFor[amcommon.SecretTemplateURL]():
		visit(path, of)
		return
	}
	below := func(name string) []string { return append(slices.Clone(path), name) }
	switch of.Kind() {
	case reflect.Pointer:
		secrets(of.Elem(), path, above, visit)
	case reflect.Slice:
		secrets(of.Elem(), below("[]"), above, visit)
	case reflect.Map:
		secrets(of.Elem(), below("any"), above, visit)
	case reflect.Struct:
		if slices.Contains(above, of) {
			return
		}
		for i := range of.NumField() {
			f := of.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case strings.Contains(options, "inline"):
				secrets(f.Type, path, append(above, of), visit)
			case name != "" && name != "-":
				secrets(f.Type, below(name), append(above, of), visit)
			}
		}
	}
}
