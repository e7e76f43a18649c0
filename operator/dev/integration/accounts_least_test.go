package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/engine"
)

const (
	// watched is the timeout for noticing a change where a Role permits watching. Changes are noticed immediately, but
	// the machine may be busy. It is shorter than the polling interval.
	watched = engine.NamedPoll - 10*time.Second
	// polled is the timeout where objects may only be read by name.
	polled = engine.NamedPoll + deadline
)

var secretsAndConfigMaps = []string{"secrets", "configmaps"}

// leastRole creates a ClusterRole like the operator's but without list and watch of Secrets and ConfigMaps.
func (w *environment) leastRole(t *testing.T, name string) string {
	t.Helper()
	rules := withoutListing(w.rules(t))
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// withoutListing removes list and watch of Secrets and ConfigMaps.
func withoutListing(rules []rbacv1.PolicyRule) (out []rbacv1.PolicyRule) {
	for _, r := range rules {
		if slices.Contains(r.Resources, "secrets") {
			r.Verbs = slices.DeleteFunc(slices.Clone(r.Verbs), func(v string) bool { return v == "list" || v == "watch" })
		}
		out = append(out, r)
	}
	return out
}

// The tests of accounts wait longest, for minutes without changes and for reads at intervals. They are in the first files of
// the package, so that they start first and the others run meanwhile.

// The operator runs in all namespaces without list and watch of Secrets and ConfigMaps, except for one namespace whose
// Role permits them. It reads what it needs by name, notices changes in time, and makes no forbidden calls.
func TestLeastPrivilege(t *testing.T) {
	w := start(t)
	t.Parallel()
	account := "restricted-least"
	w.bind(t, account, w.leastRole(t, "integration-least"))
	byName, byWatch := w.namespace(t), w.namespace(t)
	w.role(t, byWatch, account, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: secretsAndConfigMaps, Verbs: []string{"list", "watch"}}})
	args := []string{"--controller-id=least", "--watch-referenced-objects-in-all-namespaces"}
	o := w.run(t, account, args...)
	for _, ns := range []string{byName, byWatch} {
		w.apply(t, fill(web, ns, "least")+"---"+fill(withPassword, ns, "")+"---"+login(ns, "hunter-one"))
		for _, name := range []string{"lost", "late"} {
			w.apply(t, monitorWith(ns, name, "30s", basicAuth(name)))
		}
		w.apply(t, loginNamed(ns, "lost", "hunter-lost"))
		w.reconciled(t, ns, "web", "True")
		w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "serviceMonitor/"+ns+"/lost/0", "serviceMonitor/"+ns+"/secured/0")
	}
	o.settle(t)
	eventually(t, "the namespace that may be watched is watched", func() error { // it is listed just before
		lists := map[string]int{}
		for _, c := range w.audit.calls(t, o.user) {
			if c.Verb == "list" && c.Object.Namespace == byWatch {
				lists[c.Object.Resource]++
			}
		}
		if lists["secrets"] < 2 || lists["configmaps"] < 1 { // Secrets of the operator, and those that objects refer to
			return fmt.Errorf("lists %v", lists)
		}
		return nil
	})
	for ns, limit := range map[string]time.Duration{byName: polled, byWatch: watched} {
		w.noticed(t, ns, limit)
	}
	o.settle(t)
	w.refusesNothing(t, o, byWatch)

	// After a restart nothing is written.
	o.stop(t)
	before := len(w.audit.calls(t, o.user))
	o = w.run(t, account, args...)
	o.settle(t)
	for _, c := range w.audit.calls(t, o.user)[before:] {
		if c.writes() {
			t.Errorf("after a restart: %s", c.what())
		}
	}
	// The namespace that may be watched is listed once an object refers to it.
	o.idles(t, map[string]int{
		"get secrets": namedReads(8), "get configmaps": namedReads(1), "list secrets": 2, "list configmaps": 2, "create selfsubjectaccessreviews": 10,
	})
}

