package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Without the permission to patch pods, changes are still written, and the log reports the missing permission once.
func TestDeliveryWithoutRights(t *testing.T) {
	w := start(t)
	t.Parallel()
	role := w.withoutPatchingPods(t, "integration-no-pods")
	w.apply(t, "apiVersion: v1\nkind: Node\nmetadata: {name: delivery}")
	for name, account := range map[string]string{"allowed": "", "forbidden": role} {
		t.Run(name, func(t *testing.T) {
			id := "delivery-" + name
			if account != "" {
				id = "restricted-" + id
			}
			o := w.operator(t, id, account, "--controller-id="+id)
			ns := w.deployed(t, o, id)
			w.place(t, ns, "prometheus-web-0", "delivery")
			calls := o.during(t, func() {
				w.apply(t, podMonitor(ns, "more", "x"))
				w.jobs(t, ns, "web", "serviceMonitor/"+ns+"/app/0", "podMonitor/"+ns+"/more/0")
				if account != "" {
					return
				}
				eventually(t, "the pod is told", func() error {
					if v, err := o.metric("prometheus_operator_pod_nudges_total"); err != nil || v == 0 {
						return fmt.Errorf("%v patches, %v", v, err)
					}
					return nil
				})
			})
			if slices.Contains(texts(calls), "patch pods prometheus-web-0") != (account == "") {
				t.Errorf("calls %q", texts(calls))
			}
			pod, err := w.kube.CoreV1().Pods(ns).Get(t.Context(), "prometheus-web-0", metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			told := pod.Annotations["operator.prometheus.io/config-hash"] != ""
			said := strings.Count(o.log.String(), "patch pods: the kubelet delivers changes to pods within two minutes")
			if told != (account == "") || said != len(strings.Fields(account)) {
				t.Errorf("the pod is told: %v; the log says %d times what is missing", told, said)
			}
		})
	}
}

// withoutPatchingPods creates a ClusterRole like the operator's that lacks this permission.
func (w *environment) withoutPatchingPods(t *testing.T, name string) string {
	t.Helper()
	rules := w.rules(t)
	for i := range rules {
		if slices.Contains(rules[i].Resources, "pods") {
			rules[i].Verbs = slices.DeleteFunc(slices.Clone(rules[i].Verbs), func(v string) bool { return v == "patch" })
		}
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: rules}
	if _, err := w.kube.RbacV1().ClusterRoles().Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return name
}

// place waits for a pod and binds it to a node, like a scheduler.
func (w *environment) place(t *testing.T, namespace, pod, node string) {
	t.Helper()
	eventually(t, "pod "+pod+" is placed", func() error {
		p, err := w.kube.CoreV1().Pods(namespace).Get(t.Context(), pod, metav1.GetOptions{})
		if err != nil || p.Spec.NodeName != "" {
			return err
		}
		text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Binding","metadata":{"name":%q},"target":{"kind":"Node","name":%q}}`, pod, node)
		return w.kube.CoreV1().RESTClient().Post().Namespace(namespace).Resource("pods").Name(pod).SubResource("binding").
			Body([]byte(text)).SetHeader("Content-Type", "application/json").Do(t.Context()).Error()
	})
}

// rare lists permissions that the operator uses in no test, with the reason.
var rare = map[string]string{
	"list prometheuses":                  lists,
	"list prometheusagents":              lists,
	"list thanosrulers":                  lists,
	"list alertmanagers":                 lists,
	"list alertmanagerconfigs":           lists,
	"list daemonsets":                    lists,
	"list servicemonitors":               lists,
	"list podmonitors":                   lists,
	"list probes":                        lists,
	"list scrapeconfigs":                 lists,
	"list prometheusrules":               lists,
	"list statefulsets":                  lists,
	"list configmaps":                    lists,
	"list secrets":                       lists,
	"get configmaps":                     "an update meets a conflict, or an object of ours lost its labels",
	"get statefulsets":                   "an update meets a conflict",
	"get daemonsets":                     "an update meets a conflict, or an object of ours lost its labels",
	"get services":                       "an update meets a conflict, or spec.serviceName is set",
	"list persistentvolumeclaims":        lists,
	"get storageclasses":                 "spec.storage names one",
	"update prometheuses/finalizers":     "clusters that check owner references that block deletion",
	"update prometheusagents/finalizers": "the same",
	"update thanosrulers/finalizers":     "the same",
	"update alertmanagers/finalizers":    "the same",
	"create pods/eviction":               "--repair-policy-for-statefulsets=evict",
	"patch events":                       "an event that is repeated",
}

// component lists permissions of deploy/components/http-api. Tests of the API without them start operators that lack
// them.
var component = []string{
	"create tokenreviews", "create subjectaccessreviews", "list endpoints", "watch endpoints", "list endpointslices", "watch endpointslices",
	"list ingresses", "watch ingresses", "list nodes", "watch nodes",
}

// restricted is the prefix of the user names of operators that lack permissions.
const restricted = "system:serviceaccount:firekeeper:restricted-"

const lists = "API servers that cannot stream a list (before 1.32)"

// rights compares deploy/rbac.yaml with the calls of all operators of all tests: no call was forbidden, and every
// granted permission was used.
func (w *environment) rights(rules []rbacv1.PolicyRule, calls []call) (wrong []string) {
	used := map[string]bool{}
	for _, c := range calls {
		if !strings.HasPrefix(c.User.Username, "system:serviceaccount:firekeeper:") || strings.HasPrefix(c.User.Username, restricted) {
			continue
		}
		what := c.Verb + " " + c.resource()
		if !used[what] && c.refused() && !slices.Contains(component, what) {
			wrong = append(wrong, "refused: "+what)
		}
		used[what] = true
	}
	for _, rule := range rules {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				if what := verb + " " + resource; !used[what] && rare[what] == "" {
					wrong = append(wrong, "allowed and never used: "+what)
				}
			}
		}
	}
	return wrong
}
