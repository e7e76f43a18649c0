package lister

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// start returns a client of a server.
func start(t testing.TB, s *discoverytest.Server) Cluster {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: h.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return Cluster{Kube: kube}
}

// jobs returns one job for each of the discoveries.
func jobs(t testing.TB, discoveries ...string) []targets.Job {
	t.Helper()
	var text string
	for i, sd := range discoveries {
		text += fmt.Sprintf("- {job_name: job-%d, %s}\n", i, sd)
	}
	out, err := targets.ReadJobs(promconfig.JobText{Text: []byte(text), Origins: make([][]promconfig.Origin, len(discoveries))})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func kubernetesSD(sd string) string { return "kubernetes_sd_configs: [" + sd + "]" }

// web returns a pod, a Service and its EndpointSlice in each namespace, and a node.
func web(namespaces ...string) (out []discoverytest.Object) {
	for i, ns := range namespaces {
		meta := metav1.ObjectMeta{Namespace: ns, Name: "web", Labels: map[string]string{"app": "web", discoveryv1.LabelServiceName: "web"}}
		address := fmt.Sprintf("10.0.0.%d", i)
		out = append(out,
			&corev1.Pod{ObjectMeta: meta, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}},
				Status: corev1.PodStatus{PodIP: address, Phase: corev1.PodRunning}},
			&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
			&discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Port: new(int32(80))}},
				Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address}}}})
	}
	return append(out, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.1.0.1"}}}})
}

// lines returns the result with one line for each address and gap.
func lines(found targets.Found) (out []string) {
	for _, g := range found.Groups {
		for _, target := range g.Targets {
			out = append(out, g.Source+" "+string(target["__address__"]))
		}
	}
	for _, gap := range found.Gaps {
		out = append(out, string(gap.State)+": "+gap.Message)
	}
	return out
}

const slicesInDemo = "{role: endpointslice, namespaces: {names: [demo]}}"

var workload = Workload{Namespace: "monitoring", ServiceAccount: "k8s"}

