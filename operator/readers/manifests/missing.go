package manifests

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/engine/dryrun"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Missing is a Secret or ConfigMap, or a key of one, that the pods of a workload need to start and
// that does not exist.
type Missing struct {
	Field string // of the workload: "spec.thanos.objectStorageConfig.name"
	Err   *assets.NotFoundError
}

// Error returns a human-readable message. The workload may otherwise be valid.
func (m Missing) Error() string { return m.Field + ": " + m.Err.Error() }

// Located returns field and reason.
func (m Missing) Located() (field, reason string) { return m.Field, m.Err.Error() }

// Unwrap returns the underlying error.
func (m Missing) Unwrap() error { return m.Err }

// Missing returns the Secrets and ConfigMaps that the pods of a workload need but the operator does
// not read. Optional ones and those that the operator creates are not missing.
func (o *Objects) Missing(w dryrun.Workload, made dryrun.Outcome) (out []Missing) {
	absent := map[need]bool{}
	needs := podNeeds(w.Object.GetNamespace(), made.Plan.Workload)
	for n := range needs {
		if n.ref.Name != "" && !o.has(n) && !makes(made, n.ref) {
			absent[n] = true
		}
	}
	fields := namedBy(w.Object)
	if _, is := w.Object.(*v1.Alertmanager); is && made.Err == nil { // the operator reads it, but falls back to a default
		for _, f := range fields {
			if f.field == "spec.configSecret" && !o.has(f.need) {
				absent[f.need] = true
			}
		}
	}
	for _, f := range fields { // pods mount the whole object, and the program reads the key
		if whole := (need{ref: f.ref}); f.key != "" && strings.HasPrefix(f.field, "spec.web.tlsConfig.") && needs[whole] && o.has(whole) && !o.has(f.need) {
			absent[f.need] = true
		}
	}
	found := map[need]bool{}
	for _, f := range fields {
		switch whole := (need{ref: f.ref}); {
		case absent[f.need], absent[whole]:
			found[f.need], found[whole] = true, true
			out = append(out, o.missing(f.field, f.keyField, f.need))
		}
	}
	for n := range absent {
		if !found[n] { // not covered by a known field
			out = append(out, o.missing("spec", "spec", n))
		}
	}
	slices.SortFunc(out, func(a, b Missing) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.CompactFunc(out, func(a, b Missing) bool { return a.Error() == b.Error() })
}

// missing returns the error for a missing object, or for a missing key if the object exists.
func (o *Objects) missing(field, keyField string, n need) Missing {
	if n.key != "" && o.has(need{ref: n.ref}) {
		return Missing{keyField, &assets.NotFoundError{Ref: n.ref, Key: n.key, Meant: manifest.Meant(n.key, o.References.Keys(n.ref))}}
	}
	return Missing{field, &assets.NotFoundError{Ref: n.ref}}
}

// need is a required Secret or ConfigMap, or a required key of one.
type need struct {
	ref assets.Ref
	key string // empty for the whole object
}

// has reports whether the manifests contain or generate a needed object.
func (o *Objects) has(n need) bool {
	if p := o.promises.of(n.ref); p != nil {
		return n.key == "" || p.any || slices.Contains(p.keys, n.key)
	}
	object, err := o.References.Object(n.ref)
	if err != nil {
		return false
	}
	_, text := object.Values[n.key]
	_, binary := object.Binary[n.key]
	return n.key == "" || text || binary
}

// makes reports whether the operator writes an object for the workload.
func makes(made dryrun.Outcome, ref assets.Ref) bool {
	return slices.ContainsFunc(slices.Concat(made.Plan.Content, made.Plan.Workload), func(s apply.Step) bool {
		return (s.Verb == apply.Put || s.Verb == apply.PutIfNone) && s.Object.GetName() == ref.Name && apply.KindOf(s.Object) == ref.Kind.String()
	})
}

// podNeeds returns the references that the pods of a workload cannot start without.
func podNeeds(namespace string, steps []apply.Step) map[need]bool {
	out := map[need]bool{}
	for _, s := range steps {
		var pod *corev1.PodSpec
		switch object := s.Object.(type) {
		case *appsv1.StatefulSet:
			pod = &object.Spec.Template.Spec
		case *appsv1.DaemonSet:
			pod = &object.Spec.Template.Spec
		default:
			continue
		}
		collect(namespace, "", reflect.ValueOf(pod), func(n namedNeed) { out[n.need] = true })
	}
	return out
}

// namedNeed is a need with the paths of the fields that name the object and the key.
type namedNeed struct {
	need
	field, keyField string
}

// namedBy returns all references of a workload to Secrets and ConfigMaps.
func namedBy(w v1.Workload) (out []namedNeed) {
	spec := reflect.ValueOf(w).Elem().FieldByName("Spec")
	collect(w.GetNamespace(), "spec", spec, func(n namedNeed) { out = append(out, n) })
	return out
}

// referring are the types that refer to a Secret or ConfigMap. They have the field Optional, and
// either Key or Items unless they mean all keys.
var referring = map[reflect.Type]struct {
	kind assets.Kind
	name string // of the field
}{
	reflect.TypeFor[corev1.SecretKeySelector]():     {assets.Secret, "name"},
	reflect.TypeFor[corev1.ConfigMapKeySelector]():  {assets.ConfigMap, "name"},
	reflect.TypeFor[corev1.SecretVolumeSource]():    {assets.Secret, "secretName"},
	reflect.TypeFor[corev1.ConfigMapVolumeSource](): {assets.ConfigMap, "name"},
	reflect.TypeFor[corev1.SecretProjection]():      {assets.Secret, "name"},
	reflect.TypeFor[corev1.ConfigMapProjection]():   {assets.ConfigMap, "name"},
	reflect.TypeFor[corev1.SecretEnvSource]():       {assets.Secret, "name"},
	reflect.TypeFor[corev1.ConfigMapEnvSource]():    {assets.ConfigMap, "name"},
}

// referringText maps string fields that name a Secret or ConfigMap to the required key.
var referringText = map[string]struct {
	kind assets.Kind
	key  string
}{
	"spec.secrets":      {assets.Secret, ""},
	"spec.configMaps":   {assets.ConfigMap, ""},
	"spec.configSecret": {assets.Secret, "alertmanager.yaml"},
}

// collect yields the references of a value that are not optional. path is the path of the value.
func collect(namespace, path string, v reflect.Value, yield func(namedNeed)) {
	ref := func(kind assets.Kind, name string) assets.Ref {
		return assets.Ref{Kind: kind, Namespace: namespace, Name: name}
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			collect(namespace, path, v.Elem(), yield)
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(namespace, fmt.Sprintf("%s[%d]", path, i), v.Index(i), yield)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collect(namespace, fmt.Sprintf("%s[%q]", path, key), v.MapIndex(key), yield)
		}
	case reflect.String:
		field, _, _ := strings.Cut(path, "[")
		if of, known := referringText[field]; known && v.String() != "" {
			yield(namedNeed{need{ref(of.kind, v.String()), of.key}, path, path})
		}
	case reflect.Struct:
		if of, known := referring[v.Type()]; known {
			if optional, _ := v.FieldByName("Optional").Interface().(*bool); optional == nil || !*optional {
				name := ref(of.kind, v.FieldByName(strings.ToUpper(of.name[:1])+of.name[1:]).String())
				collectKeys(name, path, path+"."+of.name, v, yield)
			}
			return
		}
		for i := range v.NumField() {
			collect(namespace, childOf(path, v.Type().Field(i)), v.Field(i), yield)
		}
	}
}

// collectKeys yields a need for each key of a reference, or one for the whole object.
func collectKeys(ref assets.Ref, path, field string, v reflect.Value, yield func(namedNeed)) {
	if key := v.FieldByName("Key"); key.IsValid() {
		yield(namedNeed{need{ref, key.String()}, field, path + ".key"})
		return
	}
	var items []corev1.KeyToPath
	if list := v.FieldByName("Items"); list.IsValid() {
		items = list.Interface().([]corev1.KeyToPath)
	}
	if len(items) == 0 {
		yield(namedNeed{need{ref, ""}, field, field})
	}
	for i, item := range items {
		yield(namedNeed{need{ref, item.Key}, field, fmt.Sprintf("%s.items[%d].key", path, i)})
	}
}

// childOf returns the path of a struct field; an inlined field has the path of its struct.
func childOf(path string, f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return faults.Join(path, name)
}
