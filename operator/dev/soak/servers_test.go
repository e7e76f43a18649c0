package soak

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func freeAddress(t testing.TB) string {
	address, err := ports.Address()
	must(t, err)
	return address
}

// pod is the pod of a StatefulSet, whose containers are processes.
type pod struct {
	set                   string // name of the StatefulSet
	dir                   string // root of its file system
	server, config, rules trial.Process
	url, configURL        string
	rulesURL              string

	mu      sync.Mutex
	volumes map[string]*volumetest.Volume // by name in the template
	files   map[string]map[string]string  // in them
}

func (p *pod) path(name string) string { return filepath.Join(p.dir, name) }

// kubelet delivers what the operator writes into the volumes of pods.
type kubelet struct {
	t       *testing.T
	pods    []*pod
	secrets cache.Indexer
	configs cache.Indexer
	sets    cache.Indexer
}

func (r *run) startKubelet(pods ...*pod) {
	factory := informers.NewSharedInformerFactoryWithOptions(r.environment.Kube, 0, informers.WithNamespace(id))
	secrets, configs, sets := factory.Core().V1().Secrets().Informer(), factory.Core().V1().ConfigMaps().Informer(), factory.Apps().V1().StatefulSets().Informer()
	k := &kubelet{t: r.t, pods: pods, secrets: secrets.GetIndexer(), configs: configs.GetIndexer(), sets: sets.GetIndexer()}
	for _, i := range []cache.SharedIndexInformer{secrets, configs, sets} {
		_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { k.deliver() }, UpdateFunc: func(any, any) { k.deliver() }, DeleteFunc: func(any) { k.deliver() },
		})
		must(r.t, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory.Start(ctx.Done())
	r.t.Cleanup(func() { cancel(); factory.Shutdown() })
	factory.WaitForCacheSync(ctx.Done())
}

// deliver writes the volumes that have changed.
func (k *kubelet) deliver() {
	for _, p := range k.pods {
		if o, exists, _ := k.sets.GetByKey(id + "/" + p.set); exists {
			k.deliverTo(p, o.(*appsv1.StatefulSet).Spec.Template.Spec)
		}
	}
}

func (k *kubelet) deliverTo(p *pod, spec corev1.PodSpec) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := map[string]string{}
	for _, c := range spec.Containers {
		for _, m := range c.VolumeMounts {
			if m.SubPath == "" {
				at[m.Name] = m.MountPath
			}
		}
	}
	for _, v := range spec.Volumes {
		files, has := k.filesOf(v)
		if !has || at[v.Name] == "" || p.files[v.Name] != nil && reflect.DeepEqual(files, p.files[v.Name]) {
			continue
		}
		if p.volumes[v.Name] == nil {
			p.volumes[v.Name] = volumetest.At(k.t, p.path(at[v.Name]))
		}
		content := map[string]string{}
		for name, text := range files {
			content[name] = p.moved(name, text)
		}
		p.volumes[v.Name].Swap(content)
		p.files[v.Name] = files
	}
}

// moved replaces paths in a configuration by those of the test.
func (p *pod) moved(name, text string) string {
	if name != "prometheus.yaml.gz" {
		return text
	}
	z, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		return text
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		return text
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(bytes.ReplaceAll(plain, []byte("/etc/prometheus/"), []byte(p.path("etc/prometheus")+"/"))) // into memory
	_ = w.Close()
	return out.String()
}

// filesOf returns the files of a volume with Secrets or ConfigMaps.
func (k *kubelet) filesOf(v corev1.Volume) (files map[string]string, has bool) {
	files = map[string]string{}
	add := func(data map[string]string, items []corev1.KeyToPath) {
		if len(items) == 0 {
			maps.Copy(files, data)
		}
		for _, i := range items {
			if text, ok := data[i.Key]; ok {
				files[i.Path] = text
			}
		}
	}
	switch {
	case v.ConfigMap != nil:
		add(k.configMap(v.ConfigMap.Name), v.ConfigMap.Items)
	case v.Secret != nil:
		add(k.secret(v.Secret.SecretName), v.Secret.Items)
	case v.Projected != nil:
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				add(k.secret(s.Secret.Name), s.Secret.Items)
			}
		}
	default:
		return nil, false
	}
	return files, true
}

func (k *kubelet) secret(name string) map[string]string {
	out := map[string]string{}
	if o, exists, _ := k.secrets.GetByKey(id + "/" + name); exists {
		for key, value := range o.(*corev1.Secret).Data {
			out[key] = string(value)
		}
	}
	return out
}

func (k *kubelet) configMap(name string) map[string]string {
	if o, exists, _ := k.configs.GetByKey(id + "/" + name); exists {
		return o.(*corev1.ConfigMap).Data
	}
	return map[string]string{}
}

