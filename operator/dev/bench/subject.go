package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
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
}

// resource is a kind of objects. The i-th object is the same in every run.
type resource struct {
	schema.GroupVersionResource
	title  string // plural in output, after a number: "monitors"
	name   func(i int) string
	object func(i int) runtime.Object
}

// selected is a kind of objects that workloads select.
type selected struct {
	resource
	one string // "monitor"
	// patch returns the i-th change of an object as a JSON patch, and the text by which the change is found in the
	// output of the operator.
	patch func(i int) (patch []byte, mark string)
}

var subjects = map[string]*subject{"prometheus": prometheus, "alertmanager": alertmanager}

// subjectNames returns the values of --kind.
func subjectNames() []string { return slices.Sorted(maps.Keys(subjects)) }

// size is the number of objects to create.
type size struct {
	*subject
	counts []int // of each selected kind
	owners int
}

// parseSize parses a size like "300/100x50": the number of objects of each selected kind, and the number of workloads.
func (s *subject) parseSize(text string) (size, error) {
	out := size{subject: s, owners: 1}
	counts, owners, more := strings.Cut(strings.TrimSpace(text), "x")
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
	return out, err
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
	if s.owners > 1 {
		out += "x" + strconv.Itoa(s.owners)
	}
	return out
}

// files returns the number of objects that become a separate file.
func (s size) files() int {
	n := 0
	for _, c := range s.counts[1:] {
		n += c
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

const (
	ownerNamespace = "monitoring"
	// teams is the number of namespaces across which the selected objects are distributed.
	teams = 50
)

func team(i int) string { return fmt.Sprintf("team-%02d", i%teams) }

func ownerName(i int) string { return fmt.Sprintf("main-%02d", i) }
