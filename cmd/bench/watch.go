package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// patience is how long a change may take before the measurement is given up.
const patience = 2 * time.Minute

// observer sees every version of the generated objects as it is written.
type observer struct {
	seen  chan sighting
	stop  []func()
	ended atomic.Bool // a watch ended, so that changes may be missed
}

// sighting is one version of a generated object.
type sighting struct {
	at     time.Time
	object metav1.Object
}

// observe watches what the operator writes beside the owners, from now on.
func (b *bed) observe(ctx context.Context) (*observer, error) {
	o := &observer{seen: make(chan sighting, 4096)}
	managed := metav1.ListOptions{LabelSelector: "managed-by=prometheus-operator"}
	core := b.kube.CoreV1()
	for _, open := range []func() (watch.Interface, error){
		func() (watch.Interface, error) { return core.Secrets(ownerNamespace).Watch(ctx, managed) },
		func() (watch.Interface, error) { return core.ConfigMaps(ownerNamespace).Watch(ctx, managed) },
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

// until reads sightings until done says that nothing is missing any more, and
// returns the time of the last one that was needed.
func (o *observer) until(ctx context.Context, done func(metav1.Object) (finished bool, err error)) (time.Time, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("nothing arrived within %s", patience))
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			if o.ended.Load() {
				return time.Time{}, errors.New("a watch was cut off")
			}
			return time.Time{}, context.Cause(ctx)
		case s := <-o.seen:
			finished, err := done(s.object)
			if err != nil || finished {
				return s.at, err
			}
		}
	}
}

// complete is done when every owner has all jobs and all rule files.
func (s size) complete() func(metav1.Object) (bool, error) {
	jobs, files := map[string]int{}, map[string]map[string]int{}
	ready := func() bool {
		if len(jobs) < s.owners || len(files) < s.owners {
			return false
		}
		for _, n := range jobs {
			if n < s.monitors*endpoints {
				return false
			}
		}
		for _, maps := range files {
			total := 0
			for _, n := range maps {
				total += n
			}
			if total < s.rules {
				return false
			}
		}
		return true
	}
	return func(obj metav1.Object) (bool, error) {
		switch o := obj.(type) {
		case *corev1.Secret:
			text, err := configuration(o)
			if err != nil || text == nil {
				return false, err
			}
			jobs[o.Name] = bytes.Count(text, []byte("\n- job_name:"))
		case *corev1.ConfigMap:
			owner := o.Labels["prometheus-name"]
			if files[owner] == nil {
				files[owner] = map[string]int{}
			}
			files[owner][o.Name] = len(o.Data)
		}
		return ready(), nil
	}
}

// carried is done when a mark is in the configuration, or in a rule file, of
// every owner.
func (s size) carried(mark string) func(metav1.Object) (bool, error) {
	have := map[string]bool{}
	return func(obj metav1.Object) (bool, error) {
		switch o := obj.(type) {
		case *corev1.Secret:
			text, err := configuration(o)
			if err != nil {
				return false, err
			}
			if bytes.Contains(text, []byte(mark)) {
				have[o.Name] = true
			}
		case *corev1.ConfigMap:
			for _, text := range o.Data {
				if strings.Contains(text, mark) {
					have[o.Labels["prometheus-name"]] = true
				}
			}
		}
		return len(have) == s.owners, nil
	}
}

// configuration is the plain text of a configuration Secret, nil of others.
func configuration(s *corev1.Secret) ([]byte, error) {
	packed, ok := s.Data["prometheus.yaml.gz"]
	if !ok {
		return nil, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("configuration in %s: %w", s.Name, err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("configuration in %s: %w", s.Name, err)
	}
	return text, nil
}