// noticed changes a Secret that a monitor refers to, and the objects that the operator wrote, and waits until each
// change has its effect. Changes in one step are made together, as each may take as long as the polling interval.
func (w *environment) noticed(t *testing.T, ns string, limit time.Duration) {
	t.Helper()
	type change struct {
		effect string
		make   func()
		check  func() error
	}
	step := func(changes ...change) {
		t.Helper()
		began := time.Now()
		for _, c := range changes {
			c.make()
		}
		for _, c := range changes {
			within(t, limit, c.effect, c.check)
			t.Logf("%s: %s after %s", ns, c.effect, time.Since(began).Round(10*time.Millisecond))
		}
	}
	exists := func(kind, name string) func() error {
		return func() error { _, err := w.get(t, "v1", kind, ns, name); return err }
	}
	contains := func(part string, want bool) func() error {
		return func() error {
			text, err := w.configuration(t, ns, "prometheus-web")
			if err == nil && strings.Contains(text, part) != want {
				err = fmt.Errorf("the configuration contains %q: %t", part, !want)
			}
			return err
		}
	}
	step(
		change{"a deleted Secret of the operator is back", func() { w.delete(t, "v1", "Secret", ns, "prometheus-web-web-config") }, exists("Secret", "prometheus-web-web-config")},
		change{"a deleted ConfigMap of the operator is back", func() { w.delete(t, "v1", "ConfigMap", ns, "prometheus-web-rulefiles-0") }, exists("ConfigMap", "prometheus-web-rulefiles-0")},
		change{"an edited Secret of the operator is restored", func() { w.patch(t, "v1", "Secret", ns, "prometheus-web", `{"data":{"more":"eA=="}}`) }, func() error {
			s, err := w.kube.CoreV1().Secrets(ns).Get(t.Context(), "prometheus-web", metav1.GetOptions{})
			if err == nil && s.Data["more"] != nil {
				err = fmt.Errorf("it is as it was edited")
			}
			return err
		}},
	)
	step(
		change{"a changed password is used", func() { w.apply(t, login(ns, "hunter-two")) }, contains("password: hunter-two", true)},
		change{"a Secret that is deleted takes its monitor out", func() { w.delete(t, "v1", "Secret", ns, "lost") }, contains("/lost/0", false)},
		change{"a Secret that is created brings its monitor in", func() { w.apply(t, loginNamed(ns, "late", "hunter-late")) }, contains("password: hunter-late", true)},
	)
	w.delete(t, "monitoring.coreos.com/v1", "ServiceMonitor", ns, "lost") // a rejected object has an Event after a restart
}

// refusesNothing checks that no call was forbidden, and that Secrets and ConfigMaps were listed and watched in one
// namespace only.
func (w *environment) refusesNothing(t *testing.T, o *operator, namespace string) {
	t.Helper()
	for _, c := range w.audit.calls(t, o.user) {
		if c.refused() {
			t.Errorf("refused: %s in namespace %q", c.what(), c.Object.Namespace)
		}
		if slices.Contains(secretsAndConfigMaps, c.Object.Resource) && (c.Verb == "list" || c.Verb == "watch") && c.Object.Namespace != namespace {
			t.Errorf("%s in namespace %q", c.what(), c.Object.Namespace)
		}
	}
}

// TestLeastPrivilegeAtScale measures the calls for 300 monitors with 60 Secrets that may only be read by name.
func TestLeastPrivilegeAtScale(t *testing.T) {
	const monitors, secrets = 300, 60
	w := start(t)
	t.Parallel()
	account := "restricted-scale"
	w.bind(t, account, w.leastRole(t, "integration-scale"))
	ns := w.namespace(t)
	for i := range secrets {
		w.apply(t, loginNamed(ns, fmt.Sprint("login-", i), fmt.Sprint("first-", i)))
	}
	for i := range monitors {
		secret := fmt.Sprintf("name: login-%d,", i%secrets)
		w.apply(t, strings.NewReplacer("name: secured", fmt.Sprint("name: secured-", i), "name: login,", secret).Replace(fill(withPassword, ns, "")))
	}
	w.apply(t, fill(web, ns, "scale"))
	started := time.Now()
	o := w.run(t, account, "--controller-id=scale")
	within(t, deadline, "all monitors are in the configuration", func() error {
		text, err := w.configuration(t, ns, "prometheus-web")
		if n := strings.Count(text, "/secured-"); err == nil && n < monitors {
			err = fmt.Errorf("%d are", n)
		}
		return err
	})
	o.settle(t)
	reads := func() (n int) {
		for _, c := range w.audit.calls(t, o.user) {
			if c.Verb == "get" && c.Object.Resource == "secrets" {
				n++
			}
		}
		return n
	}
	// Each Secret is read for its first use, then by the store, and again whenever it is due.
	due := 2 + int(time.Since(started)/engine.NamedPoll)
	n := reads()
	t.Logf("%d reads of Secrets to begin with", n)
	if n > due*secrets+50 {
		t.Errorf("%d reads of Secrets to begin with, at most %d of each are fine", n, due)
	}
	o.idles(t, map[string]int{"get secrets": 3*secrets + 30, "get configmaps": namedReads(1), "create selfsubjectaccessreviews": 10})
	t.Logf("%d reads of Secrets in an idle minute", reads()-n)
	began := time.Now()
	w.apply(t, loginNamed(ns, "login-7", "second"))
	within(t, polled, "a changed password is used", func() error {
		text, err := w.configuration(t, ns, "prometheus-web")
		if n := strings.Count(text, "password: second"); err == nil && n < monitors/secrets {
			err = fmt.Errorf("by %d monitors", n)
		}
		return err
	})
	t.Logf("a changed password is used after %s", time.Since(began).Round(time.Millisecond))
}
