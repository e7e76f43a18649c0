package outages

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/web/central"
)

// replica is a replica of the discovery service.
type replica struct{ trial.Process }

var listening = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)( tls=true)?`)

// address returns where it listens for pods or for people, "" if it does not yet.
func (r *replica) address(pods bool) string {
	for _, found := range listening.FindAllStringSubmatch(r.Since(), -1) {
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

func get(url string, into any) error { return trial.Get(context.Background(), url, into) }

// startService starts two replicas, and waits for the CA.
func (w *environment) startService() {
	for i := range 2 {
		r := &replica{trial.Process{Name: fmt.Sprint("replica ", i), Env: []string{"KUBECONFIG=" + w.cluster.Kubeconfig}, Args: []string{
			w.operator, "--web.listen-address=127.0.0.1:0", "--leader-elect", "--leader-elect-namespace=firekeeper", "discovery", "--targets-listen-address=127.0.0.1:0",
			fmt.Sprint("--autoscaling-speed=", max(1, w.speed)),
		}}}
		w.replicas = append(w.replicas, r)
		w.t.Cleanup(r.Kill)
		r.Start(w.t)
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
func (w *environment) ready(r *replica) {
	w.t.Helper()
	within(w.t, time.Minute, r.Name+" is ready", func() error {
		r.Again(w.t)
		var text string
		return r.get("/readyz", &text)
	})
}

// leader returns the replica that leads.
func (w *environment) leader() (r *replica, status central.Status) {
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

func (w *environment) standby() *replica {
	leader, _ := w.leader()
	for _, r := range w.replicas {
		if r != leader {
			return r
		}
	}
	return nil
}

// newBalancer returns the Service as one pod reaches it.
func newBalancer(w *environment) *scene.Balancer {
	var next atomic.Int64
	b, err := scene.NewBalancer(func() string { return w.replicas[int(next.Add(1))%len(w.replicas)].address(true) })
	must(w.t, err)
	w.t.Cleanup(b.Close)
	return b
}
