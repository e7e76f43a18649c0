package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// subject is a kind of workload that can be measured, with the kinds of objects that it selects.
type subject struct {
	sizes    string // default of --sizes
	owners   resource
	selected []selected

	prefix, suffix string // of the name of the configuration Secret, around that of the workload
	key            string // key in that Secret
	file           string // file name under which a configuration is saved

	// entry occurs entries times in the decoded configuration for each object of the first kind. Objects of other kinds
	// become separate files.
	entry   string
	entries int

	// secret returns the Secret that the objects of a namespace refer to; nil if they refer to none.
	secret func(namespace string) *corev1.Secret
	// confine makes a workload select the objects of namespaces with a label only. Nil if it cannot.
	confine func(workload runtime.Object, label, value string)
}

// resource is a kind of objects. The i-th object is the same in every run; its namespace is set when it is created.
type resource struct {
	schema.GroupVersionResource
	title  string // plural in output, after a number: "monitors"
	name   func(i int) string
	object func(i int) object
}

type object interface {
	metav1.Object
	runtime.Object
}

// selected is a kind of objects that workloads select.
type selected struct {
	resource
	one  string // "monitor"
	mark mark
	// patch returns a change of an object as a JSON patch, after which the output of the operator has the text.
	patch func(text string) []byte
	// written is the size of what the operator writes for a change.
	written written
}

// written is the size of the Secret or ConfigMap with the output for a kind.
type written struct {
	each int // bytes of an object
	most int // bytes of all objects that are written together
}

// Sizes of what the operator writes at once: a compressed configuration, and a ConfigMap with rules.
const (
	secretBytes    = 1_100_000
	configMapBytes = 512 << 10
)

// mark is the form of the text by which a change is found in the output of the operator. Neither part has digits at the
// number.
type mark struct{ before, after string }

// of returns the text for the i-th change.
func (m mark) of(i int) string { return m.before + strconv.Itoa(i) + m.after }

// each calls a function with the number of each mark in a text. A mark may occur several times.
func (m mark) each(text string, found func(i int)) {
	for {
		_, rest, ok := strings.Cut(text, m.before)
		if !ok {
			return
		}
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if n, err := strconv.Atoi(rest[:digits]); err == nil && strings.HasPrefix(rest[digits:], m.after) {
			found(n)
		}
		text = rest
	}
}

var subjects = map[string]*subject{"prometheus": prometheus, "alertmanager": alertmanager}

// subjectNames returns the values of --kind.
func subjectNames() []string { return slices.Sorted(maps.Keys(subjects)) }

// size is the number of objects to create.
type size struct {
	*subject
	counts []int // of each selected kind
	owners int
	apart  bool // each workload selects objects of its own, equally many
}

// parseSize parses a size like "300/100x50": the number of objects of each selected kind, and the number of workloads
// that all select them. "2000/100:50" are workloads of which each selects a 50th.
func (s *subject) parseSize(text string) (size, error) {
	out := size{subject: s, owners: 1}
	counts, owners, more := strings.Cut(strings.TrimSpace(text), "x")
	if !more {
		counts, owners, more = strings.Cut(counts, ":")
		out.apart = more
	}
	fields := strings.Split(counts, "/")
	if len(fields) != len(s.selected) {
		want := strings.Repeat("/100", len(s.selected))[1:]
		return out, fmt.Errorf("%q is not of the form %s or %sx50", text, want, want)
	}
	for _, f := range fields {
		n, err := positive(f)
		if err != nil {
			return out, err
		}
		out.counts = append(out.counts, n)
	}
	var err error
	if more {
		out.owners, err = positive(owners)
	}
	if err != nil {
		return out, err
	}
	return out, out.check()
}

// check returns an error if the workloads cannot share the objects out.
func (s size) check() error {
	if !s.apart {
		return nil
	}
	if s.confine == nil {
		return fmt.Errorf("%s is not possible: these workloads cannot share the objects out", s)
	}
	for _, n := range s.counts {
		if n%s.owners != 0 {
			return fmt.Errorf("%s is not possible: %d is no multiple of %d", s, n, s.owners)
		}
	}
	return nil
}

func positive(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a positive number", text)
	}
	return n, nil
}

// String returns the size in the format of parseSize.
func (s size) String() string {
	var counts []string
	for _, n := range s.counts {
		counts = append(counts, strconv.Itoa(n))
	}
	out := strings.Join(counts, "/")
	switch {
	case s.apart:
		out += ":" + strconv.Itoa(s.owners)
	case s.owners > 1:
		out += "x" + strconv.Itoa(s.owners)
	}
	return out
}

// fileName returns the size as a part of a file name.
func (s size) fileName() string {
	return strings.NewReplacer("/", "-", ":", "-of-").Replace(s.String())
}

// each returns how many objects of the i-th selected kind a workload selects.
func (s size) each(i int) int {
	if s.apart {
		return s.counts[i] / s.owners
	}
	return s.counts[i]
}

// selecting returns how many workloads select an object.
func (s size) selecting() int {
	if s.apart {
		return 1
	}
	return s.owners
}

// files returns the number of objects of a workload that become a separate file.
func (s size) files() int {
	n := 0
	for i := range s.counts[1:] {
		n += s.each(i + 1)
	}
	return n
}

// ownerOf returns the workload whose configuration, or a part of it, is stored in a Secret. ok is false for all other
// Secrets.
func (s *subject) ownerOf(secret string) (owner string, part, ok bool) {
	rest, ours := strings.CutPrefix(secret, s.prefix)
	if owner, _, part = strings.Cut(rest, partInfix); part {
		return owner, true, ours
	}
	owner, found := strings.CutSuffix(rest, s.suffix)
	return owner, false, ours && found
}

// partInfix separates the name of a workload and the number of a part.
const partInfix = "-config-part-"
