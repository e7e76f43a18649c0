package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// served is a fake API server with the objects of manifests.
type served struct {
	objects []map[string]any
	// denied are the resources that the caller may not list, and "RESOURCE/NAME" for objects
	// that it may not get. accountDenied are those that the ServiceAccount of workloads may not
	// list or watch.
	denied, accountDenied []string
	// pods are the responses of pods through the API server proxy, by
	// "http:web-0:9090/path".
	pods map[string]func(query url.Values) (int, any)
}

// resources maps the kinds in cluster.yaml to resources.
var resources = map[string]string{
	"Prometheus": "prometheuses", "Endpoints": "endpoints", "Ingress": "ingresses",
}

// serveManifests starts a fake API server with the manifests of a file.
func serveManifests(t *testing.T, file string, s *served) (url string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for doc := range strings.SplitSeq(string(text), "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		if text, is := o["stringData"].(map[string]any); is {
			data := map[string][]byte{}
			for key, value := range text {
				data[key] = []byte(value.(string))
			}
			o["data"] = data
			delete(o, "stringData")
		}
		s.objects = append(s.objects, o)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}

// ServeHTTP implements [http.Handler].
func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	code, answer := s.answer(r)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func failed(code int, reason string) (int, any) {
	return code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": reason}
}

func (s *served) answer(r *http.Request) (int, any) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch r.URL.Path {
	case "/version":
		return 200, map[string]any{"major": "1", "minor": "36", "gitVersion": "v1.36.0"}
	case "/readyz":
		return 200, "ok"
	}
	group := parts[1]
	if parts[0] == "apis" {
		group, parts = parts[1]+"/"+parts[2], parts[1:]
	}
	parts = parts[2:]
	namespace, name := "", ""
	if len(parts) > 2 && parts[0] == "namespaces" {
		namespace, parts = parts[1], parts[2:]
	}
	if len(parts) > 1 {
		name = parts[1]
	}
	if parts[0] == "subjectaccessreviews" {
		question, _ := io.ReadAll(r.Body) // protobuf, so search for the resource
		allowed := !slices.ContainsFunc(s.accountDenied, func(resource string) bool { return bytes.Contains(question, []byte(resource)) })
		return 201, map[string]any{"kind": "SubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": map[string]any{"allowed": allowed}}
	}
	if len(parts) > 2 && parts[2] == "proxy" {
		if slices.Contains(s.denied, "pods/proxy") {
			return failed(403, "Forbidden")
		}
		if pod := s.pods[name+"/"+strings.Join(parts[3:], "/")]; pod != nil {
			return pod(r.URL.Query())
		}
		return failed(503, "ServiceUnavailable")
	}
	if name == "" && slices.Contains(s.denied, parts[0]) || slices.Contains(s.denied, parts[0]+"/"+name) {
		return failed(403, "Forbidden")
	}
	kind, items := "", []any{}
	for _, o := range s.objects {
		meta := o["metadata"].(map[string]any)
		resource := resources[o["kind"].(string)]
		if resource == "" {
			resource = strings.ToLower(o["kind"].(string)) + "s"
		}
		in, _ := meta["namespace"].(string)
		if o["apiVersion"] != group || resource != parts[0] || namespace != "" && in != namespace || name != "" && meta["name"] != name {
			continue
		}
		if name != "" {
			return 200, o
		}
		kind, items = o["kind"].(string), append(items, o)
	}
	if name != "" || kind == "" && strings.HasPrefix(group, "monitoring") {
		return failed(404, "NotFound")
	}
	if kind == "" {
		kind = map[string]string{"pods": "Pod", "statefulsets": "StatefulSet", "events": "Event", "services": "Service", "endpointslices": "EndpointSlice", "nodes": "Node", "namespaces": "Namespace"}[parts[0]]
	}
	return 200, map[string]any{"kind": kind + "List", "apiVersion": group, "metadata": map[string]any{}, "items": items}
}

