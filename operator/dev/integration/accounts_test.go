package integration

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

// With the permissions of a cluster that it takes over, everything works, some of it with a delay, and one warning
// reports it.
func TestPublishedClusterRole(t *testing.T) {
	w := start(t)
	t.Parallel()
	w.applyFile(t, sharedFile(t, "real/kube-prometheus/prometheusOperator-clusterRole.yaml"))
	o := w.operator(t, "restricted-published", "prometheus-operator", "--controller-id=published")
	w.lives(t, o, "published", w.namespace(t), true, map[string]int{"list pods": 2, "get services": 3, "create selfsubjectaccessreviews": 2})
	o.lacks(t, "list, watch services: ", "watch pods: ", "patch pods: ", "list, watch, patch persistentvolumeclaims: ")
	for _, c := range w.audit.calls(t, o.user) {
		if c.refused() && c.Object.Resource != "services" && c.what() != "watch pods" {
			t.Errorf("refused: %s", c.what())
		}
	}
}

// The operator runs with only Roles in one namespace.
func TestRolesOnly(t *testing.T) {
	w := start(t)
	t.Parallel()
	inNamespace := func(namespace, verb string) []string {
		return []string{fmt.Sprintf("%s namespaces in namespace %s: ", verb, namespace)}
	}
	for name, tc := range map[string]struct {
		verbs []string // for the namespace
		lacks func(namespace, verb string) []string
		idle  map[string]int
		least bool // neither list nor watch of Secrets and ConfigMaps
	}{
		"namespace can be read":    {[]string{"get"}, func(string, string) []string { return nil }, map[string]int{"get namespaces": 5}, false},
		"namespace cannot be read": {nil, inNamespace, map[string]int{"get namespaces": 5}, false},
		"Secrets cannot be listed": {[]string{"get"}, func(namespace, _ string) []string {
			return []string{"list, watch secrets in namespace " + namespace + ": ", "list, watch configmaps in namespace " + namespace + ": "}
		}, map[string]int{"get namespaces": 5, "get secrets": namedReads(8), "get configmaps": namedReads(2)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := w.namespace(t)
			account := "restricted-" + ns
			rules := w.rules(t)
			if tc.least {
				rules = withoutListing(rules)
			}
			if len(tc.verbs) > 0 {
				rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{ns}, Verbs: tc.verbs})
			}
			w.role(t, ns, account, rules)
			o := w.run(t, account, "--namespaces="+ns)
			w.lives(t, o, "", ns, len(tc.verbs) > 0, tc.idle)
			o.lacks(t, append([]string{"list, watch namespaces: ", "get storageclasses: "}, tc.lacks(ns, "get")...)...)
		})
	}
}

// role grants an account permissions in one namespace.
func (w *environment) role(t *testing.T, namespace, account string, rules []rbacv1.PolicyRule) {
	t.Helper()
	about := metav1.ObjectMeta{Name: "operator", Namespace: namespace}
	if _, err := w.kube.RbacV1().Roles(namespace).Create(t.Context(), &rbacv1.Role{ObjectMeta: about, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: about,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: about.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: "firekeeper"}},
	}
	if _, err := w.kube.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// lives covers the life of a Prometheus: it is created, its monitors and rules change, its objects are edited manually,
