package configsecret

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/apply"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

const (
	// MaxBytes is the maximum size of a compressed configuration in one Secret, the limit of the
	// API server.
	MaxBytes = 1 << 20
	// maxPartBytes is the maximum size of one part; the list and the ends of the streams must fit
	// beside the first.
	maxPartBytes = workload.MaxSecretBytes
)

// Documents builds successive versions of one workload's configuration and caches its compressed
// chunks. Use New. It is not safe for concurrent use.
type Documents struct {
	// all is built from everything, divided without the objects that do not fit. Separate pairs
	// keep the changes between versions small while objects are left out.
	all, divided pair
	whole, max   int // maximum bytes of a configuration in one Secret, and of one part
}

// pair is a configuration and the rules that come with it.
type pair struct{ config, rules document.Assembler }

func newPair(shared *document.Chunks) pair {
	return pair{config: document.Assembler{Shared: shared}, rules: document.Assembler{Shared: shared, Whole: -1}}
}

func (p *pair) close() {
	p.config.Close()
	p.rules.Close()
}

// New returns the documents of one workload. shared are the chunks that it shares with other
// workloads, nil for none. max is the maximum number of bytes in one Secret, 0 for [MaxBytes] or,
// for parts, [maxPartBytes].
func New(shared *document.Chunks, max int) *Documents {
	whole, part := max, max
	if max == 0 {
		whole, part = MaxBytes, maxPartBytes
	}
	if shared == nil {
		shared = &document.Chunks{}
	}
	return &Documents{all: newPair(shared), divided: newPair(shared), whole: whole, max: part}
}

// Held returns the number of cached bytes, some of which other workloads may share.
func (d *Documents) Held() int { return d.all.held() + d.divided.held() }

func (p *pair) held() int { return p.config.Held() + p.rules.Held() }

// Close drops the cached chunks.
func (d *Documents) Close() {
	d.all.close()
	d.divided.close()
}

// Content is the desired content of the pods.
type Content struct {
	// Pieces are the configuration, in order.
	Pieces []*document.Piece
	// Keys are additional keys of the configuration Secret and reduce its room. Those with the name
	// of an operator-owned file are left out.
	Keys map[string][]byte
	// Rules are the rule files beside the configuration.
	Rules Rules
	// Origin describes the sources of the configuration, for the error if it is too large.
	Origin Origin
}

// Rules are rule files that no ConfigMap holds. The zero value has none.
type Rules struct {
	Pieces []*document.Piece // of a tar archive, in order
	Files  int               // number of files
	Bytes  int               // size of their contents
}

// Output is the desired content of the Secrets.
type Output struct {
	// Document is the configuration. Its hash is the one that config-reloader reports, also for a
	// configuration in parts.
	document.Document
	// Steps write the Secrets in order and then remove the parts that are no longer needed.
	Steps []apply.Step
	// Keys are the additional keys that are written beside the configuration.
	Keys map[string][]byte
	// Parts are the names of the additional Secrets that hold parts.
	Parts map[string]bool
	// InParts is set if the pods must mount the parts, see [workload.Base.ConfigVolume].
	InParts bool
	// Warnings are remarks for the log.
	Warnings []faults.Finding
	// Left are the objects that Fit has left out, and Remedy is advice on how to get room for them.
	Left   []share.LeftOut
	Remedy string

	// Withheld is set if the configuration is too large; there are then no Steps. All other changes
	// of the pods still happen, and their template changes to one that can read parts.
	Withheld *TooLargeError
	// LeavePods is set with Withheld if the pods' template must not change: either no configuration
	// exists, or it is in parts that pods of the wanted template could not read.
	LeavePods bool

	slices [][]byte // of the compressed configuration, in order
}

// Write returns the desired content of the workload's Secrets. It is deterministic.
//
// Errors: there is no free Secret for a part (engine.WaitError), or the content cannot be
// compressed. Too large a configuration is not an error.
func (d *Documents) Write(b *workload.Base, live engine.Live, c Content) (Output, error) {
	return d.write(&d.all, b, live, c)
}

func (d *Documents) write(p *pair, b *workload.Base, live engine.Live, c Content) (Output, error) {
	w := writer{Documents: d, pair: p, Base: b, live: live}
	w.keep(c.Keys)
	err := w.write(c)
	if why, ok := errors.AsType[*TooLargeError](err); ok {
		return w.withheld(why, c), nil
	}
	if err != nil {
		return Output{}, err
	}
	w.out.Keys = w.keys
	w.surplusParts()
	w.out.InParts = len(w.out.Parts) > 0 || ReadParts(b, live)
	return w.out, nil
}

// writer is one call of Write.
type writer struct {
	*Documents
	*pair
	*workload.Base
	live  engine.Live
	keys  map[string][]byte // beside the configuration
	taken int               // bytes of keys
	out   Output
}

