package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
)

// phases is what a pod needed.
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
	p := &process{cmd: exec.Command(name, args...), url: "http://" + address, log: log, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = log, log, append(os.Environ(), env...)
	child.DiesWithUs(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	go func() {
		defer close(p.exited)
		_ = p.cmd.Wait() // its log shows how it exited
	}()
	return p, nil
}

// podNamed creates a pod of a shard.
func (d *discovery) podNamed(ctx context.Context, name, set string) error {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set, UID: "u", Controller: new(true)}}}}
	pod.Spec = corev1.PodSpec{NodeName: "n", ServiceAccountName: "prometheus", Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	_, err := d.bed.kube.CoreV1().Pods(demo).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// tokenOf returns a token of the ServiceAccount, bound to a pod for an audience if that is not empty.
func (d *discovery) tokenOf(ctx context.Context, pod, audience string) (string, error) {
	spec := authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(86400))}
	if audience != "" {
		p, err := d.bed.kube.CoreV1().Pods(demo).Get(ctx, pod, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		spec.Audiences, spec.BoundObjectRef = []string{audience}, &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod, UID: p.UID}
	}
	got, err := d.bed.kube.CoreV1().ServiceAccounts(demo).CreateToken(ctx, "prometheus", &authenticationv1.TokenRequest{Spec: spec}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return got.Status.Token, nil
}

// measureServer runs the first shard, with its own discovery or with a discovery service.
func (d *discovery) measureServer(ctx context.Context, mode string, s *service) (out *phases, err error) {
	web, sd, listen, err := threeAddresses()
	if err != nil {
		return nil, err
	}
	file := func(name string) string { return filepath.Join(d.dir, mode+"-"+name) }
	token, err := d.tokenOf(ctx, "", "")
	if err != nil {
		return nil, err
	}
	c := scene.Config{Prometheus: d.owner(mode), APIServer: d.bed.Host, TokenFile: file("api-token"), CAFile: d.bed.CAFile, Lists: sd}
	for i := range d.jobs {
		c.ServiceMonitors = append(c.ServiceMonitors, d.monitor(i))
	}
	text, err := c.Text()
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.WriteFile(file("api-token"), []byte(token), 0o600), os.WriteFile(file("in.yaml"), []byte(text), 0o600))
	if err != nil {
		return nil, err
	}
	args := []string{"--listen-address=" + listen, "--config-file=" + file("in.yaml"), "--config-envsubst-file=" + file("out.yaml"), "--reload-url=http://" + web + "/-/reload"}
	env := []string{"POD_NAME=prometheus-main-0", "SHARD=0"}
	if s != nil {
		balancer, err := scene.NewBalancer(func() string { return s.address })
		if err != nil {
			return nil, err
		}
		defer balancer.Close()
		if err := d.podNamed(ctx, "prometheus-main-0", "prometheus-main"); err != nil {
			return nil, err
		}
		if token, err = d.tokenOf(ctx, "prometheus-main-0", wellknown.DiscoveryAudience); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file("token"), []byte(token), 0o600); err != nil {
			return nil, err
		}
		env = append(env, "HTTPS_PROXY="+balancer.URL)
		args = append(args, "--targets-server=https://firekeeper-discovery.firekeeper.svc:8443", "--targets-token-file="+file("token"), "--targets-ca-file="+s.caFile,
			"--targets-listen="+sd, "--targets-file="+file("targets.json.gz"))
	}
	before, err := d.bed.load(ctx)
	if err != nil {
		return nil, err
	}
	reloader, err := d.launchAny(d.reloader, listen, env, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reloader.stop()) }()
	for {
		if _, err := os.Stat(file("out.yaml")); err == nil {
			break
		}
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	p, err := d.launchAny(d.prometheus, web, nil, "--config.file="+file("out.yaml"), "--storage.tsdb.path="+file("data"), "--web.listen-address="+web, "--web.enable-lifecycle")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := p.answering(ctx, "/-/ready"); err != nil {
		return nil, fmt.Errorf("%w; the end of its log:\n%s", err, p.tail())
	}
	kept, err := d.complete(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("%w; the end of the log of Prometheus:\n%s", err, p.tail())
	}
	d.say("%s: %d targets", mode, kept)
	if err := wait(ctx, 20*time.Second); err != nil {
		return nil, err
	}
	now, err := d.bed.load(ctx)
	if err != nil {
		return nil, err
	}
	out = &phases{load: load{now.watches - before.watches, now.bytes - before.bytes}}
	if out.idle, err = d.during(ctx, func(ctx context.Context) error { return wait(ctx, d.length) }, p, reloader); err != nil {
		return nil, err
	}
	if out.busy, err = d.during(ctx, d.churn, p, reloader); err != nil {
		return nil, err
	}
	if s != nil {
		if out.busyTook, err = d.latencies(ctx, sd, time.Duration(float64(time.Second)/d.rate)); err != nil {
			return nil, err
		}
		if out.took, err = d.latencies(ctx, sd, following); err != nil {
			return nil, err
		}
	}
	server, err := p.kernelUsage()
	if err != nil {
		return nil, err
	}
	beside, err := reloader.kernelUsage()
	out.rss, out.reloaderRSS = server.rss, beside.rss
	return out, err
}

func threeAddresses() (a, b, c string, err error) {
	var errs [3]error
	a, errs[0] = freeAddress()
	b, errs[1] = freeAddress()
	c, errs[2] = freeAddress()
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

// latencies changes one slice after the other, with a pause, and waits until the list on loopback has the change.
func (d *discovery) latencies(ctx context.Context, sd string, pause time.Duration) (took []time.Duration, err error) {
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
		want := []byte(d.addressOfShard(d.changed) + ":8080")
		for {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, d.listURL(sd, job), nil)
			if err != nil {
				return nil, err
			}
			resp, err := client.Do(req)
			if err != nil {
				return nil, err
			}
			var body bytes.Buffer
			_, err = body.ReadFrom(resp.Body)
			if err := errors.Join(err, resp.Body.Close()); err != nil {
				return nil, err
			}
			if bytes.Contains(body.Bytes(), want) {
				break
			}
			if time.Since(began) > patience {
				return nil, fmt.Errorf("the list of job %d never has %s: %.200s", job, want, strings.TrimSpace(body.String()))
			}
			if err := wait(ctx, 2*time.Millisecond); err != nil {
				return nil, err
			}
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
