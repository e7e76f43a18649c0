package adversary

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/internal/parts"
)

// written caches the objects that the operator writes for the workloads.
type written struct {
	secrets corelisters.SecretNamespaceLister
	maps    corelisters.ConfigMapNamespaceLister

	mu    sync.Mutex
	waken chan struct{} // closed on the next change

	memo sync.Mutex
	last map[string]remembered // by kind of workload
}

// remembered is the content of certain versions of objects.
type remembered struct {
	versions string
	content  content
	err      error
}

func (w *environment) follow(ctx context.Context) (*written, error) {
	out := &written{waken: make(chan struct{}), last: map[string]remembered{}}
	factory := informers.NewSharedInformerFactoryWithOptions(w.kube, 0, informers.WithNamespace(monitoring))
	core := factory.Core().V1()
	out.secrets, out.maps = core.Secrets().Lister().Secrets(monitoring), core.ConfigMaps().Lister().ConfigMaps(monitoring)
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { out.wake() }, UpdateFunc: func(any, any) { out.wake() }, DeleteFunc: func(any) { out.wake() },
	}
	for _, informer := range []cache.SharedIndexInformer{core.Secrets().Informer(), core.ConfigMaps().Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return nil, err
		}
	}
	factory.Start(ctx.Done())
	for what, ok := range factory.WaitForCacheSync(ctx.Done()) {
		if !ok {
			return nil, fmt.Errorf("%s: %w", what, context.Cause(ctx))
		}
	}
	return out, nil
}

func (v *written) wake() {
	v.mu.Lock()
	defer v.mu.Unlock()
	close(v.waken)
	v.waken = make(chan struct{})
}

// changed returns a channel that is closed when something is written after the call.
func (v *written) changed() <-chan struct{} {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.waken
}

// content is the configuration of the servers of a workload.
type content struct {
	config []byte            // decoded
	rules  map[string]string // rule files
}

// target is a workload and the names of the objects with its configuration.
type target struct {
	kind, secret, part, key, label string
}

var targets = []target{
	{"Prometheus", "prometheus-main", "prometheus-main-config-part-", "prometheus.yaml.gz", "prometheus-name"},
	{"Alertmanager", "alertmanager-main-generated", "alertmanager-main-config-part-", "alertmanager.yaml.gz", ""},
	{"ThanosRuler", "", "", "", "thanos-ruler-name"},
}

// read assembles the configuration of a workload.
//
// Errors: nothing is written yet; the parts are inconsistent because they are being written.
func (v *written) read(t target) (content, error) {
	secrets, files, err := v.objects(t)
	if err != nil {
		return content{}, err
	}
	var versions strings.Builder
	for _, s := range secrets {
		fmt.Fprintf(&versions, "%s=%s ", s.Name, s.ResourceVersion)
	}
	for _, m := range files {
		fmt.Fprintf(&versions, "%s=%s ", m.Name, m.ResourceVersion)
	}
	v.memo.Lock() // concurrent callers share one result
	defer v.memo.Unlock()
	if last, ok := v.last[t.kind]; ok && last.versions == versions.String() {
		return last.content, last.err
	}
	c, err := assembled(t, secrets, files)
	v.last[t.kind] = remembered{versions.String(), c, err}
	return c, err
}

// objects returns the objects with the configuration of a workload, sorted by name.
func (v *written) objects(t target) (secrets []*corev1.Secret, files []*corev1.ConfigMap, err error) {
	if t.label != "" {
		if files, err = v.maps.List(labels.SelectorFromSet(labels.Set{t.label: "main"})); err != nil {
			return nil, nil, err
		}
		slices.SortFunc(files, func(a, b *corev1.ConfigMap) int { return strings.Compare(a.Name, b.Name) })
	}
	if t.secret == "" {
		return nil, files, nil
	}
	all, err := v.secrets.List(labels.Everything())
	for _, s := range all {
		if s.Name == t.secret || strings.HasPrefix(s.Name, t.part) {
			secrets = append(secrets, s)
		}
	}
	slices.SortFunc(secrets, func(a, b *corev1.Secret) int { return strings.Compare(a.Name, b.Name) })
	return secrets, files, err
}

func assembled(t target, secrets []*corev1.Secret, files []*corev1.ConfigMap) (content, error) {
	out := content{rules: map[string]string{}}
	for _, m := range files {
		maps.Copy(out.rules, m.Data)
	}
	if t.secret == "" {
		return out, nil
	}
	keys := map[string][]byte{}
	for _, s := range secrets {
		maps.Copy(keys, s.Data)
	}
	if keys[t.key] == nil {
		return out, fmt.Errorf("no Secret %s yet", t.secret)
	}
	config, rules, err := parts.Read(keys, t.key)
	out.config = config
	maps.Copy(out.rules, rules)
	return out, err
}

// files returns the data of a configuration Secret and its parts.
func (v *written) files(t target) (map[string][]byte, error) {
	secrets, _, err := v.objects(t)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, s := range secrets {
		maps.Copy(out, s.Data)
	}
	if out[t.key] == nil {
		return nil, fmt.Errorf("no Secret %s yet", t.secret)
	}
	return out, nil
}

// complete is like read, but waits while parts are being written.
func (v *written) complete(ctx context.Context, t target) (out content, err error) {
	err = eventually(ctx, 30*time.Second, func() error {
		out, err = v.read(t)
		return err
	})
	return out, err
}

// has reports whether the configuration or a rule file contains a text.
func (c content) has(text string) bool {
	if bytes.Contains(c.config, []byte(text)) {
		return true
	}
	for _, rule := range c.rules {
		if strings.Contains(rule, text) {
			return true
		}
	}
	return false
}

// sum returns a checksum of the content.
func (c content) sum() string {
	h := sha256.New()
	h.Write(c.config)
	for _, name := range slices.Sorted(maps.Keys(c.rules)) {
		fmt.Fprintf(h, "\x00%s\x00%s", name, c.rules[name])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (c content) size() int {
	n := len(c.config)
	for _, text := range c.rules {
		n += len(text)
	}
	return n
}

// templates returns the pod templates of the workloads, by StatefulSet.
func (w *environment) templates(ctx context.Context) (map[string]string, error) {
	sets, err := w.kube.AppsV1().StatefulSets(monitoring).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, s := range sets.Items {
		text, err := s.Spec.Template.Marshal()
		if err != nil {
			return nil, err
		}
		out[s.Name] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	return out, nil
}

// errNoContainer reports that a pod has no container of that name.
var errNoContainer = errors.New("no such container")

func containerNamed(all []corev1.Container, name string) (corev1.Container, error) {
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
	}
	return corev1.Container{}, fmt.Errorf("%w: %s", errNoContainer, name)
}
