package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
	"github.com/firekeeper-dev/firekeeper/operator/manifest"
)

// maxManifestBytes bounds one file.
const maxManifestBytes = 256 << 20

// Objects are the manifests that matter to rendering.
type Objects struct {
	Prometheuses     []*v1.Prometheus
	PrometheusAgents []*v1alpha1.PrometheusAgent
	ServiceMonitors  []*v1.ServiceMonitor
	PodMonitors      []*v1.PodMonitor
	Probes           []*v1.Probe
	ScrapeConfigs    []*v1alpha1.ScrapeConfig
	PrometheusRules  []*v1.PrometheusRule
	References       assets.Static
	// Ignored counts manifests of kinds that rendering does not look at.
	Ignored map[string]int

	namespaces map[string]labels.Set
	schemas    schemas
	validate   bool             // refuse what the API server would refuse
	reading    place            // what is being read, for errors
	places     map[string]place // "KIND NAMESPACE/NAME" → where it was read
	// onFault takes faults of manifests, and reading goes on; nil stops at the first.
	onFault func(fault)
}

// place is where an object was read.
type place struct {
	file     string
	document int // from 1
	line     int // of the document's first line, from 1; 0 when not known
	text     []byte
	item     string // "items[2]" inside a List, "" elsewhere
}

// String is for people: "a.yaml, document 2".
func (p place) String() string { return fmt.Sprintf("%s, document %d", p.file, p.document) }

// fault is one thing wrong with a manifest.
type fault struct {
	place                 place
	kind, namespace, name string // empty when not known
	err                   error
}

func newObjects(validate bool) *Objects {
	return &Objects{Ignored: map[string]int{}, namespaces: map[string]labels.Set{}, places: map[string]place{}, validate: validate}
}

// tolerate returns nil when the fault is taken by somebody.
func (o *Objects) tolerate(f fault) error {
	if o.onFault == nil || f.err == nil {
		return f.err
	}
	o.onFault(f)
	return nil
}

// Load reads manifests from files and folders; "-" is standard input. Files hold
// YAML (several documents allowed), JSON, or List objects. In folders, files
// ending in .yaml, .yml and .json are read, subfolders included; what a mounted
// ConfigMap keeps in folders of its own (..data and the like) is left out.
//
// Errors name file, document, object and field: unreadable files, folders without
// manifests, documents that are not manifests, objects without name or given
// twice, kinds and versions that the API group does not have, unknown fields in
// kinds of ours and values that the API server would refuse.
func Load(paths []string) (*Objects, error) { return load(paths, true) }

// LoadStored is Load for objects that a cluster has stored already: values that
// the API server would refuse today are no error.
func LoadStored(paths []string) (*Objects, error) { return load(paths, false) }

func load(paths []string, validate bool) (*Objects, error) {
	o := newObjects(validate)
	return o, o.load(paths)
}

func (o *Objects) load(paths []string) error {
	for _, p := range paths {
		if err := o.tolerate(fault{place: place{file: p}, err: o.path(p)}); err != nil {
			return err
		}
	}
	return nil
}

// StandardInput is the path that stands for standard input, as "-" does.
const StandardInput = "/dev/stdin"

func (o *Objects) path(path string) error {
	if path == "-" || path == StandardInput {
		return o.read("standard input", os.Stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return o.file(path)
	}
	return o.folder(path)
}

func (o *Objects) folder(path string) error {
	files := 0
	// The separator makes WalkDir follow a folder that is a link.
	err := filepath.WalkDir(path+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "..") && entry.Name() != "..":
			return filepath.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)):
			return nil
		}
		files++
		return o.file(name)
	})
	if err == nil && files == 0 {
		err = fmt.Errorf("%s: contains no .yaml, .yml or .json file", path)
	}
	return err
}

func (o *Objects) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return o.read(name, f)
}

func (o *Objects) read(name string, r io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(r, maxManifestBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case len(content) > maxManifestBytes:
		return fmt.Errorf("%s: longer than %d bytes", name, maxManifestBytes)
	}
	// As the reader of documents does, so that each is found in the file.
	content = append(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), '\n')
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for i, start := 1, 0; ; i++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		o.reading = place{file: name, document: i, text: doc}
		if at := bytes.Index(content[start:], doc); at >= 0 {
			o.reading.line = 1 + bytes.Count(content[:start+at], []byte("\n"))
			start += at + len(doc)
		}
		if err := o.tolerate(fault{place: o.reading, err: o.document(doc)}); err != nil {
			return prefixed(fmt.Sprintf("%s: document %d", name, i), err)
		}
	}
}

