package alertmanager

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// watchedSecrets are the versions of Secrets.
type watchedSecrets map[string]string

func (w watchedSecrets) Version(ref assets.Ref) (string, bool) { return w[ref.Name], true }

// write writes n Secrets with a URL.
func write(t *testing.T, kube *fake.Clientset, watched watchedSecrets, n int, version string) {
	t.Helper()
	for i := range n {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprint("s", i), ResourceVersion: version}, Data: map[string][]byte{"url": []byte("http://" + version)}}
		_ = kube.Tracker().Delete(corev1.SchemeGroupVersion.WithResource("secrets"), "demo", s.Name)
		if err := kube.Tracker().Add(s); err != nil {
			t.Fatal(err)
		}
		watched[s.Name] = version
	}
}

// hooks returns an AlertmanagerConfig whose receivers refer to n Secrets.
func hooks(n int, version string) *v1alpha1.AlertmanagerConfig {
	c := routed("demo", "many", "r0")
	c.ResourceVersion, c.Spec.Receivers = version, nil
	for i := range n {
		c.Spec.Receivers = append(c.Spec.Receivers, v1alpha1.Receiver{Name: fmt.Sprint("r", i), WebhookConfigs: []v1alpha1.WebhookConfig{{
			URLSecret: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("s", i)}, Key: "url"},
		}}})
	}
	return c
}

// One object that refers to many Secrets, all of which change with it, does not have the objects of other namespaces wait while
// they are read: it keeps its last result.
func TestManySecretsOfOneObject(t *testing.T) {
	const n, passes = 450, 3
	w, am := newFakeCluster(t), alertmanager(t, selectsAll+"\nalertmanagerConfigNamespaceSelector: {}")
	kube, watched := fake.NewClientset(), watchedSecrets{}
	cache := assets.NewCache(kube, watched)
	var pace *assets.Pace
	w.reads = func(c *engine.Cluster) {
		pace = &assets.Pace{}
		c.References, c.Paced, c.Current = cache.Reader(t.Context()), cache.Paced(t.Context(), pace), cache.Current
	}
	pass := func(known string) (text string, postponed bool) {
		t.Helper()
		kube.ClearActions()
		text = w.config(am)
		if reads := len(kube.Actions()); reads > n/2 {
			t.Errorf("%d reads in one reconciliation", reads)
		}
		if count := strings.Count(text, "http://"+known); known != "" && count != n && pace.Postponed() != "" {
			t.Errorf("%d of %d receivers are as before", count, n)
		}
		return text, pace.Postponed() != ""
	}
	_ = w.config(am)
	known := ""
	for _, version := range []string{"first", "second", "third"} {
		write(t, kube, watched, n, version)
		other := routed("other", "of-"+version, "hook")
		w.configs = append([]*v1alpha1.AlertmanagerConfig{hooks(n, version), other}, w.configs[min(1, len(w.configs)):]...)
		text, postponed := pass(known)
		if !postponed || !strings.Contains(text, "other/of-"+version+"/hook") {
			t.Errorf("%s: the object of another namespace waits; postponed: %t", version, postponed)
		}
		for range passes - 1 {
			text, postponed = pass(known)
		}
		if known = version; postponed || strings.Count(text, "http://"+version) != n {
			t.Errorf("%s: %d of %d receivers after %d reconciliations", version, strings.Count(text, "http://"+version), n, passes)
		}
	}
}

// After a start, there is no earlier result to keep, so all is read.
func TestTheFirstReconciliationReadsAll(t *testing.T) {
	const n = 450
	w := newFakeCluster(t)
	w.configs = []*v1alpha1.AlertmanagerConfig{hooks(n, "1")}
	kube, watched := fake.NewClientset(), watchedSecrets{}
	write(t, kube, watched, n, "1")
	cache := assets.NewCache(kube, watched)
	w.reads = func(c *engine.Cluster) {
		c.References, c.Paced, c.Current = cache.Reader(t.Context()), cache.Paced(t.Context(), &assets.Pace{}), cache.Current
	}
	if text := w.config(alertmanager(t, selectsAll)); strings.Count(text, "http://1") != n {
		t.Errorf("%d of %d receivers", strings.Count(text, "http://1"), n)
	}
}
