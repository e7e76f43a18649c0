package main

import (
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firekeeper-dev/firekeeper/operator/controller"
)

// TestScrapeConfigs: the kind is used only where it is installed and may
// be read in every watched namespace.
func TestScrapeConfigs(t *testing.T) {
	for name, tc := range map[string]struct {
		resources []string // of v1alpha1; nil when the version is not served
		denied    string   // "verb namespace"
		want      bool
	}{
		"the version is not served":        {nil, "", false},
		"another kind is installed":        {[]string{"prometheusagents"}, "", false},
		"installed and allowed":            {[]string{"scrapeconfigs"}, "", true},
		"one verb is denied":               {[]string{"scrapeconfigs"}, "watch a", false},
		"denied in the second namespace":   {[]string{"scrapeconfigs"}, "list b", false},
		"a namespace that is not of ours":  {[]string{"scrapeconfigs"}, "list c", true},
		"a right that nobody asks for":     {[]string{"scrapeconfigs"}, "get a", true},
		"the kind is one of several there": {[]string{"prometheusagents", "scrapeconfigs"}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientset()
			if tc.resources != nil {
				list := &metav1.APIResourceList{GroupVersion: "monitoring.coreos.com/v1alpha1"}
				for _, r := range tc.resources {
					list.APIResources = append(list.APIResources, metav1.APIResource{Name: r})
				}
				kube.Discovery().(*fakediscovery.FakeDiscovery).Resources = []*metav1.APIResourceList{list}
			}
			kube.PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
				review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview).DeepCopy()
				asked := review.Spec.ResourceAttributes
				review.Status.Allowed = asked.Verb+" "+asked.Namespace != tc.denied
				return true, review, nil
			})
			namespaces, err := controller.NewNamespaces([]string{"a", "b"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			lacking, err := scrapeConfigs(namespaces).missing(t.Context(), kube)
			if err != nil || (lacking == nil) != tc.want {
				t.Errorf("missing: %v, %v", lacking, err)
			}
		})
	}
}
