package manifests

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest/plainyaml"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

const (
	// maxManifestBytes is the maximum size of a file.
	maxManifestBytes = 256 << 20
	// mostLoaded is the maximum number of faults in all files.
	mostLoaded = 10_000
	// maxSeparator is the maximum distance in bytes between two documents.
	maxSeparator = 4 << 10
)

// Place is the location of an object in the input.
type Place struct {
	File     string
	Document int    // from 1
	Line     int    // of the document's first line, from 1; 0 when unknown
	Text     []byte // of the document
	Item     string // "items[2]" inside a List, otherwise empty
}

// String returns a human-readable location: "a.yaml, document 2".
func (p Place) String() string { return fmt.Sprintf("%s, document %d", p.File, p.Document) }

// Fault is an error in a manifest or a file.
type Fault struct {
	Place                 Place
	Kind, Namespace, Name string // empty when unknown
	Err                   error
	// Native is set for faults in Kubernetes objects that the operator itself does not use.
	Native bool
}

// Errors returns the individual errors that are joined in Err.
func (f Fault) Errors() []error { return faults.Leaves(f.Err) }

// DuplicateError is the error for an object that was read before.
type DuplicateError struct {
	Object string // "PodMonitor team/web"
	First  Place
	Apart  bool // it was in another folder, possibly of another environment
}

// Error names the object and the first occurrence.
func (e *DuplicateError) Error() string {
	return fmt.Sprintf("%s: duplicate object, first in %s", e.Object, e.First)
}

// Where returns the document and the object in the format of [Load] errors.
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

// reader reads manifests into [Objects].
type reader struct {
	objects *Objects
	// stored disables validation: values that the API server would reject are accepted.
	stored bool
	// all makes it read kinds that the operator does not use too, and continue after faults.
	all bool
	// sound drops objects with faults.
	sound  bool
	faults []Fault
	most   int   // maximum number of faults; 0 for no maximum
	at     Place // the current location
	// aliases are the YAML aliases of the current text.
	aliases manifest.Aliases
	// seen are the regular files that were read, to skip a file that is given twice.
	seen map[fileKey][]fs.FileInfo
	// skipped are the files with skipped documents.
	skipped map[string]bool
	// kustomized are the files that kustomizations change.
	kustomized kustomized
	// walking is set inside folders: documents that are not meant to be manifests are skipped.
	walking bool
}

// fileKey is the size and modification time of a file. Only files with equal keys are compared.
type fileKey struct{ size, modified int64 }

// tolerate records a fault and returns nil if reading may continue.
func (r *reader) tolerate(f Fault) error {
	if !r.all || f.Err == nil || r.most > 0 && len(r.faults) >= r.most {
		return f.Err
	}
	r.faults = append(r.faults, f)
	return nil
}

// Load reads the manifests that an operator with some kinds uses from files and folders; "-" is
// standard input. Files contain YAML (with any number of documents), JSON, or List objects. Folders
// are read recursively, files ending in .yaml, .yml and .json only. It skips the hidden folders of
// a mounted ConfigMap (..data and the like), and inside folders documents that are not meant to be
// manifests: documents without kind, templates of Helm charts, patches of a kustomization.
//
// Errors name file, document, object and field: unreadable files, folders without manifests,
// documents that are not manifests, objects without name or given twice, kinds and versions that
// the API group does not have, unknown fields in kinds of our group and values that the API server
// would reject.
func Load(paths []string, kinds []*engine.Kind) (*Objects, error) {
	r := reader{objects: newObjects(kinds)}
	return r.objects, r.load(paths)
}

// LoadStored is like [Load] for objects from a cluster: values that the API server would reject
// today are no error.
func LoadStored(paths []string, kinds []*engine.Kind) (*Objects, error) {
	r := reader{objects: newObjects(kinds), stored: true}
	return r.objects, r.load(paths)
}

// LoadAll is like [Load], but continues after faults and also reads kinds that the operator does
// not use. It returns the faults in the order of the input.
func LoadAll(paths []string, kinds []*engine.Kind) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true}
	return r.loadAll(paths)
}

// loadAll is like load for a reader that continues after faults. After too many of them, the last one reports
// that the rest was not read.
func (r *reader) loadAll(paths []string) (*Objects, []Fault) {
	r.most = mostLoaded
	if err := r.load(paths); err != nil {
		at := r.at.File
		r.faults = append(r.faults, Fault{Place: Place{File: at}, Err: &FileError{at, fmt.Errorf("more than %d faults up to here, the rest was not read", mostLoaded)}})
	}
	return r.objects, r.faults
}

