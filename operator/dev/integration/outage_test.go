package integration

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
)

// line is a proxy between operators and the API server that can be cut.
type line struct {
	listener net.Listener
	target   string

	scene.Connections

	wait sync.WaitGroup
}

// newLine returns a line and a kubeconfig that uses it.
func (w *environment) newLine(t *testing.T) (*line, string) {
	t.Helper()
	text, err := os.ReadFile(w.cluster.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), w.cluster.Host) {
		t.Fatalf("the kubeconfig does not name %s", w.cluster.Host)
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	through := strings.ReplaceAll(string(text), w.cluster.Host, "https://"+listener.Addr().String())
	if err := os.WriteFile(file, []byte(through), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, target: strings.TrimPrefix(w.cluster.Host, "https://")}
	l.wait.Go(l.serve)
	t.Cleanup(func() {
		listener.Close()
		l.Cut(true)
		l.wait.Wait()
	})
	return l, file
}

func (l *line) serve() {
	for {
		from, err := l.listener.Accept()
		if err != nil {
			return
		}
		if !l.Keep(from) {
			continue
		}
		l.wait.Go(func() {
			defer l.Drop(from)
			to, err := net.Dial("tcp", l.target)
			if err != nil || !l.Keep(to) {
				return
			}
			defer l.Drop(to)
			l.Join(from, from, to)
		})
	}
}

// Two or three replicas lose the connection to the API server. A leader that cannot renew its Lease exits before
// another one may lead. Afterwards there is a leader again; there is never more than one writer, and no change is lost.
func TestReplicasWithoutAPIServer(t *testing.T) {
	w := start(t)
	t.Parallel()
	r := w.newReplicas(t)
	var l *line
	l, r.kubeconfig = w.newLine(t)
	first := r.launch(t)
	r.leader(t)
	ns := w.deployed(t, first, r.ns)
	w.apply(t, podMonitor(ns, "churn", "x"))
	want := []string{"serviceMonitor/" + ns + "/app/0", "podMonitor/" + ns + "/churn/0"}
	w.jobs(t, ns, "web", want...)
	before, err := w.kube.AppsV1().StatefulSets(ns).Get(t.Context(), "prometheus-web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rest := w.churn(t, ns)
	for round := range 3 {
		for len(r.running) < 2+round/2 {
			r.launch(t)
		}
		leader := r.leader(t)
		r.leaves(leader)
		l.Cut(true)
		leader.fails(t)
		name := fmt.Sprintf("while-away-%d", round)
		w.apply(t, podMonitor(ns, name, "x"))
		want = append(want, "podMonitor/"+ns+"/"+name+"/0")
		l.Cut(false)
		began := time.Now()
		r.leader(t)
		t.Logf("%d left: one leads %s after the API server is back", len(r.running), time.Since(began).Round(10*time.Millisecond))
		w.jobs(t, ns, "web", want...)
	}
	rest()
	r.leader(t).settle(t)
	w.isUnchanged(t, before)
	r.oneWriter(t)
}
