package integration

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/relabel"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// centralObjects are a Prometheus with two shards, whose StatefulSets exist as the operator creates them,
// and a monitor of two namespaces, of which its ServiceAccount may list one.
const centralObjects = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: prometheus, namespace: NAMESPACE}
---
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: NAMESPACE, annotations: {firekeeper.dev/target-discovery: central}}
spec: {shards: 2, serviceAccountName: prometheus, serviceDiscoveryRole: EndpointSlice, serviceMonitorSelector: {}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: NAMESPACE}
spec:
  selector: {matchLabels: {app: web}}
  namespaceSelector: {matchNames: [NAMESPACE, OTHER]}
  endpoints: [{port: http}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: prometheus, namespace: NAMESPACE}
rules:
- {apiGroups: [""], resources: [services, pods, endpoints], verbs: [get, list, watch]}
- {apiGroups: [discovery.k8s.io], resources: [endpointslices], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: prometheus, namespace: NAMESPACE}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: prometheus}
subjects: [{kind: ServiceAccount, name: prometheus, namespace: NAMESPACE}]
`

// centralSet is a StatefulSet, whose pod the cluster creates.
const centralSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: SET, namespace: NAMESPACE}
spec:
  replicas: 1
  serviceName: none
  selector: {matchLabels: {app: SET}}
  template:
    metadata: {labels: {app: SET}}
    spec: {serviceAccountName: prometheus, containers: [{name: c, image: none}]}
`

// webSlice is a Service with the addresses 10.N.0.1 to COUNT.
func webSlice(namespace string, n, count int) string {
	text := strings.ReplaceAll(`
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE, labels: {app: web}}
spec: {ports: [{name: http, port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-a, namespace: NAMESPACE, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{name: http, port: 8080}]
endpoints:
`, "NAMESPACE", namespace)
	for i := range count {
		text += fmt.Sprintf("- {addresses: [10.%d.0.%d], conditions: {ready: true}}\n", n, i+1)
	}
	return text
}

// follower is a client of a stream.
type follower struct {
	list    map[string][]string // addresses by job
	version string
	updates chan map[string][]string
	body    io.Closer
}

// discoverers are replicas of central discovery.
type discoverers struct {
	environment *environment
	ns          string
	running     []*operator
}

