package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The flags for ThanosRulers restrict which ThanosRulers are managed, and do not affect other kinds.
func TestRulersInScope(t *testing.T) {
	w := start(t)
	t.Parallel()
	for name, flags := range map[string]func(in string) []string{
		"namespaces": func(in string) []string { return []string{"--thanos-ruler-instance-namespaces=" + in} },
		"selector":   func(in string) []string { return []string{"--thanos-ruler-instance-selector=place=" + in} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := "ruler-scope-" + name
			in, out := w.namespace(t), w.namespace(t)
			for _, ns := range []string{in, out} {
				w.apply(t, fill(rule+"---"+ruler+"---"+strings.SplitAfter(web, "\n---\n")[0], ns, id))
				w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"metadata":{"labels":{"place":"`+ns+`"}}}`)
			}
			w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", in, "web", fmt.Sprintf(
				`{"spec":{"ruleNamespaceSelector":{"matchExpressions":[{"key":"kubernetes.io/metadata.name","operator":"In","values":[%q,%q]}]}}}`, in, out))
			o := w.operator(t, id, "", append(flags(in), "--controller-id="+id)...)
			w.reports(t, thanosRuler(in, "web"), "True")
			w.reconciled(t, in, "web", "True")
			w.reconciled(t, out, "web", "True") // other kinds are not affected
			o.settle(t)
			if rules := w.rulerRules(t, in, "web")["thanos-ruler-web-rulefiles-0"]; len(rules) != 2 {
				t.Errorf("rules %v", rules)
			}
			for _, c := range w.audit.calls(t, o.user) {
				if c.writes() && c.Object.Namespace == out && strings.Contains(c.Object.Resource+c.Object.Name, "ruler") {
					t.Errorf("call out of scope: %s", c.what())
				}
			}
			if name != "selector" {
				return
			}
			w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", out, "web", `{"metadata":{"labels":{"place":"`+in+`"}}}`)
			w.reports(t, thanosRuler(out, "web"), "True")
		})
	}
}

// The controller ID of the object decides which operator manages it.
func TestRulerOfAnotherOperator(t *testing.T) {
	w := start(t)
	t.Parallel()
	o := w.operator(t, "ruler-id", "", "--controller-id=ruler-id")
	ns := w.namespace(t)
	w.apply(t, fill(rule+"---"+ruler, ns, "somebody-else"))
	o.settle(t)
	if _, err := w.get(t, "apps/v1", "StatefulSet", ns, "thanos-ruler-web"); !apierrors.IsNotFound(err) {
		t.Errorf("somebody else's object is managed: %v", err)
	}
	w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"metadata":{"annotations":{"operator.prometheus.io/controller-id":"ruler-id"}}}`)
	w.reports(t, thanosRuler(ns, "web"), "True")
	o.settle(t)
	wantCalls(t, o.during(t, func() {
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", `{"metadata":{"annotations":{"operator.prometheus.io/controller-id":null}}}`)
		o.forgets(t) // events of different kinds are not ordered
		w.delete(t, "v1", "Secret", ns, "thanos-ruler-web-config")
		w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", `{"spec":{"groups":[]}}`)
	}))
}

// Without permissions for ThanosRulers the other kinds work, one warning reports what is missing, and the controller
// starts once it is granted.
func TestRulersAreForbidden(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "restricted-rulers"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "integration-no-rulers"}}
	for _, r := range w.rules(t) {
		r.Resources = slices.DeleteFunc(slices.Clone(r.Resources), func(r string) bool { return strings.HasPrefix(r, "thanosrulers") })
		role.Rules = append(role.Rules, r)
	}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.bind(t, id, role.Name)
	o := w.launch(t, id, "--controller-id="+id)
	o.ready(t, controllers-1)
	ns := w.deployed(t, o, id)
	w.apply(t, fill(ruler, ns, id))
	var warnings []string
	for line := range strings.SplitSeq(o.log.String(), "\n") {
		if strings.Contains(line, "level=warn") {
			warnings = append(warnings, line)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "component=thanos-controller") || !strings.Contains(warnings[0], "thanosrulers") {
		t.Errorf("warnings %q", warnings)
	}
	w.apply(t, fmt.Sprintf(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: integration-%[1]s-more}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[2]s}
subjects: [{kind: ServiceAccount, name: %[1]s, namespace: firekeeper}]
`, id, clusterRole))
	within(t, time.Minute+deadline, "the ThanosRuler is reconciled", func() error {
		tr, err := w.get(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
		if err != nil {
			return err
		}
		return hasCondition(tr, "Reconciled", "True")
	})
	w.rulerRuns(t, ns, "app:up")
	o.ready(t, controllers)
}

// If an operator is killed at any time, the next one completes its work, and existing rules are kept.
func TestRulerAfterAKill(t *testing.T) {
	w := start(t)
	t.Parallel()
	const id = "ruler-kill"
	flags := []string{"--controller-id=" + id, "--feature-gates=StatusForConfigurationResources=true"}
	o := w.operator(t, id, "", flags...)
	ns := w.rulerDeployed(t, o, id)
	pod := w.podOf(t, ns, "thanos-ruler-web")
	record := func(i int) {
		w.patch(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "app", fmt.Sprintf(`{"spec":{"groups":[{"name":"app","rules":[{"record":"changed:%d","expr":"sum(up)"}]}]}}`, i))
	}
	for i := range 6 {
		record(i)
		w.patch(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web", fmt.Sprintf(`{"spec":{"minReadySeconds":%d}}`, i))
		if i%2 == 0 { // with or without patches in flight
			w.waitFor(t, stateful(ns, "thanos-ruler-web"), "changes", func(s *unstructured.Unstructured) error {
				if n, _, _ := unstructured.NestedInt64(s.Object, "spec", "minReadySeconds"); n != int64(i) {
					return fmt.Errorf("minReadySeconds %d", n)
				}
				return nil
			})
		}
		o.kill(t)
		if rules := w.rulerRules(t, ns, "web")["thanos-ruler-web-rulefiles-0"]; len(rules) != 1 {
			t.Errorf("rules %v", rules)
		}
		o = w.run(t, id, flags...)
		w.rulerRuns(t, ns, fmt.Sprintf("changed:%d", i))
		w.reports(t, thanosRuler(ns, "web"), "True")
	}
	w.says(t, "monitoring.coreos.com/v1", "PrometheusRule", ns, "thanosrulers/web True")
	w.untouched(t, ns, "thanos-ruler-web-0", pod.GetUID())

	// If the ThanosRuler is deleted while there is no operator, its finalizer keeps it.
	o.settle(t)
	o.kill(t)
	w.delete(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
	o = w.run(t, id, flags...)
	w.gone(t, "monitoring.coreos.com/v1", "ThanosRuler", ns, "web")
	w.says(t, "monitoring.coreos.com/v1", "PrometheusRule", ns)
	o.settle(t)
	for _, c := range rulerChildren {
		within(t, 2*time.Minute, c.name+" is deleted", func() error { // the garbage collector is slow with new kinds
			if _, err := w.get(t, c.apiVersion, c.kind, ns, c.name); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there, %w", err)
			}
			return nil
		})
	}
}

// kill kills the operator immediately.
func (o *operator) kill(t *testing.T) {
	t.Helper()
	o.done = true
	if err := o.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-o.ended
}

// With only Roles, each kind of workload needs its permissions only in the namespaces of its flags.
func TestKindsInNamespacesOfTheirOwn(t *testing.T) {
	w := start(t)
	t.Parallel()
	servers, rulers := w.namespace(t), w.namespace(t)
	account := "restricted-" + rulers
	for ns, without := range map[string][]string{servers: {"thanosrulers"}, rulers: {"prometheuses", "prometheusagents"}} {
		var rules []rbacv1.PolicyRule
		for _, r := range w.rules(t) {
			r.Resources = slices.DeleteFunc(slices.Clone(r.Resources), func(r string) bool {
				kind, _, _ := strings.Cut(r, "/")
				return slices.Contains(without, kind)
			})
			if len(r.Resources) > 0 {
				rules = append(rules, r)
			}
		}
		w.role(t, ns, account, rules)
	}
	o := w.run(t, account, "--namespaces="+servers+","+rulers, "--prometheus-instance-namespaces="+servers, "--thanos-ruler-instance-namespaces="+rulers)
	for _, ns := range []string{servers, rulers} {
		w.apply(t, fill(rule+"---"+ruler+"---"+edge+"---"+strings.SplitAfter(web, "\n---\n")[0], ns, ""))
	}
	w.reconciled(t, servers, "web", "True")
	w.reports(t, agent(servers, "web"), "True")
	w.reports(t, thanosRuler(rulers, "web"), "True")
	w.rulerRuns(t, rulers, "app:up")
	w.available(t, owner(servers, "web"), agent(servers, "web"))
	w.available(t, thanosRuler(rulers, "web"))
	o.settle(t)
	for _, c := range w.audit.calls(t, o.user) {
		if c.refused() && c.Object.Resource != "namespaces" && c.Object.Resource != "storageclasses" {
			t.Errorf("refused: %s in %s", c.what(), c.Object.Namespace)
		}
	}
	for _, set := range []*unstructured.Unstructured{stateful(servers, "thanos-ruler-web"), stateful(rulers, "prometheus-web")} {
		if _, err := w.of(t, set).Get(t.Context(), set.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s in %s: %v", set.GetName(), set.GetNamespace(), err)
		}
	}
	if strings.Contains(o.log.String(), "level=error") {
		t.Error("the log has errors")
	}
}
