package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/permissions"
)

// elsewhere lists permissions that only other tests use, with the reason; see [environment.rights].
var elsewhere = map[string]string{
	"update statefulsets":          "a change that replaces no pod",
	"list namespaces":              "with --namespaces",
	"patch statefulsets":           "annotations of a StatefulSet",
	"delete statefulsets":          "a recreated StatefulSet",
	"delete pods":                  "pods that do not fit a recreated StatefulSet",
	"delete configmaps":            "fewer rules",
	"delete secrets":               "fewer TLS assets, immutable Secrets",
	"delete services":              "the last workload of a namespace",
	"patch alertmanagers/status":   "an Alertmanager",
	"patch pods":                   "a pod on a node",
	"patch persistentvolumeclaims": "storage that grows",
}

// Operators with exactly the permissions of some features work, no call is forbidden, and every granted permission is
// used.
func TestFeaturePermissions(t *testing.T) {
	w := start(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		features []string // in addition to the required ones
		args     []string
		lacks    []string // permissions that the log reports as missing
		idle     map[string]int
	}{
		"nothing optional": {
			features: []string{"labels of namespaces"},
			args:     []string{"--no-instant-delivery", "--no-expand-volume-claims"},
			lacks:    []string{"list, watch secrets: ", "list, watch configmaps: ", "list, watch services: ", "watch pods: ", "get storageclasses: ", "create, patch events: "},
			idle: map[string]int{
				"get secrets": 40, "get configmaps": 12, "get services": 4, "list pods": 2, "create selfsubjectaccessreviews": 10,
			},
		},
		"all that is watched": {
			features: []string{
				"labels of namespaces", "watch Secrets and ConfigMaps", "watch Services", "watch pods", "expand volume claims", "Events", "check storage classes", "instant delivery",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := "features-" + strings.ReplaceAll(name, " ", "-")
			account := "restricted-" + id
			rules := permissions.Rules(func(f permissions.Feature) bool {
				return f.File == permissions.Base && (slices.Contains(tc.features, f.Name) || f.When == "" && f.Cost == "no controller starts" || f.Name == "write generated objects")
			})
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "integration-" + id}, Rules: rules}
			if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			o := w.operator(t, account, role.Name, append(tc.args, "--controller-id="+id)...)
			w.lives(t, o, id, w.namespace(t), true, tc.idle)
			if len(tc.lacks) > 0 {
				o.lacks(t, tc.lacks...)
			}
			ns := w.refers(t, id)
			if slices.Contains(tc.features, "Events") { // they are sent in the background and not after the end
				eventually(t, "an Event about the rejected monitor", func() error {
					list, err := w.kube.EventsV1().Events(ns).List(t.Context(), metav1.ListOptions{})
					if err != nil {
						return err
					}
					for _, e := range list.Items {
						if e.Regarding.Kind == "ServiceMonitor" {
							return nil
						}
					}
					return errors.New("there is none")
				})
			}
			refused := func() (out []string) {
				for _, c := range w.audit.calls(t, o.user) {
					if c.refused() {
						out = append(out, c.what()+" in namespace "+c.Object.Namespace)
					}
				}
				return out
			}
			if got := refused(); len(got) > 0 {
				t.Errorf("refused: %q", got)
			}
			if name == "nothing optional" {
				w.grantedLater(t, o, role)
			}
			o.stop(t) // watches are in the audit log once they end
			eventually(t, "what is granted is used", func() error { return unused(rules, w.audit.calls(t, o.user)) })
		})
	}
}

// refers creates a monitor that is rejected until the Secret it refers to exists, and returns their namespace.
func (w *environment) refers(t *testing.T, id string) (ns string) {
	t.Helper()
	ns = w.namespace(t)
	w.apply(t, fill(web, ns, id)+"---"+fill(withPassword, ns, ""))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0")
	w.apply(t, login(ns, "hunter"))
	w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "serviceMonitor/"+ns+"/secured/0")
	return ns
}

// unused returns an error that lists the granted permissions that no call used.
func unused(rules []rbacv1.PolicyRule, calls []call) error {
	used := map[string]bool{}
	for _, c := range calls {
		used[c.Verb+" "+c.resource()] = true
	}
	if used["list secrets"] || used["list configmaps"] {
		return fmt.Errorf("what may be watched is not streamed")
	}
	var out []string
	for _, g := range permissions.Grants(rules) {
		if what := g.Verb + " " + g.Resource; !used[what] && rare[what] == "" && elsewhere[what] == "" {
			out = append(out, what)
		}
	}
	if len(out) > 0 {
		return fmt.Errorf("allowed and never used: %q", out)
	}
	return nil
}

// grantedLater grants a missing permission, which is then no longer reported.
func (w *environment) grantedLater(t *testing.T, o *operator, role *rbacv1.ClusterRole) {
	t.Helper()
	missing := func(want map[string]float64) {
		t.Helper()
		within(t, deadline, "missing permissions are reported", func() error {
			for what, n := range want {
				verb, resource, _ := strings.Cut(what, " ")
				if v, err := o.metric("prometheus_operator_missing_permissions", "verb", verb, "resource", resource); err != nil || v != n {
					return fmt.Errorf("%s: %v, %v", what, v, err)
				}
			}
			return nil
		})
	}
	missing(map[string]float64{"watch pods": 1, "list secrets": 1, "list pods": 0, "get secrets": 0})
	// An object that needs a forbidden Secret reports it; others are not affected.
	ns := w.namespace(t)
	update := func(change func([]rbacv1.PolicyRule) []rbacv1.PolicyRule) {
		t.Helper()
		now, err := w.kube.RbacV1().ClusterRoles().Get(t.Context(), role.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		now.Rules = change(now.Rules)
		if _, err := w.kube.RbacV1().ClusterRoles().Update(t.Context(), now, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	services := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"get", "create", "update", "delete"}}
	update(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		return slices.DeleteFunc(rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "services") })
	})
	id := strings.TrimPrefix(o.user, "system:serviceaccount:firekeeper:restricted-")
	eventually(t, "the permission is gone", func() error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: o.user, ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: "services", Namespace: ns},
		}}
		review, err := w.kube.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
		if err == nil && review.Status.Allowed {
			err = fmt.Errorf("it is still there")
		}
		return err
	})
	w.apply(t, fill(web, ns, id))
	failed := w.reconciled(t, ns, "web", "False")
	if text := fmt.Sprint(failed.Object["status"]); !strings.Contains(text, "services") {
		t.Errorf("status %s", text)
	}
	within(t, deadline, "the refused call is reported", func() error {
		v, err := o.metric("prometheus_operator_missing_permissions", "resource", "services", "namespace", ns)
		if err == nil && v == 0 {
			err = fmt.Errorf("it is not")
		}
		return err
	})
	update(func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule { return append(rules, services) })
	w.reconciled(t, ns, "web", "True")
	within(t, deadline, "what was granted is no longer reported", func() error {
		v, err := o.metric("prometheus_operator_missing_permissions", "resource", "services", "namespace", ns)
		if err == nil && v != 0 {
			err = fmt.Errorf("%v are", v)
		}
		return err
	})
}
