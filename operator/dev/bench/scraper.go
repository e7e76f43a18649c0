package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
)

// phases are the measurements of a pod.
type phases struct {
	load             load // from its start until its targets were complete
	idle, busy       spent
	rss, reloaderRSS int
	// From a change to the list on loopback: of single changes, and of one after the other.
	took, busyTook []time.Duration
}

// launchAny starts another program than the operator, which serves an address.
func (d *discovery) launchAny(name, address string, env []string, args ...string) (*process, error) {
	log, err := os.OpenFile(filepath.Join(d.dir, filepath.Base(name)+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return launch(log, name, address, env, args...)
}

// podNamed creates a pod of a shard.
func (d *discovery) podNamed(ctx context.Context, name, set string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set, UID: "u", Controller: new(true)}}}}
	pod.Spec = corev1.PodSpec{NodeName: "n", ServiceAccountName: "prometheus", Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	_, err := d.controlPlane.kube.CoreV1().Pods(demo).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// tokenOf returns a token of the ServiceAccount, bound to a pod for an audience if that is not empty.
func (d *discovery) tokenOf(ctx context.Context, pod, audience string) (string, error) {
	spec := authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(86400))}
	if audience != "" {
		p, err := d.controlPlane.kube.CoreV1().Pods(demo).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		spec.Audiences, spec.BoundObjectRef = []string{audience}, &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod, UID: p.UID}
	}
	got, err := d.controlPlane.kube.CoreV1().ServiceAccounts(demo).CreateToken(ctx, "prometheus", &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return got.Status.Token, nil
}

// server is the first shard as it is measured: Prometheus and config-reloader, with their files.
type server struct {
	*discovery
	mode            string // the prefix of its files
	web, sd, listen string // addresses of Prometheus, of the lists, and of config-reloader

	reloader, prometheus *process
}

func (s *server) file(name string) string { return filepath.Join(s.dir, s.mode+"-"+name) }

// measureServer runs the first shard, with its own discovery or with a discovery service.
func (d *discovery) measureServer(ctx context.Context, mode string, from *service) (out *phases, err error) {
	s := &server{discovery: d, mode: mode}
	if s.web, s.sd, s.listen, err = threeAddresses(); err != nil {
		return nil, err
	}
	if err := s.configure(ctx); err != nil {
		return nil, err
	}
	var args, env []string
	if from != nil {
		balancer, err := scene.NewBalancer(func() string { return from.address })
		if err != nil {
			return nil, err
		}
		defer balancer.Close()
		env = append(env, "HTTPS_PROXY="+balancer.URL)
		if args, err = s.targetsArgs(ctx, from); err != nil {
			return nil, err
		}
	}
	before, err := d.controlPlane.load(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.start(ctx, env, args); err != nil {
		return nil, err
	}
	now, err := d.controlPlane.load(ctx)
	if err != nil {
		return nil, err
	}
	out = &phases{load: load{now.watches - before.watches, now.bytes - before.bytes}}
	return out, s.measure(ctx, out, from != nil)
}

// configure writes the configuration, and the token of its own discovery.
func (s *server) configure(ctx context.Context) error {
	token, err := s.tokenOf(ctx, "", "")
	if err != nil {
		return err
	}
	c := scene.Config{Prometheus: s.owner(s.mode), APIServer: s.controlPlane.Host, TokenFile: s.file("api-token"), CAFile: s.controlPlane.CAFile, Lists: s.sd}
	for i := range s.jobs {
		c.ServiceMonitors = append(c.ServiceMonitors, s.monitor(i))
	}
	text, err := c.Text()
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(s.file("api-token"), []byte(token), 0o600), os.WriteFile(s.file("in.yaml"), []byte(text), 0o600))
}

// targetsArgs creates the pod of the shard with a token, and returns the arguments for the discovery service.
func (s *server) targetsArgs(ctx context.Context, from *service) ([]string, error) {
	if err := s.podNamed(ctx, "prometheus-main-0", "prometheus-main"); err != nil {
		return nil, err
	}
	token, err := s.tokenOf(ctx, "prometheus-main-0", wellknown.DiscoveryAudience)
	if err != nil {
		return nil, err
	}
	return []string{
		"--targets-server=https://firekeeper-discovery.firekeeper.svc:8443", "--targets-token-file=" + s.file("token"), "--targets-ca-file=" + from.caFile,
		"--targets-listen=" + s.sd, "--targets-file=" + s.file("targets.json.gz"),
	}, os.WriteFile(s.file("token"), []byte(token), 0o600)
}

