package informer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// tenants is an API server with Secrets to which tenants have added a label of the operator. It does not
// serve watches.
type tenants struct {
	number, bytes int

	mu      sync.Mutex
	limits  []int // of list requests
	largest int   // maximum number of objects in a response that was read completely
}

// ServeHTTP implements [http.Handler].
func (s *tenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Query().Get("watch") != "" {
		denied := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "", fmt.Errorf("no watch"))
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(denied.Status())
		return
	}
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	s.mu.Lock()
	s.limits = append(s.limits, limit)
	s.mu.Unlock()
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	to := s.number
	if limit > 0 {
		to = min(to, from+limit)
	}
	about, kind, version := metav1.ListMeta{ResourceVersion: "9"}, "SecretList", "v1"
	if to < s.number {
		about.Continue = strconv.Itoa(to)
	}
	whole := !strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata")
	if !whole {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	list, _ := json.Marshal(about)
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":[`, kind, version, list)
	for i := from; i < to; i++ {
		if i > from {
			fmt.Fprint(w, ",")
		}
		data := ""
		if whole {
			data = `,"data":{"a":"` + strings.Repeat("YWFh", s.bytes/4) + `"}`
		}
		if _, err := fmt.Fprintf(w, `{"metadata":{"namespace":"hostile","name":"s%05d","resourceVersion":"5"}%s}`, i, data); err != nil {
			return // the client has closed the connection
		}
	}
	if _, err := fmt.Fprint(w, "]}"); err == nil {
		s.mu.Lock()
		s.largest = max(s.largest, to-from)
		s.mu.Unlock()
	}
}

// At most one page of the objects of tenants is in memory at a time, with polling too.
func TestListsOfKubernetesComeInPages(t *testing.T) {
	everywhere, err := informer.NewNamespaces(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	short := func(s *corev1.Secret) *corev1.Secret { s.Data = nil; return s }
	for title, tc := range map[string]struct {
		server *tenants
		poll   bool
		meta   bool
		most   int // objects in a response
	}{
		"large":               {&tenants{number: 200, bytes: 1 << 20}, false, false, 16},
		"large and polled":    {&tenants{number: 200, bytes: 1 << 20}, true, false, 16},
		"many":                {&tenants{number: 3000, bytes: 10}, false, false, 512},
		"metadata":            {&tenants{number: 300}, false, true, 64},
		"metadata and polled": {&tenants{number: 300}, true, true, 64},
	} {
		t.Run(title, func(t *testing.T) {
			api := httptest.NewServer(tc.server)
			defer api.Close()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			config := &rest.Config{Host: api.URL, QPS: -1}
			w := informer.Watch{Namespaces: everywhere}
			if tc.poll {
				w.Poll = &informer.Poll{Every: time.Hour}
			}
			var count func() int
			if tc.meta {
				client, err := metadata.NewForConfig(config)
				if err != nil {
					t.Fatal(err)
				}
				s := informer.NewMetadataStore(client, corev1.SchemeGroupVersion.WithResource("secrets"), w)
				s.Run(ctx)
				if err := s.Wait(ctx); err != nil {
					t.Fatal(err)
				}
				count = func() int { return len(s.List("hostile", informer.Where{})) }
			} else {
				client, err := kubernetes.NewForConfig(config)
				if err != nil {
					t.Fatal(err)
				}
				s := informer.NewStore(client.CoreV1().RESTClient(), "secrets", &corev1.Secret{}, w, short)
				s.Run(ctx)
				if err := s.Wait(ctx); err != nil {
					t.Fatal(err)
				}
				count = func() int { return len(s.List("hostile", informer.Where{})) }
			}
			if n := count(); n != tc.server.number {
				t.Errorf("%d objects of %d", n, tc.server.number)
			}
			tc.server.mu.Lock()
			defer tc.server.mu.Unlock()
			if tc.server.largest > tc.most {
				t.Errorf("an answer of %d objects was read; limits %v", tc.server.largest, tc.server.limits)
			}
		})
	}
}
