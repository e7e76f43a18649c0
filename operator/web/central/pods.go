package central

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/authentication/token/cache"
	"k8s.io/apiserver/plugin/pkg/authenticator/token/webhook"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/targets/feed"
)

// How long results of token reviews are cached, and their timeout.
const (
	validFor      = 10 * time.Second
	invalidFor    = 10 * time.Second
	reviewTimeout = 5 * time.Second
)

// Identity identifies pods of the workloads of a Feed by reviews of an API server.
func Identity(kube kubernetes.Interface, f *feed.Feed) (feed.Identity, error) {
	// Without implicit audiences, a token that the API server does not review for ours is invalid.
	tokens, err := webhook.NewFromInterface(kube.AuthenticationV1(), nil, wait.Backoff{Duration: 100 * time.Millisecond, Steps: 2}, reviewTimeout, webhook.AuthenticatorMetrics{
		RecordRequestTotal:   func(context.Context, string) {},
		RecordRequestLatency: func(context.Context, string, float64) {},
	})
	if err != nil {
		return feed.Identity{}, err
	}
	return feed.Identity{Tokens: feed.Plausible{Token: cache.New(tokens, false, validFor, invalidFor), Has: f.HasPods}, Pods: pods{kube}}, nil
}

// pods reads pods of an API server.
type pods struct{ kubernetes.Interface }

// Pod implements [feed.Pods].
func (p pods) Pod(ctx context.Context, key types.NamespacedName) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, reviewTimeout)
	defer cancel()
	return p.CoreV1().Pods(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
}
