package adversary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/operator/dev/objects"
)

// Namespaces of the workloads, of the well-behaved tenant, of the hostile user, and one that the hostile user may not
// read.
const (
	monitoring = "monitoring"
	goodTenant = "good"
	hostileNS  = "hostile"
	private    = "private"
	ours       = "firekeeper" // namespace of deploy/
)

// hostileUser has the ClusterRole edit in hostileNS.
const hostileUser = "mallory"

// environment is a cluster with everything that deploy/ installs.
type environment struct {
	Options
	cluster *cluster.Cluster
	kube    kubernetes.Interface
	objects dynamic.Interface
	mapper  *restmapper.DeferredDiscoveryRESTMapper
	user    rest.Interface // authenticated as the hostile user
	ports   *ports.Lease
	killed  atomic.Int64 // time of the last deliberate kill of processes, in nanoseconds

	promtool string // path; empty if there is none
}

// cutOff reports whether a call failed because the webhook that it needs was killed deliberately.
func (w *environment) cutOff(err error) bool {
	text := err.Error()
	lately := time.Since(time.Unix(0, w.killed.Load())) < 2*readiness
	return strings.Contains(text, "connection refused") || lately && (strings.Contains(text, "EOF") || strings.Contains(text, "connection reset") || strings.Contains(text, "broken pipe"))
}

const (
	// etcdQuota is the size limit of etcd in bytes, with room for the versions written between two compactions.
	etcdQuota = "8589934592"
	// compaction makes etcd reuse the space of old versions.
	compaction = "--etcd-compaction-interval=30s"
)

// newEnvironment starts a cluster. The caller must stop it, also after an error.
func newEnvironment(ctx context.Context, o Options) (*environment, error) {
	if err := os.Setenv("ETCD_QUOTA_BACKEND_BYTES", etcdQuota); err != nil { // inherited by etcd
		return nil, err
	}
	w := &environment{Options: o}
	var err error
	if w.promtool, err = programs.Default(o.Log).One(ctx, "promtool", o.Promtool); err != nil && o.Promtool {
		return w, err
	}
	if w.cluster, err = cluster.Start(ctx, cluster.Options{ControllerManager: true, Log: o.Log, APIServerArgs: []string{compaction}}); err != nil {
		return w, err
	}
	if w.ports, err = ports.Take(4); err != nil {
		return w, err
	}
	if err := w.connect(); err != nil {
		return w, err
	}
	return w, w.install(ctx)
}

func (w *environment) stop() error {
	if w == nil {
		return nil
	}
	var err error
	if w.cluster != nil {
		err = w.cluster.Stop()
	}
	if w.ports != nil {
		w.ports.Release()
	}
	return err
}

func (w *environment) config() *rest.Config {
	return &rest.Config{
		Host: w.cluster.Host, BearerToken: w.cluster.Token, QPS: -1, Timeout: time.Minute,
		TLSClientConfig: rest.TLSClientConfig{CAFile: w.cluster.CAFile}, WarningHandler: rest.NoWarnings{},
	}
}

func (w *environment) connect() error {
	admin := w.config()
	core := w.config()
	core.Timeout = 0 // for watches
	core.ContentType, core.AcceptContentTypes = "application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf,application/json"
	user := w.config()
	user.Impersonate = rest.ImpersonationConfig{UserName: hostileUser, Groups: []string{"system:authenticated"}}
	var errs [3]error
	w.kube, errs[0] = kubernetes.NewForConfig(core)
	w.objects, errs[1] = dynamic.NewForConfig(admin)
	as, err := kubernetes.NewForConfig(user)
	errs[2] = err
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	w.user = as.Discovery().RESTClient()
	w.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(w.kube.Discovery()))
	return nil
}

// of returns the client for an object, with the permissions of the administrator.
func (w *environment) of(o *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := o.GroupVersionKind()
	mapping, err := w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) { // a new CRD is served with a small delay
		w.mapper.Reset()
		mapping, err = w.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return w.objects.Resource(mapping.Resource).Namespace(o.GetNamespace()), nil
	}
	return w.objects.Resource(mapping.Resource), nil
}

// apply creates or changes objects like kubectl apply --server-side.
func (w *environment) apply(ctx context.Context, all ...*unstructured.Unstructured) error {
	for _, o := range all {
		err := eventually(ctx, time.Minute, func() error {
			at, err := w.of(o)
			if err == nil {
				_, err = at.Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: "adversary", Force: true})
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("apply %s %s/%s: %w", o.GetKind(), o.GetNamespace(), o.GetName(), err)
		}
	}
	return nil
}

func (w *environment) applyFile(ctx context.Context, path string) error {
	all, err := documents(path)
	if err != nil {
		return err
	}
	return w.apply(ctx, all...)
}

func (w *environment) applyText(ctx context.Context, text string) error {
	all, err := objects.Parse([]byte(text))
	if err != nil {
		return err
	}
	return w.apply(ctx, all...)
}

// install applies deploy/ and the objects of the test.
func (w *environment) install(ctx context.Context) error {
	crds, err := filepath.Glob(w.deploy("crds", "*.yaml"))
	if err != nil || len(crds) == 0 {
		return fmt.Errorf("%s: %d CRDs, %w", w.deploy("crds"), len(crds), err)
	}
	files := append(crds, w.deploy("namespace.yaml"), w.deploy("rbac.yaml"), w.deploy("components", "user-roles", "roles.yaml"),
		w.deploy("components", "http-api", "rbac.yaml"), w.deploy("components", "http-api", "targets.yaml"))
	for _, f := range files {
		if err := w.applyFile(ctx, f); err != nil {
			return err
		}
	}
	if out, err := w.cluster.Kubectl(ctx, "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all"); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return w.applyText(ctx, installed)
}

// token returns a token of a ServiceAccount.
func (w *environment) token(ctx context.Context, namespace, account string) (string, error) {
	long := int64(24 * 3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &long}}
	out, err := w.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return out.Status.Token, nil
}

// eventually repeats a check until it passes, with increasing pauses.
func eventually(ctx context.Context, patience time.Duration, check func() error) error {
	end := time.Now().Add(patience)
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		err := check()
		if err == nil {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("still after %s: %w", patience, err)
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), err)
		case <-time.After(pause):
		}
	}
}
