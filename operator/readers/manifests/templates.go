package manifests

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

var (
	// template matches the template syntax of Helm and similar tools, but not that of Prometheus.
	template = lazyregexp.New(`\{\{[^}]*(\.(Values|Release|Chart|Capabilities|Files)\b|\b(include|define|toYaml|tpl) )|\{%`)
	// ofHelm matches what only templates of Helm have, in JSON. Templates of Alertmanager have define, template and
	// .CommonLabels.Values, those of other tools {% or include.
	ofHelm = lazyregexp.New(`\{\{(?:[^}]*[-\s($])?\.(Values|Release|Chart|Capabilities|Files)(\.\w| \\")|\{\{[^}]*(\b(include|tpl) [\\$.(]|\btoYaml )`)
)

// unrendered reports whether a document, as JSON, looks like a template of Helm or a similar tool anywhere but in
// texts that are templates or files themselves.
func unrendered(raw []byte) bool {
	var whole map[string]any
	if json.Unmarshal(raw, &whole) != nil {
		return true
	}
	rest, texts := cutTexts(whole)
	text, err := json.Marshal(texts)
	if err != nil || ofHelm.Match(text) {
		return true
	}
	text, err = json.Marshal(rest)
	return err != nil || template.Match(text)
}

// cutTexts removes from an object, or from the items of a list, what may contain templates of other programs. texts
// are those of them that Helm may have to render all the same.
func cutTexts(object map[string]any) (rest map[string]any, texts []any) {
	cut := func(from any, names ...string) (out []any) {
		fields, _ := from.(map[string]any)
		for _, name := range names {
			if value, is := fields[name]; is {
				out = append(out, value)
				delete(fields, name)
			}
		}
		return out
	}
	if metadata, _ := object["metadata"].(map[string]any); metadata != nil {
		cut(metadata["annotations"], corev1.LastAppliedConfigAnnotation) // a copy of the rest
	}
	spec, _ := object["spec"].(map[string]any)
	kind, _ := object["kind"].(string)
	switch {
	case kind == "Secret" || kind == "ConfigMap":
		texts = cut(object, "data", "stringData")
	case kind == "AlertmanagerConfig":
		texts = cut(spec, "receivers")
	case kind == "PrometheusRule":
		for _, rule := range rulesOf(spec) {
			cut(rule, "annotations", "labels")
		}
	case slices.Contains(namesItself, kind): // only the names of their Secret and its keys are read
		cut(object, "spec")
	case strings.HasSuffix(kind, "List"):
		items, _ := object["items"].([]any)
		for _, item := range items {
			if one, is := item.(map[string]any); is {
				_, of := cutTexts(one)
				texts = append(texts, of...)
			}
		}
	}
	return object, texts
}

// rulesOf returns the rules in the spec of a PrometheusRule.
func rulesOf(spec map[string]any) (rules []any) {
	groups, _ := spec["groups"].([]any)
	for _, group := range groups {
		if fields, is := group.(map[string]any); is {
			list, _ := fields["rules"].([]any)
			rules = append(rules, list...)
		}
	}
	return rules
}

// unrenderedData treats a Secret or ConfigMap that is skipped because of its values as existing.
func (r *reader) unrenderedData(raw []byte) {
	var object struct {
		header
		Data, StringData map[string]any
	}
	if json.Unmarshal(raw, &object) != nil || object.APIVersion != "v1" || object.Metadata.Name == "" || strings.Contains(object.Metadata.Name+object.Metadata.Namespace, "{{") {
		return
	}
	kind, is := map[string]assets.Kind{"Secret": assets.Secret, "ConfigMap": assets.ConfigMap}[object.Kind]
	if !is {
		return
	}
	var of promise
	for _, keys := range []map[string]any{object.Data, object.StringData} {
		for key := range keys {
			of.keys, of.any = append(of.keys, key), of.any || strings.Contains(key, "{{")
		}
	}
	r.objects.promises.add(assets.Ref{Kind: kind, Namespace: namespaceOr(object.Metadata.Namespace), Name: object.Metadata.Name}, of)
}