// newPods returns the two pods, whose containers are not started.
func (r *run) newPods(configReloader, rulesReloader string) {
	blank := func(set string) *pod {
		return &pod{set: set, dir: r.t.TempDir(), url: "http://" + freeAddress(r.t), configURL: "http://" + freeAddress(r.t), volumes: map[string]*volumetest.Volume{}, files: map[string]map[string]string{}}
	}
	address := func(url string) string { return strings.TrimPrefix(url, "http://") }
	p := blank("prometheus-web")
	p.rulesURL = "http://" + freeAddress(r.t)
	p.config = trial.Process{Name: "config-reloader of Prometheus", Env: []string{"POD_NAME=prometheus-web-0", "SHARD=0"}, Args: []string{configReloader, "--listen-address=" + address(p.configURL), "--reload-url=" + p.url + "/-/reload",
		"--config-file=" + p.path("etc/prometheus/config/prometheus.yaml.gz"), "--config-envsubst-file=" + p.path("prometheus.yaml"), "--watched-dir=" + p.path("etc/prometheus/config")}}
	p.rules = trial.Process{Name: "rules-reloader", Args: []string{rulesReloader, "--web.listen-address=" + address(p.rulesURL), "--webhook-url=" + p.url + "/-/reload"}}
	for n := range 3 {
		p.rules.Args = append(p.rules.Args, "--volume-dir="+p.path(fmt.Sprint("etc/prometheus/rules/prometheus-web-rulefiles-", n)))
	}
	p.server = trial.Process{Name: "Prometheus", Args: []string{r.programs["prometheus"], "--config.file=" + p.path("prometheus.yaml"), "--storage.tsdb.path=" + p.path("data"),
		"--web.listen-address=" + address(p.url), "--web.enable-lifecycle", "--log.level=warn"}}
	r.prometheus = p
	a := blank("alertmanager-main")
	a.url = r.alertmanagerURL
	a.config = trial.Process{Name: "config-reloader of Alertmanager", Env: []string{"POD_NAME=alertmanager-main-0", "SHARD=0"}, Args: []string{configReloader, "--listen-address=" + address(a.configURL), "--reload-url=" + a.url + "/-/reload",
		"--config-file=" + a.path("etc/alertmanager/config/alertmanager.yaml.gz"), "--config-envsubst-file=" + a.path("alertmanager.yaml"), "--watched-dir=" + a.path("etc/alertmanager/config")}}
	a.server = trial.Process{Name: "Alertmanager", Args: []string{r.programs["alertmanager"], "--config.file=" + a.path("alertmanager.yaml"), "--storage.path=" + a.path("data"),
		"--web.listen-address=" + address(a.url), "--cluster.listen-address=", "--log.level=warn"}}
	r.alertmanager = a
}

// startPods starts the containers as soon as their files are there.
func (r *run) startPods() {
	for p, file := range map[*pod]string{r.prometheus: "prometheus.yaml", r.alertmanager: "alertmanager.yaml"} {
		trial.Await(r.t, "the volumes of "+p.set, func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			if len(p.volumes) == 0 {
				return fmt.Errorf("no volumes")
			}
			return nil
		})
		for _, one := range []*trial.Process{&p.config, &p.rules} {
			if one.Name != "" {
				one.Start(r.t)
				r.t.Cleanup(one.Kill)
			}
		}
		trial.Await(r.t, file, func() error { _, err := os.Stat(p.path(file)); return err })
		p.server.Start(r.t)
		r.t.Cleanup(p.server.Kill)
		trial.Await(r.t, p.server.Name+" is ready", func() error {
			var text string
			return trial.Get(r.t.Context(), p.url+"/-/ready", &text)
		})
	}
}

// watching polls what runs in the servers.
type watching struct {
	mu      sync.Mutex
	polls   int
	failed  int      // polls without an answer
	missing []string // what tenants have all the time, and a server had not
	rules   int      // last number of groups
	jobs    int      // last number of jobs
}

// poll asks the servers once, and returns what is missing.
func (r *run) poll(ctx context.Context) (missing []string, groups, jobs int, err error) {
	var config struct{ Data struct{ YAML string } }
	if err := trial.Get(ctx, r.prometheus.url+"/api/v1/status/config", &config); err != nil {
		return nil, 0, 0, err
	}
	var rules struct {
		Data struct{ Groups []struct{ Name string } }
	}
	if err := trial.Get(ctx, r.prometheus.url+"/api/v1/rules?exclude_alerts=true", &rules); err != nil {
		return nil, 0, 0, err
	}
	var status struct{ Config struct{ Original string } }
	if err := trial.Get(ctx, r.alertmanager.url+"/api/v2/status", &status); err != nil {
		return nil, 0, 0, err
	}
	has := map[string]bool{}
	for _, g := range rules.Data.Groups {
		has[g.Name] = true
	}
	for _, t := range r.tenants {
		if !strings.Contains(config.Data.YAML, "job_name: serviceMonitor/"+t.namespace+"/anchor/0\n") {
			missing = append(missing, "job of "+t.namespace)
		}
		if !has["anchor-"+t.namespace] {
			missing = append(missing, "rules of "+t.namespace)
		}
		if !strings.Contains(status.Config.Original, t.namespace+"/anchor/hook") {
			missing = append(missing, "receiver of "+t.namespace)
		}
	}
	return missing, len(rules.Data.Groups), strings.Count(config.Data.YAML, "\n- job_name: "), nil
}

// watch polls until ctx ends.
func (r *run) watch(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		missing, groups, jobs, err := r.poll(ctx)
		r.watching.mu.Lock()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			r.watching.failed++
		default:
			r.watching.polls++
			r.watching.rules, r.watching.jobs = groups, jobs
			for _, m := range missing {
				if !slices.Contains(r.watching.missing, m) {
					r.watching.missing = append(r.watching.missing, m)
				}
			}
		}
		r.watching.mu.Unlock()
	}
}
