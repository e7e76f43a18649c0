package integration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firekeeper-dev/firekeeper/internal/httpserver"
	"github.com/firekeeper-dev/firekeeper/internal/reload"
	"github.com/firekeeper-dev/firekeeper/internal/volume"
)

// ours is a fake pod with our reloaders on the ports 8080 and 8081. Its files are refreshed when a reloader is asked.
type ours struct {
	w               *environment
	namespace, name string

	mu    sync.Mutex
	asked int // requests to both reloaders
	found map[string]reload.Stamped
}

// serve serves on an address of this machine that is otherwise unused.
func (p *ours) serve(t *testing.T, ip string) {
	t.Helper()
	p.found = map[string]reload.Stamped{}
	for port, container := range map[string]string{"8080": "config-reloader", "8081": "rules-reloader"} {
		l, err := net.Listen("tcp", net.JoinHostPort(ip, port))
		if err != nil {
			t.Skipf("no pod can be imitated here: %v", err)
		}
		mux := http.NewServeMux()
		mux.HandleFunc("/api/v1/applied", func(w http.ResponseWriter, r *http.Request) {
			report, err := p.report(r, container)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			httpserver.WriteJSON(w, http.StatusOK, report)
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
}

// report returns what a reloader reports about the current Secrets and ConfigMaps that its container mounts.
func (p *ours) report(r *http.Request, container string) (reload.Report, error) {
	ctx := r.Context()
	pod, err := p.w.kube.CoreV1().Pods(p.namespace).Get(ctx, p.name, metav1.GetOptions{})
	if err != nil {
		return reload.Report{}, err
	}
	var content reload.Content
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
	for _, m := range pod.Spec.Containers[i].VolumeMounts {
		v := pod.Spec.Volumes[slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })]
		switch {
		case v.ConfigMap != nil:
			files := map[string][]byte{}
			cm, err := p.w.kube.CoreV1().ConfigMaps(p.namespace).Get(ctx, v.ConfigMap.Name, metav1.GetOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return reload.Report{}, err
			}
			for name, text := range cm.Data {
				files[name] = []byte(text)
			}
			content.Dirs = append(content.Dirs, volume.DirSum{Path: m.MountPath, SHA256: volume.SumFiles(files)})
		case v.Projected != nil:
			for _, source := range v.Projected.Sources {
				if source.Secret == nil {
					continue
				}
				secret, err := p.w.kube.CoreV1().Secrets(p.namespace).Get(ctx, source.Secret.Name, metav1.GetOptions{})
				if err != nil && !apierrors.IsNotFound(err) {
					return reload.Report{}, err
				}
				if text := secret.Data["prometheus.yaml.gz"]; text != nil {
					sum := sha256.Sum256(text)
					content.Files = append(content.Files, reload.FileSum{Input: m.MountPath, InputSHA256: hex.EncodeToString(sum[:])})
				}
			}
		}
	}
	content.Version = fmt.Sprint(content.Files, content.Dirs)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if p.found[container].Version != content.Version {
		p.found[container] = reload.Stamped{Content: content, Time: time.Now()}
	}
	current := p.found[container]
	applied := reload.Stamped{Content: content, Time: current.Time.Add(time.Millisecond)}
	return reload.Report{Ready: true, Current: &current, Targets: []reload.TargetReport{{Name: "server", Ready: true, Applied: &applied}}}, nil
}

// delivery is a part of the answer about a workload.
type delivery struct {
	Objects                   []struct{ Kind, Namespace, Name string }
	Events                    int
	Noticed, Started, Written time.Time
	Pods, Patches, Hidden     int
	Annotated, OnDisk, Loaded struct {
		Pods int
		At   time.Time
	}
}

// The operator shows how a change has reached the pods of a workload: with which object it began, and when each step was
// done. It asks the pods no more often for it.
func TestDeliveryOfAChange(t *testing.T) {
	w := start(t)
	t.Parallel()
	const ip = "127.93.7.8"
	w.apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: deliveries}")
	o := w.operator(t, "deliveries", "", "--controller-id=deliveries", "--web.api=open")
	ns := w.deployed(t, o, "deliveries")
	pod := &ours{w: w, namespace: ns, name: "prometheus-web-0"}
	pod.serve(t, ip)
	w.place(t, ns, pod.name, "deliveries")
	w.runs(t, ns, pod.name, ip, 0)
	w.waitFor(t, owner(ns, "web"), "is applied", func(o *unstructured.Unstructured) error {
		return hasCondition(o, "ConfigApplied", "True", "AllPodsApplied")
	})
	before := pod.requests()

	w.apply(t, podMonitor(ns, "more", "x"))
	var last delivery
	eventually(t, "the change is loaded", func() error {
		code, body := o.ask(t, "/apis/monitoring.coreos.com/v1/namespaces/"+ns+"/prometheuses/web/overview", "")
		var got struct{ Deliveries []delivery }
		if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Deliveries) == 0 {
			return fmt.Errorf("%d %s", code, body)
		}
		if last = got.Deliveries[0]; last.Loaded.Pods != 1 {
			return fmt.Errorf("%+v", last)
		}
		return nil
	})
	if len(last.Objects) != 1 || last.Objects[0].Kind != "PodMonitor" || last.Objects[0].Namespace != ns || last.Objects[0].Name != "more" || last.Events != 1 {
		t.Errorf("another object: %+v", last)
	}
	if last.Pods != 1 || last.Annotated.Pods != 1 || last.OnDisk.Pods != 1 || last.Patches < 1 {
		t.Errorf("pods: %+v", last)
	}
	steps := []time.Time{last.Noticed, last.Started, last.Written, last.Annotated.At, last.OnDisk.At, last.Loaded.At}
	if !slices.IsSortedFunc(steps, time.Time.Compare) || steps[0].IsZero() {
		t.Errorf("times: %v", steps)
	}
	waited := int(last.Loaded.At.Sub(last.Written) / time.Second) // a pod that takes longer is queried again, about once a second
	if requests := 2*last.Patches + waited; pod.requests()-before > requests {
		t.Errorf("%d requests to the reloaders for %d patches", pod.requests()-before, last.Patches)
	}
	if err := contains(o.log, "change delivered"); err != nil {
		t.Error(err)
	}
}

func (p *ours) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}
