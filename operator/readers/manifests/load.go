package manifests

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

const (
	// maxManifestBytes bounds one file.
	maxManifestBytes = 256 << 20
	// maxSeparator is up to how far after a document the next one begins.
	maxSeparator = 4 << 10
)

// Place is where an object was read.
type Place struct {
	File     string
	Document int    // from 1
	Line     int    // of the document's first line, from 1; 0 when not known
	Text     []byte // of the document
	Item     string // "items[2]" inside a List, "" elsewhere
}

// String is for people: "a.yaml, document 2".
func (p Place) String() string { return fmt.Sprintf("%s, document %d", p.File, p.Document) }

// Fault is what is wrong with one manifest, or with a file.
type Fault struct {
	Place                 Place
	Kind, Namespace, Name string // empty when not known
	Err                   error
	// Native is about an object of Kubernetes' own that the operator itself does not use.
	Native bool
}

// Errors are the parts of Err, several of which can be joined in it.
func (f Fault) Errors() []error { return faults.Leaves(f.Err) }

// DuplicateError is an object that was read before.
type DuplicateError struct {
	Object string // "PodMonitor team/web"
	First  Place
	Apart  bool // it was in another folder, as are those of another environment
}

// Error says where the first one is.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s: duplicate object, first in %s", e.Object, e.First)
}

// Where is the document and the object, as errors of [Load] name them.
func (f Fault) Where() string {
	if f.Place.Document == 0 {
		return "" // the error names the file
	}
	where := fmt.Sprintf("%s: document %d", f.Place.File, f.Place.Document)
	if _, says := errors.AsType[*DuplicateError](f.Err); !says && f.Name != "" {
		where += ": " + place(f.Kind, f.Namespace, f.Name)
	}
	return where
}

// reader reads manifests.
type reader struct {
	objects *Objects
	// stored objects are read: values that the API server would refuse are no error.
	stored bool
	// all is read: kinds that the operator does not use too, and on after a fault.
	all bool
	// sound objects are kept, and no others.
	sound  bool
	faults []Fault
	most   int   // faults after which reading ends; 0 for any number
	at     Place // what is being read
	// aliases are those of the text that is being read.
	aliases manifest.Aliases
	// seen are the regular files that were read: one that is given twice counts once.
	seen map[fileKey][]fs.FileInfo
	// walking a folder: what is not meant to be a manifest is left out.
	walking bool
}

// fileKey is a size and a modification time; only files with equal keys are compared.
type fileKey struct{ size, modified int64 }

// tolerate returns nil when reading goes on after the fault.
func (r *reader) tolerate(f Fault) error {
	if !r.all || f.Err == nil || r.most > 0 && len(r.faults) >= r.most {
		return f.Err
	}
	r.faults = append(r.faults, f)
	return nil
}

// Load reads what an operator that runs some kinds uses: manifests from files and
// folders; "-" is standard input. Files hold
// YAML (several documents allowed), JSON, or List objects. In folders, files
// ending in .yaml, .yml and .json are read, subfolders included. Left out are what a mounted
// ConfigMap keeps in folders of its own (..data and the like), and in folders what is not
// meant to be a manifest: documents without kind, templates of Helm charts, patches that a
// kustomization names.
//
// Errors name file, document, object and field: unreadable files, folders without
// manifests, documents that are not manifests, objects without name or given
// twice, kinds and versions that the API group does not have, unknown fields in
// kinds of ours and values that the API server would refuse.
func Load(paths []string, kinds []*engine.Kind) (*Objects, error) {
	r := reader{objects: newObjects(kinds)}
	return r.objects, r.load(paths)
}

// LoadStored is Load for objects that a cluster has stored already: values that
// the API server would refuse today are no error.
func LoadStored(paths []string, kinds []*engine.Kind) (*Objects, error) {
	r := reader{objects: newObjects(kinds), stored: true}
	return r.objects, r.load(paths)
}

// LoadAll is Load that goes on after a fault and also reads the kinds that the
// operator does not use. It returns what is wrong in the order of the input.
func LoadAll(paths []string, kinds []*engine.Kind) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true}
	_ = r.load(paths) // every error is a fault
	return r.objects, r.faults
}

// LoadSound is LoadAll that leaves out objects with faults. With stored, values that the API
// server would refuse today are no fault, as with LoadStored.
func LoadSound(paths []string, kinds []*engine.Kind, stored bool) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true, sound: true, stored: stored}
	_ = r.load(paths) // every error is a fault
	return r.objects, r.faults
}

func (r *reader) load(paths []string) error {
	r.seen = map[fileKey][]fs.FileInfo{}
	for _, p := range paths {
		if err := r.tolerate(Fault{Place: Place{File: p}, Err: r.path(p)}); err != nil {
			return err
		}
	}
	return nil
}

// StandardInput is the path that stands for standard input, as "-" does.
const StandardInput = "/dev/stdin"

// ErrNoFile is the error about a path that is a socket or a device.
var ErrNoFile = errors.New("is neither a file nor a folder; for standard input write -")

// Readable reports whether a path that the user names can hold manifests: a file, a folder, or
// a pipe, as <(command) of a shell is. A device may have no end.
func Readable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.IsDir() || info.Mode()&fs.ModeNamedPipe != 0
}