// LoadSound is like [LoadAll], but drops objects with faults. With stored, values that the API
// server would reject today are no fault, as with [LoadStored].
func LoadSound(paths []string, kinds []*engine.Kind, stored bool) (*Objects, []Fault) {
	r := reader{objects: newObjects(kinds), all: true, sound: true, stored: stored}
	return r.loadAll(paths)
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

// StandardInput is a path for standard input, like "-".
const StandardInput = "/dev/stdin"

// ErrNoFile is the error for a path that is a socket or a device.
var ErrNoFile = errors.New("is neither a file nor a folder; for standard input write -")

// Readable reports whether a path given by the user can be read: a file, a folder, or a pipe, as in
// <(command) of a shell. Devices are excluded since they may have no end.
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
	// A pipe in a folder would block until it has a writer.
	if info, err := os.Stat(name); err == nil && (!Readable(info) || r.walking && !info.Mode().IsRegular()) {
		return &FileError{name, ErrNoFile}
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

// Content returns the text of a file, or of standard input ("-"), with "\n" at the end of each line.
//
// Errors: *[FileError] if it cannot be read or is too long.
func Content(name string) ([]byte, error) {
	if name == "-" || name == StandardInput {
		return contentOf("standard input", os.Stdin)
	}
	if info, err := os.Stat(name); err == nil && (info.IsDir() || !Readable(info)) {
		return nil, &FileError{name, ErrNoFile}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return contentOf(name, f)
}

// contentOf is like [Content] for an open file.
func contentOf(name string, in io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(in, maxManifestBytes+1))
	switch {
	case err != nil:
		return nil, &FileError{name, err}
	case len(content) > maxManifestBytes:
		return nil, &FileError{name, fmt.Errorf("longer than %d bytes", maxManifestBytes)}
	}
	return append(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), '\n'), nil // like the YAML reader, so that each document is found
}

func (r *reader) read(name string, in io.Reader) error {
	content, err := contentOf(name, in)
	if err != nil {
		return err
	}
	r.aliases = manifest.Aliases{}
	docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for i, start, line := 1, 0, 1; ; i++ {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if at := brokenSeparator(content[start:], line, err); at > 0 {
				return faults.In(name, r.tolerate(Fault{Place: Place{File: name, Document: i, Line: at}, Err: &SyntaxError{Reason: badSeparator, text: fmt.Sprintf("line %d: %s", at, badSeparator), err: err}}))
			}
			return &FileError{name, err}
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
		raw, err = plainyaml.ToJSON(doc)
	}
	if r.walking && notMeant(doc, raw, err) {
		if ours(doc) {
			r.skipOurs(r.at.File)
		} else {
			r.skip(r.at.File)
		}
		if err == nil {
			r.unrenderedData(raw)
		}
		return nil
	}
	if err != nil {
		return syntaxErrors(brokenYAML(doc, err))
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(raw) == "null" {
		return nil
	}
	return r.object(raw)
}

func (r *reader) object(raw []byte) error {
	head, err := headOf(raw)
	if err != nil {
		return unlikeManifest(raw, err)
	}
	if err := head.check(); err != nil {
		return kindless(raw, err)
	}
	if isList(head.GroupVersionKind()) || strings.HasSuffix(head.Kind, "List") && head.Items != nil {
		for i, item := range head.Items {
			item = itemOf(head.TypeMeta, item)
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
		return unnamed(head.Kind, raw)
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

const unknownHere = "unknown field"

// unnamed returns the error for an object without a name.
func unnamed(kind string, raw []byte) error {
	var top, metadata map[string]json.RawMessage
	if json.Unmarshal(raw, &top) != nil || json.Unmarshal(raw, &struct{ Metadata *map[string]json.RawMessage }{&metadata}) != nil {
		metadata = nil
	}
	for _, keys := range []map[string]json.RawMessage{top, metadata} {
		for key := range keys {
			if strings.HasSuffix(key, "name") && strings.ContainsFunc(key, unseen) {
				return &manifest.FieldError{Path: key, Reason: unknownHere, Hint: unseenWords}
			}
		}
	}
	if top["name"] != nil {
		return &manifest.FieldError{Path: "name", Reason: "stands at the top level, so the " + kind + " has no name: indent it below metadata"}
	}
	return fmt.Errorf("%s: metadata.name: is missing", kind)
}