// its pod becomes ready, the idle operator makes at most these calls per minute, and it is deleted. labels reports
// whether the operator can read the labels of the namespace.
func (w *environment) lives(t *testing.T, o *operator, id, ns string, labels bool, idle map[string]int) {
	w.apply(t, fill(web+"---"+edge+"---"+ruler, ns, id))
	owners := []*unstructured.Unstructured{owner(ns, "web"), agent(ns, "web"), thanosRuler(ns, "web")}
	for _, o := range owners {
		w.reports(t, o, "True")
	}
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0")
	w.apply(t, podMonitor(ns, "more", "x"))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "podMonitor/"+ns+"/more/0")
	w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[{"name":"changed","rules":[{"record":"changed:up","expr":"sum(up)"}]}]}}`)
	eventually(t, "the rule is written", func() error {
		for _, text := range w.ruleFiles(t, ns, "web") {
			if strings.Contains(text, "changed:up") {
				return nil
			}
		}
		return fmt.Errorf("not in any file")
	})
	w.rulerRuns(t, ns, "changed:up")
	w.jobsIn(t, ns, "prom-agent-web", "podMonitor/"+ns+"/more/0", "serviceMonitor/"+ns+"/app/0")
	w.selectsByNamespace(t, ns, labels)
	w.edited(t, ns)
	w.available(t, owners...)
	o.settle(t)
	o.idles(t, idle)
	w.delete(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web")
	w.delete(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
	for _, c := range children {
		w.gone(t, c.apiVersion, c.kind, ns, c.name)
	}
	for _, c := range rulerChildren {
		w.gone(t, c.apiVersion, c.kind, ns, c.name)
	}
	o.settle(t)
}

// selectsByNamespace selects by a label that every namespace has, and by one that the namespace gets later.
func (w *environment) selectsByNamespace(t *testing.T, ns string, labels bool) {
	t.Helper()
	with, without := []string{"serviceMonitor/" + ns + "/app/0", "podMonitor/" + ns + "/more/0"}, []string{"serviceMonitor/" + ns + "/app/0"}
	by := func(label, value string) {
		w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web",
			fmt.Sprintf(`{"spec":{"podMonitorNamespaceSelector":{"matchLabels":{%q:%q}}}}`, label, value))
	}
	by(corev1.LabelMetadataName, "another")
	w.jobs(t, ns, "web", without...)
	by(corev1.LabelMetadataName, ns)
	w.jobs(t, ns, "web", with...)
	w.patch(t, "monitoring.coreos.com/v1", "Prometheus", ns, "web", `{"spec":{"podMonitorNamespaceSelector":null}}`)
	by("team", ns)
	w.jobs(t, ns, "web", without...)
	w.patch(t, "v1", "Namespace", "", ns, fmt.Sprintf(`{"metadata":{"labels":{"team":%q}}}`, ns))
	if labels {
		w.jobs(t, ns, "web", with...)
	}
}

// edited edits objects of the operator; the Service takes longest to be restored.
func (w *environment) edited(t *testing.T, ns string) {
	t.Helper()
	services := []string{"prometheus-operated", "thanos-ruler-operated"}
	for _, name := range services {
		w.patch(t, "v1", "Service", ns, name, `{"spec":{"publishNotReadyAddresses":true}}`)
	}
	w.patch(t, "apps/v1", "StatefulSet", ns, "prometheus-web", `{"spec":{"replicas":3}}`)
	w.delete(t, "v1", "Secret", ns, "prometheus-web-web-config")
	eventually(t, "the StatefulSet is restored", func() error {
		s, err := w.get(t, "apps/v1", "StatefulSet", ns, "prometheus-web")
		if err != nil {
			return err
		}
		if n, _, _ := unstructured.NestedInt64(s.Object, "spec", "replicas"); n != 1 {
			return fmt.Errorf("%d replicas", n)
		}
		_, err = w.get(t, "v1", "Secret", ns, "prometheus-web-web-config")
		return err
	})
	for _, name := range services {
		within(t, engine.ServicePoll+deadline, "the Service "+name+" is restored", func() error {
			s, err := w.get(t, "v1", "Service", ns, name)
			if err != nil {
				return err
			}
			if edited, _, _ := unstructured.NestedBool(s.Object, "spec", "publishNotReadyAddresses"); edited {
				return fmt.Errorf("it is as it was edited")
			}
			return nil
		})
	}
}

// available sets the pod of each workload to ready, like a kubelet, and waits until their statuses report it.
func (w *environment) available(t *testing.T, owners ...*unstructured.Unstructured) {
	t.Helper()
	ns := owners[0].GetNamespace()
	ready := `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"},{"type":"ContainersReady","status":"True"}]}}`
	eventually(t, "each owner has one pod, which is ready", func() error {
		pods, err := w.kube.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(pods.Items) != len(owners) {
			return fmt.Errorf("%d pods, %v", len(pods.Items), err)
		}
		for _, pod := range pods.Items {
			if _, err := w.kube.CoreV1().Pods(ns).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, []byte(ready), metav1.PatchOptions{}, "status"); err != nil {
				return err
			}
		}
		return nil
	})
	for _, o := range owners {
		w.waitFor(t, o, "is available", func(o *unstructured.Unstructured) error { return hasCondition(o, "Available", "True") })
	}
}

// idles counts the calls of a minute without changes. Calls that are not listed must not occur. The number depends on
// the time of the minute, because the first reads by name follow a start, so most is for the worst minute.
func (o *operator) idles(t *testing.T, most map[string]int) {
	t.Helper()
	began, before := time.Now(), len(o.environment.audit.calls(t, o.user))
	time.Sleep(time.Minute) // not a wait: the idle minute is tested
	count, objects := map[string]int{}, map[string]int{}
	for _, c := range o.environment.audit.calls(t, o.user)[before:] {
		if (c.Verb != "watch" || c.refused()) && !ofOtherTest(t, c.Object.Namespace) {
			count[c.Verb+" "+c.resource()]++
			objects[c.what()+" in "+c.Object.Namespace]++
		}
	}
	minutes := time.Since(began).Minutes() // more than one if the machine is busy
	t.Logf("calls in %.2f idle minutes: %v", minutes, count)
	for what, n := range count {
		if limit := int(math.Ceil(float64(most[what]) * minutes)); n > limit {
			t.Errorf("%d times in %.2f idle minutes, at most %d are fine: %s", n, minutes, limit, what)
			maps.DeleteFunc(objects, func(object string, _ int) bool { return !strings.HasPrefix(object, what+" ") })
			t.Errorf("by object: %v", objects)
		}
	}
}

// namedReads is the number of reads by name of Secrets or ConfigMaps in the worst minute: each is due twice, read once
// more after a start, and read by each of the two stores.
func namedReads(objects int) int { return 2 * 3 * objects }

var (
	levels  = regexp.MustCompile(`level=(warn|error) `)
	instant = regexp.MustCompile(`^ts=\S+ `)
)

// lacks checks that one warning lists exactly these missing permissions, and that the log has no errors and no
// duplicate warnings.
func (o *operator) lacks(t *testing.T, want ...string) {
	t.Helper()
	var warnings []string
	seen := map[string]bool{}
	for line := range strings.SplitSeq(o.log.String(), "\n") {
		level := levels.FindStringSubmatch(line)
		if level == nil {
			continue
		}
		line = instant.ReplaceAllString(line, "")
		if level[1] == "error" || seen[line] {
			t.Errorf("an error, or said twice: %s", line)
		}
		seen[line] = true
		if strings.Contains(line, "permission") {
			warnings = append(warnings, line)
		}
	}
	if len(warnings) != 1 {
		t.Fatalf("%d warnings about permissions:\n%s", len(warnings), strings.Join(warnings, "\n"))
	}
	_, text, _ := strings.Cut(warnings[0], `no_permission_to="`)
	got := strings.Split(text, "; ")
	if len(got) != len(want) || slices.ContainsFunc(want, func(s string) bool {
		return !slices.ContainsFunc(got, func(g string) bool { return strings.HasPrefix(g, s) })
	}) {
		t.Errorf("missing permissions %q, want %q", got, want)
	}
}
