package chaos

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial/faultproxy"
)

// The namespace is deleted at some of the writes that create everything. It disappears, the operator rests, and another
// namespace with the name gets everything.
func TestNamespaceDeleted(t *testing.T) {
	needsAll(t)
	c := newCycle(t, own(t), scenario(t, "everything"))
	points := c.points(0)
	for i := range namespaceDeletions {
		at := points[(2*i+1)*len(points)/(2*namespaceDeletions)]
		ok := t.Run(fmt.Sprintf("at %s", at.Call), func(t *testing.T) {
			c.operator.Idle(t)
			c.operator.Proxy.Reset()
			made := make(chan struct{})
			once := sync.OnceFunc(func() {
				<-made // nothing can be created in the namespace afterwards
				if err := c.environment.Kube.CoreV1().Namespaces().Delete(t.Context(), c.namespace, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			})
			c.operator.Proxy.Disturb(func(w http.ResponseWriter, r *http.Request, call faultproxy.Call, forward http.HandlerFunc) {
				if call == at.Call {
					once()
				}
				forward(w, r)
			})
			c.step(t)
			close(made)
			trial.Await(t, "the namespace is gone", func() error {
				_, err := c.environment.Kube.CoreV1().Namespaces().Get(t.Context(), c.namespace, metav1.GetOptions{})
				if !apierrors.IsNotFound(err) {
					return fmt.Errorf("it is still there: %w", err)
				}
				return nil
			})
			c.operator.Proxy.Disturb(nil)
			c.operator.Idle(t)
			counts := c.operator.Proxy.Reset()
			if n, most := counts.Sum(faultproxy.Call.Writes), 3*c.reach[0].writes.Sum(faultproxy.Any); n > most {
				t.Errorf("%d writes for a namespace that ends, allowed are %d:\n%s", n, most, strings.Join(counts.Strings(faultproxy.Call.Writes), "\n"))
			}
			c.createNamespace(t)
			c.next = 0
			at := c.step(t)
			c.mirror.Begin()
			c.recovers(t, at, allow{calls: c.starting(at), anything: true})
			c.plain(t)
		})
		count(namespaceDeleted, c.Name, namespaceDeletions, ok)
	}
}

// namespaceDeletions is the number of writes at which the namespace is deleted.
const namespaceDeletions = 4

// Each CRD is deleted, with its objects, and put back. What belongs to other objects stays, and the operator goes on
// without a restart.
func TestCRDsRemoved(t *testing.T) {
	needsAll(t)
	c := newCycle(t, own(t), scenario(t, "everything"))
	created := c.step(t)
	c.expect(t, created)
	crds := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	ours := slices.DeleteFunc(slices.Clone(trial.Kinds), func(k schema.GroupVersionResource) bool { return k.Group != v1.GroupName })
	for _, k := range ours {
		ok := t.Run(k.Resource, func(t *testing.T) {
			c.operator.Idle(t)
			c.operator.Proxy.Reset()
			name := k.Resource + "." + v1.GroupName
			if err := c.environment.Objects.Resource(crds).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			trial.Await(t, "the CRD is gone", func() error {
				_, err := c.environment.Objects.Resource(crds).Get(t.Context(), name, metav1.GetOptions{})
				if !apierrors.IsNotFound(err) {
					return fmt.Errorf("it is still there: %w", err)
				}
				return nil
			})
			c.operator.Idle(t)
			have := c.mirror.Snapshot()
			for key, o := range c.reach[created].state {
				if _, is := have[key]; !is && !belongs(key, o, k.Resource, c.reach[created].state) {
					t.Errorf("%s is lost", key)
				}
			}
			c.environment.Apply(t, crdFile(t, k.Resource))
			c.environment.Served(t)
			c.environment.Apply(t, c.fill(c.Steps[created].Apply))
			c.expect(t, created)
			c.operator.Idle(t)
			c.expect(t, created)
		})
		count(crdsRemoved, c.Name, len(ours), ok)
	}
}

// belongs reports whether an object is of a kind, or is owned by an object of the kind, directly or not.
func belongs(key string, o any, resource string, all trial.State) bool {
	if strings.HasPrefix(key, resource+"/") || resource == "prometheusrules" && strings.Contains(key, "-rulefiles-") {
		return true
	}
	object, is := o.(map[string]any)
	if !is {
		owner := map[string]string{"prometheuses": "prometheus ", "thanosrulers": "ruler ", "prometheusrules": ""}
		prefix, has := owner[resource]
		return has && strings.HasPrefix(key, "rule files/"+prefix)
	}
	owners, _ := object["metadata"].(map[string]any)["ownerReferences"].([]any)
	for _, ref := range owners {
		ref := ref.(map[string]any)
		owner := trial.Resources[ref["kind"].(string)] + "/" + ref["name"].(string)
		if strings.HasPrefix(owner, resource+"/") || all[owner] != nil && belongs(owner, all[owner], resource, all) {
			return true
		}
	}
	return false
}

func crdFile(t *testing.T, resource string) string {
	t.Helper()
	found, err := filepath.Glob(trial.Deploy("crds", "*"+resource+"*.yaml"))
	if err != nil || len(found) != 1 {
		t.Fatalf("CRD of %s: %q, %v", resource, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// createNamespace creates the namespace of the cycle.
func (c *cycle) createNamespace(t *testing.T) {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}
	if _, err := c.environment.Kube.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	trial.Await(t, "the namespace has a service account", func() error {
		_, err := c.environment.Kube.CoreV1().ServiceAccounts(c.namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
}
