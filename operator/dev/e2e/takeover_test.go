package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// referenceManager is the field manager of the reference operator.
	referenceManager = "PrometheusOperator"
	// referenceHash is the input hash that the reference operator left on the StatefulSet.
	referenceHash = "5870143512343827541"
)

var (
	takenPods   = []string{"prometheus-k8s-0", "prometheus-k8s-1"}
	takenGroups = []string{"first", "second"}
)

func takenJobs(s space) []string {
	job := "serviceMonitor/" + s.name + "/prometheus-k8s/"
	return []string{job + "0", job + "1"}
}

// In a cluster where the reference operator has written everything, the operator with the layout of the reference takes
// over without recreating anything.
func TestTakeoverSingleLayout(t *testing.T) {
	n := start(t)
	t.Parallel()
	s := n.space(t, "takeover-single")
	s.writeAsReference(t, "kube-prometheus", "prometheus", "k8s")
	pods := s.rolledOut(t, "k8s", takenPods...)
	set, secret, service := s.statefulSet(t, "prometheus-k8s"), s.secret(t, "prometheus-k8s"), s.service(t)
	rules := s.ruleFiles(t)
	g := s.guard(t, takenGroups, takenJobs(s), takenPods...)

	s.operatorOf(t, "--reloader-layout=single")
	s.adopted(t)

	t.Run("the StatefulSet is adopted in place", func(t *testing.T) {
		now := s.statefulSet(t, "prometheus-k8s")
		if now.UID != set.UID || now.Generation != set.Generation {
			t.Errorf("it was changed: generation %d, was %d, same object %v\n%s", now.Generation, set.Generation, now.UID == set.UID, cmp.Diff(set.Spec, now.Spec))
		}
		if diff := cmp.Diff(set.Labels, now.Labels) + cmp.Diff(set.OwnerReferences, now.OwnerReferences); diff != "" {
			t.Error(diff)
		}
		if now.Status.UpdateRevision != set.Status.UpdateRevision {
			t.Errorf("revision %s, was %s", now.Status.UpdateRevision, set.Status.UpdateRevision)
		}
	})
	t.Run("Secrets, ConfigMaps and the Service are adopted in place", func(t *testing.T) {
		now := s.secret(t, "prometheus-k8s")
		if now.UID != secret.UID {
			t.Error("the Secret is another one")
		}
		if diff := cmp.Diff(unzip(t, secret), unzip(t, now)); diff != "" {
			t.Errorf("the configuration differs: reference -, ours +\n%s", diff)
		}
		if diff := cmp.Diff(rules, s.ruleFiles(t), sameObject); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(service, s.service(t), sameObject); diff != "" {
			t.Error(diff)
		}
		s.onlyTheseRemain(t)
	})
	t.Run("changes flow", func(t *testing.T) { s.changeFlows(t) })
	t.Run("no pod restarted", func(t *testing.T) {
		now, err := s.pods(t.Context(), "k8s")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(identities(pods), identities(now)); diff != "" {
			t.Error(diff)
		}
	})
	g.end(t)
}

// All pod settings of an object are written as the reference writes them. The StatefulSets have no pods; it is
// sufficient that they are not updated except for the hash.
func TestTakeoverChangesNoSet(t *testing.T) {
	for files, tc := range map[string]struct {
		kind, name string
		sets       []string
	}{
		"everything": {"prometheus", "every", []string{"prometheus-every", "prometheus-every-shard-1"}},
		"agent":      {"prometheusagent", "edge", []string{"prom-agent-edge"}},
	} {
		t.Run(files, func(t *testing.T) {
			n := start(t)
			t.Parallel()
			s := n.space(t, "takeover-"+files)
			s.writeAsReference(t, files, tc.kind, tc.name)
			before := map[string]*appsv1.StatefulSet{}
			for _, name := range tc.sets {
				before[name] = s.statefulSet(t, name)
			}
			contents := s.contents(t)
			s.operatorOf(t, "--reloader-layout=single")
			for _, name := range tc.sets {
				until(t, "adoption of "+name, patience, func(context.Context) (bool, error) {
					return s.statefulSet(t, name).Annotations["prometheus-operator-input-hash"] != referenceHash, nil
				})
				now := s.statefulSet(t, name)
				if diff := cmp.Diff(before[name].Spec, now.Spec); diff != "" || now.Generation != before[name].Generation || now.UID != before[name].UID {
					t.Errorf("%s: reference -, ours +\n%s", name, diff)
				}
				if diff := cmp.Diff(before[name].Labels, now.Labels); diff != "" {
					t.Errorf("labels of %s: reference -, ours +\n%s", name, diff)
				}
			}
			if diff := cmp.Diff(contents, s.contents(t)); diff != "" {
				t.Errorf("other objects: reference -, ours +\n%s", diff)
			}
		})
	}
}