func (r *reader) path(path string) error {
	if path == "-" || path == StandardInput {
		return r.read("standard input", os.Stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return r.file(path)
	}
	return r.folder(path)
}

func (r *reader) file(name string) error {
	// A pipe in a folder would wait for who writes to it.
	if info, err := os.Stat(name); err == nil && (!Readable(info) || r.walking && !info.Mode().IsRegular()) {
		return fmt.Errorf("%s: %w", name, ErrNoFile)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		key := fileKey{info.Size(), info.ModTime().UnixNano()}
		for _, other := range r.seen[key] {
			if os.SameFile(info, other) {
				return nil
			}
		}
		r.seen[key] = append(r.seen[key], info)
	}
	return r.read(name, f)
}

func (r *reader) read(name string, in io.Reader) error {
	content, err := io.ReadAll(io.LimitReader(in, maxManifestBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case len(content) > maxManifestBytes:
		return fmt.Errorf("%s: longer than %d bytes", name, maxManifestBytes)
	}
	// As the reader of documents does, so that each is found in the file.
	content = append(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), '\n')
	r.aliases = manifest.Aliases{}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for i, start, line := 1, 0, 1; ; i++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		r.at = Place{File: name, Document: i, Text: doc}
		near := content[start:min(len(content), start+len(doc)+maxSeparator)] // searching all of it would be quadratic
		if at := bytes.Index(near, doc); at >= 0 {
			line += bytes.Count(content[start:start+at], []byte("\n"))
			r.at.Line = line
			line += bytes.Count(doc, []byte("\n"))
			start += at + len(doc)
		}
		if err := r.tolerate(Fault{Place: r.at, Err: r.document(doc)}); err != nil {
			return faults.In(fmt.Sprintf("%s: document %d", name, i), err)
		}
	}
}

func (r *reader) document(doc []byte) error {
	var raw []byte
	err := r.aliases.Check(doc)
	if err == nil {
		raw, err = yaml.YAMLToJSONStrict(doc)
	}
	if r.walking && notMeant(doc, raw, err) {
		r.skip(r.at.File, ours(doc))
		return nil
	}
	if err != nil {
		return brokenYAML(doc, err)
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return nil
	}
	return r.object(raw)
}

func (r *reader) object(raw []byte) error {
	var head struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return unlikeManifest(raw, err)
	}
	switch {
	case len(head.Kind) > maxHead:
		return fmt.Errorf("kind: has %d bytes, at most %d are possible", len(head.Kind), maxHead)
	case len(head.APIVersion) > maxHead:
		return fmt.Errorf("apiVersion: has %d bytes, at most %d are possible", len(head.APIVersion), maxHead)
	case len(head.Metadata.Namespace) > maxHead || len(head.Metadata.Name) > maxHead:
		return fmt.Errorf("metadata: name and namespace have at most %d bytes", maxHead)
	case head.Kind == "":
		return errors.New("not a manifest: kind is missing")
	case isList(head.GroupVersionKind()) || strings.HasSuffix(head.Kind, "List") && head.Items != nil:
		for i, item := range head.Items {
			r.at.Item = fmt.Sprintf("items[%d]", i)
			if err := r.tolerate(Fault{Place: r.at, Err: r.object(item)}); err != nil {
				return faults.In(fmt.Sprintf("items[%d]", i), err)
			}
		}
		r.at.Item = ""
		return nil
	}
	if err := misnamed(head.GroupVersionKind()); err != nil {
		return r.tolerate(Fault{Place: r.at, Kind: head.Kind, Namespace: namespaceOr(head.Metadata.Namespace), Name: head.Metadata.Name, Err: err})
	}
	id := Fault{Place: r.at, Kind: head.Kind, Namespace: namespaceOr(head.Metadata.Namespace), Name: head.Metadata.Name}
	if gk := head.GroupVersionKind().GroupKind(); nativeKinds[gk].cluster || gk.String() == "Namespace" {
		id.Namespace = ""
	}
	decode, known := r.decoder(head.GroupVersionKind())
	r.promised(head.GroupVersionKind().GroupKind(), raw)
	if !known {
		r.objects.Ignored[head.Kind]++
		if kind, ok := nativeKinds[head.GroupVersionKind().GroupKind()]; ok {
			r.native(kind, id, raw)
		}
		return nil
	}
	where := place(id.Kind, id.Namespace, id.Name)
	if id.Name == "" {
		return fmt.Errorf("%s: metadata.name: is missing", head.Kind)
	}
	if first, twice := r.objects.places[where]; twice {
		id.Err = &DuplicateError{Object: where, First: first, Apart: filepath.Dir(first.File) != filepath.Dir(r.at.File)}
		return r.tolerate(id)
	}
	r.objects.places[where] = r.at
	id.Err = decode(r, raw)
	if err := r.tolerate(id); err != nil {
		return faults.In(where, err)
	}
	return nil
}

// maxHead bounds what names an object: an API server has no longer names.
const maxHead = 253

// jsonTypes are the types of JSON values as messages name them.
var jsonTypes = map[string]string{
	"array": "a list", "string": "a string", "number": "a number", "object": "an object",
	"bool": "true or false (as which YAML also reads on, y and no: put it in quotes)",
}

// unlikeManifest words a value of the wrong type at the head of a manifest.
func unlikeManifest(raw []byte, err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return fmt.Errorf("not a manifest: %w", err)
	}
	kind, _, _ := strings.Cut(wrong.Value, " ") // a number follows
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
