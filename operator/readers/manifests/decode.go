package manifests

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// decoder decodes an object and stores it in the reader.
type decoder func(*reader, []byte) error

// ofKubernetes are the Kubernetes kinds that the operator reads.
var ofKubernetes = map[schema.GroupVersionKind]decoder{
	corev1.SchemeGroupVersion.WithKind("Secret"):    (*reader).secret,
	corev1.SchemeGroupVersion.WithKind("ConfigMap"): (*reader).configMap,
	corev1.SchemeGroupVersion.WithKind("Namespace"): (*reader).namespace,
}

// decoder returns the decoder of a kind; ok is false when its objects are ignored.
func (r *reader) decoder(gvk schema.GroupVersionKind) (d decoder, ok bool) {
	if row := find(gvk); row != nil {
		read := func(r *reader, raw []byte) error { return r.ours(row, raw) }
		return read, r.all || used(r.objects.Kinds, row)
	}
	d, ok = ofKubernetes[gvk]
	return d, ok
}

// ours reads an object of our group as the API server would, and stores it. A reader that continues
// after faults also stores objects with faults, without the faulty fields.
func (r *reader) ours(row *catalog.Row, raw []byte) error {
	if len(raw) > budget.StoredBytes { // decoding takes up to thirty times as much
		return &budget.Error{Kind: row.Kind, What: "bytes", Limit: budget.StoredBytes}
	}
	object := row.New()
	usable, err := shared.read(row.GroupVersionKind, raw, object, !r.stored)
	if err != nil && !(usable && r.all && !r.sound) {
		return err
	}
	object, convertErr := r.convert(row, object)
	if convertErr != nil {
		return cmp.Or(err, convertErr)
	}
	r.objects.add(worked(row), object)
	return err
}

func (r *reader) secret(raw []byte) error {
	var s corev1.Secret
	raw, encoding := plainData(raw)
	err := errors.Join(encoding, r.plain(raw, &s))
	r.objects.References.AddSecret(&s)
	return err
}

// plainData returns a Secret whose values that are not base64 are in stringData, with one error for each
// of them.
func plainData(raw []byte) ([]byte, error) {
	var secret map[string]any
	if json.Unmarshal(raw, &secret) != nil {
		return raw, nil
	}
	data, _ := secret["data"].(map[string]any)
	texts, isObject := secret["stringData"].(map[string]any)
	if !isObject {
		texts = map[string]any{}
	}
	var wrong []error
	for _, key := range slices.Sorted(maps.Keys(data)) {
		value, is := data[key].(string)
		if _, err := base64.StdEncoding.DecodeString(value); !is || err == nil {
			continue
		}
		delete(data, key)
		texts[key] = value
		wrong = append(wrong, &manifest.FieldError{Path: fmt.Sprintf("data[%q]", key), Reason: "want base64, and this is none: write the text as it is below stringData, or encode it (base64 -w0)"})
	}
	if wrong == nil {
		return raw, nil
	}
	secret["stringData"] = texts
	plain, err := json.Marshal(secret)
	if err != nil {
		return raw, nil
	}
	return plain, errors.Join(wrong...)
}

func (r *reader) configMap(raw []byte) error {
	var m corev1.ConfigMap
	err := r.plain(raw, &m)
	r.objects.References.AddConfigMap(&m)
	return err
}

// plain decodes a namespaced Kubernetes object.
func (r *reader) plain(raw []byte, into metav1.Object) error {
	if err := manifest.DecodeJSON(raw, into); err != nil {
		into.SetNamespace(namespaceOr(into.GetNamespace()))
		return rewordAll("", err)
	}
	into.SetNamespace(namespaceOr(into.GetNamespace()))
	if r.stored {
		return nil
	}
	return invalid(metadata(into))
}

func (r *reader) namespace(raw []byte) error {
	var n corev1.Namespace
	err := manifest.DecodeJSON(raw, &n)
	set := labels.Set{corev1.LabelMetadataName: n.Name}
	maps.Copy(set, n.Labels)
	r.objects.namespaces[n.Name] = set
	if err == nil {
		n.Namespace = ""
		r.keepNative("Namespace", &n)
	}
	return err
}

func namespaceOr(ns string) string {
	if ns == "" {
		return metav1.NamespaceDefault
	}
	return ns
}