// Objects that cannot be read never result in an empty answer, and each reason has its own message.
func TestGaps(t *testing.T) {
	const unknown = "unknown: targets of role endpointslice in namespace demo are not known: "
	for name, tc := range map[string]struct {
		sd    string
		s     *discoverytest.Server
		want  []string
		notes []string
	}{
		"everything may be read": {slicesInDemo, &discoverytest.Server{}, []string{"endpointslice/demo/web 10.0.0.0:80"}, nil},
		"the caller may not list pods": {slicesInDemo, &discoverytest.Server{Answers: map[string]string{"demo/pods": "403 Forbidden"}},
			[]string{unknown + "you may not list pods in namespace demo; ask for the verb list"}, nil},
		"nor everywhere": {"{role: pod}", &discoverytest.Server{Answers: map[string]string{"/pods": "403 Forbidden"}},
			[]string{"unknown: targets of role pod in all namespaces are not known: you may not list pods in all namespaces; ask for the verb list"}, nil},
		"one namespace of two": {"{role: pod, namespaces: {names: [prod, demo]}}", &discoverytest.Server{Answers: map[string]string{"demo/pods": "403 Forbidden"}},
			[]string{"pod/prod/web 10.0.0.1:80", "unknown: targets of role pod in namespace demo are not known: you may not list pods in namespace demo; ask for the verb list"}, nil},
		"EndpointSlices are not served": {slicesInDemo, &discoverytest.Server{Answers: map[string]string{"demo/endpointslices": "404 NotFound"}},
			[]string{unknown + "the API server does not serve endpointslices.discovery.k8s.io in version v1; Prometheus cannot discover them either"}, nil},
		"credentials expired": {slicesInDemo, &discoverytest.Server{Answers: map[string]string{"demo/services": "401 Unauthorized"}},
			[]string{unknown + "the API server does not accept your credentials when you list services in namespace demo; log in again"}, nil},
		"the API server is slow": {slicesInDemo, &discoverytest.Server{Answers: map[string]string{"demo/services": "504 Timeout"}},
			[]string{unknown + "the API server took too long to list services in namespace demo; try again"}, nil},
		"the API server is busy": {slicesInDemo, &discoverytest.Server{Answers: map[string]string{"demo/services": "429 TooManyRequests"}},
			[]string{unknown + "the API server has too much to do to list services in namespace demo; try again later"}, nil},
		"the API server fails": {slicesInDemo, &discoverytest.Server{Answers: map[string]string{"demo/services": "400 BadRequest"}},
			[]string{unknown + "list services in namespace demo: the server says BadRequest"}, nil},
		"nodes": {"{role: node}", &discoverytest.Server{Answers: map[string]string{"/nodes": "403 Forbidden"}},
			[]string{"unknown: targets of role node are not known: you may not list nodes; ask for the verb list"}, nil},
		"labels of nodes": {"{role: pod, namespaces: {names: [demo]}, attach_metadata: {node: true}}", &discoverytest.Server{Answers: map[string]string{"/nodes": "403 Forbidden"}},
			[]string{"unknown: targets of role pod in namespace demo are not known: you may not list nodes; ask for the verb list"}, nil},
		"the ServiceAccount may not list": {slicesInDemo, &discoverytest.Server{Lacks: []string{"list demo/pods", "watch demo/pods", "watch demo/services"}}, []string{
			"forbidden: Prometheus discovers no targets of role endpointslice in namespace demo: ServiceAccount monitoring/k8s may not watch services in namespace demo; allow it with a Role in that namespace",
			"forbidden: Prometheus discovers no targets of role endpointslice in namespace demo: ServiceAccount monitoring/k8s may not list and watch pods in namespace demo; allow it with a Role in that namespace",
		}, nil},
		"the ServiceAccount may not list everywhere": {"{role: pod}", &discoverytest.Server{Lacks: []string{"list /pods"}},
			[]string{"forbidden: Prometheus discovers no targets of role pod in all namespaces: ServiceAccount monitoring/k8s may not list pods in all namespaces; allow it with a ClusterRole"}, nil},
		"nobody says what it may": {slicesInDemo, &discoverytest.Server{Reviews: "403 Forbidden"}, []string{"endpointslice/demo/web 10.0.0.0:80"},
			[]string{"whether ServiceAccount monitoring/k8s may list and watch what its jobs discover is not known: you may not create subjectaccessreviews.authorization.k8s.io"}},
		"or something else": {slicesInDemo, &discoverytest.Server{Reviews: "400 BadRequest"}, []string{"endpointslice/demo/web 10.0.0.0:80"},
			[]string{"whether ServiceAccount monitoring/k8s may list and watch what its jobs discover is not known: the server says BadRequest"}},
		"the API server does not know the roles yet": {slicesInDemo, &discoverytest.Server{Starting: true, Lacks: []string{"list demo/pods"}}, []string{"endpointslice/demo/web 10.0.0.0:80"},
			[]string{"whether ServiceAccount monitoring/k8s may list and watch what its jobs discover is not known: the API server is starting"}},
		"another cluster":     {"{role: pod, api_server: 'https://other:6443'}", &discoverytest.Server{}, []string{"unknown: the job discovers targets in the cluster of https://other:6443"}, nil},
		"no such role":        {"{role: gateway}", &discoverytest.Server{}, []string{`unknown: kubernetes discovery: role "gateway" does not exist`}, nil},
		"no such namespace":   {"{role: pod, namespaces: {names: [none]}}", &discoverytest.Server{}, nil, nil},
		"the own namespace":   {"{role: service, namespaces: {own_namespace: true}}", &discoverytest.Server{}, []string{"svc/monitoring/web web.monitoring.svc:80"}, nil},
		"a selector is wrong": {"{role: pod, selectors: [{role: pod, field: 'a'}]}", &discoverytest.Server{}, []string{"unknown: kubernetes discovery: field selector of role pod: invalid selector: 'a'; can't understand 'a'"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tc.s.Add(web("demo", "prod", "monitoring")...)
			got, err := start(t, tc.s).Find(t.Context(), jobs(t, kubernetesSD(tc.sd)), workload)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lines(got.Found[0])); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.notes, got.Notes); diff != "" {
				t.Errorf("notes: %s", diff)
			}
			if lists := tc.s.Lists(); tc.s.Lacks != nil && !tc.s.Starting && len(lists) > 0 {
				t.Errorf("lists %q, which Prometheus cannot read", lists)
			}
		})
	}
}

// Each list is read once for all jobs, and only if a job needs it.
func TestListsOnlyWhatJobsNeed(t *testing.T) {
	s := &discoverytest.Server{}
	s.Add(web("demo", "prod", "monitoring")...)
	got, err := start(t, s).Find(t.Context(), jobs(t,
		kubernetesSD(slicesInDemo), kubernetesSD(slicesInDemo), kubernetesSD("{role: pod, namespaces: {names: [demo]}}"),
		kubernetesSD("{role: pod, namespaces: {names: [prod]}, selectors: [{role: pod, label: app=web, field: 'spec.nodeName=$(NODE_NAME),status.phase!=Failed'}]}"),
		kubernetesSD("{role: pod, namespaces: {names: [prod]}, selectors: [{role: pod, label: app=db}]}, {role: service, namespaces: {names: [demo]}}"),
		"static_configs: [{targets: [a]}]",
	), workload)
	if err != nil {
		t.Fatal(err)
	}
	lists := s.Lists()
	slices.Sort(lists)
	if diff := cmp.Diff([]string{
		"/api/v1/namespaces/demo/pods?limit=500",
		"/api/v1/namespaces/demo/services?limit=500",
		"/api/v1/namespaces/prod/pods?fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DFailed&labelSelector=app%3Dweb&limit=500",
		"/api/v1/namespaces/prod/pods?labelSelector=app%3Ddb&limit=500",
		"/apis/discovery.k8s.io/v1/namespaces/demo/endpointslices?limit=500",
	}, lists); diff != "" {
		t.Error(diff)
	}
	var found [][]string
	for _, f := range got.Found {
		found = append(found, lines(f))
	}
	inSlice, inPod := []string{"endpointslice/demo/web 10.0.0.0:80"}, []string{"pod/demo/web 10.0.0.0:80"}
	if diff := cmp.Diff([][]string{inSlice, inSlice, inPod, {"pod/prod/web 10.0.0.1:80"}, {"svc/demo/web web.demo.svc:80"}, nil}, found); diff != "" {
		t.Error(diff)
	}
	reviews := map[string]int{}
	for _, spec := range s.AccessReviews() {
		if spec.User != "system:serviceaccount:monitoring:k8s" || !slices.Equal(spec.Groups, []string{"system:serviceaccounts", "system:serviceaccounts:monitoring", "system:authenticated"}) {
			t.Errorf("asks about %s of %v", spec.User, spec.Groups)
		}
		a := spec.ResourceAttributes
		reviews[a.Verb+" "+a.Namespace+"/"+a.Resource]++
	}
	if diff := cmp.Diff(map[string]int{
		"list demo/pods": 1, "watch demo/pods": 1, "list demo/services": 1, "watch demo/services": 1, "list prod/pods": 1, "watch prod/pods": 1,
		"list demo/endpointslices": 1, "watch demo/endpointslices": 1,
	}, reviews); diff != "" {
		t.Error(diff)
	}
}

