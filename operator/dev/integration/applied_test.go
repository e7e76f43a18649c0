package integration

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// theirs is a fake pod with the reference's config-reloader: only metrics on port 8080, and the server on 9090.
type theirs struct {
	mu     sync.Mutex
	loaded bool
	at     time.Time
}

func (p *theirs) load(ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loaded = ok
	if ok {
		p.at = time.Now()
	}
}

// serve serves on an address of this machine that is otherwise unused.
func (p *theirs) serve(t *testing.T, ip string) {
	t.Helper()
	listen := func(port string, path, format string) {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, port))
		if err != nil {
			t.Skipf("no pod can be imitated here: %v", err)
		}
		mux := http.NewServeMux()
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			p.mu.Lock()
			defer p.mu.Unlock()
			ok := 0
			if p.loaded {
				ok = 1
			}
			fmt.Fprintf(w, format, ok, float64(p.at.UnixMilli())/1000, p.loaded, p.at.UTC().Format(time.RFC3339))
		})
		srv := &http.Server{Handler: mux}
		done := make(chan error, 1)
		go func() { done <- srv.Serve(l) }()
		t.Cleanup(func() {
			srv.Close()
			if err := <-done; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		})
	}
	listen("8080", "/metrics", "reloader_last_reload_successful %d\nreloader_last_reload_success_timestamp_seconds %g\n# %t %s\n")
	listen("9090", "/api/v1/status/runtimeinfo", `{"status":"success","unused":[%d,%g],"data":{"reloadConfigSuccess":%t,"lastConfigTime":%q}}`)
}

// For pods taken over from the reference, the condition ConfigApplied reports only what the reference's reloader
// exposes.
func TestConfigAppliedWithTheReferencesReloader(t *testing.T) {
	w := start(t)
	t.Parallel()
	const ip = "127.93.7.6"
	pod := &theirs{}
	pod.serve(t, ip)
	w.apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: theirs}")
	o := w.operator(t, "theirs", "", "--controller-id=theirs")
	ns := w.deployed(t, o, "theirs")
	w.place(t, ns, "prometheus-web-0", "theirs")
	restarts := int32(0)
	// restarted simulates a restart of the reloader, after which the pod is polled immediately instead of after up to
	// half a minute.
	restarted := func() {
		t.Helper()
		w.runs(t, ns, "prometheus-web-0", ip, restarts)
		restarts++
	}
	restarted()

	applied := func(status, reason, text string) {
		t.Helper()
		w.waitFor(t, owner(ns, "web"), "ConfigApplied is "+reason, func(o *unstructured.Unstructured) error {
			if err := hasCondition(o, "ConfigApplied", status, reason); err != nil {
				return err
			}
			if said := fmt.Sprint(o.Object["status"]); !strings.Contains(said, text) {
				return fmt.Errorf("it does not say %q: %s", text, said)
			}
			return nil
		})
	}
	pod.load(true)
	applied("True", "AllPodsReloaded", "its config-reloader does not report content; it reloaded successfully at")

	w.apply(t, podMonitor(ns, "more", "x")) // the pod does not reload
	applied("False", "WaitingForPods", "and not since the last change at")

	pod.load(false)
	restarted()
	applied("False", "ConfigurationRejected", "the server rejected the configuration of its last reload")

	pod.load(true)
	restarted()
	applied("True", "AllPodsReloaded", "after the last change")
}

// runs simulates a kubelet: it sets a pod to ready, with this number of restarts of its reloader.
func (w *environment) runs(t *testing.T, namespace, name, ip string, restarts int32) {
	t.Helper()
	eventually(t, "pod "+name+" runs", func() error {
		p, err := w.kube.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		p.Status.Phase, p.Status.PodIP, p.Status.PodIPs = corev1.PodRunning, ip, []corev1.PodIP{{IP: ip}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "config-reloader", Ready: true, RestartCount: restarts, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}}
		_, err = w.kube.CoreV1().Pods(namespace).UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
		return err
	})
}
