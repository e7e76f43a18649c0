package main

import (
	"os"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/web"
)

// The document that the operator serves is up to date.
func TestDocumentIsCurrent(t *testing.T) {
	want, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../web/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Error("operator/web/openapi.json is not current; run make generate")
	}
}

// Every path, parameter and field is documented.
func TestDocumentHasAll(t *testing.T) {
	doc, err := document(web.Routes())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range web.Routes() {
		for _, path := range r.Paths() {
			op := doc.Paths.Find(path).GetOperation(r.Method)
			if op == nil || op.Summary == "" || op.Responses.Status(200) == nil {
				t.Fatalf("%s %s: %+v", r.Method, path, op)
			}
			for _, p := range r.Params {
				if op.Parameters.GetByInAndName("query", p.Name) == nil {
					t.Errorf("%s: no parameter %s", path, p.Name)
				}
			}
			for _, name := range pathParams(path) {
				if op.Parameters.GetByInAndName("path", name) == nil {
					t.Errorf("%s: no parameter %s", path, name)
				}
			}
		}
	}
	target := doc.Components.Schemas["preview.Target"].Value
	for _, name := range []string{"workload", "object", "job", "state", "shards"} { // own fields and fields of the embedded struct
		if target.Properties[name] == nil || !strings.Contains(strings.Join(target.Required, " "), name) {
			t.Errorf("preview.Target has no %s, or it is not required: %v", name, target.Required)
		}
	}
	if p := target.Properties["url"]; p == nil || !strings.Contains(p.Value.Description, "scraped") {
		t.Errorf("the URL of a target is %+v", p)
	}
	if v := doc.Components.Schemas["explain.Result"].Value.Properties["otherwise"]; v == nil {
		t.Error("a schema that leads to itself is cut")
	}
}
