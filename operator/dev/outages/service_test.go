package outages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
	"github.com/firekeeper-dev/firekeeper/operator/web/central"
)

// process is a program that can be killed and started again with the same arguments.
type process struct {
	w    *world
	name string
	args []string
	env  []string
	log  logtest.Log

	mu    sync.Mutex
	cmd   *exec.Cmd
	done  chan struct{} // closed when cmd has ended
	since int           // length of the log when it was last started
}

func command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	child.DiesWithUs(cmd)
	return cmd
}

// start starts it.
func (p *process) start() {
	p.w.t.Helper()
	cmd, done := command(p.args[0], p.args[1:]...), make(chan struct{})
	cmd.Env = append(os.Environ(), p.env...)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	p.mu.Lock()
	defer p.mu.Unlock()
	p.since = len(p.log.String())
	must(p.w.t, cmd.Start())
	go func() { _ = cmd.Wait(); close(done) }() // it is killed
	p.cmd, p.done = cmd, done
}

// current returns the running program, nil if there is none, and its log.
func (p *process) current() (cmd *exec.Cmd, done chan struct{}, log string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return nil, nil, ""
	}
	select {
	case <-p.done:
		return nil, nil, ""
	default:
		return p.cmd, p.done, p.log.String()[p.since:]
	}
}

// kill kills it with SIGKILL, and waits until it is gone.
func (p *process) kill() {
	if cmd, done, _ := p.current(); cmd != nil {
		_ = cmd.Process.Kill() // unless it has just ended
		<-done
	}
}

// again starts it unless it runs, like a kubelet.
func (p *process) again() {
	p.w.t.Helper()
	if cmd, _, _ := p.current(); cmd == nil {
		p.start()
	}
}

func (p *process) signal(s syscall.Signal) {
	if cmd, _, _ := p.current(); cmd != nil {
		must(p.w.t, cmd.Process.Signal(s))
	}
}

// replica is a replica of the discovery service.
type replica struct{ process }

var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)( tls=true)?`)

// address returns where it listens for pods or for people, "" if it does not yet.
func (r *replica) address(pods bool) string {
	_, _, log := r.current()
	for _, found := range listening.FindAllStringSubmatch(log, -1) {
		if (found[2] != "") == pods {
			return found[1]
		}
	}
	return ""
}

// get decodes a JSON page.
func (r *replica) get(path string, into any) error {
	address := r.address(false)
	if address == "" {
		return errors.New("it does not listen")
	}
	return get("http://"+address+path, into)
}

func get(url string, into any) error {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	if text, is := into.(*string); is || err != nil {
		if is {
			*text = string(body)
		}
		return err
	}
	return json.Unmarshal(body, into)
}

// startService starts two replicas, and waits for the CA.
func (w *world) startService() {
	for i := range 2 {
		r := &replica{process: process{w: w, name: fmt.Sprint("replica ", i), env: []string{"KUBECONFIG=" + w.cluster.Kubeconfig}, args: []string{
			w.operator, "--web.listen-address=127.0.0.1:0", "--leader-elect", "--leader-elect-namespace=firekeeper", "discovery", "--targets-listen-address=127.0.0.1:0",
		}}}
		w.replicas = append(w.replicas, r)
		w.t.Cleanup(r.kill)
		r.start()
		w.ready(r)
	}
	within(w.t, time.Minute, "the CA of the service", func() error {
		c, err := w.kube.CoreV1().ConfigMaps("firekeeper").Get(w.t.Context(), "firekeeper-discovery-ca", metav1.GetOptions{})
		if err == nil && c.Data["ca.crt"] == "" {
			err = errors.New("no certificate")
		}
		if err == nil {
			err = os.WriteFile(w.caFile, []byte(c.Data["ca.crt"]), 0o600)
		}
		return err
	})
}

// ready waits until a replica is ready.
func (w *world) ready(r *replica) {
	w.t.Helper()
	within(w.t, time.Minute, r.name+" is ready", func() error {
		r.again()
		var text string
		return r.get("/readyz", &text)
	})
}

// leader returns the replica that leads.
func (w *world) leader() (r *replica, status central.Status) {
	w.t.Helper()
	within(w.t, time.Minute, "a leader", func() error {
		for _, r = range w.replicas {
			status = central.Status{}
			if err := r.get("/status.json", &status); err == nil && status.Leads {
				return nil
			}
		}
		return errors.New("none leads")
	})
	return r, status
}

func (w *world) standby() *replica {
	leader, _ := w.leader()
	for _, r := range w.replicas {
		if r != leader {
			return r
		}
	}
	return nil
}

// newBalancer returns the Service as one pod reaches it.
func newBalancer(w *world) *scene.Balancer {
	var next atomic.Int64
	b, err := scene.NewBalancer(func() string { return w.replicas[int(next.Add(1))%len(w.replicas)].address(true) })
	must(w.t, err)
	w.t.Cleanup(b.Close)
	return b
}