// fromCluster runs the command with an API server.
func fromCluster(t *testing.T, url, args string) (stdout, stderr string, code int) {
	t.Helper()
	t.Setenv("KUBECONFIG", "")
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	out, errs, code := runIn(t, t.TempDir(), append([]string{"targets", "--apiserver=" + url}, strings.Fields(args)...))
	return string(out), string(errs), code
}

// places matches the file locations in a report about manifests.
var places = regexp.MustCompile(`(?m)^ +where .*\n(?: +/.*\n)*`)

// The report for a cluster is the same as for its manifests, except for file locations.
func TestTargetsInCluster(t *testing.T) {
	file, err := filepath.Abs("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	url := serveManifests(t, file, &served{})
	for _, args := range []string{
		"", "prometheus monitoring/k8s --format=wide", "smon demo/web", "pod demo/web-0", "pmon demo/jobs --overlaps", "scfg demo/registry",
		"prom monitoring/k8s --shards=3", "prom monitoring/k8s --shards=3 --format=json",
	} {
		want, stderr, wantCode := runIn(t, t.TempDir(), append([]string{"targets", "-f", file}, strings.Fields(args)...))
		got, errs, code := fromCluster(t, url, args)
		if got != places.ReplaceAllString(string(want), "") || code != wantCode {
			t.Errorf("targets %s: exit code %d, of the manifests %d\n%s%s\nof the manifests\n%s%s", args, code, wantCode, errs, got, stderr, want)
		}
	}
}

// A rejected object has the same reason in both.
func TestRejectedTargetsInCluster(t *testing.T) {
	file, err := filepath.Abs("../../operator/diagnose/preview/testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const reason = "scrapeTimeout: 30s is longer than the interval 10s; set a longer interval, or a shorter timeout\n"
	manifests, _, wantCode := runIn(t, t.TempDir(), []string{"targets", "smon", "demo/wrong", "-f", file})
	cluster, errs, code := fromCluster(t, serveManifests(t, file, &served{}), "smon demo/wrong")
	if code != wantCode || !strings.Contains(cluster, reason) || !strings.Contains(string(manifests), "cluster.yaml:70: spec.endpoints[0]."+reason) {
		t.Errorf("exit code %d, of the manifests %d\n%s%s\nof the manifests\n%s", code, wantCode, errs, cluster, manifests)
	}
}

// Resources that may not be read are reported as unknown or forbidden, or are an error,
// but never "no targets".
func TestTargetsInClusterWithoutPermissions(t *testing.T) {
	for name, tc := range map[string]struct {
		served
		args string
		want []string
	}{
		"the caller may not list": {
			served{denied: []string{"endpointslices"}}, "smon demo/web",
			[]string{"job serviceMonitor/demo/web/0   targets unknown\n", "unknown  ", "you may not list endpointslices.discovery.k8s.io in namespace demo"},
		},
		"the workload may not list": {
			served{accountDenied: []string{"pods"}}, "smon demo/web",
			[]string{"targets forbidden\n", "forbidden  ", "ServiceAccount monitoring/prometheus-k8s may not list and watch pods in namespace demo"},
		},
		"monitors":   {served{denied: []string{"servicemonitors"}}, "", []string{"list servicemonitors (--namespaces limits the namespaces): "}},
		"namespaces": {served{denied: []string{"namespaces"}}, "", []string{"list namespaces, whose labels decide what workloads select"}},
		"no pod":     {served{}, "pod demo/none", []string{"pod demo/none does not exist in the cluster"}},
		"no object":  {served{}, "smon demo/none", []string{"ServiceMonitor demo/none does not exist in the cluster"}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serveManifests(t, "../../operator/diagnose/preview/testdata/cluster.yaml", &tc.served)
			out, stderr, code := fromCluster(t, url, tc.args+" --fail-on=no-targets")
			for _, want := range tc.want {
				if !strings.Contains(out+stderr, want) {
					t.Errorf("does not say %q", want)
				}
			}
			if code != 2 || strings.Contains(out, "   no targets") || t.Failed() {
				t.Error(fmt.Sprint("exit code ", code, "\n", out, stderr))
			}
		})
	}
}
