package engine

import (
	"fmt"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// TestNamespacePoll: only a list of namespaces can be polled by name.
func TestNamespacePoll(t *testing.T) {
	scope := func(names ...string) informer.Namespaces {
		out, err := informer.NewNamespaces(names, nil)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if (Clients{}).namespacePoll(scope()) != nil {
		t.Error("the names of all namespaces are not known")
	}
	poll := Clients{}.namespacePoll(scope("a", "b", "c"))
	names, err := poll.Names(t.Context())
	if err != nil || fmt.Sprint(names) != "[/a /b /c]" {
		t.Errorf("names %v, %v", names, err)
	}
	if got := fmt.Sprint(poll.Unreadable(names[0]).GetLabels()); got != "map[kubernetes.io/metadata.name:a]" {
		t.Errorf("labels of a namespace that cannot be read: %s", got)
	}
}