func (o *Objects) document(doc []byte) error {
	raw, err := yaml.YAMLToJSONStrict(doc)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return nil
	}
	return o.object(raw)
}

func (o *Objects) object(raw []byte) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return unlikeManifest(err)
	}
	switch {
	case head.Kind == "":
		return errors.New("not a manifest: kind is missing")
	case isList(head.GroupVersionKind()) || strings.HasSuffix(head.Kind, "List") && head.Items != nil:
		for i, item := range head.Items {
			o.reading.item = fmt.Sprintf("items[%d]", i)
			if err := o.tolerate(fault{place: o.reading, err: o.object(item)}); err != nil {
				return prefixed(fmt.Sprintf("items[%d]", i), err)
			}
		}
		o.reading.item = ""
		return nil
	}
	if err := misnamed(head.GroupVersionKind()); err != nil {
		return o.tolerate(fault{place: o.reading, kind: head.Kind, namespace: namespaceOr(head.Metadata.Namespace), name: head.Metadata.Name, err: err})
	}
	decode, known := o.decoder(head.GroupVersionKind())
	if !known {
		o.Ignored[head.Kind]++
		return nil
	}
	id := fault{place: o.reading, kind: head.Kind, namespace: namespaceOr(head.Metadata.Namespace), name: head.Metadata.Name}
	where := fmt.Sprintf("%s %s/%s", id.kind, id.namespace, id.name)
	if id.name == "" {
		return fmt.Errorf("%s: metadata.name: is missing", head.Kind)
	}
	if first, twice := o.places[where]; twice {
		return fmt.Errorf("%s: duplicate object, first in %s", where, first)
	}
	o.places[where] = o.reading
	id.err = decode(o, raw)
	if err := o.tolerate(id); err != nil {
		return prefixed(where, err)
	}
	return nil
}

// jsonTypes are the types of JSON values as messages name them.
var jsonTypes = map[string]string{
	"array": "a list", "string": "a string", "number": "a number", "object": "an object",
	"bool": "true or false (as which YAML also reads on, y and no: put it in quotes)",
}

// unlikeManifest words a value of the wrong type at the head of a manifest.
func unlikeManifest(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return fmt.Errorf("not a manifest: %w", err)
	}
	kind, _, _ := strings.Cut(wrong.Value, " ") // a number follows
	if wrong.Field == "" {
		return fmt.Errorf("not a manifest: it is %s, not an object", jsonTypes[kind])
	}
	want := map[reflect.Kind]string{reflect.String: "a string", reflect.Slice: "a list"}[wrong.Type.Kind()]
	return &manifest.FieldError{Path: wrong.Field, Reason: "want " + cmp.Or(want, "an object") + ", is " + jsonTypes[kind]}
}

// prefixed says of each of several joined errors where it is.
func prefixed(where string, err error) error {
	var out []error
	for _, e := range leaves(err) {
		out = append(out, fmt.Errorf("%s: %w", where, e))
	}
	return errors.Join(out...)
}

func (o *Objects) secret(raw []byte) error {
	var s corev1.Secret
	err := o.plain(raw, &s)
	o.References.AddSecret(&s)
	return err
}

func (o *Objects) configMap(raw []byte) error {
	var m corev1.ConfigMap
	err := o.plain(raw, &m)
	o.References.AddConfigMap(&m)
	return err
}

// plain reads an object of Kubernetes' own that lives in a namespace.
func (o *Objects) plain(raw []byte, into metav1.Object) error {
	if err := manifest.Decode(raw, into); err != nil {
		into.SetNamespace(namespaceOr(into.GetNamespace()))
		return err
	}
	into.SetNamespace(namespaceOr(into.GetNamespace()))
	if !o.validate {
		return nil
	}
	return invalid(metadata(into))
}

func (o *Objects) namespace(raw []byte) error {
	var n corev1.Namespace
	err := manifest.Decode(raw, &n)
	set := labels.Set{corev1.LabelMetadataName: n.Name}
	maps.Copy(set, n.Labels)
	o.namespaces[n.Name] = set
	return err
}

func namespaceOr(ns string) string {
	if ns == "" {
		return metav1.NamespaceDefault
	}
	return ns
}

// NamespaceLabels returns the labels of a namespace, as far as manifests tell.
func (o *Objects) NamespaceLabels(name string) (labels.Set, bool) { return o.namespaceLabels(name) }

// namespaceLabels knows the namespaces that were given, and those that objects
// live in: the API server labels each with its name.
func (o *Objects) namespaceLabels(name string) (labels.Set, bool) {
	if set, ok := o.namespaces[name]; ok {
		return set, true
	}
	return labels.Set{corev1.LabelMetadataName: name}, true
}