// start starts both processes, and waits until the targets are complete and have rested.
func (s *server) start(ctx context.Context, env, args []string) (err error) {
	args = append([]string{"--listen-address=" + s.listen, "--config-file=" + s.file("in.yaml"), "--config-envsubst-file=" + s.file("out.yaml"), "--reload-url=http://" + s.web + "/-/reload"}, args...)
	env = append([]string{"POD_NAME=prometheus-main-0", "SHARD=0"}, env...)
	if s.reloader, err = s.launchAny(s.discovery.reloader, s.listen, env, args...); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(s.file("out.yaml")); err == nil {
			break
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
	args = []string{"--config.file=" + s.file("out.yaml"), "--storage.tsdb.path=" + s.file("data"), "--web.listen-address=" + s.web, "--web.enable-lifecycle"}
	if s.prometheus, err = s.launchAny(s.discovery.prometheus, s.web, nil, args...); err != nil {
		return err
	}
	if err := s.prometheus.answering(ctx, "/-/ready"); err != nil {
		return fmt.Errorf("%w; the end of its log:\n%s", err, s.prometheus.tail())
	}
	kept, err := s.complete(ctx, s.prometheus)
	if err != nil {
		return fmt.Errorf("%w; the end of the log of Prometheus:\n%s", err, s.prometheus.tail())
	}
	s.say("%s: %d targets", s.mode, kept)
	return wait(ctx, 20*time.Second)
}

// measure measures both processes without changes and with them, and how long changes take to lists.
func (s *server) measure(ctx context.Context, out *phases, lists bool) (err error) {
	idle := func(ctx context.Context) error { return wait(ctx, s.length) }
	if out.idle, err = s.during(ctx, idle, s.prometheus, s.reloader); err != nil {
		return err
	}
	if out.busy, err = s.during(ctx, s.churn, s.prometheus, s.reloader); err != nil {
		return err
	}
	if lists {
		list := func(job int) string { return s.listURL(s.sd, job) }
		if out.busyTook, err = s.latencies(ctx, list, time.Duration(float64(time.Second)/s.rate)); err != nil {
			return err
		}
		if out.took, err = s.latencies(ctx, list, following); err != nil {
			return err
		}
	}
	used, err := s.prometheus.kernelUsage()
	if err != nil {
		return err
	}
	beside, err := s.reloader.kernelUsage()
	out.rss, out.reloaderRSS = used.rss, beside.rss
	return err
}

// stop stops what was started.
func (s *server) stop() (err error) {
	for _, p := range []*process{s.prometheus, s.reloader} {
		if p != nil {
			err = errors.Join(err, p.stop())
		}
	}
	return err
}

func threeAddresses() (a, b, c string, err error) {
	var errs [3]error
	a, errs[0] = ports.Address()
	b, errs[1] = ports.Address()
	c, errs[2] = ports.Address()
	return a, b, c, errors.Join(errs[:]...)
}

// complete waits until a server has a stable number of targets, about its part of all.
func (d *discovery) complete(ctx context.Context, p *process) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*patience)
	defer cancel()
	last, since := 0, time.Now()
	for {
		n := 0
		if err := p.metrics(ctx, map[string]*int{"prometheus_target_scrape_pool_targets": &n}); err != nil {
			return 0, err
		}
		if n != last {
			last, since = n, time.Now()
		}
		if last > d.jobs*d.endpoints/d.shards/2 && time.Since(since) > 15*time.Second {
			return last, nil
		}
		if err := wait(ctx, time.Second); err != nil {
			return 0, fmt.Errorf("%d targets: %w", last, err)
		}
	}
}

// addressOfShard returns the n-th address that hashes to the first shard.
func (d *discovery) addressOfShard(n int) string {
	step := &relabel.Config{SourceLabels: model.LabelNames{"__address__"}, Separator: ";", TargetLabel: "__tmp_hash", Modulus: uint64(d.shards), Action: relabel.HashMod, NameValidationScheme: model.UTF8Validation}
	for k := 0; ; k++ {
		address := fmt.Sprintf("10.%d.%d.%d", 201+k, n>>8, n&255)
		lb := labels.NewBuilder(labels.FromStrings("__address__", address+":8080"))
		if relabel.ProcessBuilder(lb, step) && lb.Get("__tmp_hash") == "0" {
			return address
		}
	}
}

// latencies changes one slice after the other, with a pause, and waits until the list of its job has the change.
func (d *discovery) latencies(ctx context.Context, list func(job int) string, pause time.Duration) (took []time.Duration, err error) {
	client := http.Client{Timeout: 10 * time.Second}
	for range d.samples {
		if err := wait(ctx, pause); err != nil {
			return nil, err
		}
		began := time.Now()
		job, err := d.change(ctx, d.addressOfShard)
		if err != nil {
			return nil, err
		}
		if err := listed(ctx, &client, list(job), d.addressOfShard(d.changed)+":8080"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began))
	}
	return took, nil
}

// followerOf is a pod that follows its list: the n-th of all shards.
func (d *discovery) followerOf(n int) (name, set string) {
	set = "prometheus-main"
	if shard := n % d.shards; shard > 0 {
		set = fmt.Sprintf("prometheus-main-shard-%d", shard)
	}
	return fmt.Sprintf("%s-%d", set, 1+n/d.shards), set
}
