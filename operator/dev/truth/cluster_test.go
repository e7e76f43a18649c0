package truth

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Main(m)) }

// account is the folder with the token and the CA certificate in a pod.
const account = "/var/run/secrets/kubernetes.io/serviceaccount/"

// Targets match for the monitors of kube-prometheus in a real API server, whose controllers create the EndpointSlices.
// Prometheus has the permissions of its ServiceAccount; an additional monitor selects a namespace where it has none.
func TestKubePrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Kubernetes control plane, which -short leaves out")
	}
	folder := kubePrometheus(t)
	all := releases(t)
	c := clustertest.Shared(t, cluster.Options{ControllerManager: true})
	config := &rest.Config{Host: c.Host, BearerToken: c.Token, QPS: -1, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w := install(t, kube, folder)
	tenant := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "web"}, Spec: v1.ServiceMonitorSpec{Endpoints: []v1.Endpoint{{Port: "http"}}}}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "web"},
		Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}}}}
	create(t, kube, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant"}})
	create(t, kube, service)
	runPods(t, kube, service, 9)
	w.services = append(w.services, tenant)

	token, err := kube.CoreV1().ServiceAccounts(w.prometheus.Namespace).CreateToken(t.Context(), w.prometheus.Spec.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ca, err := os.ReadFile(c.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"token": token.Status.Token, "ca.crt": string(ca), "kubeconfig": fmt.Sprintf(
		"apiVersion: v1\nkind: Config\nclusters: [{name: a, cluster: {server: %q, certificate-authority: ca.crt}}]\nusers: [{name: a, user: {tokenFile: token}}]\n"+
			"contexts: [{name: a, context: {cluster: a, user: a}}]\ncurrent-context: a\n", c.Host)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, release := range all {
		t.Run(release.version, func(t *testing.T) {
			compiled, rejected := w.compile(t, release.version)
			if len(rejected) > 0 {
				t.Fatal(rejected)
			}
			asked := lister.Cluster{Kube: kube}
			forbiddenInTenant(t, asked, &compiled, w)
			ours, states := compiled.ours(t.Context(), t, asked, w.prometheus.Namespace, w.prometheus.Spec.ServiceAccountName)
			text := strings.ReplaceAll(merge(t, compiled.forShard(t, 0, filepath.Join(dir, "kubeconfig"), w.prometheus.Namespace)), account, dir+"/")
			got := settle(t, []server{release.run(t, text)}, ours)
			if diff := cmp.Diff(got[0], ours[0]); diff != "" {
				t.Errorf("(-Prometheus +ours)\n%s", diff)
			}
			t.Logf("%d jobs with targets, states %v", len(ours[0]), states)
			if states[targets.Kept] < 10 || states[targets.Forbidden] == 0 {
				t.Errorf("states %v", states)
			}
		})
	}
}

// forbiddenInTenant checks that the result for the monitor without permissions is Forbidden instead of no targets.
func forbiddenInTenant(t *testing.T, asked lister.Cluster, c *compiled, w *input) {
	t.Helper()
	for _, job := range c.jobs(t, -1) {
		if job.Name != "serviceMonitor/tenant/web/0" {
			continue
		}
		found, err := asked.Find(t.Context(), []targets.Job{job}, lister.Workload{Namespace: w.prometheus.Namespace, ServiceAccount: w.prometheus.Spec.ServiceAccountName})
		if err != nil {
			t.Fatal(err)
		}
		const want = "Prometheus discovers no targets of role endpointslice in namespace tenant: ServiceAccount monitoring/prometheus-k8s may not list and watch " +
			"endpointslices.discovery.k8s.io in namespace tenant; allow it with a Role in that namespace"
		result := job.Evaluate(found.Found[0])
		if len(result.Rows) != 3 || result.Rows[0].State != targets.Forbidden || result.Rows[0].Message != want {
			t.Errorf("%+v", result.Rows)
		}
		return
	}
	t.Error("the monitor has no job")
}

// kubePrometheus returns the folder with the manifests of kube-prometheus, next to the checkout. It skips the test if
// there is none.
func kubePrometheus(t *testing.T) string {
	t.Helper()
	root := os.Getenv("FIREKEEPER_SHARED")
	if root == "" {
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if _, err := os.Stat(filepath.Join(dir, "shared", "real")); err == nil {
				root = filepath.Join(dir, "shared")
				break
			}
		}
	}
	path := filepath.Join(root, "real", "kube-prometheus")
	if _, err := os.Stat(path); err != nil {
		t.Skip("no manifests of kube-prometheus beside the checkout; set FIREKEEPER_SHARED")
	}
	return path
}

// install creates the objects that matter to discovery and permissions, and pods for the Services.
func install(t *testing.T, kube kubernetes.Interface, folder string) *input {
	t.Helper()
	w := &input{prometheus: &v1.Prometheus{}, endpointSlices: true}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	for i := range 3 {
		create(t, kube, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%d", i), Labels: map[string]string{"topology.kubernetes.io/zone": "a"}}})
	}
	var services []*corev1.Service
	objects := map[string][]runtime.Object{} // by kind, because namespaces are created first
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var head metav1.TypeMeta
		if err := yaml.Unmarshal(text, &head); err != nil {
			t.Fatal(err)
		}
		switch head.Kind {
		case "Prometheus":
			err = yaml.UnmarshalStrict(text, w.prometheus)
		case "ServiceMonitor":
			m := &v1.ServiceMonitor{}
			err = yaml.UnmarshalStrict(text, m)
			w.services = append(w.services, m)
		case "Namespace", "Service", "ServiceAccount", "Role", "RoleBinding", "RoleList", "RoleBindingList", "ClusterRole", "ClusterRoleBinding":
			var o runtime.Object
			o, _, err = scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
			objects[head.Kind] = append(objects[head.Kind], o)
			if service, ok := o.(*corev1.Service); ok {
				services = append(services, service)
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	for _, o := range objects["Namespace"] {
		create(t, kube, o)
	}
	delete(objects, "Namespace")
	for _, all := range objects {
		for _, o := range all {
			create(t, kube, o)
		}
	}
	for i, service := range services {
		runPods(t, kube, service, i)
	}
	return w
}

// create creates an object or the items of a list.
func create(t *testing.T, kube kubernetes.Interface, o runtime.Object) {
	t.Helper()
	ctx, none := t.Context(), metav1.CreateOptions{}
	if meta.IsListType(o) {
		if err := meta.EachListItem(o, func(item runtime.Object) error {
			create(t, kube, item)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return
	}
	var err error
	switch o := o.(type) {
	case *corev1.Namespace:
		_, err = kube.CoreV1().Namespaces().Create(ctx, o, none)
	case *corev1.Node:
		_, err = kube.CoreV1().Nodes().Create(ctx, o, none)
	case *corev1.Service:
		_, err = kube.CoreV1().Services(o.Namespace).Create(ctx, o, none)
	case *corev1.ServiceAccount:
		_, err = kube.CoreV1().ServiceAccounts(o.Namespace).Create(ctx, o, none)
	case *rbacv1.Role:
		_, err = kube.RbacV1().Roles(o.Namespace).Create(ctx, o, none)
	case *rbacv1.RoleBinding:
		_, err = kube.RbacV1().RoleBindings(o.Namespace).Create(ctx, o, none)
	case *rbacv1.ClusterRole:
		_, err = kube.RbacV1().ClusterRoles().Create(ctx, o, none)
	case *rbacv1.ClusterRoleBinding:
		_, err = kube.RbacV1().ClusterRoleBindings().Create(ctx, o, none)
	default:
		t.Fatalf("a %T is not created", o)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// runPods creates pods for a Service with the status of running pods, and waits until their addresses are in the
// EndpointSlices.
func runPods(t *testing.T, kube kubernetes.Interface, service *corev1.Service, net int) {
	t.Helper()
	const pods = 3
	container := corev1.Container{Name: "server", Image: "i"}
	for i, port := range service.Spec.Ports {
		name := port.TargetPort.StrVal
		if name == "" {
			name = port.Name
		}
		container.Ports = append(container.Ports, corev1.ContainerPort{Name: name, ContainerPort: int32(8000 + i)})
	}
	api := kube.CoreV1().Pods(service.Namespace)
	for i := range pods {
		labels := maps.Clone(service.Spec.Selector)
		labels["i"] = fmt.Sprint(i)
		pod, err := api.Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: fmt.Sprintf("%s-%d", service.Name, i), Labels: labels},
			Spec: corev1.PodSpec{NodeName: fmt.Sprintf("n%d", i), Containers: []corev1.Container{container}, AutomountServiceAccountToken: new(false)}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ip := fmt.Sprintf("10.%d.0.%d", net, i)
		pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}}, HostIP: "10.9.0.1", HostIPs: []corev1.HostIP{{IP: "10.9.0.1"}},
			Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
		if _, err := api.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		slices, err := kube.DiscoveryV1().EndpointSlices(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=" + service.Name})
		if err != nil {
			return false, err
		}
		n := 0
		for _, slice := range slices.Items {
			n += len(slice.Endpoints)
		}
		return n == pods, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("its EndpointSlices do not have the addresses of its pods")
	}
	if err != nil {
		t.Fatalf("Service %s/%s: %v", service.Namespace, service.Name, err)
	}
}