// keep selects the additional keys to write. A foreign list of parts would stop every pod.
func (w *writer) keep(keys map[string][]byte) {
	w.keys = make(map[string][]byte, len(keys))
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		switch {
		case name == w.key():
		case parts.Own(name):
			w.out.Warnings = append(w.out.Warnings, faults.Remark("", "key %q is left out of Secret %s: the operator uses this name itself", name, w.ConfigSecretName()))
		default:
			w.keys[name] = keys[name]
			w.taken += len(keys[name])
		}
	}
}

// main returns the configuration Secret with files and the additional keys.
func (w *writer) main(files map[string][]byte) *corev1.Secret {
	maps.Copy(files, w.keys)
	return w.Secret(w.ConfigSecretName(), files)
}

// write fills the output.
//
// Errors: TooLargeError.
func (w *writer) write(c Content) (err error) {
	if w.config.Whole = w.whole - w.taken; w.config.Whole <= 0 {
		w.config.Whole = -1
	}
	if w.out.Document, err = w.config.Build(c.Pieces); err != nil {
		return err
	}
	if len(c.Rules.Pieces) > 0 {
		if _, err := w.rules.Build(c.Rules.Pieces); err != nil {
			return err
		}
	} else {
		w.rules.Close()
		if w.out.Gzip != nil {
			w.out.slices = [][]byte{w.out.Gzip}
			w.put(w.main(map[string][]byte{w.key(): w.out.Gzip}), map[string][sha256.Size]byte{w.key(): w.out.Sum})
			return nil
		}
	}
	if wanted, notYet := NotReaders(w.Base, w.live); notYet != "" {
		return &TooLargeError{NoReader: wanted, NotYet: notYet, Room: w.whole}
	}
	if w.taken >= w.max {
		return &TooLargeError{NoRoom: true, Room: w.whole}
	}
	places := liveSlots(w.Base, w.live)
	config, archive, err := w.cut(places.room(), len(c.Rules.Pieces) > 0)
	if _, full := errors.AsType[*document.TooLargeError](err); full {
		return &TooLargeError{Room: w.max * places.room()}
	}
	if err != nil {
		return err
	}
	return w.putParts(places, config, archive)
}

// cut splits both documents into at most count parts in total. A configuration that fits into one
// Secret is a single part without an end.
func (w *writer) cut(count int, rules bool) (config, archive document.Multipart, err error) {
	first := w.max - w.taken
	cut := document.Cut{Max: w.max, Count: count, Head: true, HeadMax: first}
	if rules {
		cut.Count -= w.rules.Fewest(document.Cut{Max: w.max})
	}
	if gz := w.out.Gzip; gz != nil && len(gz) <= first {
		config.Parts = []document.Part{{Data: gz, Sum: w.out.Sum}}
	} else if config, err = w.config.Parts(cut); err != nil {
		return config, archive, err
	}
	if rules {
		archive, err = w.rules.Parts(document.Cut{Max: w.max, Count: count - (len(config.Parts) - 1)})
	}
	return config, archive, err
}

// putParts writes the first part of the configuration and the ends of both streams into the Secret
// with the list, and all others into slots.
func (w *writer) putParts(places slots, config, archive document.Multipart) error {
	w.out.Parts = map[string]bool{}
	first := config.Parts[0]
	beside, sums := map[string][]byte{w.key(): first.Data}, map[string][sha256.Size]byte{w.key(): first.Sum}
	end := func(s parts.Stream, name string, p document.Part) parts.Stream {
		if len(p.Data) == 0 {
			return s
		}
		beside[name], sums[name] = p.Data, p.Sum
		return append(s, fileOf(name, p))
	}
	middle, err := w.putStream(places, config.Parts[1:], parts.ConfigName, upwards())
	if err != nil {
		return err
	}
	list := parts.List{Version: parts.Version, Config: append(parts.Stream{fileOf(w.key(), first)}, middle...)}
	list.Config = end(list.Config, parts.ConfigEnd, config.End)
	if list.Rules, err = w.putStream(places, archive.Parts, parts.RulesName, downwards()); err != nil {
		return err
	}
	list.Rules = end(list.Rules, parts.RulesEnd, archive.End)
	if beside[parts.ListName], err = list.Encode(); err != nil {
		return err
	}
	for _, p := range append(config.Parts, config.End) {
		w.out.slices = append(w.out.slices, p.Data)
	}
	w.out.Hash = list.Config.Sum()
	w.put(places.annotate(w.main(beside)), sums)
	return nil
}

// key returns the key of the configuration.
func (w *writer) key() string { return w.Kind.ConfigSecret.Key }

// put adds a Secret. sums has the SHA-256 of its large values.
func (w *writer) put(s *corev1.Secret, sums map[string][sha256.Size]byte) {
	w.out.Steps = append(w.out.Steps, apply.PutSecret(s, sums))
}

// WriteText writes the plain configuration, assembled from its parts; nothing if it is withheld.
func (o *Output) WriteText(to io.Writer) error {
	if len(o.slices) == 0 {
		return nil
	}
	readers := make([]io.Reader, len(o.slices))
	for i, s := range o.slices {
		readers[i] = bytes.NewReader(s)
	}
	r, err := gzip.NewReader(io.MultiReader(readers...))
	if err != nil {
		return err
	}
	_, err = io.Copy(to, r)
	return err
}
