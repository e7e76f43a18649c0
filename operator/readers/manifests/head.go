package manifests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// header is the part of a manifest that identifies the object, or the items of a list.
type header struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        struct {
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
	} `json:"metadata"`
	Items []json.RawMessage `json:"items"`
}

// check returns an error if no object can have such a header.
func (h *header) check() error {
	switch {
	case len(h.Kind) > maxHead:
		return fmt.Errorf("kind: has %d bytes, at most %d are possible", len(h.Kind), maxHead)
	case len(h.APIVersion) > maxHead:
		return fmt.Errorf("apiVersion: has %d bytes, at most %d are possible", len(h.APIVersion), maxHead)
	case len(h.Metadata.Namespace) > maxHead || len(h.Metadata.Name) > maxHead:
		return fmt.Errorf("metadata: name and namespace have at most %d bytes", maxHead)
	case h.Kind == "":
		return errors.New("not a manifest: kind is missing")
	}
	return nil
}

// ofChart are keys at the top of values of the chart kube-prometheus-stack, as JSON.
var ofChart = []string{`"prometheusSpec":`, `"alertmanagerSpec":`, `"prometheusOperator":`, `"additionalPrometheusRulesMap":`, `"defaultRules":`}

// kindless extends the error for a document without kind if it seems to be values of a Helm chart, or a rule file.
func kindless(raw []byte, err error) error {
	if slices.ContainsFunc(ofChart, func(key string) bool { return bytes.Contains(raw, []byte(key)) }) {
		return fmt.Errorf("%w; values of a Helm chart are checked by what it makes of them: helm template … -f values.yaml | operator lint -f -", err)
	}
	if bytes.HasPrefix(raw, []byte(`{"groups":`)) {
		return fmt.Errorf("%w; this is a rule file of Prometheus, of which operator convert makes a PrometheusRule", err)
	}
	var has []string
	jsonspan.Members(raw, func(name string, _ []byte) bool {
		has = append(has, name)
		return len(has) < 20
	})
	switch {
	case slices.Contains(has, "scrape_configs") || slices.Contains(has, "rule_files"):
		return fmt.Errorf("%w; this is a configuration of Prometheus, which the operator writes from the fields of a Prometheus and its monitors: make its scrape_configs ScrapeConfigs, or put them into a Secret that spec.additionalScrapeConfigs names", err)
	case slices.Contains(has, "route") && slices.Contains(has, "receivers"):
		return fmt.Errorf("%w; this is a configuration of Alertmanager: put it into the Secret of spec.configSecret of the Alertmanager, with the key alertmanager.yaml", err)
	}
	return err
}

// headOf returns the header of an object, which is valid JSON. Items share memory with it.
//
// Errors: those of package encoding/json for values of the wrong type.
func headOf(raw []byte) (h header, err error) {
	if h, usual := usualHead(raw); usual {
		return h, nil
	}
	h = header{}
	err = json.Unmarshal(raw, &h)
	return h, err
}

// usualHead finds the header without decoding the rest of the object, which is most of it. usual is false if it is
// unusual, such as one with wrong types, or with names in another case, which package encoding/json accepts.
func usualHead(raw []byte) (h header, usual bool) {
	usual = bytes.HasPrefix(raw, []byte("{"))
	jsonspan.Members(raw, func(name string, value []byte) bool {
		switch {
		case name == "kind":
			usual = plainText(value, &h.Kind)
		case name == "apiVersion":
			usual = plainText(value, &h.APIVersion)
		case name == "metadata":
			usual = value[0] == '{'
			jsonspan.Members(value, func(name string, value []byte) bool {
				switch {
				case name == "namespace":
					usual = usual && plainText(value, &h.Metadata.Namespace)
				case name == "name":
					usual = usual && plainText(value, &h.Metadata.Name)
				default:
					usual = usual && !alike(name, "namespace", "name")
				}
				return usual
			})
		case name == "items":
			usual = value[0] == '['
			h.Items = []json.RawMessage{}
			jsonspan.Elements(value, func(item []byte) bool {
				h.Items = append(h.Items, item)
				return true
			})
		default:
			usual = !alike(name, "kind", "apiVersion", "metadata", "items")
		}
		return usual
	})
	return h, usual
}

// plainText sets a string from JSON without escapes.
func plainText(value []byte, to *string) bool {
	if value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return false
	}
	*to = string(value[1 : len(value)-1])
	return true
}

// alike reports whether a name differs from another one in letter case only.
func alike(name string, others ...string) bool {
	return slices.ContainsFunc(others, func(other string) bool { return strings.EqualFold(name, other) })
}

// maxHead is the maximum length in bytes of kind, apiVersion, name and namespace, as in an API
// server.
const maxHead = 253

// jsonTypes maps JSON types to their names in messages.
var jsonTypes = map[string]string{
	"array": "a list", "string": "a string", "number": "a number", "object": "an object",
	"bool": "true or false (as which YAML also reads on, y and no: put it in quotes)",
}

// unlikeManifest describes a value of the wrong type in kind, apiVersion, metadata or items.
func unlikeManifest(raw []byte, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return fmt.Errorf("not a manifest: %w", err)
	}
	kind, _, _ := strings.Cut(wrong.Value, " ") // a number may follow
	if wrong.Field == "" {
		text := fmt.Sprintf("not a manifest: it is %s, not an object", jsonTypes[kind])
		if kind == "array" && bytes.Contains(raw, []byte(`"job_name":`)) {
			text += "; scrape configurations of Prometheus itself go into a Secret that spec.additionalScrapeConfigs names"
		}
		return errors.New(text)
	}
	want := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list"}[wrong.Type.Kind()]
	return &manifest.FieldError{Path: wrong.Field, Reason: "want " + cmp.Or(want, "an object") + ", is " + jsonTypes[kind]}
}
