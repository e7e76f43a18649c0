package discovery

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	httpconfig "github.com/prometheus/common/config"
	"github.com/prometheus/prometheus/discovery/kubernetes"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// asked returns the resources that were listed since the last call.
func asked(s *discoverytest.Server) []string {
	out := map[string]bool{}
	for _, list := range s.Lists() {
		path, _, _ := strings.Cut(list, "?")
		out[path[strings.LastIndex(path, "/")+1:]] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// realGroups returns the groups that the discovery of Prometheus finds, once it has as many sources
// as there are objects.
func realGroups(t *testing.T, server string, sd *targets.KubernetesSD, sources int) []*targetgroup.Group {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	conf := &kubernetes.SDConfig{APIServer: httpconfig.URL{URL: address}, Role: kubernetes.Role(sd.Role), HTTPClientConfig: httpconfig.DefaultHTTPClientConfig}
	conf.NamespaceDiscovery.Names = sd.Namespaces.Names
	conf.AttachMetadata.Node, conf.AttachMetadata.Namespace = sd.AttachMetadata.Node, sd.AttachMetadata.Namespace
	d, err := kubernetes.New(nil, conf.NewDiscovererMetrics(prometheus.NewRegistry(), nil), conf)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ch, done := make(chan []*targetgroup.Group), make(chan struct{})
	go func() {
		d.Run(ctx, ch)
		close(done)
	}()
	found := map[string]*targetgroup.Group{}
	for len(found) < sources {
		select {
		case groups := <-ch:
			found[groups[0].Source] = groups[0]
		case <-ctx.Done():
			t.Fatalf("role %s: %d of %d groups", sd.Role, len(found), sources)
		}
	}
	cancel()
	<-done
	var out []*targetgroup.Group
	for _, source := range slices.Sorted(maps.Keys(found)) {
		if len(found[source].Targets) > 0 {
			out = append(out, found[source])
		}
	}
	return out
}

// addressed returns the number of nodes that have an address; the others have no group.
func addressed(objects []Object) (n int) {
	for _, o := range objects {
		if len(o.(*corev1.Node).Status.Addresses) > 0 {
			n++
		}
	}
	return n
}

// Groups equal those that the discovery of Prometheus builds from the untrimmed objects in an API
// server.
func TestGroupsAreThoseOfPrometheus(t *testing.T) {
	found := map[string]int{}
	for seed := range int64(3) {
		var o Objects
		server, wholes := &discoverytest.Server{}, map[string][]Object{}
		seen := map[string]bool{}
		randomObjects(seed, func(object Object) {
			role := roleOf(object)
			key := role + "/" + object.GetNamespace() + "/" + object.GetName()
			if seen[key] {
				return
			}
			seen[key] = true
			whole := object.DeepCopyObject().(Object)
			// Random managed fields are not JSON.
			whole.SetManagedFields(nil)
			server.Add(whole)
			wholes[role] = append(wholes[role], whole)
			o.Add(object)
		})
		s := httptest.NewServer(server)
		for _, role := range allRoles {
			for _, metadata := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d/%s/%v", seed, role, metadata), func(t *testing.T) {
					sd := &targets.KubernetesSD{Role: role, AttachMetadata: targets.AttachMetadata{Node: metadata, Namespace: metadata}}
					objects := wholes[role]
					sources := len(objects)
					if role == roleNode {
						sources = addressed(objects)
					}
					got, err := o.Groups(sd, "")
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(sorted(realGroups(t, s.URL, sd, sources)), sorted(got)); diff != "" {
						t.Errorf("(-Prometheus +ours)\n%s", diff)
					}
					var kinds []string
					for _, kind := range Kinds(sd) {
						kinds = append(kinds, kind.Resource.Resource)
					}
					slices.Sort(kinds)
					if diff := cmp.Diff(asked(server), kinds); diff != "" {
						t.Errorf("listed (-Prometheus +ours)\n%s", diff)
					}
					for _, g := range got {
						found[role] += len(g.Targets)
					}
				})
			}
		}
		s.CloseClientConnections()
		s.Close()
	}
	for _, role := range allRoles {
		if found[role] < 10 {
			t.Errorf("only %d targets of role %s", found[role], role)
		}
	}
}
