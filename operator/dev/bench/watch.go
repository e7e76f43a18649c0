package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

const (
	// patience is the timeout for a single change.
	patience = 2 * time.Minute
	// startPatience is the timeout for a start, with 200,000 monitors and other programs on the machine.
	startPatience = 20 * time.Minute
)

// observer receives every version of the generated objects.
type observer struct {
	*subject
	seen  chan sighting
	stop  []func()
	known map[string]map[string][]byte // latest data of the configuration Secrets
	last  found                        // the configuration assembled last
	ended atomic.Bool                  // a watch ended, so changes may be missed
}

// sighting is one version of a generated object.
type sighting struct {
	at     time.Time
	object metav1.Object
}

// observe starts watching the objects that the operator writes for the workloads.
func (b *controlPlane) observe(ctx context.Context, of *subject) (*observer, error) {
	o := &observer{subject: of, seen: make(chan sighting, 4096), known: map[string]map[string][]byte{}}
	managed := metav1.ListOptions{LabelSelector: "managed-by=prometheus-operator"}
	core := b.kube.CoreV1()
	for _, open := range []func() (watch.Interface, error){
		func() (watch.Interface, error) { return core.Secrets(metav1.NamespaceAll).Watch(ctx, managed) },
		func() (watch.Interface, error) { return core.ConfigMaps(metav1.NamespaceAll).Watch(ctx, managed) },
	} {
		w, err := open()
		if err != nil {
			return nil, errors.Join(err, o.close())
		}
		o.stop = append(o.stop, w.Stop)
		go o.forward(ctx, w)
	}
	return o, nil
}

func (o *observer) forward(ctx context.Context, w watch.Interface) {
	for e := range w.ResultChan() {
		obj, ok := e.Object.(metav1.Object)
		if !ok || e.Type == watch.Deleted {
			continue
		}
		select {
		case o.seen <- sighting{time.Now(), obj}:
		case <-ctx.Done():
			return
		}
	}
	o.ended.Store(true)
}

func (o *observer) close() error {
	for _, stop := range o.stop {
		stop()
	}
	return nil
}

// until reads sightings until done returns true, and returns the time of the last one.
func (o *observer) until(ctx context.Context, done func(metav1.Object) (finished bool, err error)) (time.Time, error) {
	return o.within(ctx, patience, func(s sighting) (bool, error) { return done(s.object) })
}

// within is until with another timeout, and with the time of each sighting.
func (o *observer) within(ctx context.Context, timeout time.Duration, done func(sighting) (finished bool, err error)) (time.Time, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not complete within %s", timeout))
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			if o.ended.Load() {
				return time.Time{}, errors.New("a watch was cut off")
			}
			return time.Time{}, context.Cause(ctx)
		case s := <-o.seen:
			finished, err := done(s)
			if err != nil || finished {
				return s.at, err
			}
		}
	}
}

// complete returns a condition that holds when every workload has all entries and all files.
func (s size) complete(seen *observer) func(metav1.Object) (bool, error) {
	entries, files := map[string]int{}, map[string]map[string]int{}
	filesOf := func(owner string) map[string]int {
		if files[owner] == nil {
			files[owner] = map[string]int{}
		}
		return files[owner]
	}
	ready := func() bool {
		if len(entries) < s.owners {
			return false
		}
		for owner, n := range entries {
			total := 0
			for _, f := range files[owner] {
				total += f
			}
			if n < s.each(0)*s.entries || total < s.files() {
				return false
			}
		}
		return true
	}
	return func(obj metav1.Object) (bool, error) {
		switch o := obj.(type) {
		case *corev1.Secret:
			found, err := seen.configuration(o)
			if err != nil || found.text == nil {
				return false, err
			}
			entries[found.owner] = bytes.Count(found.text, []byte(s.entry))
			filesOf(found.owner)["with the configuration"] = len(found.rules)
		case *corev1.ConfigMap:
			filesOf(o.Labels["prometheus-name"])[o.Name] = len(o.Data)
		}
		return ready(), nil
	}
}

// carried returns a condition that holds when a mark is in the configuration, or in a rule file, of every workload that
// selects the changed object.
func (s size) carried(seen *observer, mark string) func(metav1.Object) (bool, error) {
	have := map[string]bool{}
	return func(obj metav1.Object) (bool, error) {
		switch o := obj.(type) {
		case *corev1.Secret:
			found, err := seen.configuration(o)
			if err != nil {
				return false, err
			}
			if bytes.Contains(found.text, []byte(mark)) {
				have[found.owner] = true
			}
			for _, text := range found.rules {
				if strings.Contains(text, mark) {
					have[found.owner] = true
				}
			}
		case *corev1.ConfigMap:
			for _, text := range o.Data {
				if strings.Contains(text, mark) {
					have[o.Labels["prometheus-name"]] = true
				}
			}
		}
		return len(have) == s.selecting(), nil
	}
}

// found is the content of the Secrets of a workload.
type found struct {
	owner string
	text  []byte            // the decoded configuration; nil while the Secrets are inconsistent
	rules map[string]string // rule files stored with the configuration
}

// configuration assembles the configuration of a workload after one of its Secrets was written. It is complete once the
// first Secret is written, because the operator writes that one last.
func (o *observer) configuration(s *corev1.Secret) (found, error) {
	owner, part, ours := o.ownerOf(s.Name)
	_, first := s.Data[o.key]
	if !ours || !part && !first {
		return found{}, nil
	}
	o.known[s.Name] = s.Data
	if part {
		return found{}, nil
	}
	files := map[string][]byte{}
	for name, data := range o.known {
		if of, _, _ := o.ownerOf(name); of == owner {
			maps.Copy(files, data)
		}
	}
	text, rules, err := parts.Read(files, o.key)
	if errors.Is(err, parts.ErrMixed) {
		return found{}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("configuration in %s: %w", s.Name, err)
	}
	o.last = found{owner, text, rules}
	return o.last, nil
}