var listens = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+)( tls=true)?`)

// launch starts a replica and waits until it is ready.
func (d *discoverers) launch(t *testing.T) *operator {
	t.Helper()
	account := fmt.Sprintf("restricted-discovery-%d", len(d.running))
	o := d.environment.launch(t, account, "--leader-elect", "--leader-elect-namespace="+d.ns, "--prometheus-instance-namespaces="+d.ns, "discovery", "--targets-listen-address=127.0.0.1:0")
	d.running = append(d.running, o)
	eventually(t, "it is ready", func() error {
		if o.url = o.listens(false); o.url == "" {
			return errors.New("it does not listen yet")
		}
		if code, body := o.ask(t, "/readyz", ""); code != http.StatusOK {
			return fmt.Errorf("%d %s", code, body)
		}
		return nil
	})
	return o
}

// listens returns the URL of the server for pods or of the other one, "" if it does not listen yet.
func (o *operator) listens(pods bool) string {
	for _, found := range listens.FindAllStringSubmatch(o.log.String(), -1) {
		switch secure := found[2] != ""; {
		case secure && pods:
			return "https://" + found[1]
		case !secure && !pods:
			return "http://" + found[1]
		}
	}
	return ""
}

// client returns a client that trusts the CA in the ConfigMap, for the name of the Service.
func (d *discoverers) client(t *testing.T) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	eventually(t, "the CA is in a ConfigMap", func() error {
		c, err := d.environment.kube.CoreV1().ConfigMaps(d.ns).Get(t.Context(), "firekeeper-discovery-ca", metav1.GetOptions{})
		if err == nil && !roots.AppendCertsFromPEM([]byte(c.Data["ca.crt"])) {
			err = errors.New("no certificate")
		}
		return err
	})
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "firekeeper-discovery." + d.ns + ".svc"}}}
}

// token returns a token for a pod.
func (w *environment) podToken(t *testing.T, namespace, pod, audience string) (out string) {
	t.Helper()
	eventually(t, "a token for pod "+pod, func() error {
		p, err := w.kube.CoreV1().Pods(namespace).Get(t.Context(), pod, metav1.GetOptions{})
		if err != nil {
			return err
		}
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
			Audiences: []string{audience}, BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod, UID: p.UID},
		}}
		got, err := w.kube.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), p.Spec.ServiceAccountName, request, metav1.CreateOptions{})
		if err == nil {
			out = got.Status.Token
		}
		return err
	})
	return out
}

// request starts a stream at any replica that serves it.
func (d *discoverers) request(t *testing.T, c *http.Client, token, have string) *http.Response {
	t.Helper()
	var out *http.Response
	eventually(t, "a replica serves", func() error {
		var last error
		for _, o := range d.running {
			url := o.listens(true)
			if o.done || url == "" {
				continue
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/v1/assignments?have="+have, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+token)
			resp, err := c.Do(r)
			if err != nil {
				last = err
				continue
			}
			if resp.StatusCode != http.StatusServiceUnavailable {
				out = resp
				return nil
			}
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			last = fmt.Errorf("%s: %s", resp.Status, text)
		}
		return last
	})
	t.Cleanup(func() { out.Body.Close() })
	return out
}

// follow starts a stream.
func (d *discoverers) follow(t *testing.T, c *http.Client, token, have string) *follower {
	t.Helper()
	resp := d.request(t, c, token, have)
	if resp.StatusCode != http.StatusOK {
		text, err := io.ReadAll(resp.Body)
		t.Fatalf("%s: %s %v", resp.Status, text, err)
	}
	f := &follower{list: map[string][]string{}, updates: make(chan map[string][]string, 1000), body: resp.Body}
	go func() {
		defer close(f.updates)
		next := map[string][]string{}
		for lines := bufio.NewReader(resp.Body); ; {
			line, err := lines.ReadBytes('\n')
			var m struct {
				Begin, End *struct {
					Version string
					Full    bool
				}
				Job    string
				Gone   bool
				Groups []struct{ Targets []string }
			}
			if err != nil || json.Unmarshal(line, &m) != nil {
				return
			}
			switch {
			case m.Begin != nil && m.Begin.Full:
				next = map[string][]string{}
			case m.Gone:
				delete(next, m.Job)
			case m.Job != "":
				next[m.Job] = []string{}
				for _, g := range m.Groups {
					next[m.Job] = append(next[m.Job], g.Targets...)
				}
			case m.End != nil:
				done := map[string][]string{"": {m.End.Version}}
				for job, targets := range next {
					done[job] = targets
				}
				f.updates <- done
			}
		}
	}()
	return f
}

// await waits for a list that is as it should be.
func (f *follower) await(t *testing.T, what string, check func(map[string][]string) error) {
	t.Helper()
	err := errors.New("nothing arrived")
	for end := time.After(deadline); ; {
		select {
		case list, open := <-f.updates:
			if !open {
				t.Fatalf("%s: the stream ended: %v", what, err)
			}
			f.list, f.version = list, list[""][0]
			if err = check(list); err == nil {
				return
			}
		case <-end:
			t.Fatalf("%s: still after %s: %v", what, deadline, err)
		}
	}
}

// hashed returns the addresses that hashmod gives a shard of two, like the generated relabel step.
func hashed(shard, n, count int) (out []string) {
	step := &relabel.Config{SourceLabels: model.LabelNames{"__address__"}, Separator: ";", TargetLabel: "__tmp_hash", Modulus: 2, Action: relabel.HashMod, NameValidationScheme: model.UTF8Validation}
	for i := range count {
		address := fmt.Sprintf("10.%d.0.%d:8080", n, i+1)
		lb := labels.NewBuilder(labels.FromStrings("__address__", address))
		if relabel.ProcessBuilder(lb, step) && lb.Get("__tmp_hash") == fmt.Sprint(shard) {
			out = append(out, address)
		}
	}
	return out
}

// Pods of each shard get exactly the targets that hashmod would give them, from the leader, and keep
// getting them when it is killed.
func TestCentralDiscovery(t *testing.T) {
	w := start(t)
	t.Parallel()
	ns, other := w.namespace(t), w.namespace(t)
	role, err := os.ReadFile(deploy(t, "components/central-discovery/rbac.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		w.apply(t, strings.NewReplacer(
			"  name: firekeeper-discovery\n  namespace: firekeeper\n  labels", fmt.Sprintf("  name: integration-discovery-%d\n  namespace: %s\n  labels", i, ns),
			"kind: ClusterRole\nmetadata:\n  name: firekeeper-discovery", fmt.Sprintf("kind: ClusterRole\nmetadata:\n  name: integration-discovery-%d", i),
			"kind: ClusterRoleBinding\nmetadata:\n  name: firekeeper-discovery", fmt.Sprintf("kind: ClusterRoleBinding\nmetadata:\n  name: integration-discovery-%d", i),
			"kind: ClusterRole\n  name: firekeeper-discovery", fmt.Sprintf("kind: ClusterRole\n  name: integration-discovery-%d", i),
			"kind: Role\n  name: firekeeper-discovery", fmt.Sprintf("kind: Role\n  name: integration-discovery-%d", i),
			"- kind: ServiceAccount\n  name: firekeeper-discovery", fmt.Sprintf("- kind: ServiceAccount\n  name: restricted-discovery-%d", i),
		).Replace(string(role)))
	}
	names := strings.NewReplacer("NAMESPACE", ns, "OTHER", other)
	w.apply(t, names.Replace(centralObjects))
	sets := []string{"prometheus-main", "prometheus-main-shard-1"}
	for _, set := range append(sets, "tenant") {
		w.apply(t, names.Replace(strings.ReplaceAll(centralSet, "SET", set)))
	}
	w.apply(t, webSlice(ns, 1, 40))
	w.apply(t, webSlice(other, 2, 20))

	d := &discoverers{environment: w, ns: ns}
	leader := d.launch(t)
	c := d.client(t)
	job := "serviceMonitor/" + ns + "/web/0"
	var pods []*follower
	exactly := func(shard, count int) func(map[string][]string) error {
		return func(list map[string][]string) error {
			got := slices.Sorted(slices.Values(list[job]))
			want := hashed(shard, 1, count)
			if slices.Sort(want); !slices.Equal(got, want) || len(list) != 2 {
				return fmt.Errorf("shard %d has %d targets in %d lists, want %d: %v", shard, len(got), len(list)-1, len(want), got)
			}
			return nil
		}
	}
	for shard, set := range sets {
		f := d.follow(t, c, w.podToken(t, ns, set+"-0", "firekeeper-discovery"), "")
		f.await(t, "the first list", exactly(shard, 40))
		pods = append(pods, f)
	}
	if len(hashed(0, 1, 40)) == 0 || len(hashed(1, 1, 40)) == 0 {
		t.Fatal("all targets are on one shard")
	}

	// A namespace that the ServiceAccount may not list is reported.
	if code, body := leader.ask(t, "/status.json", ""); code != http.StatusOK || !strings.Contains(body, "ServiceAccount "+ns+"/prometheus may not list") || !strings.Contains(body, other) {
		t.Errorf("%d %s", code, body)
	}
	// Others get nothing.
	for token, want := range map[string]int{
		w.podToken(t, ns, "tenant-0", "firekeeper-discovery"):                            http.StatusForbidden,
		w.podToken(t, ns, "prometheus-main-0", "https://kubernetes.default.svc.example"): http.StatusUnauthorized,
		w.cluster.Token: http.StatusUnauthorized,
	} {
		resp := d.request(t, c, token, "")
		if text, _ := io.ReadAll(io.LimitReader(resp.Body, 1000)); resp.StatusCode != want {
			t.Errorf("%d, want %d: %s", resp.StatusCode, want, text)
		}
	}

	// A new address arrives on its shard only.
	w.apply(t, webSlice(ns, 1, 41))
	gets := 0
	if len(hashed(1, 1, 41)) > len(hashed(1, 1, 40)) {
		gets = 1
	}
	pods[gets].await(t, "the new target", exactly(gets, 41))

	// A standby takes over with complete lists.
	d.launch(t)
	if err := leader.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-leader.ended
	leader.done = true
	for shard, set := range sets {
		f := d.follow(t, c, w.podToken(t, ns, set+"-0", "firekeeper-discovery"), pods[shard].version)
		list := <-f.updates
		if err := exactly(shard, 41)(list); err != nil {
			t.Errorf("the first list of the next leader: %v", err)
		}
		if version := list[""]; len(version) == 0 || version[0] <= pods[shard].version {
			t.Errorf("version %v after %s", version, pods[shard].version)
		}
	}

	// Without the annotation, pods are sent away.
	w.apply(t, strings.Replace(names.Replace(centralObjects), "target-discovery: central", "target-discovery: own", 1))
	token := w.podToken(t, ns, "prometheus-main-0", "firekeeper-discovery")
	eventually(t, "pods are sent away", func() error {
		resp := d.request(t, c, token, "")
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			return errors.New(resp.Status)
		}
		return nil
	})
}
