package central

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
)

// The pods of workloads are watched, trimmed, in the namespaces that need them, and are unknown before that.
func TestReplicas(t *testing.T) {
	inBubble(t, func(*fixture) {}, func(t *testing.T, b *fixture) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b.api.Kind("pods").Add(podOf("monitoring", "prometheus-main-0"))
		all := Watch(ctx, func(namespace string) *cache.ListWatch {
			return b.lists(discovery.Kind{Role: "pod", Resource: readers.Pods}, namespace)
		})
		if _, ok := all.Of("monitoring"); ok {
			t.Error("known before they were read")
		}
		settled(time.Second)
		pods, ok := all.Of("monitoring")
		if !ok || len(pods) != 1 || pods[0].Name != "prometheus-main-0" || len(pods[0].OwnerReferences) != 1 {
			t.Errorf("%v %v", pods, ok)
		}
		settled(unusedFor)
		all.Of("demo")
		if _, ok := all.Of("monitoring"); ok {
			t.Error("still watched")
		}
		settled(time.Second)
	})
}

// After any outage of the API server, the pods of workloads are soon known again.
func TestReplicasAfterAnOutage(t *testing.T) {
	inBubble(t, func(*fixture) {}, func(t *testing.T, b *fixture) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b.api.Kind("pods").Add(podOf("monitoring", "prometheus-main-0"))
		back := time.Now().Add(time.Hour)
		all := Watch(ctx, func(namespace string) *cache.ListWatch {
			there := b.lists(discovery.Kind{Role: "pod", Resource: readers.Pods}, namespace)
			list := there.ListWithContextFunc
			there.ListWithContextFunc = func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				if time.Now().Before(back) {
					return nil, &url.Error{Op: "Get", URL: "https://api.example", Err: errors.New("connection refused")}
				}
				return list(ctx, o)
			}
			return there
		})
		all.Of("monitoring")
		settled(time.Until(back) + 8*time.Second)
		if _, ok := all.Of("monitoring"); !ok {
			t.Error("not known")
		}
		stop()
		settled(time.Second)
	})
}
