package manifests

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/jsonspan"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// isList reports whether a kind is a list of objects of our group, or a generic List.
func isList(kind schema.GroupVersionKind) bool {
	item, list := strings.CutSuffix(kind.Kind, "List")
	return list && (item == "" && kind.Group == "" || find(kind.GroupVersion().WithKind(item)) != nil)
}

// itemOf returns an item of a list with the kind that the list gives it: items of a ServiceMonitorList
// are ServiceMonitors, and may leave out that they are.
func itemOf(list metav1.TypeMeta, item json.RawMessage) json.RawMessage {
	kind := strings.TrimSuffix(list.Kind, "List")
	if kind == "" || jsonspan.Get(item, "kind") != nil {
		return item
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(item, &fields) != nil || fields == nil || fields["kind"] != nil {
		return item
	}
	for name, value := range map[string]string{"kind": kind, "apiVersion": list.APIVersion} {
		fields[name], _ = json.Marshal(value) // a string has always JSON
	}
	full, err := json.Marshal(fields)
	if err != nil {
		return item
	}
	return full
}

// foreign are API groups of other products that resemble a misspelling of ours.
var foreign = []string{"azmonitoring.coreos.com", "monitoring.rhobs"}

// misnamed returns an error for an object that is meant to be of our group but would not be
// recognized by the API server: a kind or version that the group does not have, or one of our kinds
// in a missing or misspelled group.
func misnamed(kind schema.GroupVersionKind) error {
	if find(kind) != nil {
		return nil
	}
	const group = v1.GroupName
	ours := map[string][]string{}
	for _, row := range catalog.All {
		ours[row.Kind] = append(ours[row.Kind], row.GroupVersion().String())
	}
	versions := ours[kind.Kind]
	slices.Sort(versions)
	meant := kind.Group == group || versions != nil && !slices.Contains(foreign, kind.Group) &&
		(kind.Group == "" || manifest.Similar(kind.Group, []string{group}) != "")
	if !meant {
		return nil
	}
	reason := fmt.Sprintf("there is no kind %s in %s", kind.Kind, kind.GroupVersion())
	if kind.Version == "" {
		reason = "is missing"
	}
	if versions != nil {
		return &manifest.FieldError{Path: "apiVersion", Reason: reason, Suggestion: strings.Join(versions, `" or "`)}
	}
	return &manifest.FieldError{Path: "kind", Reason: reason, Suggestion: manifest.Similar(kind.Kind, slices.Sorted(maps.Keys(ours)))}
}