// many returns a Service with an EndpointSlice and more pods than fit on a page.
func many(n int) (out []discoverytest.Object) {
	for i := range n {
		out = append(out, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprintf("web-%04d", i)},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}, Status: corev1.PodStatus{PodIP: fmt.Sprintf("10.0.%d.%d", i/250, i%250)}})
	}
	return out
}

// All pages are read. If a continue token has expired, the whole list is read again, and nothing is
// found twice.
func TestPages(t *testing.T) {
	for _, expired := range []bool{false, true} {
		s := &discoverytest.Server{Expired: expired}
		s.Add(many(2*pageSize + 1)...)
		got, err := start(t, s).Find(t.Context(), jobs(t, kubernetesSD("{role: pod}")), workload)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(got.Found[0].Groups); n != 2*pageSize+1 || len(got.Found[0].Gaps) > 0 {
			t.Errorf("expired %v: %d groups and gaps %v", expired, n, got.Found[0].Gaps)
		}
		want := []string{"/api/v1/pods?limit=500", "/api/v1/pods?continue=500&limit=500", "/api/v1/pods?continue=1000&limit=500"}
		if expired {
			want = append(want[:2:2], "/api/v1/pods")
		}
		if diff := cmp.Diff(want, s.Lists()); diff != "" {
			t.Errorf("expired %v: %s", expired, diff)
		}
	}
}

// Pods without a ServiceAccount use the default one of the namespace.
// inAnyOrder ignores the order of targets, which builders do not define.
var inAnyOrder = cmpopts.SortSlices(func(a, b model.LabelSet) int { return strings.Compare(a.String(), b.String()) })

// Find returns the same targets for encoded pods as for decoded ones, which it holds if manifests are applied over the cluster.
func TestEncodedPods(t *testing.T) {
	c := client(t, discoverytest.Record(t, 100, 50))
	for _, sd := range []string{
		"{role: pod}", "{role: endpointslice}", "{role: endpointslice, attach_metadata: {node: false}, namespaces: {names: [demo]}}",
		"{role: pod, selectors: [{role: pod, label: app=web-3}]}",
	} {
		for _, release := range []*semver.Version{nil, semver.MustParse("2.53.0"), semver.MustParse("3.5.0")} {
			for _, brief := range []bool{false, true} {
				text := "- {job_name: a, " + kubernetesSD(sd) + ", relabel_configs: [{action: keep, source_labels: [__meta_kubernetes_service_label_app], regex: web-3}]}"
				job, err := targets.ReadJobs(promconfig.JobText{Text: []byte(text), Origins: origins(1)})
				if err != nil {
					t.Fatal(err)
				}
				for i := range job[0].Kubernetes {
					job[0].Kubernetes[i].Release = release
				}
				c.Brief = brief
				c.Applied = &discovery.Objects{}
				want, err1 := c.Find(t.Context(), job, workload)
				c.Applied = nil
				got, err2 := c.Find(t.Context(), job, workload)
				if err1 != nil || err2 != nil || len(want.Found[0].Groups) == 0 {
					t.Fatal(want, err1, err2)
				}
				if diff := cmp.Diff(want.Found, got.Found, inAnyOrder); diff != "" {
					t.Errorf("%s, release %v, brief %v: (-decoded +encoded)\n%s", sd, release, brief, diff)
				}
			}
		}
	}
}

func TestCanceled(t *testing.T) {
	s := &discoverytest.Server{}
	s.Add(web("demo")...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := start(t, s).Find(ctx, jobs(t, kubernetesSD("{role: pod}")), workload); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, err %v", got, err)
	}
}

// origins returns the origins of a job with some steps.
func origins(steps int) [][]promconfig.Origin {
	return [][]promconfig.Origin{make([]promconfig.Origin, steps)}
}