// The same for an agent in DaemonSet mode, whose DaemonSet has no hash.
func TestTakeoverChangesNoDaemonSet(t *testing.T) {
	n := start(t)
	t.Parallel()
	s := n.space(t, "takeover-node")
	s.writeAsReference(t, "node-agent", "prometheusagent", "node")
	get := func() *appsv1.DaemonSet {
		set, err := s.kube.AppsV1().DaemonSets(s.name).Get(t.Context(), "prom-agent-node", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	before, contents := get(), s.contents(t)
	s.operatorOf(t, "--reloader-layout=single", "--feature-gates=PrometheusAgentDaemonSet=true")
	until(t, "adoption", patience, func(context.Context) (bool, error) {
		got := s.in(t, "get", "prometheusagent", "node", "-o", `jsonpath={.status.conditions[?(@.type=="Reconciled")].status}`)
		return got == "True", fmt.Errorf("Reconciled is %q", got)
	})
	now := get()
	now.Status, now.ResourceVersion = before.Status, before.ResourceVersion // written by the DaemonSet controller
	if diff := cmp.Diff(before, now, sameObject); diff != "" {
		t.Errorf("reference -, ours +\n%s", diff)
	}
	if diff := cmp.Diff(contents, s.contents(t)); diff != "" {
		t.Errorf("other objects: reference -, ours +\n%s", diff)
	}
}

// contents returns the versions of the Secrets, ConfigMaps and Services in a namespace, without the configuration,
// which may be compressed differently.
func (s space) contents(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, pair := range strings.Fields(s.in(t, "get", "secrets,configmaps,services", "-l", "managed-by=prometheus-operator",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name}={.metadata.resourceVersion} {end}`)) {
		name, version, _ := strings.Cut(pair, "=")
		if !slices.Contains([]string{"Secret/prometheus-every", "Secret/prom-agent-edge", "Secret/prom-agent-node"}, name) {
			out[name] = version
		}
	}
	return out
}

// The default layout has an additional container. The takeover causes one announced rolling update, during which there
// is always a complete server.
func TestTakeoverSplitLayout(t *testing.T) {
	n := start(t)
	t.Parallel()
	s := n.space(t, "takeover-split")
	s.writeAsReference(t, "kube-prometheus", "prometheus", "k8s")
	pods := s.rolledOut(t, "k8s", takenPods...)
	set := s.statefulSet(t, "prometheus-k8s")
	g := s.guard(t, takenGroups, takenJobs(s), takenPods...)
	seen := s.watchPods(t)

	s.operatorOf(t)
	until(t, "new revision", patience, func(context.Context) (bool, error) {
		return s.statefulSet(t, "prometheus-k8s").Status.UpdateRevision != set.Status.UpdateRevision, nil
	})
	s.adopted(t)
	after := s.rolledOut(t, "k8s", takenPods...)
	s.changeFlows(t)
	g.end(t)

	t.Run("exactly one rolling update", func(t *testing.T) {
		now := s.statefulSet(t, "prometheus-k8s")
		if now.UID != set.UID || now.Generation != set.Generation+1 {
			t.Errorf("generation %d, was %d, same object %v", now.Generation, set.Generation, now.UID == set.UID)
		}
		revisions, err := s.kube.AppsV1().ControllerRevisions(s.name).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(revisions.Items) != 2 {
			t.Errorf("%d revisions, want 2 (%v)", len(revisions.Items), err)
		}
		want := map[string][]string{}
		for i, name := range takenPods {
			want[name] = []string{string(pods[i].UID), string(after[i].UID)}
		}
		if diff := cmp.Diff(want, seen()); diff != "" {
			t.Errorf("pods: want -, seen +\n%s", diff)
		}
	})
	t.Run("only the announced changes", func(t *testing.T) {
		old, now := set.Spec.Template.Spec, s.statefulSet(t, "prometheus-k8s").Spec.Template.Spec
		if diff := cmp.Diff([]string{"prometheus", "config-reloader", "rules-reloader"}, containerNames(now.Containers)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(old.Containers[0], now.Containers[0]); diff != "" {
			t.Errorf("container prometheus: was -, is +\n%s", diff)
		}
		if diff := cmp.Diff(mountPaths(old.Containers[1], "/etc/prometheus/config"), mountPaths(now.Containers[1], "/etc/prometheus/config")); diff != "" {
			t.Errorf("configuration in config-reloader: was -, is +\n%s", diff)
		}
		// The configuration may be projected from several Secrets.
		config := slices.IndexFunc(now.Volumes, func(v corev1.Volume) bool { return v.Name == "config" })
		if config < 0 || now.Volumes[config].Projected == nil || now.Volumes[config].Projected.Sources[0].Secret.Name != "prometheus-k8s" {
			t.Fatalf("volumes %v", now.Volumes)
		}
		now.Volumes[config] = old.Volumes[0]
		// TLS files may be projected from Secrets that do not exist yet.
		files := slices.IndexFunc(now.Volumes, func(v corev1.Volume) bool { return v.Name == "tls-assets" })
		was := slices.IndexFunc(old.Volumes, func(v corev1.Volume) bool { return v.Name == "tls-assets" })
		if files != was || now.Volumes[files].Projected == nil || now.Volumes[files].Projected.Sources[0].Secret.Name != "prometheus-k8s-tls-assets-0" {
			t.Fatalf("volumes %v", now.Volumes)
		}
		now.Volumes[files] = old.Volumes[was]
		now.Containers, now.InitContainers = old.Containers, old.InitContainers
		if diff := cmp.Diff(old, now); diff != "" {
			t.Errorf("pod: was -, is +\n%s", diff)
		}
	})
}

// mountPaths returns the mount paths of a container at or below a folder.
func mountPaths(c corev1.Container, folder string) (out []string) {
	for _, m := range c.VolumeMounts {
		if m.MountPath == folder || strings.HasPrefix(m.MountPath, folder+"/") {
			out = append(out, m.MountPath)
		}
	}
	return out
}

// sameObject ignores the fields that an update with the same content may change.
var sameObject = cmp.FilterPath(func(p cmp.Path) bool {
	name := p.Last().String()
	return name == ".ManagedFields"
}, cmp.Ignore())

// operatorOf starts the operator of the namespace.
func (s space) operatorOf(t *testing.T, args ...string) *operator {
	t.Helper()
	return s.operator(t, s.name, append([]string{
		"--prometheus-config-reloader=docker.io/firekeeper/config-reloader:" + imageTag(t),
	}, args...)...)
}

// writeAsReference creates the user's objects of a set of files in testdata/takeover, and the objects that the
// reference operator generates for them.
func (s space) writeAsReference(t *testing.T, files, kind, name string) {
	t.Helper()
	s.apply(t, manifests(t, "takeover/"+files+".user.yaml"))
	uid := func(kind, name string) string {
		return s.in(t, "get", kind, name, "--ignore-not-found", "-o", "jsonpath={.metadata.uid}")
	}
	config := ""
	if files == "kube-prometheus" {
		config = s.fill(manifests(t, "takeover/kube-prometheus.config.yaml"))
	}
	written := s.fill(manifests(t, "takeover/"+files+".written.yaml"),
		"COMPRESSED", base64.StdEncoding.EncodeToString(zip(t, config)),
		"OWNER-UID", uid(kind, name), "RULE-UID", uid("prometheusrule", "rules"), "VERSION", imageTag(t), "HASH", referenceHash)
	if out, err := s.KubectlInput(t.Context(), []byte(written), "create", "--field-manager="+referenceManager, "-f", "-"); err != nil {
		t.Fatal(err, string(out))
	}
}

// adopted waits until the operator has written the StatefulSet and reported it in the status.
func (s space) adopted(t *testing.T) {
	t.Helper()
	until(t, "adoption", patience, func(context.Context) (bool, error) {
		hash := s.statefulSet(t, "prometheus-k8s").Annotations["prometheus-operator-input-hash"]
		status := s.in(t, "get", "prometheus", "k8s", "-o", `jsonpath={.status.conditions[?(@.type=="Reconciled")].status}`)
		return hash != referenceHash && status == "True", fmt.Errorf("hash %s, Reconciled is %s", hash, status)
	})
}

// changeFlows changes a rule and a monitor and waits until both servers run them.
func (s space) changeFlows(t *testing.T) {
	t.Helper()
	s.in(t, "patch", "prometheusrule", "rules", "--type=json", "-p",
		`[{"op":"add","path":"/spec/groups/0/rules/-","value":{"record":"e2e:new","expr":"vector(42)"}}]`)
	s.in(t, "patch", "servicemonitor", "prometheus-k8s", "--type=merge", "-p", `{"spec":{"targetLabels":["e2e_new"]}}`)
	s.runs(t, "vector(42)", "e2e_new", takenPods...)
}

// onlyTheseRemain checks that the namespace has exactly the objects of the reference.
func (s space) onlyTheseRemain(t *testing.T) {
	t.Helper()
	got := strings.Fields(s.in(t, "get", "secrets,configmaps,services,statefulsets", "-l", "managed-by=prometheus-operator",
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name}{"\n"}{end}`))
	slices.Sort(got)
	if diff := cmp.Diff([]string{
		"ConfigMap/prometheus-k8s-rulefiles-0", "Secret/prometheus-k8s", "Secret/prometheus-k8s-thanos-prometheus-http-client-file",
		"Secret/prometheus-k8s-tls-assets-0", "Secret/prometheus-k8s-web-config", "Service/prometheus-operated", "StatefulSet/prometheus-k8s",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// watchPods watches the pods of the namespace. The returned function returns all UIDs of each pod, in order.
func (s space) watchPods(t *testing.T) func() map[string][]string {
	t.Helper()
	w, err := s.kube.CoreV1().Pods(s.name).Watch(t.Context(), metav1.ListOptions{TimeoutSeconds: new(int64(3600))})
	if err != nil {
		t.Fatal(err)
	}
	seen, ended := map[string][]string{}, make(chan struct{})
	var stopped atomic.Bool
	go func() {
		defer close(ended)
		for e := range w.ResultChan() {
			p, ok := e.Object.(*corev1.Pod)
			if !ok {
				if !stopped.Load() { // the end of the stream is also an error
					t.Errorf("watch of pods: %v", e.Object)
				}
				return
			}
			if !slices.Contains(seen[p.Name], string(p.UID)) {
				seen[p.Name] = append(seen[p.Name], string(p.UID))
			}
		}
	}()
	stop := func() { stopped.Store(true); w.Stop(); <-ended }
	t.Cleanup(stop)
	return func() map[string][]string { stop(); return seen }
}

func (s space) secret(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	secret, err := s.kube.CoreV1().Secrets(s.name).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func (s space) service(t *testing.T) *corev1.Service {
	t.Helper()
	service, err := s.kube.CoreV1().Services(s.name).Get(t.Context(), "prometheus-operated", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func (s space) ruleFiles(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	cm, err := s.kube.CoreV1().ConfigMaps(s.name).Get(t.Context(), "prometheus-k8s-rulefiles-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cm
}

func containerNames(containers []corev1.Container) (names []string) {
	for _, c := range containers {
		names = append(names, c.Name)
	}
	return names
}

func zip(t *testing.T, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func unzip(t *testing.T, secret *corev1.Secret) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(secret.Data["prometheus.yaml.gz"]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// imageTag returns the tag of the project's images.
func imageTag(t *testing.T) string {
	t.Helper()
	version, err := os.ReadFile(filepath.Join(root(), ".version"))
	if err != nil {
		t.Fatal(err)
	}
	return "v" + strings.TrimSpace(string(version))
}
